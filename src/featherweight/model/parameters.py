"""Model constants as inputs: `parameters=("trunk.mass", …)` lets one kernel serve a batch of different robots."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from featherweight.errors import ModelError
from featherweight.spatial import RigidInertia, Symmetric, Vector

if TYPE_CHECKING:
    from featherweight.model.model import Model
    from featherweight.model.pieces import JointInfo, Part

GROUND_FRICTION = 0.8  # default μ of contact
OF_LINKS = {"mass": (), "com": (3,), "moment": (3, 3)}
OF_JOINTS = ("position", "armature", "damping", "friction", "stiffness", "rest")
INERTIAL = frozenset((*OF_LINKS, "armature", "position"))  # what the mass matrix depends on
NOT_NEGATIVE = frozenset(("mass", "armature", "damping", "friction", "stiffness"))
NAMED = f"there are LINK.{', .'.join(OF_LINKS)}, JOINT.{', .'.join(OF_JOINTS)}, gravity and ground.friction"
LARGEST = 1e100  # far from overflow when it is squared


@dataclass(frozen=True)
class Parameter:
    """A model constant that calls may override: the shape of its value for one state, and the model's own value."""

    name: str
    shape: tuple[int, ...]
    default: np.ndarray

    @property
    def not_negative(self) -> bool:
        """Must it be 0 or more?"""
        return self.name.rpartition(".")[2] in NOT_NEGATIVE

    def check(self, values: np.ndarray) -> None:
        """Raise ValueError for values (…, *shape) that no model could be built with."""
        if not values.size:
            return
        least = 0.0 if self.not_negative else -LARGEST
        low, high = (values.min(), values.max()) if values.size > 1 else (values.item(), values.item())
        if not (least <= low and high <= LARGEST):  # also if one is NaN
            expected = "0 or more" if self.not_negative else "finite"
            self._refuse(values, ~((values >= least) & (values <= LARGEST)), f"numbers, {expected}, up to {LARGEST:g}")
        if self.name.endswith(".moment"):
            skew = values - np.swapaxes(values, -1, -2)
            if skew.any():
                size = np.abs(values).max(axis=(-1, -2), keepdims=True, initial=1e-12)
                rounding = np.abs(skew) <= 1e-9 * size
                if not rounding.all():
                    self._refuse(values, ~rounding, "a symmetric matrix")

    def _refuse(self, values: np.ndarray, bad: np.ndarray, expected: str) -> NoReturn:
        index = tuple(int(k) for k in np.argwhere(bad)[0])
        place = f"[{', '.join(map(str, index))}]" if index else ""
        raise ValueError(f"parameters: {self.name}{place} is {values[index]:g}; expected {expected}, as in a model")


def declared(model: Model, names: Iterable[Any]) -> dict[str, Parameter]:
    """The parameters with these names; ModelError if the model has no such constant."""
    if isinstance(names, str):
        raise ModelError(f"parameters: expected a sequence of names, got the text {names!r}; write ({names!r},)")
    model.need_numbers("parameters")
    known = possible(model)
    found: dict[str, Parameter] = {}
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=3)
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else NAMED
            raise ModelError(f"parameters: there is no constant {name!r} in model {model.name!r}; {hint}")
        if name in found:
            raise ModelError(f"parameters: {name!r} is named twice")
        shape, default = known[name]
        found[name] = Parameter(name, shape, np.asarray(default, dtype=float).reshape(shape))
    return found


def possible(model: Model) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Shape and value of every constant that can be declared a parameter, by name."""
    known: dict[str, tuple[tuple[int, ...], Any]] = {"gravity": ((3,), model.gravity_vector)}
    known["ground.friction"] = (), GROUND_FRICTION
    for part in model.parts:
        if not part.joint:  # a rotor is in three places (mass, armature, spin): it is no parameter
            continue
        inertia = part.inertia
        values = {"mass": inertia.mass, "com": inertia.com, "moment": inertia.moment_about_com}
        known.update({f"{part.link}.{what}": (shape, values[what]) for what, shape in OF_LINKS.items()})
    for joint in model.joints:
        known[f"{joint.name}.position"] = (3,), model.X_tree[joint.body].r
        for what in OF_JOINTS[1:]:
            value = getattr(joint, what)
            known[f"{joint.name}.{what}"] = ((len(value),) if len(value) > 1 else ()), value
    return known


def owner_of(parameter: str) -> tuple[str, str]:
    """Whose constant this is: ("link" or "joint", name), or ("", "") of the world."""
    owner, _, what = parameter.rpartition(".")
    if parameter in ("gravity", "ground.friction"):
        return "", ""
    return "link" if what in OF_LINKS else "joint", owner


def inertia_of(body: int, model: Model, given: Mapping[str, list[Any]], lift: Any) -> RigidInertia:
    """The rigid inertia of a body: its own numbers, or those given for its parts."""
    if not given:
        return model.inertias[body].lift(lift)
    parts = [part for part in model.parts if part.body == body]
    if not any(f"{part.link}.{what}" in given for part in parts for what in OF_LINKS):
        return model.inertias[body].lift(lift)
    total = RigidInertia.zero()
    for part in parts:
        total = total + _part(part, given, lift).seen_through(part.X.lift(lift))
    return total


def _part(part: Part, given: Mapping[str, list[Any]], lift: Any) -> RigidInertia:
    inertia = part.inertia
    mass = given.get(f"{part.link}.mass") or [lift(inertia.mass)]
    com = given.get(f"{part.link}.com") or [lift(x) for x in inertia.com]
    moment = given.get(f"{part.link}.moment") or [lift(x) for row in inertia.moment_about_com for x in row]
    return RigidInertia.about_com(
        mass[0], Vector(*com), Symmetric(moment[0], moment[1], moment[2], moment[4], moment[5], moment[8])
    )


def of_joint(joint: JointInfo, what: str, given: Mapping[str, list[Any]], lift: Any) -> tuple[Any, ...]:
    """A property of a joint, one number for each coordinate."""
    value = given.get(f"{joint.name}.{what}") if given else None
    return tuple(value) if value is not None else tuple([lift(x) for x in getattr(joint, what)])
