"""Numbers of contact models, surfaces, integrators and motors are inputs: others compile nothing, and each acts."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight.contact import Box, Heightfield, Impulse, Plane, Sphere, SpringDamper
from featherweight.inputs import INPUT, Numbers, absent
from featherweight.integrators import Variational
from featherweight.spatial import Vector

TILT = (0.1, 0.2, 1.0)


def robot() -> fw.Model:
    """A ball with an arm that rubs, has a limit, and two contact points."""
    build = fw.Builder("arm").add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    build.add_body(
        "arm", parent="ball", joint=fw.joints.Revolute("y"), inertia=fw.Inertia.box(0.5, (0.4, 0.1, 0.1), (0.2, 0, 0)),
        limits=fw.Limits(-0.2, 0.3), friction=0.05, armature=0.01,
    )  # fmt: skip
    build.add_contact_point("p", parent="ball", radius=0.1)
    return build.add_contact_point("tip", parent="arm", position=(0.4, 0.0, 0.0)).build()


MODEL = robot()
Q = np.array([0.1, 0.0, 0.15, 0.1, 0.2, 0.0, np.sqrt(0.95), 0.1])
V = np.array([1.0, 0.3, -2.0, 0.4, -1.0, 0.7, 3.0])
TURNED = fw.Placement((0.1, 0.0, -0.3), rpy=(0.1, 0.2, 0.3))
BOUNCY = Impulse(Plane(TILT, (0.0, 0.0, -0.02)), restitution=0.3, friction=0.6)
DEEP = Impulse(Plane(TILT, (0.0, 0.0, 0.2)), recovery=2.0)
BALL = Impulse(Sphere((0.1, 0.0, -0.4), 0.5, friction=0.5))
BLOCK = Impulse(Box((0.9, 0.8, 0.7), TURNED))
HILLS = Impulse(Heightfield(((0.0, 0.1), (0.05, -0.1)), 0.7, (-0.3, -0.4)))
SOFT = SpringDamper(Plane(TILT), law="linear", stiffness=3e3, damping=30.0)
MOTOR = fw.actuators.DCMotor(6.0, 0.05, 0.2, 10.0, 1.0)

# what is simulated, and one change of a number after the other
CASES: dict[str, tuple[dict[str, Any], dict[str, dict[str, Any]]]] = {
    "impulses": (
        {"contact": BOUNCY},
        {
            "friction": {"contact": replace(BOUNCY, friction=0.1)},
            "restitution": {"contact": replace(BOUNCY, restitution=0.8)},
            "bounce speed": {"contact": replace(BOUNCY, bounce_speed=10.0)},
            "tolerance": {"contact": replace(BOUNCY, tolerance=0.3)},
            "normal": {"contact": replace(BOUNCY, ground=Plane((0.2, 0.1, 1.0), (0.0, 0.0, -0.02)))},
            "height": {"contact": replace(BOUNCY, ground=Plane(TILT, (0.0, 0.0, 0.01)))},
        },
    ),
    "deep": (
        {"contact": DEEP},
        {
            "recovery": {"contact": replace(DEEP, recovery=1.0)},
            "recovery speed": {"contact": replace(DEEP, recovery_speed=0.1)},
            "slop": {"contact": replace(DEEP, slop=1e-2)},
        },
    ),
    "ball": (
        {"contact": BALL},
        {
            "center": {"contact": Impulse(Sphere((0.2, 0.1, -0.4), 0.5, friction=0.5))},
            "radius": {"contact": Impulse(Sphere((0.1, 0.0, -0.4), 0.55, friction=0.5))},
            "own friction": {"contact": Impulse(Sphere((0.1, 0.0, -0.4), 0.5, friction=0.1))},
        },
    ),
    "block": (
        {"contact": BLOCK},
        {
            "size": {"contact": Impulse(Box((0.9, 0.8, 0.8), TURNED))},
            "place": {"contact": Impulse(Box((0.9, 0.8, 0.7), fw.Placement((0.1, 0.0, -0.2), rpy=(0.1, 0.2, 0.3))))},
            "turn": {"contact": Impulse(Box((0.9, 0.8, 0.7), fw.Placement((0.1, 0.0, -0.3), rpy=(0.3, 0.2, 0.1))))},
        },
    ),
    "hills": (
        {"contact": HILLS},
        {
            "heights": {"contact": Impulse(Heightfield(((0.0, 0.05), (0.1, -0.2)), 0.7, (-0.3, -0.4)))},
            "spacing": {"contact": Impulse(Heightfield(((0.0, 0.1), (0.05, -0.1)), 0.9, (-0.3, -0.4)))},
            "origin": {"contact": Impulse(Heightfield(((0.0, 0.1), (0.05, -0.1)), 0.7, (-0.1, -0.4)))},
        },
    ),
    "rows": (
        {"contact": Impulse(dry_friction="rows")},
        {"presliding": {"contact": Impulse(dry_friction="rows", presliding=0.5)}},
    ),
    "springs": (
        {"contact": SOFT, "integrator": "rk4", "limits": False},
        {
            "stiffness": {"contact": replace(SOFT, stiffness=4e3)},
            "damping": {"contact": replace(SOFT, damping=40.0)},
            "friction": {"contact": replace(SOFT, friction=0.1)},
        },
    ),
    "variational": (
        {"integrator": Variational(tolerance=1e-3, guess="rest"), "limits": False},
        {"tolerance": {"integrator": Variational(tolerance=1e-12, guess="rest")}},
    ),
    "motors": (
        {"actuators": MOTOR},
        {
            name: {"actuators": replace(MOTOR, **{name: 0.5 * getattr(MOTOR, name)})}
            for name in ("gear", "torque_constant", "resistance", "voltage", "torque", "current_factor", "speed_factor")
        },
    ),
}


def run(model: fw.Model, options: dict[str, Any]) -> fw.Trajectory:
    tau = np.full((40, model.nv), 3.0) * (np.arange(model.nv) == 6)
    return fw.rollout(model, Q, V, steps=40, dt=2e-3, tau=tau, **options)


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Modules that were compiled or fetched from the cache."""
    from featherweight.compiler.runtime import code

    made: list[str] = []
    load = code.Code.__init__

    def counted(self: Any, *arguments: Any) -> None:
        made.append("code")
        load(self, *arguments)

    monkeypatch.setattr(code.Code, "__init__", counted)
    return made


@pytest.mark.parametrize("case", CASES)
def test_another_number_compiles_nothing_and_acts(case: str, compilations: list[str]) -> None:
    options, changes = CASES[case]
    first = run(MODEL, options)
    compilations.clear()
    for name, change in changes.items():
        other = run(MODEL, {**options, **change})
        assert not compilations, name
        assert not np.array_equal(first.q, other.q), f"{name} has no effect"
        alone = run(robot(), {**options, **change})  # its own code, traced for these numbers
        np.testing.assert_array_equal(other.q, alone.q, name)
        np.testing.assert_array_equal(other.contact_force, alone.contact_force, name)
        compilations.clear()
    np.testing.assert_array_equal(run(MODEL, options).q, first.q)


def test_what_is_absent_is_structure() -> None:
    """Without friction, restitution, or along an axis, code is left out; the results are those of small numbers."""
    none = run(MODEL, {"contact": Impulse(friction=0.0)})
    little = run(MODEL, {"contact": Impulse(friction=1e-13)})
    np.testing.assert_allclose(none.q, little.q, rtol=0, atol=1e-9)
    level, tilted = (run(MODEL, {"contact": Impulse(Plane((x, 0.0, 1.0)))}) for x in (0.0, 1e-13))
    np.testing.assert_allclose(level.q, tilted.q, rtol=0, atol=1e-9)


SCRIPT = """
import sys
sys.path.insert(0, {folder!r})
from test_inputs import CASES, MODEL, run
options, changes = CASES["impulses"]
print(run(MODEL, {{**options, **changes["friction"]}}).q[-1].tobytes().hex())
"""


def test_a_process_without_a_cache_gives_the_same_bits(tmp_path: Any) -> None:
    import os
    from pathlib import Path

    options, changes = CASES["impulses"]
    run(MODEL, options)
    here = run(MODEL, {**options, **changes["friction"]}).q[-1].tobytes().hex()
    script = SCRIPT.format(folder=str(Path(__file__).parent))
    environment = {**os.environ, "FEATHERWEIGHT_CACHE": "off"}
    there = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert there.stdout.strip() == here


def test_which_numbers_are_inputs() -> None:
    """All but what is absent, and 0 and ±1 of directions: those are structure."""
    numbers = Numbers()
    assert numbers.number(0.0) is INPUT
    assert [numbers.optional(x) for x in (-2.0, 0.0, None, 3)] == [INPUT, 0.0, None, INPUT]
    assert numbers.direction((-1.0, 0.0, 1.0)) == (-1.0, 0.0, 1.0)
    assert numbers.direction((-0.6, 0.0, 0.8)) == (INPUT, 0.0, INPUT)
    assert numbers.table(np.arange(4)) == (INPUT, 4)
    assert numbers.values == [0.0, -2.0, 3.0, -0.6, 0.8]
    assert [(table.tolist(), table.dtype) for table in numbers.tables] == [([0.0, 1.0, 2.0, 3.0], np.dtype(float))]
    assert [absent(x) for x in (0, -0.0, 1e-300, -1e-3, INPUT)] == [True, True, False, False, False]
    with pytest.raises(TypeError, match="expected a real number as an input of compiled code, got True"):
        numbers.number(True)


@pytest.mark.parametrize(
    "surface", [BOUNCY.surfaces[0], Plane(), BALL.surfaces[0], BLOCK.surfaces[0], Box(), HILLS.surfaces[0]], ids=repr
)
def test_a_surface_over_its_own_numbers_is_itself(surface: Any) -> None:
    """What is compiled is `over(numbers)`: with the very numbers it says what the surface says."""
    asked = Numbers()
    surface.over(asked)
    same = surface.over(Numbers(asked.values, asked.tables))
    for p in np.random.default_rng(0).uniform(-0.8, 0.8, (50, 3)).tolist():
        (height, normal), (other, turned) = surface.height(Vector(*p)), same.height(Vector(*p))
        assert other == pytest.approx(height, abs=1e-14)
        assert tuple(turned) == pytest.approx(tuple(normal), abs=1e-14)


def test_motors_over_their_own_numbers_are_themselves() -> None:
    asked = Numbers()
    MOTOR.over(asked)
    same, v, tau = MOTOR.over(Numbers(asked.values)), [0.5] * MODEL.nv, list(np.linspace(-9.0, 9.0, MODEL.nv))
    assert same.forces(MODEL, v, tau) == MOTOR.forces(MODEL, v, tau)
