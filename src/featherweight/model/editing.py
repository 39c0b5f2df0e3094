"""New models from a model: joints locked, other names, payloads, other masses. `Model` has these as methods.

An edit is a function of a description. It is applied to what the model is assembled from, and to what its file or
builder wrote: what is saved afterwards has the edit, and else what it had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from featherweight.errors import ModelError, unknown_name
from featherweight.joints import Fixed
from featherweight.model import edits
from featherweight.model.description import Description, Link, LinkJoint
from featherweight.model.inertia import Inertia, impossible
from featherweight.model.parameters import owner_of
from featherweight.model.placement import Placement, numbers_or_symbols, real_numbers
from featherweight.model.spelling import Inertial

if TYPE_CHECKING:
    from featherweight.model.model import Model


def locked(model: Model, joints: Mapping[str, ArrayLike]) -> Model:
    """The model with some joints fixed where they are: {name: configuration}.

    What they carry is welded to their parents: the dynamics is that of the whole model with these joints held. Links,
    frames, contact points and shapes keep their names. Mimic joints are locked with their leader, rotors stay as mass;
    springs of locked joints are gone, and parameters of locked joints are no longer declared.

    Args:
        joints: configurations by names of joints, each of shape (nq of the joint,), or a number for one coordinate.

    >>> import featherweight as fw
    >>> fw.robots.double_pendulum().locked({"elbow": 0.3}).joint_names
    ('shoulder',)
    """
    if not isinstance(joints, Mapping):
        raise TypeError(f"joints: expected a dictionary of configurations by name, got {type(joints).__name__}")
    held = {model.joint(name).q.start: _configuration(model, name, q) for name, q in joints.items()}
    fixed = [joint for joint in model.joints if joint.q.start in held]  # mimic joints too
    poses = {joint.name: joint.kind.transform(held[joint.q.start]) for joint in fixed}
    parameters = [name for name in model.parameters if owner_of(name) not in {("joint", joint) for joint in poses}]
    return _edited(model, lambda description: edits.locked(description, poses), parameters, poses)


def renamed(model: Model, names: Mapping[str, str] | None = None, *, prefix: str = "") -> Model:
    """The model with other names of links, frames, joints, contact points, and of shapes that were given names.

    Args:
        names: new names by old ones. An old name is that of everything that has it; "link:NAME", "frame:NAME",
            "joint:NAME", "point:NAME" and "shape:NAME" are that of one kind.
        prefix: put before all names but that of the world.

    >>> import featherweight as fw
    >>> fw.robots.pendulum().renamed({"hinge": "shoulder"}, prefix="left_").joint_names
    ('left_shoulder',)
    """
    names = {} if names is None else names
    if not isinstance(names, Mapping) or not isinstance(prefix, str):
        raise TypeError(f"names, prefix: expected a dictionary of names and a text, got {names!r} and {prefix!r}")
    things = [(f.kind, f.name) for f in model.frames.values() if (f.kind, f.name) != ("link", "world")]
    things += [("shape", g.name) for g in model.geometry if g.name]
    known = {name for _, name in things}
    for name in {*names} - {f"{kind}:{own}" for kind, own in things}:
        if name not in known:
            raise unknown_name("link, frame, joint, contact point or shape", name, sorted(known))

    def new(kind: str, old: str) -> str:
        if (kind, old) == ("link", "world"):
            return old
        return prefix + names.get(f"{kind}:{old}", names.get(old, old))

    return _edited(model, lambda description: edits.renamed(description, new), parameters_renamed(model, new))


def with_payload(model: Model, frame: str, inertia: Inertia, *, name: str = "payload") -> Model:
    """The model with a mass that is fixed to a frame: a link of its own.

    Args:
        frame: name of a link, frame, joint or contact point.
        inertia: in the axes of that frame; its `com` tells where the payload is.
        name: of the new link; its joint is called `NAME_joint`.

    >>> import featherweight as fw
    >>> fw.robots.pendulum(mass=1.0).with_payload("bob", fw.Inertia.point(0.5)).mass
    1.5
    """
    _check_inertia("inertia", inertia)
    place = model.frame(frame)
    body = model.names[place.body]

    def edit(description: Description) -> Description:
        parents = {thing.name for thing in (*description.links, *description.frames)}
        link, joint = Link(name, Inertial.of(inertia)), LinkJoint(f"{name}_joint", "fixed", place.name, name)
        if place.kind not in ("link", "frame") or place.name not in parents:
            joint = replace(joint, parent=body, origin=Placement.of(place.X))
        links, joints = (*description.links, link), (*description.joints, joint)
        return replace(description, links=links, joints=joints, format="")

    return _edited(model, edit, model.parameters)


def with_inertias(model: Model, inertias: Mapping[str, Inertia]) -> Model:
    """The model with other inertias of some links: {name: inertia}, in the link's frame. What is fixed to them stays.

    >>> import featherweight as fw
    >>> fw.robots.pendulum().with_inertias({"bob": fw.Inertia.sphere(2.0, 0.1, at=(0, 0, -1))}).mass
    2.0
    """
    if not isinstance(inertias, Mapping):
        raise TypeError(f"inertias: expected a dictionary of inertias by link, got {type(inertias).__name__}")
    for name in _links(model, inertias):
        _check_inertia(f"inertias[{name!r}]", inertias[name])
    return _reweighed(model, inertias, lambda link: Inertial.of(inertias[link.name], link.source))


def with_scaled_mass(model: Model, factor: float | Mapping[str, float]) -> Model:
    """The model with masses and moments of inertia times a factor: of all links, or {link: factor} of some.

    Centres of mass stay, and so do armatures and rotors.

    >>> import featherweight as fw
    >>> fw.robots.pendulum(mass=2.0).with_scaled_mass(1.5).mass
    3.0
    """
    if isinstance(factor, Mapping):
        factors = {name: factor[name] for name in _links(model, factor)}
    else:
        factors = {part.link: factor for part in model.parts if part.joint}
    for name, x in factors.items():
        if not real_numbers(f"factor of {name!r}", x, ()) > 0:
            raise ModelError(f"factor of {name!r}: expected a number > 0, got {x!r}")

    def scaled(link: Link) -> Inertial | None:
        own, x = link.inertial, factors[link.name]
        return own and replace(own, mass=own.mass * x, moments=tuple(m * x for m in own.moments))

    return _reweighed(model, factors, scaled)


def parameters_renamed(model: Model, new: edits.Name) -> list[str]:
    """The declared parameters of a model whose things get other names."""
    owners = [(name, *owner_of(name)) for name in model.parameters]
    return [f"{new(kind, own)}.{name.rpartition('.')[2]}" if kind else name for name, kind, own in owners]


def _edited(
    model: Model,
    edit: Callable[[Description], Description],
    parameters: Iterable[str],
    joints: Iterable[str] = (),
) -> Model:
    """The model after an edit; `joints` are those that it must find."""
    from featherweight.model.assembly import assemble
    from featherweight.model.describe import describe

    whole = edit(describe(model))
    new = assemble(whole, gravity=tuple(model.gravity_vector), policy="accept", parameters=tuple(parameters))
    written = model.description
    if written is not None and {*joints} - {joint.name for joint in written.joints}:
        written = _rooted(model, written)
    if written is not None and not _same_links(model, written):
        written = None
    return replace(new, notes=model.notes, description=whole if written is None else edit(written))


def forms(model: Model) -> tuple[Description, Description]:
    """What a model is assembled from, and what its file or builder wrote, with the joint of its root, parents first."""
    from featherweight.model.describe import describe

    whole, written = describe(model), model.description
    if written is None or not _same_links(model, written):
        return whole, whole
    written, order = _rooted(model, written), {joint.name: k for k, joint in enumerate(whole.joints)}
    return whole, replace(written, joints=tuple(sorted(written.joints, key=lambda joint: order[joint.name])))


def _same_links(model: Model, written: Description) -> bool:
    """Not so if a root that is called like the world has another name in the model."""
    return {link.name for link in written.links} - {"world"} == {part.link for part in model.parts if part.joint}


def _rooted(model: Model, written: Description) -> Description:
    """With the joint of the root: files do not say how a robot stands in the world."""
    carried = {joint.child for joint in written.joints}
    for part in model.parts:
        if part.joint and part.link not in carried:
            kind = next((joint.kind for joint in model.joints if joint.name == part.joint), Fixed())
            root = LinkJoint(part.joint, type(kind).__name__.lower(), "world", part.link, kind=kind)
            return replace(written, joints=(root, *written.joints), format="")
    return written


def _reweighed(model: Model, links: Iterable[str], inertial: Callable[[Link], Inertial | None]) -> Model:
    """The model with other inertias of these links."""
    changed = {*links}

    def edit(description: Description) -> Description:
        new = (replace(k, inertial=inertial(k)) if k.name in changed else k for k in description.links)
        return replace(description, links=tuple(new), format="")

    return _edited(model, edit, model.parameters)


def _links(model: Model, names: Iterable[str]) -> list[str]:
    """These names, if they are of links."""
    known = [part.link for part in model.parts if part.joint]
    for name in names:
        if name not in known:
            raise unknown_name("link", name, known)
    return list(names)


def _check_inertia(what: str, inertia: Any) -> None:
    if not isinstance(inertia, Inertia):
        raise TypeError(f"{what}: expected a featherweight Inertia, got {type(inertia).__name__}")
    reason = impossible(inertia)
    if reason is not None:
        raise ModelError(f"{what}: {reason}")


def _configuration(model: Model, name: str, q: ArrayLike) -> list[Any]:
    """Where a joint is to be locked."""
    joint = model.joint(name)
    if not joint.independent:
        raise ValueError(f"joint {name!r} follows {joint.kind.leader!r}, and is locked with it; lock that")
    one = joint.kind.nq == 1 and np.ndim(q) == 0
    numbers = numbers_or_symbols(f"joints[{name!r}]", [q] if one else q, (joint.kind.nq,))
    reason = None if numbers.dtype == object else joint.kind.explain(numbers)
    if reason is not None:
        raise ModelError(f"joints[{name!r}]: {reason}")
    return numbers.tolist()
