"""Is a description a robot? One tree, no loose ends, bodies that can exist."""

from __future__ import annotations

import functools
import math
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from featherweight.errors import ModelError
from featherweight.io.description import Description, Inertial, Link, LinkJoint, Origin
from featherweight.io.findings import LARGEST, Report, name_of, short
from featherweight.io.xml import Element
from featherweight.model import Inertia, Placement
from featherweight.model.inertia import impossible, impossible_moments
from featherweight.spatial import Matrix, RigidInertia, Transform

FOLLOWED = ("revolute", "continuous", "prismatic")
TINY = 1e-9  # [kg]: less is a mistake of units


@dataclass(frozen=True)
class Tree:
    """Links in depth-first order, and the joints to their children in the file's order."""

    root: Link
    joints: tuple[LinkJoint, ...]  # depth first; each one's parent is the root or an earlier child
    links: dict[str, Link]


def check_structure(description: Description, root: Element, report: Report) -> Tree | None:
    """Names, ends of joints, one root, no circle, mimic chains; None if there is no tree to speak of."""
    links = {link.name: link for link in reversed(description.links)}
    joints = {joint.name: joint for joint in reversed(description.joints)}
    _unique(description, report)
    if not description.links:
        report.error(root.line, name_of(root), "there is no <link>", "a robot needs at least one")
        return None
    children: dict[str, list[LinkJoint]] = defaultdict(list)
    parents: dict[str, LinkJoint] = {}
    good: set[str] = set()
    loose = False  # then roots mean nothing
    for joint in description.joints:
        where = joint.where
        for tag, end in (("parent", joint.parent), ("child", joint.child)):
            loose |= end not in links
            if end and end not in links:
                report.error(joint.line, where, f"{tag} link {end!r} does not exist", report.hint(end, links))
        if joint.parent == joint.child and joint.parent:
            loose = True
            report.error(joint.line, where, f"connects link {joint.parent!r} with itself")
        elif joint.child in parents:
            other = parents[joint.child]
            message = f"link {joint.child!r} is already the child of joint {other.name!r} (line {other.line})"
            report.error(joint.line, where, message, "a link has one parent; loops are not URDF")
        elif joint.parent in links and joint.child in links:
            parents[joint.child] = joint
            children[joint.parent].append(joint)
        if joint.mimic is not None:
            _check_mimic(joint, joints, good, report)
    roots = [link for link in links.values() if link.name not in parents]
    if len(roots) != 1:
        if not loose:
            _wrong_roots(roots, description, root, report)
        return None
    things: list[Link | LinkJoint] = [*description.links, *description.joints]
    for thing in things:
        if thing.name == "world" and thing is not roots[0]:
            report.error(thing.line, thing.where, "the name 'world' is that of the world itself", "choose another name")
    order: list[LinkJoint] = []
    stack = list(reversed(children[roots[0].name]))
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack += reversed(children[joint.child])
    reached = {roots[0].name, *(joint.child for joint in order)}
    for link in description.links:
        if link.name not in reached:
            report.error(link.line, link.where, "is part of a circle of joints", "break the circle")
            return None
    return Tree(roots[0], tuple(order), links)


def _unique(description: Description, report: Report) -> None:
    """Links have names of their own, joints too; our frames share one space of names."""
    for kind, things in (("link", description.links), ("joint", description.joints)):
        counts = Counter(thing.name for thing in things)
        first: dict[str, int] = {}
        for thing in things:
            if counts[thing.name] > 1 and thing.name:
                if thing.name in first:
                    message = f"the name {thing.name!r} is used by another {kind} on line {first[thing.name]}"
                    report.error(thing.line, thing.where, message, "names must be unique")
                first.setdefault(thing.name, thing.line)


def _wrong_roots(roots: list[Link], description: Description, root: Element, report: Report) -> None:
    if not roots:
        joint = description.joints[0]
        report.error(joint.line, joint.where, "is part of a circle of joints: no link is the root")
        return
    roots = sorted(roots, key=lambda link: link.line)
    names = ", ".join(repr(link.name) for link in roots[:5])
    second = roots[1]
    message = f"there are {len(roots)} root links: {names}{' …' if len(roots) > 5 else ''}"
    report.error(second.line, second.where, message, "connect them by joints, or remove all but one")


def _check_mimic(joint: LinkJoint, joints: dict[str, LinkJoint], good: set[str], report: Report) -> None:
    """Does a follower lead, over other followers, to a joint that can be followed? Those in `good` do."""
    where, line = f"{joint.where} <mimic>", joint.mimic.line if joint.mimic is not None else joint.line
    if joint.type == "fixed":
        report.add("note", line, where, "is not used: a fixed joint does not move")
        return
    if joint.type not in FOLLOWED:
        report.error(line, where, f"a {short(joint.type)} joint cannot follow another")
        return
    seen = {joint.name: 1.0}
    current, ratio = joint, 1.0
    while current.mimic is not None and current.name not in good:
        leader = joints.get(current.mimic.joint)
        ratio = ratio * current.mimic.multiplier
        if leader is None:
            hint = report.hint(current.mimic.joint, joints)
            report.add("wrong", line, where, f"joint {short(current.mimic.joint)!r} does not exist", hint)
            return
        if leader.name in seen:
            names = [*list(seen)[:5], leader.name]
            report.error(
                line, where, "follows itself" if len(seen) == 1 else f"follows in a circle: {' -> '.join(names)}"
            )
            return
        if not abs(ratio) <= LARGEST:
            report.error(line, where, f"follows {short(leader.name)!r} {ratio:g} times as fast")
            return
        seen[leader.name] = ratio
        current = leader
    if current.type not in FOLLOWED:
        message = f"joint {short(current.name)!r} is {short(current.type)}: it cannot be followed"
        report.add("wrong", line, where, message)
        return
    if all(abs(r) == 1 for r in seen.values()):  # the product of the others is not known here
        good.update(seen)


@functools.lru_cache(maxsize=4096)
def placement_of(origin: Origin) -> Placement:
    """An origin as a placement; files say the same ones again and again."""
    return Placement(origin.xyz, rpy=origin.rpy if any(origin.rpy) else None)


@functools.lru_cache(maxsize=4096)
def link_inertia(inertial: Inertial) -> Inertia:
    """In the link's axes, about the centre of mass."""
    xx, xy, xz, yy, yz, zz = inertial.moments
    if not any(inertial.origin.rpy):
        return Inertia(max(inertial.mass, 0.0), inertial.origin.xyz, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    R = placement_of(inertial.origin).rotation
    moment = R @ (Matrix.of(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))) @ R.T)
    symmetric = [[(moment[i][j] + moment[j][i]) / 2 for j in range(3)] for i in range(3)]
    return Inertia(max(inertial.mass, 0.0), inertial.origin.xyz, symmetric)


def check_physics(tree: Tree, base: str, report: Report) -> None:
    """Masses and moments: of each link, and of what fixed joints weld together to one moving body."""
    for body in welded(tree, base):
        total, parts, readable = RigidInertia.zero(), [], True
        for link, X in body.links:
            if link.inertial is None:
                continue
            where = f"{link.where} <inertial>"
            try:
                inertia = link_inertia(link.inertial)
            except ModelError:
                report.error(link.inertial.line, where, f"its numbers are too large; expected at most {LARGEST:g}")
                readable = False
                continue
            readable &= not link.inertial.unreadable
            why, fix = reason(link.inertial, inertia)
            if why is not None:
                parts.append((link.inertial.line, where, why, fix))
            total = total + inertia.rigid.seen_through(X)
        if not readable:
            continue
        if not all(map(math.isfinite, (*total.h, *total.I))):
            report.error(
                body.links[0][0].line, body.links[0][0].where, "its inertia, with all fixed to it, is too large"
            )
            continue
        heavy = float(total.m) > TINY
        alone = sum(link.inertial is not None for link, _ in body.links) == 1
        broken = body.mover is not None and (not heavy or alone or impossible(total) is not None)
        for part in parts:
            report.add("wrong" if broken else "warning", *part)
        if body.mover is None or heavy or parts:
            continue
        first = body.links[0][0]
        others = len(body.links) - 1
        with_what = f" (with {others} link{'s' if others > 1 else ''} fixed to it)" if others else ""
        message = f"moves by {body.mover} and has mass {float(total.m):g} kg{with_what}"
        fix = "give it an <inertial> with its mass" + (
            "" if body.links[0][0] is tree.root else ", or make the joint fixed"
        )
        report.add("wrong", first.line, first.where, message, fix)


def reason(inertial: Inertial, inertia: Inertia) -> tuple[str | None, str]:
    """Why no solid has these numbers, and what to do; None if one may."""
    if inertial.mass < 0:
        return f"the mass is negative: {inertial.mass:g} kg; it is taken as none", "measure or compute it again"
    if inertial.mass == 0:
        return ("there is a moment of inertia without mass", "give the mass") if any(inertial.moments) else (None, "")
    rounding = 1e-6 * inertial.mass  # moments of a millimetre
    return impossible_moments(np.array(inertia.moment_about_com), rounding), "measure or compute it again"


@dataclass(frozen=True)
class Welded:
    """A body: what moves it (None: nothing), its links and the transforms from the first to each."""

    mover: str | None
    links: list[tuple[Link, Transform]]


def welded(tree: Tree, base: str) -> list[Welded]:
    """The root's body and that of each moving joint, with the links fixed to them."""
    bodies = [Welded("the free base" if base == "free" else None, [(tree.root, Transform.identity())])]
    place = {tree.root.name: (bodies[0], Transform.identity())}
    for joint in tree.joints:
        if joint.type == "fixed":
            body, X = place[joint.parent]
            X = placement_of(joint.origin).transform @ X
        else:
            body, X = Welded(f"joint {joint.name!r}", []), Transform.identity()
            bodies.append(body)
        body.links.append((tree.links[joint.child], X))
        place[joint.child] = body, X
    return bodies
