"""Shapes that touch each other: the laws by dense algebra, momentum, energy, the same bits in any way to run a step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import featherweight as fw
from contact.pair_laws import MU, TOLERANCE, Step, pairs_of, scattered, world
from featherweight.contact import Impulse, Plane

LIMIT = 20 * TOLERANCE  # errors of one sweep are seen before the others of that sweep moved


THINGS = {
    "box": (fw.shapes.Box((0.2, 0.2, 0.1)), 2.0),
    "ball": (fw.shapes.Sphere(0.06), 0.5),
    "rod": (fw.shapes.Capsule(0.03, 0.2), 1.0),
}


def things(count: int, parameters: tuple[str, ...] = ()) -> fw.Builder:
    """A box, a ball, and a capsule."""
    builder = fw.Builder("things", parameters=parameters)
    for name, (shape, mass) in list(THINGS.items())[:count]:
        builder.add_body(name, joint=fw.joints.Free(), inertia=fw.Inertia.box(mass, (0.2, 0.15, 0.1)))
        builder.add_geometry(name, shape)
    return builder


def fixed_world() -> fw.Model:
    """A box, a ball, a capsule and a block that is fixed to the world."""
    block = fw.shapes.Box((0.3, 0.3, 0.2))
    return things(3).add_geometry("world", block, fw.Placement((0.4, 0.0, 0.1)), name="block").build()


FOUR = fixed_world()
PAIRS = [("box", "ball"), ("box", "rod"), ("ball", "rod"), ("box", "block"), ("ball", "block"), ("rod", "block")]
CONTACT = Impulse(pairs=PAIRS, friction=MU, slots=0)
SHARED = Impulse(pairs=PAIRS, friction=MU, slots=8)


def falling(count: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """The ball and the rod come down on the box and on the block."""
    rng = np.random.default_rng(1)
    q = np.tile(FOUR.neutral(), (count, 1))
    q[:, :3], q[:, 7:10], q[:, 14:17] = (0.1, 0.0, 0.055), (0.15, 0.02, 0.165), (0.3, 0.0, 0.24)
    q[:, 17:21] = np.array([0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5)])  # it lies along x
    q[:, [0, 1, 7, 8, 14, 15]] += rng.uniform(-0.02, 0.02, (count, 6))
    return q, rng.normal(size=(count, FOUR.nv)) * 0.5


@pytest.mark.parametrize(
    ("seed", "count", "jointed", "slots"), [(0, 2, False, 0), (1, 4, False, 0), (2, 4, True, 0), (3, 4, True, 12)]
)
def test_random_worlds_keep_the_laws(seed: int, count: int, jointed: bool, slots: int) -> None:
    rng = np.random.default_rng(seed)
    model = world(rng, count, jointed=jointed)
    pairs = pairs_of(model)
    q, v = scattered(model, rng, 60)
    contact = Impulse(pairs=pairs, friction=MU, recovery=0.0, slots=slots)
    acting = 0
    for h in (1e-4, 1e-3, 5e-3, 2e-2):
        step = Step(model, q, v, h, contact, pairs)
        assert step.used.mean() > 0.97, h
        found = {name: values[step.used].max() for name, values in step.violations().items()}
        limits = {"dynamics": 1e-11, "pulls": 0.0, "cone": 1e-12, "work": 1e-13, "coulomb": 1e3 * LIMIT}
        wrong = {name: x for name, x in found.items() if not x <= limits.get(name, LIMIT)}
        assert not wrong, h
        acting += int(step.acts.sum())
    assert acting > 50


def test_pushes_and_reactions_keep_momentum() -> None:
    """Impulses between two bodies act at one place: linear and angular momentum stay, at any gap."""
    rng = np.random.default_rng(7)
    builder = fw.Builder("three", gravity=(0.0, 0.0, 0.0))
    builder.add_body("a", joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (0.2, 0.3, 0.1)))
    builder.add_body("arm", parent="a", joint=fw.joints.Revolute("y"), inertia=fw.Inertia.box(0.5, (0.1, 0.1, 0.4)))
    builder.add_body("b", joint=fw.joints.Free(), inertia=fw.Inertia.box(3.0, (0.2, 0.2, 0.2)))
    builder.add_geometry("arm", fw.shapes.Capsule(0.05, 0.3), fw.Placement((0.1, 0.0, -0.2)), restitution=0.5)
    model = builder.add_geometry("b", fw.shapes.Box((0.2, 0.2, 0.2))).build()
    pairs = [("arm", "b")]
    q, v = scattered(model, rng, 40)
    q[:, [2, 10]] += 5.0  # far from the ground
    towards = fw.frame_pose(model, q, "b").position - fw.frame_pose(model, q, "arm").position
    v[:, :3] += 5.0 * np.einsum("nij,ni->nj", fw.frame_pose(model, q, "a").rotation, towards)  # in axes of the body
    contact = Impulse(pairs=pairs, friction=0.5, recovery=0.0)
    run = fw.rollout(model, q, v, steps=150, dt=2e-3, contact=contact, integrator="variational")
    assert (run.status == fw.Status.OK).all()
    assert (np.abs(run.pair_force).max(axis=(1, 2, 3)) > 0).mean() > 0.5
    momentum = fw.momentum(model, run.q, run.v)
    assert np.abs(momentum - momentum[:, :1]).max() < 1e-11 * (1 + np.abs(momentum).max())


@pytest.mark.parametrize(("e", "mu"), [(0.6, 0.5), (0.9, 0.8), (1.0, 0.3)])
def test_no_impact_adds_energy(e: float, mu: float) -> None:
    """Thrown boxes on a ball and on the ground, with restitution and friction: E never rises but by rounding."""
    builder = fw.Builder("throw").add_body("box", joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (0.3, 0.2, 0.1)))
    builder.add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(0.7, 0.1))
    builder.add_geometry("box", fw.shapes.Box((0.3, 0.2, 0.1))).add_geometry("ball", fw.shapes.Sphere(0.1))
    model = builder.build()
    rng = np.random.default_rng(3)
    q, v = scattered(model, rng, 64)
    v[:, 2] -= 1.0
    contact = Impulse(pairs=[("box", "ball")], friction=mu, restitution=e, recovery=0.0)
    run = fw.rollout(model, q, v, steps=300, dt=1e-3, contact=contact, integrator="variational")
    assert (run.status == fw.Status.OK).all()
    energy = run.energy()
    rise = np.diff(energy, axis=1)
    hit = np.abs(run.pair_force).max(axis=(2, 3)) > 0
    assert hit.any(axis=1).mean() > 0.9
    assert (rise[hit] <= 1e-3 * energy.max()).all()  # what a step of gravity and spin is wrong by
    assert (energy[:, -1] <= energy[:, 0] * (1 + 1e-3)).all()


def recorded(run: fw.Trajectory) -> dict[str, np.ndarray]:
    return {name: getattr(run, name) for name in ("q", "v", "pair_force", "solver", "status")}


def test_the_same_bits_alone_in_any_batch_on_threads_and_step_by_step() -> None:
    q, v = falling(11)
    whole = fw.rollout(FOUR, q, v, steps=120, dt=1e-3, contact=CONTACT)
    assert (whole.status == fw.Status.OK).all()
    assert (np.abs(whole.pair_force) > 0).any(axis=(0, 1, 3)).sum() > 8
    for k in (0, 10):
        alone = fw.rollout(FOUR, q[k], v[k], steps=120, dt=1e-3, contact=CONTACT)
        for name, values in recorded(alone).items():
            np.testing.assert_array_equal(values, getattr(whole, name)[k], name)
    with fw.threads(2):
        np.testing.assert_array_equal(fw.rollout(FOUR, q, v, steps=120, dt=1e-3, contact=CONTACT).q, whole.q)
    whole = fw.rollout(FOUR, q, v, steps=120, dt=1e-3, contact=CONTACT, tau=np.zeros((120, FOUR.nv)))
    stepper = fw.Stepper(FOUR, q, v, dt=1e-3, contact=CONTACT)
    for _ in range(40):
        stepper.step()
    np.testing.assert_array_equal(stepper.q, whole.q[:, 40])
    rest = stepper.rollout(80)
    np.testing.assert_array_equal(rest.pair_force, whole.pair_force[:, 40:])
    np.testing.assert_array_equal(stepper.q, whole.q[:, -1])


def test_slots_are_contacts() -> None:
    """Pairs that share slots move as pairs with rows of their own, and have the same bits alone and in a batch."""
    q, v = falling(3)
    direct = fw.rollout(FOUR, q, v, steps=120, dt=1e-3, contact=CONTACT)
    shared = fw.rollout(FOUR, q, v, steps=120, dt=1e-3, contact=SHARED)
    assert shared.slots.shape == (3, 120, 8, 4)
    assert (shared.status == fw.Status.OK).all()
    alone = fw.rollout(FOUR, q[2], v[2], steps=120, dt=1e-3, contact=SHARED)
    np.testing.assert_array_equal(alone.q, shared.q[2])
    np.testing.assert_array_equal(alone.slots, shared.slots[2])
    np.testing.assert_allclose(shared.q[:, :20], direct.q[:, :20], atol=1e-6)
    assert sorted(c[:2] for c in alone.contacts(5)) == sorted(c[:2] for c in direct.lane(2).contacts(5))


def test_interpreted_is_compiled() -> None:
    """From where the things have come to lie on each other, on the ground and on the block."""
    before = fw.rollout(FOUR, *falling(2), steps=100, dt=1e-3, contact=CONTACT)
    q, v = before.q[:, -1], before.v[:, -1]
    contact = replace(CONTACT, tolerance=1e-11)  # each step may miss its laws by so much, and there are ten
    native = fw.rollout(FOUR, q, v, steps=10, dt=1e-3, contact=contact)
    with fw.interpret():
        source = fw.rollout(FOUR, q, v, steps=10, dt=1e-3, contact=contact)
    assert (np.abs(native.pair_force) > 0).any(axis=(0, 1, 3)).sum() > 6
    touching = {c[:2] for lane in range(2) for c in native.lane(lane).contacts(9)}
    assert {("box", "ground"), ("box", "ball"), ("rod", "block")} <= touching
    limits = {"pair_force": 1e-5, "solver": 1.0}  # [N]; a sweep more or less
    for name, values in recorded(native).items():
        np.testing.assert_allclose(values, getattr(source, name), rtol=0, atol=limits.get(name, 1e-8), err_msg=name)


def test_boxes_apart_have_the_bits_of_one_alone() -> None:
    """Islands: each is a problem of its own, and no other changes a bit of it."""

    def boxes(count: int) -> fw.Model:
        builder = fw.Builder(f"{count} boxes")
        for k in range(count):
            builder.add_body(f"box{k}", joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (0.2, 0.3, 0.1)))
            builder.add_geometry(f"box{k}", fw.shapes.Box((0.2, 0.3, 0.1)))
        return builder.build()

    rng = np.random.default_rng(5)
    one, three = boxes(1), boxes(3)
    q = np.array([one.random(rng) for _ in range(3)])
    q[:, 2], v = 0.3, rng.normal(size=(3, 6))
    means: dict[str, Any] = {"steps": 400, "dt": 1e-3, "contact": Impulse(restitution=0.3, pairs="ground")}
    together = fw.rollout(three, q.ravel(), v.ravel(), **means)
    for k in range(3):
        alone = fw.rollout(one, q[k], v[k], **means)
        np.testing.assert_array_equal(together.q[:, 7 * k : 7 * k + 7], alone.q)
        np.testing.assert_array_equal(together.pair_force[:, 4 * k : 4 * k + 4], alone.pair_force)


def test_a_saved_run_has_its_contacts(tmp_path: Path) -> None:
    q, v = falling(3)
    run = fw.rollout(FOUR, q, v, steps=150, dt=1e-3, contact=CONTACT)
    run.save(tmp_path / "run.fw")
    loaded = fw.Trajectory.load(tmp_path / "run.fw")
    np.testing.assert_array_equal(loaded.pair_force, run.pair_force)
    for lane in range(3):
        mine, theirs = run.lane(lane).contacts(149), loaded.lane(lane).contacts(149)
        assert mine
        for a, b in zip(mine, theirs, strict=True):
            assert a[:2] == b[:2]
            for x, y in zip(a[2:], b[2:], strict=True):
                np.testing.assert_array_equal(x, y)
    some = run.lane(1, every=10)
    assert [c[:2] for c in some.contacts(14)] == [c[:2] for c in run.lane(1).contacts(140)]


def test_contacts_of_a_case_made_by_hand() -> None:
    """A ball of 0.5 kg at rest on a box of 2 kg: places, normals and forces are known."""
    q = FOUR.neutral()
    q[2], q[7:10], q[14:17] = 0.05, (0.02, -0.03, 0.16), (5.0, 0.0, 1.0)
    run = fw.rollout(FOUR, q, np.zeros(FOUR.nv), steps=20, dt=1e-3, contact=CONTACT)
    contacts = run.contacts(19)
    on_ground = [c for c in contacts if c.b == "ground"]
    (between,) = [c for c in contacts if {c.a, c.b} == {"box", "ball"}]
    sign = 1.0 if between.a == "ball" else -1.0
    np.testing.assert_allclose(between.point, (0.02, -0.03, 0.1), atol=1e-5)
    np.testing.assert_allclose(between.normal, (0.0, 0.0, sign), atol=1e-9)
    np.testing.assert_allclose(between.force, (0.0, 0.0, sign * 0.5 * 9.81), atol=1e-6)
    assert {c.a for c in on_ground} == {"box"}
    assert sum(c.force[2] for c in on_ground) == pytest.approx(2.5 * 9.81, abs=1e-6)
    corners = np.array([c.point for c in on_ground])
    np.testing.assert_allclose(np.sort(np.abs(corners), axis=1)[:, 1:], 0.1, atol=1e-5)
    moment = sum(np.cross(c.point, c.force) for c in on_ground)
    np.testing.assert_allclose(moment[:2], np.cross((0.02, -0.03, 0.1), (0, 0, 0.5 * 9.81))[:2], atol=1e-5)
    assert run.contacts(0)[0]._fields == ("a", "b", "point", "normal", "force", "depth")
    with pytest.raises(ValueError, match="k: expected a number of a state from 0 to 19, got 20"):
        run.contacts(20)
    with pytest.raises(ValueError, match="take a lane of a batch"):
        fw.rollout(FOUR, falling(2)[0], np.zeros(FOUR.nv), steps=1, dt=1e-3, contact=CONTACT).contacts(0)


def test_other_numbers_compile_nothing_and_act(monkeypatch: pytest.MonkeyPatch) -> None:
    from featherweight.compiler.runtime import code

    q, v = falling(1)
    q[0, 2] -= 0.006  # deep enough for recovery at its highest speed

    def run(contact: Impulse) -> fw.Trajectory:
        return fw.rollout(FOUR, q[0], v[0], steps=100, dt=1e-3, contact=contact)

    first, made = run(CONTACT), []
    load = code.Code.__init__

    def counted(self: Any, *arguments: Any) -> None:
        made.append("code")
        load(self, *arguments)

    monkeypatch.setattr(code.Code, "__init__", counted)
    changes = {"friction": 0.1, "recovery": 5.0, "recovery_speed": 1e-3, "slop": 1e-3, "tolerance": 1e-2}
    for name, value in changes.items():
        own = Impulse(pairs=PAIRS, slots=0, **{"friction": MU, name: value})
        other = run(own)
        assert not made, name
        assert not np.array_equal(first.q, other.q), f"{name} has no effect"
    tilted = Impulse(Plane((0.1, 0.2, 1.0)), pairs=PAIRS, friction=MU, slots=0)
    assert not np.array_equal(run(tilted).q, first.q)


def test_parameters_of_bodies_and_of_the_ground() -> None:
    """As parameters, mass and friction give the bits that a run of one robot gives."""
    model, contact = things(2, ("ball.mass", "ground.friction")).build(), Impulse(pairs=PAIRS[:1], friction=MU, slots=0)
    q, v = (x[:, : 2 * n] for x, n in zip(falling(3), (7, 6), strict=True))
    given = {"ball.mass": np.array([0.2, 0.5, 2.0]), "ground.friction": np.array([0.1, 0.5, 1.0])}
    run = fw.rollout(model, q[0], v[0], steps=150, dt=1e-3, contact=contact, parameters=given)
    assert (run.status == fw.Status.OK).all()
    assert len({x.tobytes() for x in run.q}) == 3
    for k in range(3):
        own = {name: values[k] for name, values in given.items()}
        one = fw.rollout(model, q[0], v[0], steps=150, dt=1e-3, contact=contact, parameters=own)
        np.testing.assert_array_equal(one.q, run.q[k])
        assert one.contacts(149)


def test_a_pair_has_coefficients_of_its_own() -> None:
    """The ball slides on the box, which the ground holds."""
    (q,), (v,) = (x[:, : 2 * n] for x, n in zip(falling(1), (7, 6), strict=True))
    contact = Impulse(pairs=[fw.contact.Pair("box", "ball", friction=0.0)], friction=MU)
    run = fw.rollout(things(2).build(), q, v, steps=200, dt=1e-3, contact=contact)
    contacts = [c for k in range(200) for c in run.contacts(k)]
    slides = [c for c in contacts if {c.a, c.b} == {"box", "ball"}]
    assert slides
    for c in slides:
        assert np.linalg.norm(np.cross(c.normal, c.force)) <= 1e-9 * (1 + np.linalg.norm(c.force))
    assert max(np.linalg.norm(np.cross(c.normal, c.force)) for c in contacts) > 0.1


def test_a_pair_that_is_named_again_is_the_same_pair() -> None:
    """The other way round, by link and by shape: of their coefficients those that were given last count."""
    builder = things(2)
    builder.add_geometry("ball", fw.shapes.Sphere(0.02), fw.Placement((0.0, 0.0, 0.06)), name="nose")
    model, named = builder.build(), [("box", "ball"), fw.contact.Pair("nose", "box", friction=0.1), ("ball", "box")]
    found = [p for p in Impulse(pairs=named).touching(model) if not isinstance(p.b, int)]
    assert {(p.a.name, p.b.name, p.friction) for p in found} == {("box", "ball", None), ("box", "nose", 0.1)}
    assert len(found) == 2

    (q,), (v,) = (x[:, : 2 * n] for x, n in zip(falling(1), (7, 6), strict=True))
    once, twice = (
        fw.rollout(things(2).build(), q, v, steps=200, dt=5e-4, contact=fw.contact.SpringDamper(pairs=pairs))
        for pairs in ([("box", "ball")], [("box", "ball"), ("ball", "box")])
    )
    assert np.abs(once.pair_force[:, -3:]).max() > 1
    np.testing.assert_array_equal(twice.q, once.q)
