"""Springs and dampers against their law as it is documented: what becomes of the deflection along the surface."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import featherweight as fw
from featherweight.contact import Plane, SpringDamper
from featherweight.forces import Kinematics

G = 9.81
SPRINGS = {"linear": (1e4, 1e2), "hertz": (5e5, 5e3)}  # K, D; of both a deflection fades with 100 / s


def particle() -> fw.Model:
    """A body of 1 kg that touches the ground with its centre: nothing turns it."""
    builder = fw.Builder("particle").add_body("body", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    return builder.add_contact_point("centre", parent="body").build()


def lifted(model: fw.Model, position: tuple[float, ...] | np.ndarray) -> np.ndarray:
    q = model.neutral()
    q[:3] = position
    return q


@pytest.mark.parametrize("law", SPRINGS)
def test_off_the_ground_the_deflection_fades_with_stiffness_over_damping(law: str) -> None:
    """Pushed along the ground, kicked off within one step, kicked back: what is left of the deflection pulls again."""
    K, D = SPRINGS[law]
    depth = G / K if law == "linear" else (G / K) ** (2 / 3)
    h, held, flown, kick = 1e-4, 5000, 50, 20.0
    tau = np.zeros((held + 3 * flown, 6))
    tau[:held, 0] = 3.0
    tau[held - 1, 2], tau[held + flown - 1, 2] = kick / h, -2 * kick / h
    contact = SpringDamper(law=law, stiffness=K, damping=D, friction=2.0)
    model = particle()
    run = fw.rollout(model, lifted(model, (0, 0, -depth)), np.zeros(6), steps=len(tau), dt=h, tau=tau, contact=contact)

    pressed = run.contact_force[:, 0, 2] > 0
    landed = held + int(np.argmax(pressed[held:]))
    assert pressed[:held].all()
    assert landed > held + 2 * flown - 5
    stuck = run.q[held - 1, 0] - run.q[0, 0]  # u̇ is the velocity while it sticks, and was zero at first
    left = stuck * math.exp(-K / D * h * (landed - held))
    r = 1.0 if law == "linear" else math.sqrt(-run.q[landed, 2])
    assert 0.3 < left / stuck < 0.4
    assert run.contact_force[landed, 0, 0] == pytest.approx(-r * (K * left + D * run.v[landed, 0]), rel=0.02)


@pytest.mark.parametrize("law", SPRINGS)
@pytest.mark.parametrize("normal", [(0, 0, 1), (0.6, 0, 0.8), (-0.48, 0.64, 0.6)])
def test_a_deflection_from_elsewhere_acts_only_along_the_surface(law: str, normal: tuple[float, ...]) -> None:
    """Where the ground is curved, u was made on another tangent plane: f = n f_n - r K (u - n n·u) at rest."""
    K, D = SPRINGS[law]
    n, u, z = np.array(normal), np.array([2e-4, -1e-4, 3e-4]), -1e-3
    contact = SpringDamper(ground=Plane(normal=normal), law=law, stiffness=K, damping=D, friction=100.0)
    model = particle()
    q, still = lifted(model, z * n).tolist(), [0.0] * 6
    (element,) = contact.elements()
    step = element.advance(Kinematics(model, model.over_floats, q, still), 1e-4, u.tolist())

    r = 1.0 if law == "linear" else math.sqrt(-z)
    along = u - n * (n @ u)
    assert np.array(step.records["contact_force"]) == pytest.approx(-r * K * z * n - r * K * along, rel=1e-12)
    assert np.array(step.memory) == pytest.approx(along, rel=1e-12, abs=1e-18)


@pytest.mark.parametrize("law", SPRINGS)
def test_the_deflection_that_is_left_gives_the_force_of_the_step(law: str) -> None:
    """Integrators ask for forces with what is remembered after the step; where it begins they are those recorded."""
    (K, D), model, rng = SPRINGS[law], particle(), np.random.default_rng(2)
    (element,) = SpringDamper(law=law, stiffness=K, damping=D, friction=0.5).elements()
    slipped = 0
    for _ in range(40):
        q, v, u = lifted(model, (0, 0, -1e-3)).tolist(), 0.1 * rng.normal(size=6), 1e-3 * rng.normal(size=3)
        state = model, model.over_floats, q, [*v[:3], 0.0, 0.0, 0.0]
        step = element.advance(Kinematics(*state), 1e-3, u.tolist())
        push = element.forces(Kinematics(*state), step.memory)
        recorded = step.records["contact_force"]
        np.testing.assert_allclose([*push.bodies[1].force], recorded, rtol=1e-12, atol=1e-12)
        slipped += math.hypot(*recorded[:2]) > 0.4999 * recorded[2] > 0
    assert 5 < slipped < 35


@pytest.mark.parametrize("direction", [0, 2], ids=["along", "normal"])
@pytest.mark.parametrize(("law", "K", "D"), [("linear", 1e4, 5.0), ("linear", 1e4, 500.0), ("hertz", 5e5, 5e3)])
def test_steps_are_stable_up_to_the_longest_one(law: str, K: float, D: float, direction: int) -> None:
    """What rests at a depth of 1 mm and is touched comes to rest again below `stable_dt`, and does not above: exactly
    in the direction that is stiffer."""
    z = -1e-3
    weight = -K * z * (1.0 if law == "linear" else math.sqrt(-z))
    builder = fw.Builder("particle", gravity=(0, 0, -weight))
    builder.add_body("body", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    model = builder.add_contact_point("centre", parent="body").build()
    contact = SpringDamper(law=law, stiffness=K, damping=D, friction=1e3)
    q, v, longest = lifted(model, (0, 0, z)), np.zeros(6), contact.stable_dt(model, model.neutral())
    v[direction] = 1e-9

    def left(h: float) -> float:
        run = fw.rollout(model, q, v, steps=2000, dt=h, contact=contact)
        return float(np.abs(run.v[-3:, direction]).max() / v[direction])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert left(0.99 * longest) < 0.1
        if law == "linear" or direction == 2:
            assert left(1.01 * longest) > 10


def hand(kind: str) -> tuple[fw.Model, np.ndarray, np.ndarray]:
    """A body of 1 kg askew, its inertia about three axes, and where it touches from its centre, in its axes."""
    inertia, turned = np.array([0.02, 0.03, 0.04]), np.array([0.1, -0.2, 0.3, np.sqrt(0.86)])
    x, y, z, w = turned
    up = np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])  # in its axes
    builder = fw.Builder("hand")
    builder.add_body("hand", joint=fw.joints.Free(), inertia=fw.Inertia(1.0, (0, 0, 0), np.diag(inertia)))
    half = np.array([0.1, 0.15, 0.05])
    if kind == "round point":
        builder.add_contact_point("tip", parent="hand", position=(0.05, 0.0, 0.02), radius=0.07)
        places = [np.array([0.05, 0.0, 0.02]) - 0.07 * up]
    elif kind == "capsule":
        builder.add_geometry("hand", fw.shapes.Capsule(0.05, 0.3))
        places = [np.array([0.0, 0.0, side * 0.15]) - 0.05 * up for side in (1, -1)]
    else:  # of each diagonal its lower end
        builder.add_geometry("hand", fw.shapes.Box(2 * half))
        diagonals = [half * side for side in ((1, 1, 1), (1, 1, -1), (1, -1, 1), (1, -1, -1))]
        places = [-d * np.sign(d @ up) for d in diagonals]
    model = builder.build()
    return model, np.concatenate([[0.3, -0.2, 0.5], turned]), np.array(places)


@pytest.mark.parametrize("kind", ["round point", "capsule", "box"])
def test_the_longest_step_is_that_of_all_places_where_a_body_may_touch(kind: str) -> None:
    """h < 2 / (ω √(1 + ζ²) + ω ζ), ω² = K λ, 2 ζ ω = D λ with λ the largest eigenvalue of J M⁻¹ Jᵀ, J = [1, -r^]."""
    model, q, places = hand(kind)
    J = np.concatenate([np.hstack([np.eye(3), -np.cross(np.eye(3), r)]) for r in places])
    M = np.diag([1.0, 1.0, 1.0, 0.02, 0.03, 0.04])
    K, D, moved = 1e4, 30.0, np.linalg.eigvalsh(J @ np.linalg.solve(M, J.T))[-1]
    omega, damping = np.sqrt(K * moved), D * moved / 2  # ω, ζ ω
    longest = SpringDamper(law="linear", stiffness=K, damping=D).stable_dt(model, q)
    assert longest == pytest.approx(2.0 / (np.sqrt(omega**2 + damping**2) + damping), rel=1e-12)
