"""What users' force elements, constraints and numbers may get wrong: it is told, or it does not matter."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight.constraints import Block, Constraint, Equality, JointLimit, Push
from featherweight.contact import Impulse, Surface
from featherweight.forces import Advance, ForceElement
from featherweight.inputs import INPUT, with_fields
from featherweight.spatial import Force, Matrix, Motion, Transform, Vector

PENDULUM = fw.robots.pendulum()


def sphere() -> fw.Model:
    build = fw.Builder("sphere").add_body("sphere", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    return build.add_contact_point("p", parent="sphere").build()


SPHERE = sphere()


def slide(contact: Any) -> np.ndarray:
    run = fw.rollout(SPHERE, SPHERE.neutral(), [1.0, 0, 0, 0, 0, 0], steps=50, dt=1e-3, contact=contact)
    return run.q


@pytest.mark.parametrize("half", [Fraction(1, 2), np.float32(0.5), np.float64(0.5), np.array(0.5)])
def test_real_numbers_of_any_kind_are_the_numbers_they_are(half: Any) -> None:
    np.testing.assert_array_equal(slide(replace(Impulse(), friction=0.5)), slide(with_fields(Impulse(), friction=half)))
    limit = JointLimit(slop=half)
    assert limit.slop == 0.5
    motor = fw.actuators.DCMotor(1.0, 0.05, 0.2, 24.0, 1.0)
    runs = [
        fw.rollout(PENDULUM, [0.0], [0.0], steps=5, dt=1e-2, tau=np.ones((5, 1)), actuators=m).q
        for m in (replace(motor, voltage=0.5), with_fields(motor, voltage=half))
    ]
    np.testing.assert_array_equal(*runs)


def test_zero_is_zero() -> None:
    runs = [slide(with_fields(Impulse(), friction=zero)) for zero in (0.0, 0, -0.0, np.float32(0))]
    for other in runs[1:]:
        np.testing.assert_array_equal(runs[0], other)


@dataclass(frozen=True)
class Torque(ForceElement):
    """A constant torque, remembered in an array that anybody may change."""

    values: Any

    def forces(self, at: Any, memory: Any) -> Push:
        return Push(joints={0: float(self.values[0])})


@dataclass(frozen=True)
class Counted:
    """Values that are others whenever they are asked for."""

    source: Any

    def __getitem__(self, k: int) -> float:
        return next(self.source)


def torque(element: ForceElement) -> float:
    return float(fw.rollout(PENDULUM, [0.0], [0.0], steps=1, dt=1.0, forces=element).v[-1, 0])


def test_a_loop_is_of_the_numbers_it_was_asked_for() -> None:
    changed = Torque(np.array([7.0]))
    with fw.interpret():
        assert torque(changed) == pytest.approx(7.0)
    changed.values[0] = 8.0
    assert torque(Torque(np.array([7.0]))) == pytest.approx(7.0)
    assert torque(changed) == pytest.approx(8.0)


def test_a_subclass_keeps_its_own_blocks() -> None:
    class Mine(JointLimit):
        def blocks(self, at: Any) -> list[Block]:
            raise ValueError("asked")

    arm = fw.Builder("arm").add_body("a", joint=fw.joints.Revolute("y"), inertia=fw.Inertia.sphere(1.0, 0.1)).build()
    assert not Mine().block_sizes(arm)
    with pytest.raises(fw.SimulationError, match=r"constraints: ValueError .* in blocks at .*: asked"):
        fw.rollout(arm, [0.0], [0.0], steps=1, dt=1e-3, constraints=Mine())


@dataclass(frozen=True)
class Pin(Constraint):
    """The tip of the pendulum stands still, in all three directions: along its axis nothing can move."""

    def block_sizes(self, model: fw.Model) -> list[int]:
        return [1, 1, 1]

    def blocks(self, at: Any) -> list[Block]:
        tip = Vector(0.0, 0.0, -1.0)
        axes = [Vector(*row) for row in np.eye(3).tolist()]
        return [Block(Equality(), (1,), True, lambda a=a: [Push({1: at.force_at(1, tip, a)})]) for a in axes]


def test_rows_that_can_move_nothing_do_no_harm() -> None:
    run = fw.rollout(PENDULUM, [0.3], [1.0], steps=3, dt=1e-3, constraints=Pin())
    assert run.status == fw.Status.OK
    np.testing.assert_allclose(run.v[1:], 0.0, atol=1e-6)


def test_pushes_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Push())) == Push()


@dataclass(frozen=True)
class Wrong(ForceElement):
    how: str

    def memory_size(self, model: fw.Model) -> int:
        return 2

    def advance(self, at: Any, h: Any, memory: Any) -> Advance:
        records = {"heat": [1.0]} if self.how == "record" else {}
        return Advance(list(memory[:1]) if self.how == "memory" else list(memory), records)

    def joint_damping(self, model: fw.Model) -> dict[int, float]:
        return {9: 1.0} if self.how == "damping" else {}

    def forces(self, at: Any, memory: Any) -> Any:
        if self.how == "attribute":
            return at.nothing
        return {"body": Push({-1: Force.zero()}), "type": None}.get(self.how, Push())


@pytest.mark.parametrize(
    ("how", "kind", "message"),
    [
        ("memory", ValueError, r"Wrong\.advance: expected 2 numbers to remember, got 1"),
        ("record", ValueError, r"expected names among tau, contact_force, .* got heat"),
        ("damping", ValueError, r"joint_damping: expected degrees of freedom from 0 to 0, got \[9\]"),
        ("body", ValueError, r"Wrong pushes bodies \[-1\]"),
        ("type", TypeError, r"Wrong\.forces: expected a Push, got NoneType"),
        (
            "attribute",
            fw.SimulationError,
            r"forces: AttributeError while a step was traced, in forces at .*mistakes",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(how: str, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        fw.rollout(PENDULUM, [0.0], [0.0], steps=1, dt=1e-3, forces=Wrong(how))
    assert torque(Torque((2.0,))) == pytest.approx(2.0)  # and nothing is left of it


def test_over_asks_for_as_many_numbers_with_scalars_as_without() -> None:
    @dataclass(frozen=True)
    class Lazy(Torque):
        def over(self, numbers: Any) -> Any:
            return with_fields(self, values=map(numbers.number, [*self.values, *self.values]))  # no tuple: asked later

        def forces(self, at: Any, memory: Any) -> Push:
            return Push(joints={0: next(iter(self.values))})

    @dataclass(frozen=True)
    class Forgetful(Torque):
        def over(self, numbers: Any) -> Any:
            first = numbers.number(self.values[0])
            return with_fields(self, values=(first, numbers.number(2.0) if first is INPUT else 2.0))

    with pytest.raises(fw.SimulationError, match=r"over: expected to be asked for as many numbers .* got more"):
        torque(Lazy((1.0,)))
    with pytest.raises(RuntimeError, match=r"over: expected to be asked for as many numbers .* got fewer"):
        torque(Forgetful((1.0,)))


def test_a_joint_whose_subspace_turns_must_say_how() -> None:
    @dataclass(frozen=True)
    class Curve(fw.joints.Joint):
        nq = nv = 1

        def transform(self, q: Any) -> Any:
            return Transform(Matrix.identity(), Vector(q[0], 0.0, q[0] * q[0]))

        def subspace(self, q: Any) -> Any:
            return (Motion(Vector.zero(), Vector(1.0, 0.0, 2.0 * q[0])),)

        def random(self, rng: Any) -> Any:
            return rng.uniform(-1.0, 1.0, 1)

    with pytest.raises(fw.ModelError, match="subspace of Curve changes with q; give `subspace_rate"):
        fw.Builder("c").add_body("b", joint=Curve(), inertia=fw.Inertia.sphere(1.0, 0.1))


def test_a_surface_says_what_it_must() -> None:
    @dataclass(frozen=True)
    class Flat(Surface):
        def height(self, p: Vector) -> Any:
            return p.z

    with pytest.raises(TypeError, match=r"Flat\.height: expected \(distance, Vector of the normal\), got Node"):
        slide(Impulse(Flat()))


def test_effort_limits_act_without_forces_and_are_bound() -> None:
    arm = fw.Builder("arm").add_body(
        "a", joint=fw.joints.Revolute((0.3, 0.4, 0.5)), inertia=fw.Inertia.sphere(1.0, 0.1, (0.1, 0.0, 0.0)),
        limits=fw.Limits(effort=2.5),
    )  # fmt: skip
    run = fw.rollout(arm.build(), [0.0], [0.0], steps=3, dt=1e-3, actuators=fw.actuators.EffortLimits())
    assert not run.tau.any()


def test_an_object_that_changes_is_never_taken_for_what_it_was() -> None:
    """Options are remembered by their objects only where all of them are ours, which do not change."""
    element = Torque(np.array([1.0]))
    assert torque(element) == pytest.approx(1.0)
    element.values[0] = 3.0
    assert torque(element) == pytest.approx(3.0)

    counted = Torque(Counted(itertools.count(1.0)))  # nothing tells where a counter stands
    assert torque(counted) != torque(counted)

    class Half(Impulse):
        scale = 1.0

        def over(self, numbers: Any) -> Any:
            return with_fields(super().over(numbers), friction=self.friction * self.scale)

    contact = Half(friction=0.5)
    first = slide(contact)
    Half.scale = 0.1
    assert not np.array_equal(first, slide(contact))
