"""Gradients of whole rollouts: against central differences of rollouts, with contacts that slide, stick and bounce."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight.contact import Impulse, Plane, SpringDamper
from featherweight.joints import Prismatic, Revolute
from simulation.test_linearize import H, hopper, monopod, standing

STEPS = 40


def cost(t: Any, q: Any, v: Any, tau: Any, x: Any) -> Any:
    return q[0] * q[0] + 0.1 * (v @ v) + 1e-2 * (1.0 + t) * (tau @ tau)


def final(q: Any, v: Any, x: Any) -> Any:
    return 3.0 * q[2] * q[2] + v[1]


def value(model: fw.Model, q: Any, v: Any, **options: Any) -> float:
    """The same cost of a rollout, added up in Python."""
    run = fw.rollout(model, q, v, steps=STEPS, dt=H, **options)
    assert run.status == fw.Status.OK
    total = sum(cost(k * H, run.q[k], run.v[k], run.tau[k], None) for k in range(STEPS))
    return float(total + final(run.q[-1], run.v[-1], None))


def slope(f: Any, x: np.ndarray, d: np.ndarray, eps: float) -> float:
    return (f(x + eps * d) - f(x - eps * d)) / (2 * eps)


@pytest.mark.parametrize("friction", [0.05, 0.9], ids=["slides", "sticks"])
def test_gradients_are_those_of_differences(friction: float) -> None:
    model, q, v, _ = hopper()
    rng = np.random.default_rng(0)
    tau = rng.normal(size=(STEPS, 3))
    contact = Impulse(ground=Plane(friction=friction, restitution=0.3), tolerance=1e-13)
    options: dict[str, Any] = {"steps": STEPS, "dt": H, "contact": contact, "tau": tau, "wrt": ("q", "v", "tau")}
    found, gradient = fw.rollout_gradient(cost, model, q, v, final=final, **options)
    assert abs(found - value(model, q, v, tau=tau, contact=contact)) <= 1e-12 * abs(found)
    along = rng.normal(size=3)
    of_q = slope(lambda x: value(model, x, v, tau=tau, contact=contact), q, along, 1e-8)
    of_v = slope(lambda x: value(model, q, x, tau=tau, contact=contact), v, along, 1e-7)
    push = rng.normal(size=tau.shape)
    of_tau = slope(lambda x: value(model, q, v, tau=x, contact=contact), tau, push, 1e-5)
    assert abs(gradient["q"] @ along - of_q) <= 1e-5 * np.linalg.norm(gradient["q"])
    assert abs(gradient["v"] @ along - of_v) <= 1e-5 * np.linalg.norm(gradient["v"])
    assert abs((gradient["tau"] * push).sum() - of_tau) <= 1e-6 * np.linalg.norm(gradient["tau"])


def test_gradients_with_respect_to_masses_and_friction() -> None:
    build = fw.Builder("box", parameters=("base.mass", "ground.friction"))
    build.add_body("slide", joint=Prismatic("x"), inertia=fw.Inertia.point(0.5))
    build.add_body("base", parent="slide", joint=Prismatic("z"), inertia=fw.Inertia.box(1.0, (0.1, 0.1, 0.1)))
    build.add_body("arm", parent="base", joint=Revolute("y"), inertia=fw.Inertia.point(0.3, (0, 0, 0.2)))
    model = build.add_contact_point("foot", parent="base").build()
    q, v, contact = np.array([0.0, -1e-4, 0.3]), np.array([1.0, 0.0, 0.0]), Impulse(tolerance=1e-13)
    at = {"base.mass": np.array(1.2), "ground.friction": np.array(0.4)}
    _, gradient = fw.rollout_gradient(
        cost, model, q, v, final=final, steps=STEPS, dt=H, contact=contact, parameters=at, wrt=list(at)
    )
    for name, given in at.items():
        assert gradient[name].shape == model.parameters[name].shape

        def changed(x: Any, name: str = name) -> float:
            parameters = {**at, name: np.reshape(x, model.parameters[name].shape)}
            return value(model, q, v, contact=contact, parameters=parameters)

        expected = slope(changed, given, np.ones(()), 1e-6)
        assert abs(float(np.ravel(gradient[name])[0]) - expected) <= 1e-6 * abs(expected) + 1e-9


def policy(t: Any, q: Any, v: Any, x: Any, p: Any) -> Any:
    """A small network with a state that follows the leg."""
    hidden = [np.tanh(p[3 * k] * q[2] + p[3 * k + 1] * v[2] + p[3 * k + 2] * x[0]) for k in range(4)]
    out = sum(p[12 + k] * h for k, h in enumerate(hidden))
    return [0.0, 0.0, out], [x[0] + 0.01 * (q[2] - x[0])]


def test_the_gradient_of_a_policy_is_right_and_descends() -> None:
    model, q, v, _ = hopper()
    p = 0.5 * np.random.default_rng(2).normal(size=16)
    contact = Impulse(ground=Plane(friction=0.9), tolerance=1e-13)

    def of(p: np.ndarray) -> tuple[float, dict[str, np.ndarray]]:
        control = fw.compiled(policy, state=np.zeros(1), parameters=p)
        return fw.rollout_gradient(
            cost, model, q, v, final=final, steps=STEPS, dt=H, contact=contact, control=control, wrt=("p", "x")
        )

    first, gradient = of(p)
    d = np.random.default_rng(3).normal(size=16)
    assert abs(gradient["p"] @ d - slope(lambda x: of(x)[0], p, d, 1e-5)) <= 1e-6 * np.linalg.norm(gradient["p"])
    now = first
    for _ in range(10):
        p = p - 0.05 * gradient["p"] / np.linalg.norm(gradient["p"])
        before, (now, gradient) = now, of(p)
        assert now < before
    assert now < first


def test_batches_have_the_bits_of_single_rollouts_on_any_threads() -> None:
    model, q, v, _ = hopper()
    rng = np.random.default_rng(5)
    Q, V, tau = np.tile(q, (20, 1)), v + 0.1 * rng.normal(size=(20, 3)), rng.normal(size=(STEPS, 3))
    options: dict[str, Any] = {"steps": STEPS, "dt": H, "contact": Impulse(), "tau": tau, "wrt": ("v", "tau")}
    values, many = fw.rollout_gradient(cost, model, Q, V, **options)
    assert (values.shape, many["v"].shape, many["tau"].shape) == ((20,), (20, 3), (20, STEPS, 3))
    with fw.threads(1):
        _, again = fw.rollout_gradient(cost, model, Q, V, **options)
    _, one = fw.rollout_gradient(cost, model, Q[3], V[3], **options)
    for name in ("v", "tau"):
        assert np.array_equal(many[name], again[name])
        assert np.array_equal(many[name][3], one[name])


def differences(model: fw.Model, q: Any, v: Any, tau: np.ndarray, eps: float, **options: Any) -> None:
    """Gradients with respect to the start and forces agree with central differences along random directions."""
    rng = np.random.default_rng(7)
    arguments: dict[str, Any] = {"steps": len(tau), "tau": tau, **options}
    _, gradient = fw.rollout_gradient(cost, model, q, v, final=final, wrt=("q", "v", "tau"), **arguments)

    def total(q: Any, v: Any, tau: Any) -> float:
        run = fw.rollout(model, q, v, **{**arguments, "tau": tau})
        assert run.status == fw.Status.OK
        dt = options["dt"]
        each = [cost(k * dt, run.q[k], run.v[k], run.tau[k], None) for k in range(len(tau))]
        return float(sum(each) + final(run.q[-1], run.v[-1], None))

    d = rng.normal(size=model.nv)
    push = rng.normal(size=tau.shape)
    of_q = (total(q + eps * d, v, tau) - total(q - eps * d, v, tau)) / (2 * eps)
    of_v = (total(q, v + eps * d, tau) - total(q, v - eps * d, tau)) / (2 * eps)
    of_tau = (total(q, v, tau + 1e-4 * push) - total(q, v, tau - 1e-4 * push)) / 2e-4
    assert abs(gradient["q"] @ d - of_q) <= 1e-5 * np.linalg.norm(gradient["q"])
    assert abs(gradient["v"] @ d - of_v) <= 1e-5 * np.linalg.norm(gradient["v"])
    assert abs((gradient["tau"] * push).sum() - of_tau) <= 1e-5 * np.linalg.norm(gradient["tau"])


SPRINGS = SpringDamper(stiffness=5e3, damping=50.0, ground=Plane(friction=0.3))


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "variational"])
def test_gradients_go_back_through_springs_that_remember(integrator: str) -> None:
    """Deflections go from step to step: over 60 steps most of what holds the foot is in them."""
    model, q, v, _ = hopper()
    tau = 0.3 * np.random.default_rng(1).normal(size=(60, 3))
    differences(model, q, v, tau, 1e-7, dt=H / 4, contact=SPRINGS, integrator=integrator)


@pytest.mark.parametrize("friction", [None, 0.05, 0.9], ids=["free", "slides", "sticks"])
def test_gradients_go_back_through_variational_steps(friction: float | None) -> None:
    model, q, v, _ = hopper()
    tau = 0.3 * np.random.default_rng(1).normal(size=(STEPS, 3))
    contact = None if friction is None else Impulse(ground=Plane(friction=friction), tolerance=1e-13)
    differences(model, q, v, tau, 1e-8, dt=H, contact=contact, integrator="variational")


@pytest.mark.parametrize("presliding", [0.0, 0.3])
def test_gradients_go_back_through_dry_friction_that_yields(presliding: float) -> None:
    """Where a row yields, the impulse of a step is a part of the state of the next."""
    build = fw.Builder("arm").add_body("upper", joint=Revolute("y"), inertia=fw.Inertia.point(1.0, (0, 0, -0.3)))
    build.add_body("lower", parent="upper", joint=Revolute("y"), placement=fw.Placement((0, 0, -0.3)), friction=0.4,
                   inertia=fw.Inertia.point(0.5, (0, 0, -0.3)))  # fmt: skip
    build.add_body("hand", parent="lower", joint=Revolute("y"), placement=fw.Placement((0, 0, -0.3)),
                   inertia=fw.Inertia.point(0.2, (0, 0, -0.1)))  # fmt: skip
    model = build.add_contact_point("tip", parent="hand").build()
    contact = Impulse(ground=Plane(point=(0, 0, -9)), tolerance=1e-13, dry_friction="rows", presliding=presliding)
    tau = 0.3 * np.random.default_rng(1).normal(size=(STEPS, 3))
    q, v = np.array([0.5, 0.1, 0.2]), np.array([0.5, 0.0, 0.3])
    differences(model, q, v, tau, 1e-6, dt=H, contact=contact)


def test_checkpoints_change_no_bit() -> None:
    model, q, v, _ = hopper()
    rng = np.random.default_rng(5)
    Q, V, tau = np.tile(q, (3, 1)), v + 0.1 * rng.normal(size=(3, 3)), rng.normal(size=(STEPS, 3))
    for contact, dt in ((Impulse(), H), (SPRINGS, H / 4)):
        options: dict[str, Any] = {"steps": STEPS, "dt": dt, "contact": contact, "tau": tau, "wrt": ("q", "v", "tau")}
        value, whole = fw.rollout_gradient(cost, model, Q, V, final=final, **options)
        for memory in (1, 4000, 9000):  # as few bytes as it takes; about 4 and 10 steps
            again, parts = fw.rollout_gradient(cost, model, Q, V, final=final, memory=memory, **options)
            assert np.array_equal(value, again)
            assert all(np.array_equal(whole[name], parts[name]) for name in whole)


def test_segments_keep_within_their_memory() -> None:
    from featherweight.simulation.kept_steps import KeptSteps
    from featherweight.simulation.problem import problem

    model, q, v, _ = hopper()
    moving = dict.fromkeys(("control", "contact", "actuators"), None)
    moving |= {"integrator": "semi_implicit", "limits": True, "forces": (), "constraints": ()}  # type: ignore[dict-item]
    what = problem(model, q, v, 10000, H, 1, None, np.zeros((10000, 3)), None, "first", moving)
    for memory in (10**7, 10**5, 3 * 10**4):
        kept = KeptSteps(what, memory, 9)
        checkpoints = -(-10000 // kept.length) * 8 * sum(c.shape[1] for c in what.carry)
        assert kept.length == 10000 or kept.length * kept.per_step + checkpoints <= memory
    assert KeptSteps(what, 1, 9).length < 200


def test_what_has_no_gradient_back_says_so() -> None:
    model, q, v, _ = hopper()
    options: dict[str, Any] = {"steps": 2, "dt": H}
    for more, message in (
        ({"memory": 0}, "memory: expected a whole number"),
        ({"wrt": ("mass",)}, "wrt: expected names among q, v, tau, got 'mass'"),
        ({"wrt": ("p",)}, "wrt: expected names among"),
    ):
        with pytest.raises(ValueError, match=message):
            fw.rollout_gradient(cost, model, q, v, **options, **more)
    waits = fw.compiled(lambda t, q, v, x, p: (v, x), every=2)
    with pytest.raises(ValueError, match="control: a controller that waits"):
        fw.rollout_gradient(cost, model, q, v, control=waits, wrt=("v",), **options)
    with pytest.raises(ValueError, match="got 'tau'; forces are the controller's here, so say what else"):
        fw.rollout_gradient(cost, model, q, v, control=waits, **options)
    with pytest.raises(ValueError, match="cost, final: expected a function"):
        fw.rollout_gradient(None, model, q, v, **options)
    with pytest.raises(TypeError, match="control: expected a controller made by"):
        fw.rollout_gradient(cost, model, q, v, control=lambda t, q, v: v, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("integrator", ["semi_implicit", "variational"])
def test_gradients_of_floating_robots_are_products_of_their_matrices(integrator: str) -> None:
    model = monopod()
    q, v, _ = standing(model)
    tau = 0.3 * np.random.default_rng(1).normal(size=(3, model.nv))
    contact = Impulse(ground=Plane(friction=0.5), tolerance=1e-13)
    options: dict[str, Any] = {"dt": H, "contact": contact, "integrator": integrator}
    _, gradient = fw.rollout_gradient(
        None, model, q, v, steps=3, tau=tau, final=lambda q, v, x: v[1] + 2.0 * v[4], wrt=("q", "v", "tau"), **options
    )
    run, n = fw.rollout(model, q, v, steps=3, tau=tau, **options), model.nv
    row = np.zeros(2 * n)
    row[n + 1], row[n + 4] = 1.0, 2.0
    for k in reversed(range(3)):
        step = fw.linearize(model, run.q[k], run.v[k], tau[k], **options)
        assert np.abs(gradient["tau"][k] - row @ step.B).max() <= 1e-6 * np.abs(row @ step.B).max()
        row = row @ step.A
    for name, expected in (("q", row[:n]), ("v", row[n:])):
        assert np.abs(gradient[name] - expected).max() <= 1e-6 * np.abs(expected).max()
