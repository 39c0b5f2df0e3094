"""Slots: the contact points that are looked for are found, and a Newton step with them is that of all blocks."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from featherweight.collision import touches
from featherweight.constraints import Cone
from featherweight.constraints.law import LocalProblem
from featherweight.constraints.solve.coupling import Coupling
from featherweight.constraints.solve.newton import Iterate, newton_step
from featherweight.constraints.solve.system import AllBlocks
from featherweight.contact import Pair, Plane
from featherweight.contact.candidates import Ground
from featherweight.contact.near_pairs import near_pairs
from featherweight.contact.signorini import LOOK_AHEAD, reach_from_rest
from featherweight.contact.slots import nearest
from featherweight.contact.touching import both_ways, placed, touching_pairs
from featherweight.forces import Kinematics

HUMANOID = fw.robots.humanoid(collision=True)
PAIRS = touching_pairs(HUMANOID, "auto", 0)


@pytest.mark.parametrize(("robots", "links", "slots"), [(1, 3, 0), (1, 12, 8), (3, 4, 12), (4, 4, 16)])
def test_there_are_as_many_slots_as_documented(robots: int, links: int, slots: int) -> None:
    """8, or 4 for each robot or object that moves, if that is more, where pairs are many; as many as were asked for,
    but no more than there are contact points. Chains of capsules on a table, which does not move."""
    builder = fw.Builder("world").add_geometry("world", fw.shapes.Box((3, 3, 1)), name="table")
    for name in (f"{robot}.{link}" for robot in range(robots) for link in range(links)):
        robot, link = map(int, name.split("."))
        parent, joint = (f"{robot}.{link - 1}", fw.joints.Revolute("x")) if link else ("world", fw.joints.Free())
        place, body = fw.Placement((0.0, 0.0, 0.6 if link else 0.0)), fw.Inertia.sphere(1.0, 0.1)
        builder.add_body(name, parent=parent, joint=joint, placement=place, inertia=body)
        builder.add_geometry(name, fw.shapes.Capsule(0.1, 0.3))
    model = builder.build()
    found = {n: fw.contact.Impulse(pairs="auto", slots=n).arranged(model) for n in (None, 0, 3, 10_000)}
    points = sum(pair.count for pair in found[0].direct if not isinstance(pair.b, int))  # beside those of the ground
    assert {n: own.slots for n, own in found.items()} == {None: slots, 0: 0, 3: 3, 10_000: points}
    assert all(isinstance(pair.b, int) for pair in found[None].direct) == (slots > 0)


def test_all_contacts_that_can_act_are_found() -> None:
    """Against each pair by itself: all contact points whose gap can close within the step, those first that will be
    nearest at its end."""
    rng, h, speed, slots = np.random.default_rng(0), 5e-3, 3.0, 30
    numbers = {id(pair): 2 * k for k, pair in enumerate(PAIRS)}  # capsules alone: two contact points each
    acting = 0
    for _ in range(4):
        q, v = HUMANOID.random(rng), speed * rng.normal(size=HUMANOID.nv)
        at = Kinematics(HUMANOID, HUMANOID.over_floats, q.tolist(), v.tolist())
        expected, ahead = [], []
        for pair in PAIRS:
            for j, touch in enumerate(touches(placed(pair.a, at), placed(pair.b, at))):
                forces = both_ways(at, *pair.bodies, touch.point, touch.normal)
                closing = max(-sum(at.velocity[i].dot(force) for i, force in forces.items()), 0.0)
                if touch.gap <= reach_from_rest(at.tree, h) + h * LOOK_AHEAD * closing:
                    expected.append((touch.gap, numbers[id(pair)] + j, *touch.normal, *touch.point))
                    ahead.append(touch.gap - h * closing)
        near = near_pairs(PAIRS, slots, at, h)
        found = [(m.gap, m.number, *m.normal, *m.point) for m in near.contacts if m.number >= 0]
        found_ahead = [m.ahead for m in near.contacts if m.number >= 0]
        assert found_ahead == sorted(found_ahead)
        assert set(expected) <= set(found)
        of_expected = [x for x, contact in zip(found_ahead, found, strict=True) if contact in set(expected)]
        np.testing.assert_allclose(of_expected, sorted(ahead), rtol=0, atol=1e-12)
        assert near.touching == sum(x <= 0 for x in ahead)
        acting += len(expected)
    assert acting > 5


def test_the_nearest_contact_points_get_the_slots_and_the_others_are_counted() -> None:
    """Against each pair by itself, sorted by gap, at rest; joints are bent so far that many shapes touch."""
    rng, h = np.random.default_rng(5), 2e-3
    enough = set()
    for _ in range(6):
        q = 1.5 * HUMANOID.random(rng)
        q[3:7] /= np.linalg.norm(q[3:7])
        at = Kinematics(HUMANOID, HUMANOID.over_floats, q.tolist(), [0.0] * HUMANOID.nv)
        every = [t.gap for pair in PAIRS for t in touches(placed(pair.a, at), placed(pair.b, at))]
        gaps = sorted(gap for gap in every if gap <= reach_from_rest(at.tree, h))
        touching = sum(gap <= 0 for gap in every)
        for slots in (1, 3, 8):
            ground = Ground((Plane(),), 0.5, 0.0)
            found = nearest(PAIRS, slots, ground, at, h)
            assert [slot.gap for slot in found.slots if slot.number >= 0][: len(gaps)] == gaps[:slots]
            assert found.missed == max(touching - slots, 0)
            enough.add(touching <= slots)
    assert enough == {False, True}


def test_what_comes_fast_gets_a_slot_before_what_rests() -> None:
    """Two boxes rest on four points each; a ball would fly through a plate within the step. With eight slots it is
    stopped, and the contact point at rest that found none is told of."""
    builder = fw.Builder("world")
    builder.add_geometry("world", fw.shapes.Box((1, 1, 0.4)), fw.Placement((0, 0, 0.2)), name="table")
    builder.add_geometry("world", fw.shapes.Box((0.02, 1, 1)), fw.Placement((3, 0, 1)), name="plate")
    cube = fw.shapes.Box((0.1, 0.1, 0.1))
    for name, shape in (("left", cube), ("right", cube), ("ball", fw.shapes.Sphere(0.05))):
        builder.add_body(name, joint=fw.joints.Free(), inertia=fw.Inertia.box(1, (0.1, 0.1, 0.1)))
        builder.add_geometry(name, shape)
    model = builder.build()
    q, v = model.neutral(), np.zeros(model.nv)
    q[0:3], q[7:10], q[14:17] = (0.2, 0, 0.45), (-0.2, 0, 0.45), (2.7, 0, 1.0)
    v[12] = 30.0
    pairs = [("left", "table"), ("right", "table"), ("ball", "plate")]
    with pytest.warns(UserWarning, match="found no slot"):
        run = fw.rollout(model, q, v, steps=2, dt=1 / 60, contact=fw.contact.Impulse(pairs=pairs, slots=8))
    assert run.q[:, 14].max() <= 2.94 + 1e-6  # it touches the plate
    assert run.missed.max() == 1


@pytest.mark.parametrize("base", ["world", "a fast and spinning base"])
def test_balls_are_found_as_far_as_they_can_come(base: str) -> None:
    """Two balls at 0.999 of the gap that the step closes at twice their speed, on arms of a robot or by themselves;
    at rest, slow and fast, straight on or askew. The ball around a ball is the ball itself: nothing is to spare."""
    h, radius, rng = 5e-3, 0.02, np.random.default_rng(0)
    builder = fw.Builder("balls")
    if base != "world":
        builder.add_body("base", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    for name in ("a", "b"):
        parent = "world" if base == "world" else "base"
        planar = fw.joints.Planar()
        builder.add_body(name, parent=parent, joint=planar, inertia=fw.Inertia.sphere(1.0, radius))
        builder.add_geometry(name, fw.shapes.Sphere(radius))
    model = builder.build()
    (pair,) = touching_pairs(model, (Pair("a", "b"),), 0)
    rest = reach_from_rest(model.over_floats, h)
    for speed in (0.0, 0.01, 3.0):
        for askew in (0.0, 0.5):
            v, q = 5.0 * rng.normal(size=model.nv), model.neutral()
            v[-6:] = speed * np.array([1.0, askew, 0.0, -1.0, askew, 0.0])
            for share, is_there in ((0.999, True), (3.0, False)):
                q[-6:] = 0.0
                q[-3] = 2 * radius + share * (rest + h * LOOK_AHEAD * 2 * speed)
                at = Kinematics(model, model.over_floats, q.tolist(), v.tolist())
                assert (near_pairs([pair], 1, at, h).contacts[0].number >= 0) == is_there


def walker() -> fw.Model:
    """A trunk on two bent legs with stops, each with a sole of three points and a ball; the balls may touch."""
    builder = fw.Builder("walker")
    builder.add_body("trunk", joint=fw.joints.Free(), inertia=fw.Inertia.box(3.0, (0.3, 0.2, 0.1)))
    hinge, limits = fw.joints.Revolute((0, 1, 0)), fw.Limits(-0.4, 0.4)
    for k, y in enumerate((0.1, -0.1)):
        for name, parent, place, inertia in (
            (f"thigh{k}", "trunk", (0, y, 0), fw.Inertia.box(0.5, (0.05, 0.05, 0.3))),
            (f"shank{k}", f"thigh{k}", (0, 0, -0.25), fw.Inertia.box(0.3, (0.04, 0.04, 0.2))),
        ):
            builder.add_body(
                name, parent=parent, joint=hinge, limits=limits, placement=fw.Placement(place), inertia=inertia
            )
        builder.add_geometry(f"shank{k}", fw.shapes.Sphere(0.02), fw.Placement((0, 0, -0.1)), name=f"ball{k}")
        for n, x in enumerate((-0.05, 0.02, 0.1)):
            builder.add_contact_point(f"sole{k}{n}", parent=f"shank{k}", position=(x, 0, -0.2))
    return builder.build()


def test_pairs_that_do_not_touch_change_no_bit() -> None:
    """Steps that sweeps, Newton steps and splitting solve, with slots for a pair that is apart, and without."""
    model, rng, n = walker(), np.random.default_rng(1), 4000
    q = np.tile(model.neutral(), (n, 1))
    q[:, 7:], q[:, 3:6] = rng.uniform(-0.41, 0.41, (n, 4)), 0.1 * rng.normal(size=(n, 3))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    q[:, 2] = -fw.scenes.lowest(model, q) - 1e-4
    v = 0.5 * rng.normal(size=(n, model.nv))
    with pytest.warns(UserWarning, match="beyond their limits"):
        without, apart = (
            fw.rollout(model, q, v, steps=1, dt=1e-3, contact=fw.contact.Impulse(friction=0.6, **pairs))
            for pairs in ({"pairs": "ground"}, {"pairs": [("ball0", "ball1")], "slots": 1})
        )
    turns = without.solver[:, -1, 0]
    assert [(turns <= 4).sum() > 3000, (turns > 4).sum() > 100, (turns > 24).sum() > 5] == [True] * 3
    assert not np.any(apart.slots[..., 1:])
    for name in ("q", "v", "contact_force", "solver"):
        np.testing.assert_array_equal(getattr(apart, name), getattr(without, name), err_msg=name)


class Chains:
    """Where a Newton step marks its regions: nowhere."""

    def mark(self) -> None:
        """No region."""


def test_a_newton_step_with_roaming_blocks_is_that_of_all_blocks() -> None:
    """Two contacts that stay on legs of their own, three that roam, of which one does not act."""
    rng = np.random.default_rng(1)
    dofs = range(9)
    ways = [(0, 1, 2, 3, 4, 5, 6), (0, 1, 2, 3, 4, 5, 7, 8), *[tuple(dofs)] * 3]
    acts = [True, True, True, False, True]
    problems: list[LocalProblem] = []
    for way in ways:
        T = rng.normal(size=(3, len(way)))
        Y = (T / rng.uniform(0.5, 2.0, len(way))).tolist() if way != tuple(dofs) else T.tolist()
        e = rng.normal(size=3).tolist()
        problems.append(Cone(0.7).problem(way, T.tolist(), Y, e, [0.0] * 3))
    impulses = [np.abs(rng.normal(size=3)).tolist() if own else [0.0] * 3 for own in acts]
    steps = [
        newton_step(AllBlocks(Coupling(Chains(), problems, acts, dofs, roaming)), Iterate(impulses, 1.0, 0.0), True)  # type: ignore[arg-type]
        for roaming in ((), (2, 3, 4))
    ]
    all_at_once, corrected = (np.array(step.impulses) for step in steps)
    assert np.abs(all_at_once - np.array(impulses)).max() > 0.1
    np.testing.assert_allclose(corrected, all_at_once, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(corrected[3], 0.0)
