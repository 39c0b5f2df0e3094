"""A joint as a description has it, in Python: its kind, its limits, and where its spring is at rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from featherweight.errors import ModelError
from featherweight.joints import Joint, Mimic
from featherweight.model.description import TYPES, LinkJoint
from featherweight.model.properties import Limits, per_coordinate
from featherweight.model.spelling import Bounds
from featherweight.model.symbols import is_symbolic


def kind_of(what: str, joint: LinkJoint) -> Joint:
    """The joint of Python; one that follows another is a mimic joint."""
    if joint.kind is None and joint.type not in TYPES:
        raise ModelError(f"{what}: type {joint.type!r} is unknown; expected one of {', '.join(TYPES)}, or a kind")
    kind = joint.motion
    if not isinstance(kind, Joint) or not hasattr(kind, "nq"):
        raise ModelError(f"{what}: joint: expected one of featherweight.joints, got {kind!r}")
    _check_subspace(what, kind)
    if joint.mimic is None or joint.kind is not None or not kind.nv:
        return kind
    return Mimic(kind, joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset)


def limits_of(joint: LinkJoint) -> Limits:
    """Of a joint as it is described."""
    if isinstance(joint.limits, Bounds):
        return joint.limits.limits(joint.type in ("revolute", "prismatic"))
    return joint.limits or Limits()


def rest_of(what: str, kind: Joint, given: Any) -> tuple[float, ...]:
    """Where a joint's spring is at rest, checked; the neutral configuration, if nothing else is given."""
    if given is None:
        return tuple(kind.neutral().tolist())
    rest = per_coordinate(what, "rest", given, kind.nq, signed=True)
    if kind.orientation is not None and is_symbolic(rest):
        raise ModelError(f"{what}: rest: expected numbers for a quaternion, got {given!r}")
    reason = kind.explain(np.array(rest))
    if reason is not None:
        raise ModelError(f"{what}: rest: {reason}")
    return rest


def _check_subspace(what: str, kind: Joint) -> None:
    """A joint of a user whose subspace changes with q needs `subspace_rate`: without it, forces would be wrong."""
    if type(kind).subspace_rate is not Joint.subspace_rate or type(kind).__module__.startswith("featherweight."):
        return
    rng = np.random.default_rng(0)
    columns = []
    for _ in range(2):
        try:
            columns.append(np.array(kind.subspace(list(kind.random(rng))), dtype=float))
        except NotImplementedError:
            name = type(kind).__name__
            missing = f"{what}: joint: {name} has no `subspace` or no `random`; see docs/how-to/add-a-joint.md"
            raise ModelError(missing) from None
        except (TypeError, ValueError):  # symbols
            return
    if not np.array_equal(columns[0], columns[1]):
        raise ModelError(
            f"{what}: joint: the subspace of {type(kind).__name__} changes with q; give `subspace_rate(q, v)`, the "
            "columns of dS/dt as seen in the body: without it accelerations and forces would be wrong"
        )
