"""How steps are found: iterations, guesses, solvers, and what is said when there is none."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from featherweight.compiler.runtime.loop import Call
from featherweight.integrators.variational.drnea import Place, drnea
from featherweight.integrators.variational.legendre import start
from featherweight.integrators.variational.riqn import MassSolver
from featherweight.simulation.options import StepOptions
from featherweight.simulation.step import step_loop

Variational = fw.integrators.Variational
PAPER = 1e-9  # N m s, times the number of links


def chain(n: int, seed: int = 1, gravity: bool = False) -> tuple[fw.Model, np.ndarray, np.ndarray]:
    """The paper's chain and state."""
    rng = np.random.default_rng(seed)
    q, v = rng.uniform(-np.pi / 2, np.pi / 2, (2, n))
    return fw.robots.chain(n), q, v


def iterations(n: int, steps: int, **options: object) -> np.ndarray:
    model, q, v = chain(n)
    run = fw.rollout(model, q, v, steps=steps, dt=1e-3, integrator=Variational(absolute=PAPER * n, **options))
    assert run.status == fw.Status.OK, (n, run.failed_step)
    return run.convergence[:, 0]


@pytest.mark.parametrize("guess", ["dynamics", "extrapolated"])
@pytest.mark.parametrize("n", [10, 50])
def test_quasi_newton_steps_at_the_papers_tolerance(n: int, guess: str) -> None:
    assert iterations(n, 200, guess=guess).mean() <= 5


@pytest.mark.parametrize("n", [10, 100])
def test_newton_steps_at_the_papers_tolerance(n: int) -> None:
    assert iterations(n, 50, solver="newton", guess="velocity").mean() <= 4


@pytest.mark.parametrize("solver", ["riqn", "newton", "broyden"])
def test_each_step_of_a_search_is_counted(solver: str) -> None:
    """From h v it takes one at least, and no fewer the longer the step is."""
    model, q, v = chain(5)
    counts = []
    for h in (1e-4, 1e-3, 1e-2):
        run = fw.rollout(model, q, v, steps=1, dt=h, integrator=Variational(solver=solver, guess="velocity"))
        counts.append(run.convergence[0, 0])
    assert 1 <= counts[0] <= counts[1] <= counts[2] <= 30


def test_newton_finds_what_quasi_newton_does_not() -> None:
    """A long step of a fast chain: quasi-Newton steps alone lead astray, and are given up in time."""
    model, q, v = chain(30, seed=2)
    v, h = 4 * v, 0.02
    tree = model.over(float, lambda: None)
    at, moving = [float(x) for x in q], [float(x) for x in v]
    place = Place.at(tree, at, start(tree, at, moving, h, [0.0] * 30, None))
    delta = [h * x for x in moving]
    respond = MassSolver.after(tree, at, delta)
    for _ in range(30):
        delta = [x - dx for x, dx in zip(delta, respond(drnea(place, delta).e), strict=True)]
    assert not drnea(place, delta).square ** 0.5 <= 1e-3 * max(map(abs, place.start))
    ends = []
    for solver in ("riqn", "newton", "broyden"):
        run = fw.rollout(model, q, v, steps=1, dt=h, integrator=Variational(solver=solver, guess="velocity"))
        assert run.status == fw.Status.OK
        ends.append(run.q[-1])
    assert np.abs(np.ptp(ends, axis=0)).max() <= 1e-9


def test_a_chain_of_balls_never_fails() -> None:
    """20 links on spherical joints, 10 000 steps."""
    builder = fw.Builder("balls")
    for k in range(20):
        builder.add_body(
            f"link{k}",
            parent=f"link{k - 1}" if k else "world",
            joint=fw.joints.Spherical(),
            placement=fw.Placement((0, 0, -0.3 if k else 0)),
            inertia=fw.Inertia(0.7, (0, 0, -0.15), 0.02),
        )
    model = builder.build()
    rng = np.random.default_rng(0)
    run = fw.rollout(
        model, model.random(rng), rng.normal(size=model.nv), steps=10_000, dt=1e-3, integrator="variational",
        record_every=10,
    )  # fmt: skip
    assert run.status == fw.Status.OK
    assert np.ptp(run.energy()) <= 5e-3 * np.abs(run.energy()).max()


@pytest.mark.parametrize("solver", ["riqn", "newton", "broyden"])
@pytest.mark.parametrize("guess", ["rest", "velocity", "dynamics", "extrapolated"])
def test_every_solver_and_guess_finds_the_same_step(solver: str, guess: str) -> None:
    model, q, v = chain(5)
    reference = fw.rollout(model, q, v, steps=50, dt=2e-3, integrator="variational")
    run = fw.rollout(model, q, v, steps=50, dt=2e-3, integrator=Variational(solver=solver, guess=guess))
    assert run.status == fw.Status.OK
    assert np.abs(run.q - reference.q).max() <= 1e-10


def test_smooth_steps_need_no_iteration() -> None:
    """What is remembered of a step is better than what was looked at: the tolerance is not in the differences."""
    model = fw.robots.chain(4)
    run = fw.rollout(model, np.full(4, 0.4), np.zeros(4), steps=500, dt=1e-3, integrator="variational")
    assert run.convergence[20:, 0].mean() <= 0.05
    assert run.convergence[20:, 1].max() <= 1e-12
    assert run.convergence[:, 1].max() <= 1e-10


def test_steps_are_better_than_the_tolerance() -> None:
    """The last correction is made without another look at e, and leaves little of it."""
    n, h = 50, 1e-3
    model, q, v = chain(n)
    run = fw.rollout(model, q, v, steps=60, dt=h, integrator="variational")
    tree = model.over(float, lambda: None)
    left = []
    for k in range(0, 60, 3):
        at, moving = run.q[k].tolist(), run.v[k].tolist()
        place = Place.at(tree, at, start(tree, at, moving, h, [0.0] * n, None))
        e = drnea(place, (run.q[k + 1] - run.q[k]).tolist()).e
        left.append(float(np.linalg.norm(e) / max(map(abs, place.start))))
    assert run.convergence[::3, 1].max() > 1e-11
    assert max(left) <= 2e-12  # of which the rounding of q is a part


@pytest.mark.parametrize(
    ("damping", "friction"),
    [((0.0,), 0.0), ((0.01, 1.0, 30.0), 0.0), ((0.01,), 0.1)],
    ids=["none", "damping", "friction"],
)
def test_what_is_left_of_the_equations_does_not_add_up(damping: tuple[float, ...], friction: float) -> None:
    """Also where joints are braked, lightly or so much that their own inertia is little beside it."""
    several = [f"link{k}_joint.damping" for k in range(6)] if len(damping) > 1 else []  # robots of one batch
    builder = fw.Builder("braked", parameters=several)
    for k in range(6):
        builder.add_body(
            f"link{k}",
            parent=f"link{k - 1}" if k else "world",
            joint=fw.joints.Revolute("xy"[k % 2]),
            placement=fw.Placement((0, 0, 0.3 if k else 0)),
            inertia=fw.Inertia(0.6**k, (0, 0, 0.15), 0.01 * 0.5**k),
            damping=damping[0],
            friction=friction,
        )
    model, (q, v) = builder.build(), np.random.default_rng(2).uniform(-1.5, 1.5, (2, 6))
    dampings = {name: np.array(damping) for name in several} or None
    runs = [
        fw.rollout(
            model, q, 3 * v, steps=300, dt=1e-3, integrator=Variational(tolerance=tolerance), parameters=dampings
        )
        for tolerance in (1e-8, 1e-13)
    ]
    assert np.abs(runs[0].q - runs[1].q).max() <= 1e-8
    assert np.abs(runs[0].v - runs[1].v).max() <= 3e-7


def test_better_guesses_take_fewer_iterations() -> None:
    model, q, v = chain(10)
    count = {}
    for guess in ("rest", "velocity", "dynamics", "extrapolated"):
        run = fw.rollout(model, q, v, steps=300, dt=1e-3, integrator=Variational(guess=guess))
        count[guess] = run.convergence[:, 0].mean()
    assert count["extrapolated"] < count["dynamics"] < count["velocity"] <= count["rest"]


def test_lanes_have_the_bits_they_have_alone() -> None:
    model, q, v = chain(6)
    scale = np.linspace(0.1, 3.0, 19)[:, None]
    batch = fw.rollout(model, q * np.ones_like(scale), v * scale, steps=60, dt=2e-3, integrator="variational")
    for k in range(19):
        one = fw.rollout(model, q, v * scale[k], steps=60, dt=2e-3, integrator="variational")
        assert np.array_equal(one.q, batch.q[k])
        assert np.array_equal(one.v, batch.v[k])
        assert np.array_equal(one.convergence, batch.convergence[k])


def test_what_is_no_step_is_said_lane_by_lane() -> None:
    """A step of a second, torques that are not numbers, huge velocities: the lanes beside them do not notice."""
    model, q, v = chain(4)
    velocities = np.stack([v, 1e3 * v, v, 1e200 * v])
    tau = np.zeros((4, 10, 4))
    tau[2, 5, 1] = np.nan
    run = fw.rollout(model, np.tile(q, (4, 1)), velocities, steps=10, dt=1e-3, tau=tau, integrator="variational")
    assert run.status.tolist()[:3] == [fw.Status.OK, fw.Status.NOT_CONVERGED, fw.Status.BAD_CONTROL]
    assert run.status[3] in (fw.Status.NOT_CONVERGED, fw.Status.DIVERGED)
    assert run.failed_step.tolist() == [-1, 0, 5, 0]
    alone = fw.rollout(model, q, v, steps=10, dt=1e-3, integrator="variational")
    assert np.abs(run.q[0] - alone.q).max() <= 1e-13
    assert np.isnan(run.q[1, 1:]).all()
    second = fw.rollout(model, q, 10 * v, steps=3, dt=1.0, integrator="variational")
    assert second.status == fw.Status.NOT_CONVERGED
    with pytest.raises(fw.ConvergenceError, match="did not converge"):
        fw.simulate(model, q, 10 * v, duration=3.0, dt=1.0, integrator="variational")


def test_a_lane_that_has_failed_searches_no_more() -> None:
    """Lanes with a status make no iterations and stay where they are; the others make theirs."""
    model, q, v = chain(10, seed=3)
    options = StepOptions(Variational(guess="velocity"))
    carry = [np.tile(q, (4, 1)), np.tile(v, (4, 1)), np.array([[0.0, status, 0.0] for status in (0, 1, 0, 2)])]
    states = [np.zeros((4, 2, 10)), np.zeros((4, 2, 10)), np.zeros((4, 3))]
    records = [np.zeros((4, 1, int(np.prod(shape)))) for shape in options.records(model).values()]
    constants = [np.full((1, 1), 1e-3), np.array([options.numbers])]
    step_loop(model, options).run(Call(carry, [], constants, states, records, 1, 1))
    iterations = records[-1][:, 0, 0]
    assert iterations[0] == iterations[2] > 0
    assert iterations[1] == iterations[3] == 0
    np.testing.assert_array_equal(states[0][[1, 3], 1], carry[0][[1, 3]])


def test_the_residual_is_what_was_asked_for() -> None:
    model, q, v = chain(8)
    for tolerance in (1e-6, 1e-12):
        run = fw.rollout(model, q, v, steps=200, dt=1e-3, integrator=Variational(tolerance=tolerance))
        assert run.convergence[:, 1].max() <= tolerance
    assert run.convergence.shape == (200, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "bfgs"}, "solver: expected one of 'riqn'"),
        ({"guess": "none"}, "guess: expected one of 'rest'"),
        ({"tolerance": 0.0}, "tolerance: expected a number > 0"),
        ({"absolute": -1.0}, "absolute: expected a number > 0"),
        ({"iterations": 0}, "iterations: expected a whole number"),
    ],
)
def test_options_are_checked(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Variational(**options)


def test_newton_finds_the_steps_of_robots_with_mimic_joints() -> None:
    """The same steps as quasi-Newton, in fewer iterations."""
    from simulation.test_orders import BOLTED

    q, v = BOLTED.random(3), np.random.default_rng(0).normal(size=BOLTED.nv)
    runs = [
        fw.rollout(BOLTED, q, v, steps=50, dt=2e-3, integrator=Variational(solver=solver, guess="velocity"))
        for solver in ("riqn", "newton")
    ]
    assert all(run.status == fw.Status.OK for run in runs)
    assert np.abs(runs[0].q - runs[1].q).max() <= 1e-9
    assert runs[1].convergence[:, 0].mean() < runs[0].convergence[:, 0].mean()


@pytest.mark.parametrize("solver", ["riqn", "newton", "broyden"])
def test_a_frame_far_from_the_robot_is_no_reason_to_fail(solver: str) -> None:
    """30 m off, rounding leaves more of the equations than a search for floating robots looks for: it is accepted."""
    own, arm = fw.Inertia(1.0, (30.0, 0, 0), (0.01, 0.02, 0.03)), fw.Inertia(0.5, (0.1, 0, 0.05), (0.004, 0.005, 0.006))
    model = (
        fw.Builder("far", gravity=(0, 0, 0))
        .add_body("body", joint=fw.joints.Free(), inertia=own)
        .add_body(
            "arm", parent="body", joint=fw.joints.Revolute("y"), placement=fw.Placement((30.0, 0.1, 0.1)), inertia=arm
        )
        .add_body("hand", parent="arm", joint=fw.joints.Spherical(), placement=fw.Placement((0.2, 0, 0)), inertia=arm)
        .build()
    )
    rng = np.random.default_rng(5)
    q, v = np.array([model.random(rng) for _ in range(8)]), 0.5 * rng.normal(size=(8, model.nv))
    p, R = fw.momentum(model, q, v)[:, :3], fw.forward_kinematics(model, q).rotation[:, 1]
    v[:, :3] -= np.einsum("kij,ki->kj", R, p) / model.mass  # its centre of mass is at rest
    run = fw.rollout(model, q, v, steps=2000, dt=1e-3, integrator=Variational(solver=solver), record_every=100)
    assert (run.status == fw.Status.OK).all()
