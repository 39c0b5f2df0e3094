"""The contacts of shapes in a step of a trajectory: which touch, where, with what force."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from featherweight.contact.candidates import Ground
from featherweight.contact.slots import Arrangement, arranged, numbered
from featherweight.contact.touching import Touching, TouchingPair, touching
from featherweight.errors import unknown_name
from featherweight.forces import Kinematics
from featherweight.model import CollisionShape, Model
from featherweight.model.collision_pairs import shapes_named

if TYPE_CHECKING:
    from featherweight.simulation.trajectory import Trajectory


class Contact(NamedTuple):
    """A contact point: names of the shapes, "ground" for the ground; its place [m] in the world; the normal, from b to
    a; the force [N] on a; and how deep they overlap [m], negative where they do not."""

    a: str
    b: str
    point: np.ndarray
    normal: np.ndarray
    force: np.ndarray
    depth: float


def contacts_at(run: Trajectory, k: int) -> list[Contact]:
    """Those of the step after state k, with a force or a depth."""
    if run.model is None or run.q.ndim != 2:
        raise ValueError("contacts: expected one robot with its model; take a lane of a batch with trajectory.lane(…)")
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or not 0 <= k < len(run.tau):
        raise ValueError(f"k: expected a number of a state from 0 to {len(run.tau) - 1}, got {k!r}")
    model, ground = run.model, Ground(run.ground, 0.0, 0.0)
    constants = {name: np.ravel(values).tolist() for name, values in run.parameters.items()}
    given = {name: constants.get(name, np.ravel(p.default).tolist()) for name, p in model.parameters.items()}
    at = Kinematics(model, model.over(float, lambda: None, given), run.q[k].tolist(), run.v[k].tolist())
    own = arranged(model, run.pairs, len(run.ground), len(run.slots[k]) if run.slots.size else 0)
    found = []
    seen: dict[TouchingPair, list[Touching]] = {}
    for pair, number, force in _forces(run, k, own):
        if pair not in seen:
            seen[pair] = touching([pair], ground, at, math.inf)  # a contact acts across any gap that a step closes
        m = seen[pair][number]
        if m.gap <= 0 or np.any(force):
            names = _names(pair, len(run.ground))
            found.append(Contact(*names, np.array(m.point), np.array(m.axes.x), force, -float(m.gap)))
    return found


def force_between(run: Trajectory, a: str, b: str) -> np.ndarray:
    """Σ of the forces [N] on a from b over their contact points, world axes, shape (…, K, 3)."""
    model = run.model
    if model is None:
        raise ValueError("force_between: expected a trajectory with its model")
    one, other = (_meant(model, len(run.ground), name) for name in (a, b))
    own = arranged(model, run.pairs, len(run.ground), run.slots.shape[-2] if run.slots.size else 0)
    direct = np.array([_sign(pair, one, other) for pair in own.direct for _ in range(pair.count)])
    shared = np.array([_sign(pair, one, other) for pair, _ in numbered(own.shared)])
    if not direct.any() and not shared.any():
        raise ValueError(
            f"{a!r} and {b!r} are no pair that may touch in this run; `pairs` of its contact model has them"
        )
    total = np.zeros((*run.tau.shape[:-1], 3))
    if direct.any() and run.pair_force.size:
        total += np.einsum("...ni,n->...i", run.pair_force, direct)
    if shared.any() and run.slots.size:
        number = run.slots[..., 0].astype(int)
        signs = np.where(number >= 0, shared[np.maximum(number, 0)], 0.0)
        total += np.einsum("...ni,...n->...i", run.slots[..., 1:], signs)
    return total


def _meant(model: Model, ground: int, name: str) -> list[CollisionShape | int]:
    """What a name means: shapes, as in `pairs`, or surfaces of the ground by their numbers."""
    surfaces = {"ground": list(range(ground))} | {f"ground {k}": [k] for k in range(ground)}
    shapes = model.shapes
    named = name in {own for shape in shapes for own in (shape.name, shape.link)}
    if name in surfaces and named:
        raise ValueError(f"force_between: {name!r} is a shape of the robot, and the ground; rename the shape")
    if name in surfaces:
        return list(surfaces[name])
    if not named:
        known = [own for shape in shapes for own in (shape.link, shape.name)]
        raise unknown_name("shape or link with shapes", name, list(dict.fromkeys([*known, *surfaces])))
    return [shapes[k] for k in shapes_named(model, name)]


def _sign(pair: TouchingPair, one: list[CollisionShape | int], other: list[CollisionShape | int]) -> float:
    """1 if the first of a pair is in `one` and the second in `other`, -1 the other way round, 0 otherwise."""
    if pair.a in one and pair.b in other:
        return 1.0
    return -1.0 if pair.a in other and pair.b in one else 0.0


def _forces(run: Trajectory, k: int, own: Arrangement) -> Iterator[tuple[TouchingPair, int, np.ndarray]]:
    """Pair and number of each contact point of a step, and its force."""
    places = [(pair, number) for pair in own.direct for number in range(pair.count)]
    if run.pair_force.size:
        for place, force in zip(places, run.pair_force[k], strict=True):
            yield *place, force
    every = numbered(own.shared)
    for number, *force in run.slots[k] if run.slots.size else ():
        if number >= 0:
            yield *every[int(number)], np.array(force)


def _names(pair: TouchingPair, surfaces: int) -> tuple[str, Any]:
    if not isinstance(pair.b, int):
        return pair.a.name, pair.b.name
    return pair.a.name, "ground" if surfaces == 1 else f"ground {pair.b}"
