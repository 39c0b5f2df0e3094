"""The contacts of shapes in a step of a trajectory: which touch, where, with what force."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from featherweight.contact.candidates import Ground
from featherweight.contact.slots import Arrangement, arranged, numbered
from featherweight.contact.touching import TouchingPair, touching
from featherweight.forces import Kinematics

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
    for pair, number, force in _forces(run, k, own):
        m = touching([pair], ground, at, 0.0)[number]
        if m.gap <= 0 or np.any(force):
            names = _names(pair, len(run.ground))
            found.append(Contact(*names, np.array(m.point), np.array(m.axes.x), force, -float(m.gap)))
    return found


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
