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
        fix = "a robot needs at least one"
        report.error(description.line, description.where, "there is no <link>", fix, kind="tree")
        return None
    children: dict[str, list[LinkJoint]] = defaultdict(list)
    parents: dict[str, LinkJoint] = {}
    loose = False  # then roots mean nothing
    for joint in description.joints:
        where = joint.where
        for tag, end in (("parent", joint.parent), ("child", joint.child)):
            loose |= end not in links
            if end and end not in links:
                message = f"{tag} link {short(end)!r} does not exist"
                report.error(joint.line, where, message, report.hint(end, links), kind="tree")
        if joint.parent == joint.child and joint.parent:
            loose = True
            report.error(joint.line, where, f"connects link {short(joint.parent)!r} with itself", kind="tree")
        elif joint.child in parents:
            other = parents[joint.child]
            first = f"joint {short(other.name)!r} (line {other.line})"
            message = f"link {short(joint.child)!r} is already the child of {first}"
            fix = f"a link has one parent; loops are not {description.format or 'joints'}"
            report.error(joint.line, where, message, fix, kind="tree")
        elif joint.parent in links and joint.child in links:
            parents[joint.child] = joint
            children[joint.parent].append(joint)
        following.check(joint)
    roots = [link for link in links.values() if link.name not in parents]
    if len(roots) != 1:
        if not loose:
            _wrong_roots(roots, description, report)
        return None
    order: list[LinkJoint] = []
    stack = list(reversed(children[roots[0].name]))
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack += reversed(children[joint.child])
    reached = {roots[0].name, *(joint.child for joint in order)}
    for link in description.links:
        if link.name not in reached:
            report.error(link.line, link.where, "is part of a circle of joints", "break the circle", kind="tree")
            return None
    return SpanningTree(roots[0], tuple(order), links, frozenset(following.void))


def _unique(description: Description, report: Report) -> None:
    """Links have names of their own, joints too."""
    for kind, things in (("link", description.links), ("joint", description.joints)):
        counts = Counter(thing.name for thing in things)
        first: dict[str, int] = {}
        for thing in things:
            if counts[thing.name] > 1 and thing.name:
                if thing.name in first:
                    message = f"the name {short(thing.name)!r} is used by another {kind} on line {first[thing.name]}"
                    report.error(thing.line, thing.where, message, "names must be unique", kind="name")
                first.setdefault(thing.name, thing.line)


def _wrong_roots(roots: list[Link], description: Description, report: Report) -> None:
    if not roots:
        joint = description.joints[0]
        report.error(joint.line, joint.where, "is part of a circle of joints: no link is the root", kind="tree")
        return
    roots = sorted(roots, key=lambda link: link.line)
    names = ", ".join(repr(short(link.name)) for link in roots[:5])
    second = roots[1]
    message = f"there are {len(roots)} root links: {names}{' …' if len(roots) > 5 else ''}"
    report.error(second.line, second.where, message, "connect them by joints, or remove all but one", kind="tree")


def check_unused(description: Description, report: Report) -> None:
    """What a description can say and a model cannot hold; without its loops a robot would be another."""
    for loop in description.loops:
        report.error(loop.line, loop.where, "closes a loop: robots are trees here", "leave it out", kind="loop")
    for thing in (*description.actuators, *description.sensors, *description.keyframes):
        report.add("note", thing.line, thing.where, "is not used", kind="unused-element")


def check_physics(tree: SpanningTree, base: str, report: Report) -> None:
    """Masses and moments: of each link, and of what fixed joints weld together to one moving body."""
    bodies = welded(tree, base)
    inertias = [body.inertia for body in bodies]
    for body, inertia, least in zip(bodies, inertias, needed(bodies, inertias), strict=True):
        own = [(link, link.inertial) for link, _ in body.links if link.inertial is not None]
        if any([inertial.unreadable for _, inertial in own]):
            continue
        parts = [(link, inertial, fault) for link, inertial in own if (fault := fault_of(inertial)) is not None]
        heavy = float(inertia.m) > TINY
        broken = bool(parts) and body.mover is not None
        broken = broken and (not heavy or len(own) == 1 or impossible(inertia) is not None)
        for link, inertial, (kind, why, fix) in parts:
            source = source_of(inertial, link)
            report.add("wrong" if broken else "warning", source.line, source.element, why, fix, kind=kind)
        if body.mover is None:
            continue
        if not heavy and not parts:
            _no_mass(body, inertia, tree, report)
        elif heavy and not _too_wide(body, inertia, report) and not broken:
            _not_felt(body, inertia, least, report)


def _no_mass(body: Body, inertia: RigidInertia, tree: SpanningTree, report: Report) -> None:
    first = body.links[0][0]
    others = len(body.links) - 1
    with_what = f" (with {others} link{'s' if others > 1 else ''} fixed to it)" if others else ""
    message = f"moves by {body.mover} and has mass {float(inertia.m):g} kg{with_what}"
    fix = "give it an <inertial> with its mass" + ("" if first is tree.root else ", or make the joint fixed")
    report.add("wrong", first.line, first.where, message, fix, kind="no-mass")


def _too_wide(body: Body, inertia: RigidInertia, report: Report) -> bool:
    """A link whose moments are those of a body larger than any."""
    for link, _ in body.links:
        if link.inertial is not None and too_wide(link.inertial, float(inertia.m)):
            size = math.sqrt(max(map(abs, link.inertial.moments)) / float(inertia.m))
            message = f"its moments are too large for the mass: they are those of a ring of radius {size:g} m"
            _, line, where = source_of(link.inertial, link)
            report.add("wrong", line, where, message, f"expected at most {LENGTH:g} m", kind="too-wide")
            return True
    return False


def too_wide(inertial: Inertial, mass: float) -> bool:
    """Are its moments those of a body of this mass and wider than any?"""
    return max(map(abs, inertial.moments)) > mass * LENGTH**2


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
    report.add("wrong", line, where, f"moves by {body.mover} and {message}", fix, kind="too-light")


def fault_of(inertial: Inertial) -> tuple[str, str, str] | None:
    """Why no solid has these numbers: kind, message and what to do; None if one may."""
    m, (xx, xy, xz, yy, yz, zz) = inertial.mass, inertial.moments
    again = "measure or compute it again"
    if m < 0:
        return "negative-mass", f"the mass is negative: {m:g} kg; it is taken as none", again
    if m == 0:
        massless = ("massless-moment", "there is a moment of inertia without mass", "give the mass")
        return massless if any(inertial.moments) else None
    # Σ = ½ tr(J) 1 - J has the integrals of x², y², z²: where it is clearly positive definite, nothing is amiss
    half, size = (xx + yy + zz) / 2, 1e-12 * max(xx, yy, zz)
    a, b, c = half - xx, half - yy, half - zz
    minor = a * b - xy * xy
    if a > size and minor > a * size and (minor * c - 2 * xy * xz * yz - a * yz * yz - b * xz * xz) > minor * size:
        return None
    why = _impossible(inertial)
    if why is None:
        return None
    return "negative-moment" if why.endswith("negative") else "triangle", why, again


@functools.lru_cache(maxsize=PARTS)
def _impossible(inertial: Inertial) -> str | None:
    return impossible(inertial.inertia)


def forget() -> None:
    """What was computed of inertias, by whoever is done with a file."""
    _impossible.cache_clear()
