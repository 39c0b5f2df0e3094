"""`linearize` beyond A of (q, v): softened laws, and all that a step hands on to the next."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight.contact import Impulse, Plane, SpringDamper
from featherweight.joints import Prismatic, Revolute
from simulation.test_linearize import HIGH, LOW, H, hopper, monopod, standing

MASS = 2.0


def block() -> fw.Model:
    """A point of mass that slides along x above the ground, and moves up and down."""
    build = fw.Builder("block").add_body("slide", joint=Prismatic("x"), inertia=fw.Inertia.point(0.5))
    build.add_body("block", parent="slide", joint=Prismatic("z"), inertia=fw.Inertia.point(MASS - 0.5))
    return build.add_contact_point("foot", parent="block").build()


def soft(x: float, width: float) -> float:
    """The derivative of (x + √(x² + ε²)) / 2."""
    return 0.5 * (1.0 + x / np.hypot(x, width))


@pytest.mark.parametrize("push", [-0.5, -1e-3, 0.0, 1e-3, 0.5])
def test_a_softened_contact_is_the_projection_as_documented(push: float) -> None:
    """One row of mass m against its own law: Λ = max(Λ - w, 0) with slope s, so that w changes by (1 - s) of what the
    free velocity does. Below the slop nothing is wanted."""
    model, width, dt = block(), 0.01, 1e-3
    contact = Impulse(ground=Plane(friction=1e-9), slop=1e-3, tolerance=1e-13)
    q, v = np.array([0.0, -1e-4]), np.array([0.0, push])
    tau = np.array([0.0, MASS * 9.81])  # no weight: the free velocity is v
    found = fw.linearize(model, q, v, tau, dt=dt, contact=contact, smoothing=width)
    mass = np.array([MASS, MASS - 0.5])  # along x all of it moves, along z the block
    free = push + dt * (tau[1] / mass[1] - 9.81)
    gains = (1 / mass[1] + 1 / mass[0] + 0.0) / 3  # the mean of the rows; along y nothing moves
    scaled = max(0.0, -free) * mass[1] * gains
    w = max(0.0, free)
    s = soft(scaled - w, width)
    # (1 - s) δΛ + s δw = 0 with δΛ = g δλ and δw = δfree + δλ / m
    expected = 1.0 / (1.0 + s / (gains * mass[1] * (1.0 - s)))
    assert abs(found.A[3, 3] - expected) <= 1e-9


@pytest.mark.parametrize("mu", [0.6, 1e-9])
@pytest.mark.parametrize("speed", [-0.3, -6e-3, 1e-3])
@pytest.mark.parametrize("push", [-0.5, -1e-2, 1e-3])
def test_softened_friction_is_the_projection_as_documented(push: float, speed: float, mu: float) -> None:
    """Λ_n = max(Λ_n - w_n, 0), Λ_t = y min(|y|, μ Λ_n) / |y| with y = Λ_t - w_t, both softened, at the solution of the
    hard laws, and with what impulses change by the masses along x and z."""
    model, width, dt = block(), 0.01, 1e-3
    contact = Impulse(ground=Plane(friction=mu), slop=1e-3, tolerance=1e-13)
    q, v, tau = np.array([0.0, -1e-4]), np.array([speed, push]), np.array([0.0, MASS * 9.81])
    found = fw.linearize(model, q, v, tau, dt=dt, contact=contact, smoothing=width)
    mobility = np.array([1 / (MASS - 0.5), 1 / MASS])  # of the normal and of the row along x; along y nothing moves
    gain = mobility.sum() / 3

    # the step: as much as the block comes down with, and friction up to μ times that
    free = np.array([push + dt * (tau[1] / (MASS - 0.5) - 9.81), speed])
    normal = max(0.0, -free[0] / mobility[0])
    impulse = np.array([normal, np.clip(-speed / mobility[1], -mu * normal, mu * normal)])
    w = free + mobility * impulse

    def positive(x: complex) -> complex:
        return 0.5 * (x + np.sqrt(x * x + width * width))

    def left(impulse: np.ndarray, w: np.ndarray) -> np.ndarray:
        (n, along), y = gain * impulse, gain * impulse[1] - w[1]
        size = np.sqrt(y * y)
        return np.array([n - positive(n - w[0]), along - y * (size - positive(size - mu * n)) / size])

    def columns(k: int) -> np.ndarray:
        """Derivatives by a complex step."""
        given = [np.array(x, dtype=complex) for x in (impulse, w)]
        out = []
        for j in range(2):
            ahead = [x.copy() for x in given]
            ahead[k][j] += 1e-30j
            out.append(left(*ahead).imag / 1e-30)
        return np.transpose(out)

    of_impulse, of_w = columns(0), columns(1)
    change = -np.linalg.solve(of_impulse + of_w * mobility, of_w)  # of impulses, with the free velocity
    expected = np.eye(2) + mobility[:, None] * change
    np.testing.assert_allclose(found.A[2:, 2:][::-1, ::-1], expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("what", ["stick", "slide", "open"])
def test_softened_laws_become_the_laws(what: str) -> None:
    model = monopod(limits=fw.Limits(-0.9, 2.0))
    q, v, tau = standing(model)
    ground = {"stick": HIGH, "slide": LOW, "open": Plane(point=(0, 0, -1.0))}[what]
    v[0] += 0.4 if what == "slide" else 0.0
    options: dict[str, Any] = {"dt": H, "contact": Impulse(ground=ground, tolerance=1e-13)}
    hard = fw.linearize(model, q, v, tau, **options)
    before = np.inf
    for width in (1e-2, 1e-4, 1e-6):
        found = fw.linearize(model, q, v, tau, smoothing=width, **options)
        assert np.array_equal(found.q, hard.q)
        assert np.array_equal(found.v, hard.v)
        error = np.abs(found.A - hard.A).max() / np.abs(hard.A).max()
        assert error <= before
        before = error
    assert before <= 1e-4
    if what == "open":
        assert before <= 1e-7


@pytest.mark.filterwarnings("ignore:joints begin beyond")
def test_softened_stops_alone_become_stops() -> None:
    model = monopod(limits=fw.Limits(-0.9, 2.0))
    q, v, tau = standing(model)
    q[8], v[7] = -0.9 + 1e-3, -3.0
    hard = fw.linearize(model, q, v, tau, dt=H)
    wide = fw.linearize(model, q, v, tau, dt=H, smoothing=1.0)
    fine = fw.linearize(model, q, v, tau, dt=H, smoothing=1e-6)
    assert np.abs(wide.A - hard.A).max() >= 1e-3
    assert np.abs(fine.A - hard.A).max() <= 1e-6 * np.abs(hard.A).max()


def test_softened_derivatives_pass_from_one_side_to_the_other() -> None:
    """Where a contact ends A jumps; softened it does not."""
    model, dt = block(), 1e-3
    contact = Impulse(ground=Plane(friction=0.5), slop=1e-3, tolerance=1e-13)
    q, tau = np.array([0.0, -1e-4]), np.array([0.0, (MASS - 0.5) * 9.81])
    jumps = []
    for smoothing in (None, 1e-2):
        sides = [
            fw.linearize(model, q, [0.0, push], tau, dt=dt, contact=contact, smoothing=smoothing).A[3, 3]
            for push in (-1e-6, 1e-6)
        ]
        jumps.append(abs(sides[1] - sides[0]))
    assert jumps[0] > 0.9
    assert jumps[1] < 1e-3


def test_gradients_over_softened_steps_are_products_of_softened_matrices() -> None:
    model, q, v, _ = hopper()
    tau, width = 0.3 * np.random.default_rng(0).normal(size=(5, 3)), 0.05
    options: dict[str, Any] = {"dt": H, "contact": Impulse(ground=Plane(friction=0.3), tolerance=1e-13)}
    _, gradient = fw.rollout_gradient(
        None, model, q, v, steps=5, tau=tau, final=lambda q, v, x: q[0] + 2.0 * v[2], wrt=("q", "v", "tau"),
        smoothing=width, **options,
    )  # fmt: skip
    run = fw.rollout(model, q, v, steps=5, tau=tau, **options)
    row = np.array([1.0, 0, 0, 0, 0, 2.0])
    of_tau = []
    for k in reversed(range(5)):
        step = fw.linearize(model, run.q[k], run.v[k], tau[k], smoothing=width, **options)
        of_tau.append(row @ step.B)
        row = row @ step.A
    assert np.allclose(np.concatenate([gradient["q"], gradient["v"]]), row, rtol=1e-9, atol=1e-12)
    assert np.allclose(gradient["tau"], of_tau[::-1], rtol=1e-9, atol=1e-12)


def whole_differences(model: fw.Model, begin: list[np.ndarray], tau: Any, options: dict[str, Any]) -> np.ndarray:
    """A of (q, v, x, memory) by central differences of steps that hand all of it on; of plain joints."""
    sizes, columns = [len(part) for part in begin], []
    flat = np.concatenate(begin)

    def step(flat: np.ndarray) -> np.ndarray:
        q, v, x, m = np.split(flat, np.cumsum(sizes)[:-1])
        state = {name: own for name, own in (("x", x), ("memory", m)) if len(own)}
        found: Any = fw.linearize(model, q, v, tau, state=state, whole=True, **options)
        return np.concatenate([found.q, found.v, found.x, found.memory])

    for k in range(len(flat)):
        eps = np.zeros(len(flat))
        eps[k] = 1e-7
        columns.append((step(flat + eps) - step(flat - eps)) / 2e-7)
    return np.array(columns).T


def follow(t: Any, q: Any, v: Any, x: Any, p: Any) -> Any:
    return [0.0, 0.0, x[0] - 2.0 * q[2] + 0.1 * x[1]], [x[0] + 0.01 * v[2], 0.9 * x[1]]


@pytest.mark.parametrize("integrator", ["semi_implicit", "variational"])
def test_a_of_the_whole_state_has_deflections_and_the_controller(integrator: str) -> None:
    model, q, v, tau = hopper()
    contact = SpringDamper(stiffness=5e3, damping=50.0, ground=HIGH)
    control = fw.compiled(follow, state=np.array([0.3, -0.2]))
    options: dict[str, Any] = {"dt": H / 4, "contact": contact, "control": control, "integrator": integrator}
    x, m = np.array([0.3, -0.2]), np.array([1e-4, 0.0, 2e-5])
    found: Any = fw.linearize(model, q, v, tau, whole=True, state={"x": x, "memory": m}, **options)
    N = 2 * model.nv + 2 + 3
    assert (found.A.shape, found.B.shape, found.x.shape, found.memory.shape) == ((N, N), (N, 3), (2,), (3,))
    expected = whole_differences(model, [q, v, x, m], tau, options)
    assert np.abs(found.A - expected).max() <= 1e-6 * np.abs(expected).max()
    assert np.abs(found.A[6:8, :6] - expected[6:8, :6]).max() <= 1e-8
    part = fw.linearize(model, q, v, tau, state={"x": x, "memory": m}, **options)
    assert np.allclose(found.A[:6, :6], part.A, rtol=1e-12, atol=1e-14)
    assert np.allclose(found.B[:6], part.B, rtol=1e-12, atol=1e-14)


def test_a_of_the_whole_state_has_impulses_where_friction_yields() -> None:
    build = fw.Builder("arm").add_body("upper", joint=Revolute("y"), inertia=fw.Inertia.point(1.0, (0, 0, -0.3)))
    inertia = fw.Inertia.point(0.5, (0, 0, -0.3))
    build.add_body(
        "lower", parent="upper", joint=Revolute("y"), placement=fw.Placement((0, 0, -0.3)), friction=4.0,
        inertia=inertia,
    )  # fmt: skip
    model = build.add_contact_point("tip", parent="lower").build()
    contact = Impulse(ground=Plane(point=(0, 0, -9)), tolerance=1e-13, dry_friction="rows", presliding=0.3)
    options: dict[str, Any] = {"dt": H, "contact": contact}
    q, v, tau = np.array([0.5, 0.1]), np.array([0.5, 0.0]), np.array([0.1, 0.05])
    first: Any = fw.linearize(model, q, v, tau, whole=True, **options)
    expected = whole_differences(model, [q, v, np.zeros(0), first.memory], tau, options)
    found = fw.linearize(model, q, v, tau, whole=True, state={"memory": first.memory}, **options)
    assert found.A.shape == (4 + 4, 4 + 4)  # three impulses of the contact, one of friction
    assert np.abs(expected[7, 7]) > 0.1
    assert np.abs(found.A - expected).max() <= 1e-6 * np.abs(expected).max()


def test_what_cannot_be_softened_or_whole_says_so() -> None:
    model, q, v, tau = hopper()
    for bad in (0.0, -1.0, np.nan, np.inf, True, "much"):
        with pytest.raises(ValueError, match="smoothing: expected a velocity > 0"):
            fw.linearize(model, q, v, tau, dt=H, smoothing=bad)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="smoothing: expected a velocity > 0"):
            fw.rollout_gradient(None, model, q, v, steps=2, dt=H, final=lambda q, v, x: q[0], smoothing=bad)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="whole: expected True or False"):
        fw.linearize(model, q, v, tau, dt=H, whole="all")  # type: ignore[arg-type]


def test_a_bounce_that_was_taken_back_is_refused() -> None:
    """A rod hits the ground with an end. Where the bounce would add energy, its impulses obey no law that A could be
    made of; elsewhere A is what differences of rollouts say."""
    builder = fw.Builder("rod")
    builder.add_body("rod", joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (0.6, 0.05, 0.05)))
    for name, x in (("left", -0.3), ("right", 0.3)):
        builder.add_contact_point(name, parent="rod", position=(x, 0.0, 0.0))
    model, rng, n = builder.build(), np.random.default_rng(0), 64
    angle, q = rng.uniform(-1.0, 1.0, n), np.tile(model.neutral(), (n, 1))
    q[:, 4], q[:, 6] = np.sin(angle / 2), np.cos(angle / 2)
    q[:, 2] = -fw.scenes.lowest(model, q) - 1e-5
    v = rng.normal(size=(n, 6)) - [0, 0, 1.0, 0, 0, 0]
    step = {"dt": 1e-3, "contact": fw.contact.Impulse(friction=0.8, restitution=0.9, tolerance=1e-12)}

    eps = 1e-6
    pushed = (v[:, None, None] + eps * np.array([1.0, -1.0])[:, None, None] * np.eye(6)).reshape(-1, 6)
    after = fw.rollout(model, np.repeat(q, 12, axis=0), pushed, steps=1, **step).v[:, -1].reshape(n, 2, 6, 6)
    expected = (after[:, 0] - after[:, 1]).swapaxes(1, 2) / (2 * eps)
    refused = []
    for k in range(n):
        try:
            A = fw.linearize(model, q[k], v[k], **step).A
        except ValueError as error:
            refused.append(str(error))
        else:
            np.testing.assert_allclose(A[6:, 6:], expected[k], rtol=0, atol=1e-7)
    assert 0 < len(refused) < n / 2
    assert all("a bounce was taken back" in text for text in refused)
