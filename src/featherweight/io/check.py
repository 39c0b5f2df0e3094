"""Is a description a robot? One tree, no loose ends, bodies that can exist."""

from __future__ import annotations

import functools
import math
from collections import Counter, defaultdict

from featherweight.io.bodies import Body, Least, SpanningTree, needed, own_moment, welded
from featherweight.io.findings import Report, short
from featherweight.io.following import Following
from featherweight.io.limits import LENGTH, PARTS, SMALL, TINY
from featherweight.model.description import Description, Link, LinkJoint, source_of
from featherweight.model.inertia import impossible
from featherweight.model.spelling import Inertial
from featherweight.spatial import RigidInertia


def check_structure(description: Description, report: Report) -> SpanningTree | None:
    """Names, ends of joints, one root, no circle, mimic chains; None if there is no tree to speak of."""
    links = {link.name: link for link in reversed(description.links)}
    following = Following({joint.name: joint for joint in reversed(description.joints)}, report)
    _unique(description, report)
    if not description.links:
        report.error(description.line, description.where, "there is no <link>", "a robot needs at least one")
        return None
    children: dict[str, list[LinkJoint]] = defaultdict(list)
    parents: dict[str, LinkJoint] = {}
    loose = False  # then roots mean nothing
    for joint in description.joints:
        where = joint.where
        for tag, end in (("parent", joint.parent), ("child", joint.child)):
            loose |= end not in links
            if end and end not in links:
                report.error(joint.line, where, f"{tag} link {short(end)!r} does not exist", report.hint(end, links))
        if joint.parent == joint.child and joint.parent:
            loose = True
            report.error(joint.line, where, f"connects link {short(joint.parent)!r} with itself")
        elif joint.child in parents:
            other = parents[joint.child]
            first = f"joint {short(other.name)!r} (line {other.line})"
            message = f"link {short(joint.child)!r} is already the child of {first}"
            fix = f"a link has one parent; loops are not {description.format or 'joints'}"
            report.error(joint.line, where, message, fix)
        elif joint.parent in links and joint.child in links:
            parents[joint.child] = joint
            children[joint.parent].append(joint)
        following.check(joint)
    roots = [link for link in links.values() if link.name not in parents]
    if len(roots) != 1:
        if not loose:
            _wrong_roots(roots, description, report)
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
    return SpanningTree(roots[0], tuple(order), links)


def _unique(description: Description, report: Report) -> None:
    """Links have names of their own, joints too."""
    for kind, things in (("link", description.links), ("joint", description.joints)):
        counts = Counter(thing.name for thing in things)
        first: dict[str, int] = {}
        for thing in things:
            if counts[thing.name] > 1 and thing.name:
                if thing.name in first:
                    message = f"the name {short(thing.name)!r} is used by another {kind} on line {first[thing.name]}"
                    report.error(thing.line, thing.where, message, "names must be unique")
                first.setdefault(thing.name, thing.line)


def _wrong_roots(roots: list[Link], description: Description, report: Report) -> None:
    if not roots:
        joint = description.joints[0]
        report.error(joint.line, joint.where, "is part of a circle of joints: no link is the root")
        return
    roots = sorted(roots, key=lambda link: link.line)
    names = ", ".join(repr(short(link.name)) for link in roots[:5])
    second = roots[1]
    message = f"there are {len(roots)} root links: {names}{' …' if len(roots) > 5 else ''}"
    report.error(second.line, second.where, message, "connect them by joints, or remove all but one")


def check_unused(description: Description, report: Report) -> None:
    """What a description can say and a model cannot hold; without its loops a robot would be another."""
    for loop in description.loops:
        report.error(loop.line, loop.where, "closes a loop: robots are trees here", "leave it out")
    for thing in (*description.actuators, *description.sensors, *description.keyframes):
        report.add("note", thing.line, thing.where, "is not used")


def check_physics(tree: SpanningTree, base: str, report: Report) -> None:
    """Masses and moments: of each link, and of what fixed joints weld together to one moving body."""
    bodies = welded(tree, base)
    inertias = [body.inertia for body in bodies]
    for body, inertia, least in zip(bodies, inertias, needed(bodies, inertias), strict=True):
        own = [(link, link.inertial) for link, _ in body.links if link.inertial is not None]
        if any(inertial.unreadable for _, inertial in own):
            continue
        parts = []
        for link, inertial in own:
            why, fix = reason(inertial)
            if why is not None:
                source = source_of(inertial, link)
                parts.append((source.line, source.element, why, fix))
        heavy = float(inertia.m) > TINY
        broken = body.mover is not None and (not heavy or len(own) == 1 or impossible(inertia) is not None)
        for part in parts:
            report.add("wrong" if broken else "warning", *part)
        if body.mover is None:
            continue
        if not heavy and not parts:
            _no_mass(body, inertia, tree, report)
        elif heavy and not _too_wide(body, inertia, report) and not (broken and parts):
            _not_felt(body, inertia, least, report)


def _no_mass(body: Body, inertia: RigidInertia, tree: SpanningTree, report: Report) -> None:
    first = body.links[0][0]
    others = len(body.links) - 1
    with_what = f" (with {others} link{'s' if others > 1 else ''} fixed to it)" if others else ""
    message = f"moves by {body.mover} and has mass {float(inertia.m):g} kg{with_what}"
    fix = "give it an <inertial> with its mass" + ("" if first is tree.root else ", or make the joint fixed")
    report.add("wrong", first.line, first.where, message, fix)


def _too_wide(body: Body, inertia: RigidInertia, report: Report) -> bool:
    """A link whose moments are those of a body larger than any."""
    most = float(inertia.m) * LENGTH**2
    for link, _ in body.links:
        if link.inertial is not None and max(map(abs, link.inertial.moments)) > most:
            size = math.sqrt(max(map(abs, link.inertial.moments)) / float(inertia.m))
            message = f"its moments are too large for the mass: they are those of a ring of radius {size:g} m"
            _, line, where = source_of(link.inertial, link)
            report.error(line, where, message, f"expected at most {LENGTH:g} m")
            return True
    return False


def _not_felt(body: Body, inertia: RigidInertia, least: Least, report: Report) -> None:
    """A moving body must resist its own joint: then M is positive definite whatever the others are and wherever they
    are, for the first joint that moves on the way from the root moves a body of its own."""
    m, moment = float(inertia.m), own_moment(body, inertia)
    if moment < least.moment:
        about = "its joint's axis" if body.hinged else "an axis through its centre"
        message = f"has a moment of inertia about {about} of {moment:g} kg m²: "
        if moment < m * SMALL**2:
            message += f"too little for {m:g} kg"
        else:
            message += f"lost among the {least.carried_moment:g} kg m² it moves with"
        fix = "give it the moments of a solid"
    elif not body.hinged and m < least.mass:
        message = f"has mass {m:g} kg: lost among the {least.carried_mass:g} kg it moves with"
        fix = "give it more"
    else:
        return
    _, line, where = next(source_of(x.inertial, x) for x, _ in body.links if x.inertial is not None)
    report.add("wrong", line, where, f"moves by {body.mover} and {message}", fix)


@functools.lru_cache(maxsize=PARTS)
def reason(inertial: Inertial) -> tuple[str | None, str]:
    """Why no solid has these numbers, and what to do; None if one may."""
    if inertial.mass < 0:
        return f"the mass is negative: {inertial.mass:g} kg; it is taken as none", "measure or compute it again"
    if inertial.mass == 0:
        return ("there is a moment of inertia without mass", "give the mass") if any(inertial.moments) else (None, "")
    return impossible(inertial.inertia), "measure or compute it again"
