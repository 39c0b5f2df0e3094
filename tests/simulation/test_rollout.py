"""Rollouts: same bits in any batch, lanes that fail alone, controllers of all kinds, files."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw

MODEL = fw.robots.mini_cheetah()


def states(count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return np.array([MODEL.random(rng) for _ in range(count)]), rng.normal(size=(count, MODEL.nv))


def hold(t, q, v, x, p):
    """A PD controller that counts its calls."""
    joints = p[0] * (0.3 - q[7:]) - p[1] * v[6:]
    return np.concatenate([np.zeros(6, dtype=object), joints]), x + 1.0


HOLD = fw.compiled(hold, state=[0.0], parameters=[20.0, 0.5])


def plain(t, q, v):
    return np.concatenate([np.zeros((*q.shape[:-1], 6)), 20.0 * (0.3 - q[..., 7:]) - 0.5 * v[..., 6:]], axis=-1)


def test_same_bits_for_one_any_batch_any_threads_any_chunk() -> None:
    q, v = states(300)
    whole = fw.rollout(MODEL, q, v, steps=24, dt=1e-3, control=HOLD)
    with fw.threads(2):
        assert (fw.rollout(MODEL, q, v, steps=24, dt=1e-3, control=HOLD).q == whole.q).all()
    for k in (0, 7, 299):
        assert (fw.rollout(MODEL, q[k], v[k], steps=24, dt=1e-3, control=HOLD).q == whole.q[k]).all()
    assert (fw.rollout(MODEL, q[:13], v[:13], steps=24, dt=1e-3, control=HOLD).q == whole.q[:13]).all()
    sparse = fw.rollout(MODEL, q, v, steps=24, dt=1e-3, control=HOLD, record_every=8)
    assert (sparse.q == whole.q[:, ::8]).all()
    assert (sparse.tau == whole.tau[:, ::8]).all()
    first = fw.rollout(MODEL, q, v, steps=8, dt=1e-3)
    second = fw.rollout(MODEL, first.q[:, -1], first.v[:, -1], steps=16, dt=1e-3)
    assert (second.q[:, -1] == fw.rollout(MODEL, q, v, steps=24, dt=1e-3).q[:, -1]).all()


def test_compiled_and_python_controllers_and_given_forces_agree() -> None:
    q, v = states(5)
    native = fw.rollout(MODEL, q, v, steps=30, dt=1e-3, control=HOLD)
    python = fw.rollout(MODEL, q, v, steps=30, dt=1e-3, control=plain)
    given = fw.rollout(MODEL, q, v, steps=30, dt=1e-3, tau=python.tau)
    assert np.abs(native.q - python.q).max() <= 1e-12
    assert (given.q == python.q).all()
    assert native.tau.shape == (5, 30, MODEL.nv)


def test_one_poisoned_lane_changes_no_other_bit() -> None:
    q, v = states(40)
    right = fw.rollout(MODEL, q, v, steps=10, dt=1e-3)
    q[3, 2], v[17], q[29, 3:7] = np.nan, v[17] * 1e160, 0.0
    run = fw.rollout(MODEL, q, v, steps=10, dt=1e-3)
    assert run.status[3] == run.status[29] == fw.Status.BAD_INPUT
    assert run.status[17] == fw.Status.DIVERGED
    assert (run.failed_step[3], run.failed_step[17], run.failed_step[0]) == (0, 0, -1)
    others = [k for k in range(40) if k not in (3, 17, 29)]
    assert (run.q[others] == right.q[others]).all()
    assert (run.status[others] == fw.Status.OK).all()
    assert np.isnan(run.q[3]).all()
    assert np.isnan(run.q[17, 1:]).all()


def test_a_controller_that_goes_bad_is_marked_with_its_step() -> None:
    def bad(t, q, v, x, p):
        return v * 0.0 + fw.scalar.where(t > 0.0045, np.nan, 0.0), x

    q, v = states(3)
    run = fw.rollout(MODEL, q, v, steps=10, dt=1e-3, control=fw.compiled(bad))
    assert (run.status == fw.Status.BAD_CONTROL).all()
    assert (run.failed_step == 5).all()
    assert np.isfinite(run.q[:, :5]).all()
    assert np.isnan(run.q[:, 5:]).all()


def test_simulate_raises_with_the_trajectory_so_far() -> None:
    q, v = states(1)
    with pytest.raises(fw.SimulationError, match=r"failed at step 4, t = 0.004 s: the controller gave NaN") as caught:
        fw.simulate(
            MODEL, q[0], v[0], duration=0.02, dt=1e-3, control=lambda t, q, v: v * (np.nan if t > 0.0035 else 0)
        )
    assert np.isfinite(caught.value.trajectory.q[:4]).all()


@pytest.mark.parametrize(
    ("control", "message"),
    [
        (lambda t, q, v: 1 / 0, r"the controller raised ZeroDivisionError at step 0, t = 0 s: division by zero"),
        (lambda t, q, v: np.zeros(4), r"the controller returned shape \(4,\) at step 0, t = 0 s; expected \(18,\)"),
        (lambda t, q, v: None, r"the controller"),
        (lambda t, q, v: "no", r"the controller"),
    ],
)
def test_malformed_controllers_are_explained(control, message) -> None:
    q, v = states(1)
    with pytest.raises(fw.SimulationError, match=message):
        fw.simulate(MODEL, q[0], v[0], duration=0.01, dt=1e-3, control=control)


def test_a_controller_cannot_change_the_state_it_is_given() -> None:
    def rude(t, q, v):
        forces = np.zeros(MODEL.nv)
        q[:], v[:] = 0.0, 7.0
        return forces

    q, v = states(1)
    run = fw.simulate(MODEL, q[0], v[0], duration=0.01, dt=1e-3, control=rude)
    assert (run.q == fw.simulate(MODEL, q[0], v[0], duration=0.01, dt=1e-3).q).all()


def test_own_functions_inside_a_compiled_controller() -> None:
    """Gravity compensation holds the robot still."""
    arm = fw.robots.double_pendulum()

    def float_(t, q, v, x, p):
        return fw.gravity_force(arm, q), x

    run = fw.simulate(arm, [0.7, -0.4], [0.0, 0.0], duration=1.0, dt=1e-3, control=fw.compiled(float_))
    assert np.abs(run.q - run.q[0]).max() <= 1e-12


def test_parameters_differ_from_lane_to_lane() -> None:
    def build(mass: float, **options) -> fw.Model:
        ball = fw.Inertia.point(mass, (0, 0, -1))
        return fw.Builder(**options).add_body("bob", joint=fw.joints.Revolute("y"), inertia=ball, damping=0.1).build()

    masses = np.array([0.5, 1.0, 3.0])
    run = fw.rollout(
        build(1.0, parameters=("bob.mass",)), [1.0], [0.0], steps=50, dt=1e-2, parameters={"bob.mass": masses}
    )
    for k, mass in enumerate(masses):
        alone = fw.rollout(build(mass), [1.0], [0.0], steps=50, dt=1e-2)
        assert np.abs(run.q[k] - alone.q).max() <= 1e-12


def test_a_trajectory_survives_a_file(tmp_path) -> None:
    q, v = states(3)
    run = fw.rollout(MODEL, q, v, steps=6, dt=1e-3)
    run.save(tmp_path / "run.fw")
    back = fw.Trajectory.load(tmp_path / "run.fw", model=MODEL)
    for name in ("t", "q", "v", "tau", "status", "failed_step"):
        assert (getattr(back, name) == getattr(run, name)).all()
    assert (back.energy() == run.energy()).all()
    (tmp_path / "bad.fw").write_bytes((tmp_path / "run.fw").read_bytes()[:-8])
    with pytest.raises(ValueError, match=r"bad\.fw: header: expected 1 chunks"):
        fw.Trajectory.load(tmp_path / "bad.fw")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps: expected a whole number from 1"),
        ({"steps": 1.5}, "steps: expected a whole number"),
        ({"dt": 0.0}, "dt: expected a time step > 0"),
        ({"dt": np.nan}, "dt: expected a time step > 0"),
        ({"record_every": 3}, "record_every: expected a divisor of steps = 10, got 3"),
        ({"integrator": "euler"}, "integrator: expected one of 'semi_implicit', 'rk4', 'variational', got 'euler'"),
        ({"tau": np.zeros((9, 18))}, r"tau: expected shape \(…, 10, 18\)"),
        ({"tau": np.zeros(18)}, r"for the same in all steps: numpy.repeat\(tau\[..., None, :\], 10, axis=-2\)"),
        ({"tau": np.zeros((10, 18)), "control": HOLD}, "tau, control: expected one of them"),
    ],
)
def test_bad_arguments_are_named(options, message) -> None:
    q, v = states(1)
    with pytest.raises(ValueError, match=message):
        fw.rollout(MODEL, q[0], v[0], **{"steps": 10, "dt": 1e-3, **options})


def test_time_is_steps_times_dt() -> None:
    run = fw.simulate(fw.robots.pendulum(), [0.1], [0.0], duration=1.0, dt=0.1)
    assert (run.t == np.arange(11) * 0.1).all()


@pytest.mark.parametrize("duration", [0.0, -1.0, np.nan, np.inf, True, 1j, np.complex128(1.0), "long", None])
def test_a_duration_that_is_none_is_refused(duration) -> None:
    with pytest.raises(ValueError, match=r"duration: expected a time > 0 \[s\], got"):
        fw.simulate(fw.robots.pendulum(), [0.1], [0.0], duration=duration, dt=0.1)
    if duration is not True:
        with pytest.raises(ValueError, match=r"dt: expected a time step > 0 \[s\], got"):
            fw.rollout(fw.robots.pendulum(), [0.1], [0.0], steps=1, dt=duration)


def thrown_box() -> tuple[fw.Model, np.ndarray, np.ndarray]:
    build = fw.Builder("box")
    build.add_body("box", joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (0.1, 0.2, 0.3)))
    build.add_geometry("box", fw.shapes.Box((0.1, 0.2, 0.3)), friction=0.5)
    rng = np.random.default_rng(1)
    model = build.build()
    q = model.random(rng)
    q[:3] = 0.0, 0.0, 0.3
    return model, q, rng.normal(size=model.nv)


@pytest.mark.parametrize("contact", [None, fw.contact.Impulse()])
def test_no_forces_have_the_bits_of_forces_of_zero(contact: fw.contact.Impulse | None) -> None:
    model, q, v = thrown_box()
    options = {"dt": 1e-3, "contact": contact}
    none = fw.rollout(model, q, v, steps=300, **options)
    zeros = fw.rollout(model, q, v, steps=300, tau=np.zeros((300, model.nv)), **options)
    sim = fw.Stepper(model, q, v, **options)
    sim.step(300)
    assert np.array_equal(none.q, zeros.q)
    assert np.array_equal(none.q[-1], sim.q[0])
