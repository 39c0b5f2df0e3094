"""Against Pinocchio on every robot of example-robot-data, fixed and free: all functions that both have."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import mpmath
import numpy as np
import pinocchio as pin
import pytest

import featherweight as fw
from featherweight import algorithms
from featherweight.spatial import Force, Vector
from peers.pinocchio_adapter import MIMIC_UNREADABLE, UNREADABLE, all_urdfs, pinocchio_model, robot
from peers.pinocchio_functions import (
    DIVIDING,
    States,
    above,
    chosen_frames,
    error,
    errors,
    functions,
    jacobian,
    mass_matrix,
    mimics,
    mimics_freed,
    moves_freely,
    point_jacobian,
    rates_from,
    states,
    theirs_of,
)

STATES = 5
TOLERANCE = 1e-10
READABLE = [urdf for urdf in all_urdfs() if urdf not in UNREADABLE]
CASES = [(urdf, base) for urdf in READABLE for base in ("fixed", "free")]
MIMIC = [
    "baxter_description/urdf/baxter.urdf",
    "panda_description/urdf/panda.urdf",
    "panda_description/urdf/panda_collision.urdf",
    "pr2_description/urdf/pr2.urdf",
    "tiago_pro_description/robots/tiago_pro.urdf",
]

# These run as native code; the others run the same source on NumPy, in a tenth of the time.
COMPILED = {
    ("allegro_hand_description/urdf/allegro_left_hand.urdf", "fixed"),
    ("double_pendulum_description/urdf/double_pendulum_continuous.urdf", "free"),
    ("finger_edu_description/robots/finger_edu.urdf", "free"),
    ("go2_description/urdf/go2.urdf", "free"),
    ("iris_description/robots/iris.urdf", "free"),
    ("kinova_description/robots/kinova.urdf", "fixed"),
    ("panda_description/urdf/panda.urdf with mimic joints", "fixed"),
    ("pr2_description/urdf/pr2.urdf", "fixed"),
    ("so_arm_description/urdf/so101.urdf", "free"),
}

# Nothing moves, so there is no mass to speak of.
MOTIONLESS = {
    ("hector_description/robots/quadrotor_base.urdf", "fixed"),
    ("iris_description/robots/iris_simple.urdf", "fixed"),
}
OF_MASS = ("center_of_mass", "com_jacobian", "momentum", "centroidal_momentum_matrix", "centroidal_bias")

# M has rows of zeros: so many joints move bodies without inertia, and nothing can be divided by M.
SINGULAR = {
    "romeo_description/urdf/romeo.urdf": 24,  # the fingers
    "romeo_description/urdf/romeo_laas_small.urdf": 2,  # the grippers
}

# M is near singular, and what Pinocchio divides by it is right to ten digits only: 40 digits are the judge instead.
NEAR_SINGULAR = {
    ("icub_description/robots/icub.urdf", "fixed"): "hips, neck and wrists have no moment of inertia",
    ("icub_description/robots/icub.urdf", "free"): "hips, neck and wrists have no moment of inertia",
    ("tiago_description/robots/tiago_no_hand.urdf", "fixed"): "the last link has 4e-6 kg m² about its axis",
    ("tiago_description/robots/tiago_no_hand.urdf", "free"): "the last link has 4e-6 kg m² about its axis",
}


def way(urdf: str, base: str) -> AbstractContextManager:
    return nullcontext() if (urdf, base) in COMPILED else fw.interpret()


def test_every_robot_is_here() -> None:
    assert len(all_urdfs()) == 69
    assert len(CASES) == 2 * (69 - len(UNREADABLE))
    assert set(CASES) >= MOTIONLESS | set(NEAR_SINGULAR)
    assert len(COMPILED & {*CASES, *((f"{urdf} with mimic joints", "fixed") for urdf in MIMIC)}) == len(COMPILED)
    for urdf in UNREADABLE:
        with pytest.raises(ValueError, match="does not contain a valid URDF model"):
            pinocchio_model(urdf, "fixed")


def test_every_robot_with_mimic_joints_is_here() -> None:
    for urdf in MIMIC_UNREADABLE:
        with pytest.raises(ValueError, match="parent joint of the mimic joint"):
            pinocchio_model(urdf, "fixed", mimic=True)
    others = [urdf for urdf in READABLE if urdf not in MIMIC_UNREADABLE]
    assert [urdf for urdf in others if mimics(pinocchio_model(urdf, "fixed", mimic=True))] == MIMIC


def test_operational_inertia_is_compared_wherever_the_tip_moves_freely() -> None:
    """Not on 24 fixed robots, whose longest branch has too few joints."""
    compared = [case for case in CASES if "operational_inertia" in functions(pinocchio_model(*case))]
    assert len(compared) == len(CASES) - len(MOTIONLESS) - 24
    assert {urdf for urdf, base in compared if base == "free"} == set(READABLE)


@pytest.mark.parametrize(("urdf", "base"), CASES)
def test_agrees_with_pinocchio(urdf: str, base: str) -> None:
    theirs, ours = pinocchio_model(urdf, base), robot(urdf, base)
    left_out: tuple[str, ...] = ()
    if urdf in SINGULAR or (urdf, base) in NEAR_SINGULAR:  # see below
        left_out = DIVIDING
    if (urdf, base) in MOTIONLESS:
        assert theirs.nv == 0
        left_out = OF_MASS
    pairs = {name: pair for name, pair in functions(theirs).items() if name not in left_out}
    with way(urdf, base):
        found = errors(ours, theirs, states(ours, STATES), pairs)
    assert not above(TOLERANCE, found)


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("urdf", SINGULAR)
def test_singular_robots_are_refused(urdf: str, base: str) -> None:
    theirs, ours = pinocchio_model(urdf, base), robot(urdf, base)
    x = states(ours, STATES)
    for one in x.theirs(ours, theirs):
        M = mass_matrix(theirs, theirs.createData(), one)
        assert np.count_nonzero(~M.any(axis=1)) == SINGULAR[urdf]
    pairs = functions(theirs)
    for name in [name for name in DIVIDING if name in pairs]:
        with fw.interpret(), pytest.raises(ValueError, match="the mass matrix is singular"):
            pairs[name].ours(ours, x)


def forty_digits(model: fw.Model, m: pin.Model, x: States) -> dict[str, np.ndarray]:
    """All that divides by M, for one state, from M and c to 40 digits."""
    data, theirs = m.createData(), next(States(*(array[None] for array in x)).theirs(model, m))
    with mpmath.workdps(40):
        tree = model.over(lambda number: mpmath.mpf(float(number)), lambda: None)
        q, v, tau = ([mpmath.mpf(float(number)) for number in array] for array in (x.q, x.v, x.tau))
        f_ext = [Force(Vector(*row[3:]), Vector(*row[:3])) for row in x.f_ext.tolist()]
        inverse = mpmath.inverse(mpmath.matrix(algorithms.mass_matrix(tree, q)))

        def divided(J: np.ndarray) -> np.ndarray:
            """J M⁻¹ Jᵀ."""
            return np.array((mpmath.matrix(J) * inverse * mpmath.matrix(J.T)).tolist())

        def accelerated(forces: list[Force] | None) -> np.ndarray:
            bias, _ = algorithms.inverse_dynamics(tree, q, v, [0] * m.nv, forces)
            return np.array((inverse * (mpmath.matrix(tau) - mpmath.matrix(bias))).tolist())[:, 0]

        middle, *_, tip = chosen_frames(m).values()
        truth = {
            "forward_dynamics": accelerated(None),
            "forward_dynamics f_ext": accelerated(f_ext),
            "mass_matrix_inverse": np.array(inverse.tolist()),
            "solve_mass_matrix": np.array((inverse * mpmath.matrix(tau)).tolist())[:, 0],
            "delassus": divided(point_jacobian(m, data, theirs, tip, middle)),
        }
        if moves_freely(m, tip):
            G = divided(jacobian(m, data, theirs, tip, "body"))
            truth["operational_inertia"] = np.array(mpmath.inverse(mpmath.matrix(G.tolist())).tolist())
        return {name: value.astype(float) for name, value in truth.items()}


@pytest.mark.parametrize(("urdf", "base"), NEAR_SINGULAR)
def test_near_singular_robots_against_forty_digits(urdf: str, base: str) -> None:
    """Ours are right, and it is Pinocchio's that are not."""
    theirs, ours = pinocchio_model(urdf, base), robot(urdf, base)
    pairs = {name: pair for name, pair in functions(theirs).items() if name in DIVIDING}
    x = states(ours, STATES)
    truth = [forty_digits(ours, theirs, States(*one)) for one in zip(*x, strict=True)]
    off, off_theirs, data = {}, {}, theirs.createData()
    for name, pair in pairs.items():
        true = np.array([values[name] for values in truth])
        sizes = np.abs(true).reshape(STATES, -1).max(axis=1)
        with fw.interpret():
            off[name] = error(pair.ours(ours, x), true, sizes)
        off_theirs[name] = error(theirs_of(pair, theirs, data, x.theirs(ours, theirs))[0], true, sizes)
    assert not above(1e-11, off)
    assert max(off_theirs.values()) > 1e-11


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("urdf", MIMIC)
def test_mimic_joints_agree_with_pinocchio(urdf: str, base: str) -> None:
    theirs, ours, full = pinocchio_model(urdf, base, True), robot(urdf, base, True), pinocchio_model(urdf, base)
    pairs = rates_from(full, lambda x: mimics_freed(theirs, full, x), functions(theirs))
    with way(f"{urdf} with mimic joints", base):
        found = errors(ours, theirs, states(ours, STATES), pairs)
    assert not above(TOLERANCE, found)
