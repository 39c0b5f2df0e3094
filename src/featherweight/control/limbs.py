"""Find the legs of a robot, and say what is missing when it has none; check what controllers are given."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.control.whole_body import BASE, Limb
from featherweight.dynamics import mass_matrix
from featherweight.model import Model
from featherweight.spatial import Transform


def checked_base(what: str, model: Any) -> Model:
    """The model, if a free joint carries all of it."""
    if not isinstance(model, Model):
        raise TypeError(f"model: expected a featherweight Model, got {type(model).__name__}")
    roots = model.children(0)
    if len(roots) != 1 or not model.joints[0].kind.floating:
        raise ValueError(
            f"{what}: expected a robot with a free base, got {model.name!r} with base joint "
            f"{model.joints[0].kind!r}; load it with base='free'"
        )
    if len(model.independent_joints) < len(model.joints):
        raise ValueError(f"{what}: not for robots with mimic joints yet; {model.name!r} has some")
    if not model.X_tree[1] == Transform.identity():
        raise ValueError(
            f"{what}: expected a base whose coordinates are its pose in the world; {model.name!r} has its free joint"
            f" at {model.X_tree[1]}: place it at the world's origin, without rotation"
        )
    if not np.linalg.norm(model.gravity) > 0:
        raise ValueError(f"{what}: expected gravity that holds {model.name!r} to the ground, got none")
    return model


def checked_state(model: Model, q: Any, *, name: str = "q") -> np.ndarray:
    """Configurations (…, nq) of a robot: finite, with unit quaternions."""
    array = np.asarray(q, dtype=float)
    if array.shape[-1:] != (model.nq,):
        raise ValueError(f"{name}: expected shape (…, nq) = (…, {model.nq}), got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite numbers")
    for joint in model.independent_joints:
        reason = joint.kind.explain(array[..., joint.q])
        if reason is not None:
            raise ValueError(f"{name}: joint {joint.name!r}: {reason}")
    return array


def path_dofs(model: Model, body: int) -> tuple[int, ...]:
    """Degrees of freedom between the base and a body, from the base outward."""
    bodies = []
    while model.parent[body] > 0:
        bodies.append(body)
        body = model.parent[body]
    slices = [model.joints[i - 1].v for i in reversed(bodies)]
    return tuple(d for s in slices for d in range(s.start, s.stop))


def feet_of(what: str, model: Model, feet: Sequence[str] | None, joints: int) -> tuple[str, ...]:
    """Names of contact points that end a leg of so many joints: those given, or all that are alone on a last body."""
    if feet is not None:
        for name in feet:
            if name not in {point.name for point in model.contact_points}:
                raise ValueError(
                    f"{what}: {model.name!r} has no contact point {name!r} for a foot; it has "
                    f"{', '.join(p.name for p in model.contact_points) or 'none'}"
                )
        return tuple(feet)
    last = [p for p in model.contact_points if not model.children(p.body) and len(path_dofs(model, p.body)) == joints]
    alone = [p.name for p in last if sum(p.body == other.body for other in last) == 1]
    return tuple(alone)


def leg(what: str, model: Model, frame: str, joints: int, points: Sequence[str]) -> Limb:
    """The limb from the base to a foot, which must have so many joints of its own."""
    dofs = path_dofs(model, model.frame(frame).body)
    if len(dofs) != joints:
        raise ValueError(
            f"{what}: expected {joints} joints between the base and {frame!r}, got {len(dofs)} in {model.name!r}"
        )
    return Limb(frame, dofs, tuple(points))


def weight_of(model: Model) -> float:
    """m g [N]."""
    return float(mass_matrix(model, model.neutral())[0, 0] * np.linalg.norm(model.gravity))


def joint_damping(model: Model) -> np.ndarray:
    """Viscous damping of each degree of freedom [N m s], which a controller adds to what it wants to act."""
    damping = np.zeros(model.nv)
    for joint in model.independent_joints:
        damping[joint.v] = joint.damping
    damping[:BASE] = 0.0
    return damping


def apart(what: str, limbs: Sequence[Limb]) -> None:
    """Refuse feet that share joints: one that is named twice, or two on one leg."""
    for k, limb in enumerate(limbs):
        for other in limbs[:k]:
            if {*limb.dofs} & {*other.dofs}:
                raise ValueError(f"{what}: expected feet on legs of their own, got {other.frame!r} and {limb.frame!r}")


def positive(name: str, value: Any) -> float:
    """A finite number > 0."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name}: expected a number > 0, got {value!r}")
    return float(value)


def not_negative(name: str, value: Any) -> float:
    """A finite number of 0 or more."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 <= float(value) < np.inf:
        raise ValueError(f"{name}: expected a number of 0 or more, got {value!r}")
    return float(value)


def count(name: str, value: Any) -> int:
    """A whole number > 0."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"{name}: expected a whole number > 0, got {value!r}")
    return int(value)
