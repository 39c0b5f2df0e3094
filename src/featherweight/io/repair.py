"""Bodies that cannot exist, changed as little as makes them possible. Every changed number is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from featherweight.io.check import FOLLOWED, TINY, Tree, link_inertia, reason, welded
from featherweight.io.description import Description, Inertial, Link, LinkJoint, Origin
from featherweight.io.findings import LARGEST

MASS = 1e-3  # [kg] of a moving body that has none
RADIUS = 1e-2  # [m] of the ball it becomes


def repair(description: Description, tree: Tree, base: str) -> tuple[Description, Tree, list[str]]:
    """The description with possible bodies, and a line for each change."""
    changes: list[str] = []
    links = {link.name: _possible(link, changes) for link in description.links}
    tree = replace(tree, root=links[tree.root.name], links=links)
    for body in welded(tree, base):
        masses = [link.inertial.mass for link, _ in body.links if link.inertial is not None]
        if body.mover is None or sum(masses) > TINY:
            continue
        first = links[body.links[0][0].name]
        moment = 0.4 * MASS * RADIUS**2
        origin = Origin() if first.inertial is None else first.inertial.origin
        links[first.name] = replace(first, inertial=Inertial(origin, MASS, (moment, 0.0, 0.0, moment, 0.0, moment)))
        changes.append(
            f"line {first.line}: link {first.name!r}, moved by {body.mover}, had no mass: "
            f"now {MASS:g} kg, moments {moment:g} kg m²"
        )
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


def _free(joint: LinkJoint, tree: Tree, changes: list[str]) -> LinkJoint:
    """A joint that follows nothing moves by itself."""
    movers = {j.name for j in tree.joints if j.type in FOLLOWED}
    if joint.mimic is None or joint.type not in FOLLOWED or joint.mimic.joint in movers:
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
    if inertial.mass == 0 or reason(inertial, link_inertia(inertial))[0] is None:
        return link
    xx, xy, xz, yy, yz, zz = inertial.moments
    values, axes = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    # a negative one becomes small, but not so small that the body would turn about it without inertia
    small = max(1e-3 * values.max(), 1e-9 * inertial.mass)
    values = np.where(values < -1e-9 * abs(values).max(), small, np.maximum(values, 0.0))
    order = np.argsort(values)
    values, axes = values[order], axes[:, order]
    values[0] += max(0.0, values[2] - values[0] - values[1])  # the smallest grows until the three fit
    values = np.minimum(values, 0.1 * LARGEST)  # what is written must be read again
    M = axes @ np.diag(values) @ axes.T
    moments = tuple(float(M[i, j]) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
    changes.append(f"{where}: moments {inertial.moments} are now {moments}")
    return replace(link, inertial=replace(inertial, moments=moments))
