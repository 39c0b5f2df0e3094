"""Bodies that cannot exist, changed as little as makes them possible. Every changed number is told."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from featherweight.io.bodies import Body, Least, Loads, SpanningTree, own_moment, welded
from featherweight.io.check import fault_of, too_wide
from featherweight.io.findings import short
from featherweight.io.limits import LENGTH, TINY
from featherweight.model.description import Description, Link, LinkJoint
from featherweight.model.spelling import Inertial, Origin

MASS = 1e-3  # [kg] of a moving body that has none
RADIUS = 1e-2  # [m] of the ball it becomes
WIDEST = 1e4  # [m]: radius of gyration of what was repaired


def repair(
    description: Description, tree: SpanningTree, base: str, outside: Collection[str] = ()
) -> tuple[Description, SpanningTree, list[str]]:
    """The description with possible bodies and without the meshes that are `outside`, and a line for each change."""
    changes: list[str] = []
    links = {link.name: _possible(_without(link, outside, changes), changes) for link in description.links}
    tree = replace(tree, root=links[tree.root.name], links=links)
    _movable(welded(tree, base), links, changes)
    joints = {joint.name: _free(joint, tree, changes) for joint in description.joints}
    tree = replace(
        tree, root=links[tree.root.name], links=links, joints=tuple(joints[joint.name] for joint in tree.joints)
    )
    repaired = replace(
        description,
        links=tuple(links[link.name] for link in description.links),
        joints=tuple(joints[joint.name] for joint in description.joints),
    )
    return repaired, tree, changes


def _movable(bodies: list[Body], links: dict[str, Link], changes: list[str]) -> None:
    """Moving bodies get mass if they have none, and moments if they do not resist their joints: those of small balls.
    The last ones first: what a body needs depends on what it carries."""
    loads = Loads(bodies)
    for k in range(len(bodies) - 1, -1, -1):
        body, inertia = bodies[k], bodies[k].inertia
        if body.mover is not None and float(inertia.m) <= TINY:
            _weightless(body, links, changes)
            inertia = _renewed(body, links).inertia
        if body.mover is not None:
            if _narrow(body, float(inertia.m), links, changes):
                inertia = _renewed(body, links).inertia
            least = loads.least(k, inertia)
            light = not body.hinged and float(inertia.m) < least.mass
            if light or own_moment(body, inertia) < least.moment:
                _felt(body, float(inertia.m), least, links, changes)
                inertia = _renewed(body, links).inertia
        loads.put(k, inertia)


def _narrow(body: Body, m: float, links: dict[str, Link], changes: list[str]) -> bool:
    """Links whose moments are those of something wider than any body shrink until they fit a body of mass m."""
    found = False
    for link, _ in body.links:
        old = links[link.name].inertial
        if old is not None and too_wide(old, m):
            scale = 0.9 * m * LENGTH**2 / max(map(abs, old.moments))
            moments = tuple(scale * x for x in old.moments)
            links[link.name] = replace(links[link.name], inertial=replace(old, moments=moments))
            changes.append(f"line {old.line}: link {link.name!r}: moments {old.moments} are now {moments}")
            found = True
    return found


def _felt(body: Body, m: float, least: Least, links: dict[str, Link], changes: list[str]) -> None:
    """The heaviest link of a body of mass m grows by a ball, so that the joint feels it."""
    own = [
        (links[link.name], inertial) for link, _ in body.links if (inertial := links[link.name].inertial) is not None
    ]
    link, old = max(own, key=lambda part: part[1].mass)
    ball = _ball(m, 10 * least.moment)
    mass = old.mass + max(0.0, 10 * least.mass - m, ball[0] / WIDEST**2 - m)
    moments = tuple(a + b for a, b in zip(old.moments, ball, strict=True))
    links[link.name] = replace(link, inertial=replace(old, mass=mass, moments=moments))
    heavier = f"mass {old.mass!r} kg is now {mass!r} kg, " if mass != old.mass else ""
    changes.append(f"line {old.line}: link {link.name!r}: {heavier}moments {old.moments} are now {moments}")


def _renewed(body: Body, links: dict[str, Link]) -> Body:
    return replace(body, links=[(links[link.name], X) for link, X in body.links])


def _weightless(body: Body, links: dict[str, Link], changes: list[str]) -> None:
    """The first link becomes a ball, the others nothing."""
    first = links[body.links[0][0].name]
    origin = Origin() if first.inertial is None else first.inertial.origin
    ball = Inertial(origin, MASS, _ball(MASS), first.source)
    links[first.name] = replace(first, inertial=ball)
    changes.append(
        f"line {first.line}: link {first.name!r}, moved by {body.mover}, had no mass: "
        f"now {MASS:g} kg, moments {ball.moments[0]:g} kg m²"
    )
    for link, _ in body.links[1:]:
        inertial = links[link.name].inertial
        if inertial is not None and (inertial.mass or any(inertial.moments)):
            links[link.name] = replace(links[link.name], inertial=None)
            changes.append(f"line {inertial.line}: link {link.name!r} of {inertial.mass:g} kg has no mass now")


def _ball(mass: float, least: float = 0.0) -> tuple[float, ...]:
    """The moments of a ball."""
    moment = max(0.4 * mass * RADIUS**2, least)
    return (moment, 0.0, 0.0, moment, 0.0, moment)


def _without(link: Link, outside: Collection[str], changes: list[str]) -> Link:
    """The link without shapes whose mesh may not be looked for."""
    kept = []
    for shape in link.shapes:
        if not shape.mesh or shape.mesh not in outside:
            kept.append(shape)
        else:
            where = f"line {shape.line}: link {short(link.name)!r}"
            changes.append(f"{where}: the {shape.role} mesh {shape.mesh!r} is left out")
    return replace(link, shapes=tuple(kept)) if len(kept) < len(link.shapes) else link


def _free(joint: LinkJoint, tree: SpanningTree, changes: list[str]) -> LinkJoint:
    """A joint that follows nothing moves by itself."""
    if joint.mimic is None or joint.name not in tree.void:
        return joint
    changes.append(f"line {joint.line}: joint {joint.name!r} followed {joint.mimic.joint!r}: now it moves by itself")
    return replace(joint, mimic=None)


def _possible(link: Link, changes: list[str]) -> Link:
    inertial = link.inertial
    if inertial is None:
        return link
    where = f"line {inertial.line}: link {link.name!r}"
    if inertial.mass < 0 or (inertial.mass == 0 and any(inertial.moments)):
        changes.append(f"{where}: mass {inertial.mass:g} kg with moments {inertial.moments} is now none at all")
        return replace(link, inertial=replace(inertial, mass=0.0, moments=(0.0,) * 6))
    if inertial.mass == 0 or fault_of(inertial) is None:
        return link
    xx, xy, xz, yy, yz, zz = inertial.moments
    values, axes = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    # a negative one becomes small, but not so small that the body would turn about it without inertia
    small = max(1e-3 * values.max(), 1e-9 * inertial.mass)
    values = np.where(values < -1e-9 * abs(values).max(), small, np.maximum(values, 0.0))
    order = np.argsort(values)
    values, axes = values[order], axes[:, order]
    values[0] += max(0.0, values[2] - values[0] - values[1])  # the smallest grows until the three fit
    values = np.minimum(values, 0.9 * inertial.mass * LENGTH**2)  # what is written must be read again
    M = axes @ np.diag(values) @ axes.T
    moments = tuple(float(M[i, j]) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
    changes.append(f"{where}: moments {inertial.moments} are now {moments}")
    return replace(link, inertial=replace(inertial, moments=moments))
