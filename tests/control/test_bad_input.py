"""Controllers on robots and numbers that are not for them: clear errors; on wild states: finite torques."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw

CHEETAH = fw.robots.mini_cheetah()
CROUCHED = fw.scenes.crouched(CHEETAH)
HUMANOID = fw.robots.humanoid()
STANDING = fw.scenes.standing(HUMANOID)
BALLS = fw.robots.humanoid(ball_joints=True)
ARM = fw.robots.chain(3)
PD = fw.control.joint_pd(ARM, [0.0] * 3)


def floating(placement: fw.Placement | None = None, **options) -> fw.Model:
    """A box that floats."""
    builder = fw.Builder("box", **options)
    where = {} if placement is None else {"placement": placement}
    return builder.add_body("box", joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (1, 1, 1)), **where).build()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fw.control.trot(fw.robots.chain(3), [0.0] * 3), r"trot: expected a robot with a free base"),
        (lambda: fw.control.trot("robot", CROUCHED), r"model: expected a featherweight Model, got str"),
        (lambda: fw.control.trot(HUMANOID, STANDING), r"trot: expected four feet .* found none in 'humanoid'"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED[:-1]), r"q: expected shape \(…, nq\) = \(…, 19\), got \(18,\)"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED * np.nan), r"q: expected finite numbers"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED, feet=("a", "b")), r"has no contact point 'a' for a foot"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED, feet=("FR_foot",)), r"trot: expected four feet .*found FR_foot"),
        (
            lambda: fw.control.trot(CHEETAH, CROUCHED, feet=("FR_knee_point", "FL_foot", "HR_foot", "HL_foot")),
            r"expected 3 joints between the base and 'FR_knee_point', got 2",
        ),
        (lambda: fw.control.trot(CHEETAH, CROUCHED, most=20.0), r"most: two feet with 20 N each cannot carry"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED, friction=0.0), r"friction: expected a number > 0, got 0.0"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED, duty=0.3), r"duty: expected a share from 0.5"),
        (
            lambda: fw.control.trot(CHEETAH, CROUCHED, velocity=(1.0, 2.0)),
            r"velocity: expected finite numbers, shape \(3,\) or \(…, 3\), got \(1.0, 2.0\)",
        ),
        (lambda: fw.control.trot(CHEETAH, CROUCHED, duty=[0.6, 1.0]), r"duty: expected a share from 0.5 to less"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED, most=[200.0, 20.0]), r"most: two feet with 20 N each cannot carry"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED, friction=True), r"friction: expected a number > 0, got True"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED, period=[0.4, np.nan]), r"period: expected a number > 0"),
        (
            lambda: fw.control.trot(CHEETAH, CROUCHED, gains=(1.0, 2.0)),
            r"gains: expected QuadrupedGains, got tuple",
        ),
        (lambda: fw.control.balance(HUMANOID, STANDING, solver={}), r"solver: expected ForceSolver, got dict"),
        (lambda: fw.control.Gains(-1.0, 2.0), r"stiffness: expected a number of 0 or more, got -1.0"),
        (lambda: fw.control.ForceSolver(rho=0.0), r"rho: expected a number > 0, got 0.0"),
        (lambda: fw.control.QuadrupedGains(ramp=0.0), r"ramp: expected a number > 0, got 0.0"),
        (
            lambda: fw.control.BalanceGains(com=(40.0, 12.0)),
            r"com: expected fw.control.Gains\(…\), got \(40.0, 12.0\)",
        ),
        (lambda: fw.control.balance(CHEETAH, CROUCHED), r"balance: no frame named 'left_foot'.* by feet="),
        (lambda: fw.control.balance(HUMANOID, STANDING, feet=("left_foot",)), r"expected the names of two feet"),
        (lambda: fw.control.balance(HUMANOID, STANDING, feet=("left_hand", "right_hand")), r"three contact points"),
        (lambda: fw.control.balance(BALLS, BALLS.neutral()), r"balance: expected 6 joints|balance: expected hinges"),
        (lambda: fw.control.operational_space(CHEETAH, "body", place=[0] * 3, posture=CROUCHED), r"has a free base"),
        (lambda: fw.control.joint_pd(CHEETAH, CROUCHED, stiffness=[1.0, 2.0]), r"stiffness: expected numbers"),
        (lambda: fw.control.pushed(len, CHEETAH, "body", force=[0, 0, 1]), r"control: expected a compiled controller"),
        (lambda: fw.scenes.trot(contact="glue"), r'contact: expected "impulse" or "spring", got \'glue\''),
        (lambda: fw.control.trot(CHEETAH, np.r_[CROUCHED[:6], 2.0, CROUCHED[7:]]), r"q: joint .*quaternion"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED, iterations=0), r"iterations: expected a whole number > 0, got 0"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED, iterations=1.5), r"iterations: expected a whole number > 0"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED, start=-1.0), r"start: expected a number of 0 or more, got -1.0"),
        (lambda: fw.control.trot(CHEETAH, CROUCHED, period="fast"), r"period: expected a number > 0, got 'fast'"),
        (
            lambda: fw.control.trot(CHEETAH, CROUCHED, feet=("FR_foot", "FL_foot", "HR_foot", "FR_foot")),
            r"trot: expected feet on legs of their own, got 'FR_foot' and 'FR_foot'",
        ),
        (lambda: fw.control.balance(HUMANOID, STANDING, iterations=-1), r"iterations: expected a whole number > 0"),
        (
            lambda: fw.control.balance(HUMANOID, STANDING, feet=("left_foot", "left_foot")),
            r"balance: expected feet on legs of their own",
        ),
        (lambda: fw.control.stand(floating(gravity=(0, 0, 0)), np.r_[[0.0] * 6, 1.0]), r"stand: expected gravity"),
        (
            lambda: fw.control.stand(floating(placement=fw.Placement((0, 0, 1))), np.r_[[0.0] * 6, 1.0]),
            r"stand: expected a base whose coordinates are its pose in the world; 'box' has its free joint at",
        ),
        (lambda: fw.control.joint_pd(CHEETAH, CROUCHED[:-1]), r"target: expected shape \(…, nq\) = \(…, 19\)"),
        (lambda: fw.control.joint_pd(CHEETAH, 2 * CROUCHED), r"target: joint .*quaternion"),
        (lambda: fw.control.joint_pd(CHEETAH, CROUCHED, damping=-1.0), r"damping: expected numbers of 0 or more"),
        (lambda: fw.control.joint_pd(CHEETAH, CROUCHED, damping="much"), r"damping: expected numbers of 0 or more"),
        (lambda: fw.control.operational_space(ARM, "joint3", place=[0] * 3, posture=[0]), r"posture: expected shape"),
        *(
            (
                lambda name=name: fw.control.operational_space(
                    ARM, "joint3", place=[0] * 3, posture=[0] * 3, **{name: -1.0}
                ),
                rf"{name}: expected a number of 0 or more, got -1.0",
            )
            for name in ("stiffness", "damping", "posture_stiffness", "posture_damping", "softness")
        ),
        (lambda: fw.control.pushed(PD, "robot", "joint3", force=[0, 0, 1]), r"model: expected a featherweight Model"),
        (lambda: fw.control.pushed(PD, ARM, "nowhere", force=[0, 0, 1]), r"no frame named 'nowhere'"),
        (lambda: fw.control.pushed(PD, ARM, "joint3", force=[0, 1]), r"force: expected finite numbers, shape \(3,\)"),
        (lambda: fw.control.pushed(PD, ARM, "joint3", force=[0, 0, np.nan]), r"force: expected finite numbers"),
        (lambda: fw.control.pushed(PD, ARM, "joint3", force=[0, 0, 1], start=np.inf), r"start: expected finite"),
        (
            lambda: fw.control.pushed(PD, ARM, "joint3", force=[0, 0, 1], duration=-0.1),
            r"duration: expected times of 0 or more \[s\], got -0.1",
        ),
        (
            lambda: fw.control.forces_in_cones(np.eye(6), np.zeros(6), friction=0.6, most=[1.0]),
            r"A, b: expected shapes \(m, 3\) and \(m,\) for 1 contacts, got \(6, 6\) and \(6,\)",
        ),
        (
            lambda: fw.control.forces_in_cones(np.eye(6), np.zeros(6), friction=-0.6, most=[1.0, 1.0]),
            r"friction: expected a number of 0 or more, got -0.6",
        ),
        (
            lambda: fw.control.forces_in_cones(np.eye(6), np.zeros(6), friction=0.6, most=[1.0, 1.0], rho=0.0),
            r"rho: expected a number > 0, got 0.0",
        ),
        (
            lambda: fw.control.stances(fw.simulate(CHEETAH, CROUCHED, [0.0] * 18, duration=0.01, dt=0.01), ["FR_foot"]),
            r"run: expected a trajectory of one robot with its model, contact",
        ),
        (lambda: fw.scenes.crouched(HUMANOID), r"crouched: expected four feet .* found none in 'humanoid'"),
        (lambda: fw.scenes.crouched(CHEETAH, 0.5), r"height: expected from 0.014 to less than 0.404 m, got 0.5"),
        (lambda: fw.scenes.crouched(CHEETAH, knees="up"), r"knees: expected 'backward' or 'forward', got 'up'"),
        (lambda: fw.scenes.rough_ground(spacing=0.0), r"roughness, spacing: expected a height of 0 or more"),
        (lambda: fw.scenes.rough_ground(roughness=-1.0), r"roughness, spacing: expected a height of 0 or more"),
        (lambda: fw.scenes.ragdoll(count=0), r"count: expected a whole number > 0, got 0"),
        (lambda: fw.scenes.lowest(ARM, [0] * 3), r"model: 'chain3' has no contact points"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(call, message) -> None:
    with pytest.raises((ValueError, TypeError, KeyError), match=message):
        call()


@pytest.mark.parametrize("which", ["trot", "balance"])
def test_torques_are_finite_in_any_state(which: str) -> None:
    """Straight legs, upside down, spinning, far away: compiled, in one batch of a thousand and one step."""
    model, q0 = (CHEETAH, CROUCHED) if which == "trot" else (HUMANOID, STANDING)
    control = fw.control.named(which, model, q0)
    rng = np.random.default_rng(0)
    q = np.array([model.random(rng) for _ in range(1000)])
    q[:200, 7:] = 0.0  # straight: singular
    q[200:300] = q0
    v = rng.normal(size=(1000, model.nv)) * 10.0 ** rng.uniform(-3, 2, (1000, 1))
    run = fw.rollout(model, q, v, steps=1, dt=1e-5, control=control)
    assert set(run.status) == {fw.Status.OK}
    assert np.isfinite(run.tau).all()
    assert (run.tau[..., :6] == 0.0).all()


def test_a_pushed_controller_that_returns_too_little_is_told() -> None:
    short = fw.control.pushed(fw.compiled(lambda t, q, v, x, p: (v[:2], x)), ARM, "joint3", force=[0, 0, 1])
    with pytest.raises(fw.SimulationError, match=r"tau: expected 3 numbers from the controller that is pushed, got 2"):
        fw.simulate(ARM, [0.0] * 3, [0.0] * 3, duration=0.01, dt=0.01, control=short)
    alone = fw.control.pushed(fw.compiled(lambda t, q, v, x, p: v), ARM, "joint3", force=[0, 0, 1])
    with pytest.raises(fw.SimulationError, match=r"expected <lambda> to return \(tau, x\)"):
        fw.simulate(ARM, [0.0] * 3, [0.0] * 3, duration=0.01, dt=0.01, control=alone)


def test_a_controller_without_a_memory_can_be_pushed() -> None:
    """Its next state may be None, as for `compiled`."""
    control = fw.compiled(lambda t, q, v, x, p: (-0.1 * v, None))
    run = fw.simulate(
        ARM, [0.1] * 3, [0.0] * 3, duration=0.02, dt=0.01,
        control=fw.control.pushed(control, ARM, "joint3", force=[0.0, 10.0, 0.0], start=0.01, duration=0.01),
    )  # fmt: skip
    assert (run.tau[0] == 0).all()
    assert np.abs(run.tau[1]).max() > 1.0


@pytest.mark.parametrize("spacing", [0.2, 0.35, 0.7, 1.0])
def test_rough_ground_is_flat_where_a_robot_begins(spacing: float) -> None:
    ground = fw.scenes.rough_ground(spacing=spacing, roughness=0.1)
    x = ground.origin[0] + ground.spacing * np.arange(ground.heights.shape[0])
    assert ground.heights.shape[0] == ground.heights.shape[1]
    assert abs(x[-1] - 6.0) <= spacing / 2
    flat = np.abs(x) < 0.5
    assert flat.any()
    assert (ground.heights[np.ix_(flat, flat)] == 0).all()
    assert (ground.heights[np.ix_(~flat, ~flat)] != 0).all()


def test_a_scene_on_slippery_ground_has_a_careful_controller() -> None:
    controls = [fw.scenes.trot(friction=mu).control for mu in (0.3, 0.8)]
    careful, usual = (control.function.layout.read(control.parameters).friction for control in controls)
    assert (careful, usual) == (0.3, 0.6)
