"""Singular mass matrices: which models may have one, at which q, and by which body."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.algorithms import Pivot, pivots
from featherweight.errors import ModelError
from featherweight.model import Model, Tree
from featherweight.model.cache import once_per_model
from featherweight.model.parameters import INERTIAL, owner_of
from featherweight.model.regularity import DIGITS, indefinite_bodies, singular_bodies

SAMPLES = 3  # configurations: det M(q) is analytic, so that it is zero everywhere or almost nowhere


@dataclass(frozen=True)
class Regularity:
    """`watched`: bodies whose pivots are not proved to be regular at every q. `singular`: if M(q) is singular at every
    q, the reason."""

    watched: frozenset[int]
    singular: str | None = None


@once_per_model
def regularity(model: Model) -> Regularity:
    """The regularity of a model of numbers. Kernels check the pivots of watched bodies alone."""
    given = _given(model)
    weak = {*singular_bodies(model), *(j.body for j in model.joints if not j.kind.uniform), *given}
    weak |= _with_carriers(model, indefinite_bodies(model))
    if weak and not all(joint.independent for joint in model.joints):  # joints that share coordinates share pivots
        weak = {*range(1, model.nb + 1)}
    if not weak or given:
        return Regularity(frozenset(weak))
    rng = np.random.default_rng(0)
    reasons = [singular_at(model, _anywhere(model, rng)) for _ in range(SAMPLES)]
    return Regularity(frozenset(weak), reasons[0] if all(reasons) else None)


def need_regular(what: str, model: Model) -> None:
    """Refuse a model whose mass matrix is singular wherever its joints are."""
    reason = regularity(model).singular
    if reason is not None:
        raise ModelError(f"{what}: {reason}")


def _given(model: Model) -> set[int]:
    """The bodies whose inertia, or that of what they carry, depends on parameters."""
    links, joints = {part.link: part.body for part in model.parts}, {joint.name: joint.body for joint in model.joints}
    owners = [owner_of(name) for name in model.parameters if name.rpartition(".")[2] in INERTIAL]
    return _with_carriers(model, [(links if kind == "link" else joints)[owner] for kind, owner in owners])


def _with_carriers(model: Model, bodies: Iterable[int]) -> set[int]:
    """Bodies, and those that carry them."""
    found: set[int] = set()
    for body in bodies:
        while body > 0 and body not in found:
            found.add(body)
            body = model.parent[body]
    return found


def _anywhere(model: Model, rng: np.random.Generator) -> np.ndarray:
    """A generic configuration. It ignores limits, which may leave a joint a single angle."""
    return np.concatenate([np.zeros(0), *(joint.kind.random(rng) for joint in model.independent_joints)])


def singular_at(model: Model, q: np.ndarray, given: Mapping[str, Any] | None = None) -> str | None:
    """Why M(q) is singular, or None if it is not; with these values for parameters."""
    tree = model.over(np.float64, lambda: None, {name: list(np.ravel(x)) for name, x in (given or {}).items()})
    return _reason(model, tree, q, pivots)


def _reason(model: Model, tree: Tree, q: np.ndarray, found: Callable[..., list[Pivot]], *options: Any) -> str | None:
    with np.errstate(all="ignore"):
        lost = [(i, d, b) for i, d, b in found(tree, [np.float64(x) for x in q], *options) if not d > DIGITS * b]
    if not lost:
        return None
    i, d, size = max(lost, key=lambda pivot: pivot[0])  # the outermost: those that carry it follow from it
    hidden = f"{d:.3g}" if math.isfinite(d) else "nothing"
    alone = "" if i in model.parent else ", and carries nothing that has"
    description = model.description
    repair = ', or load it with policy="repair"' if description is not None and description.format else ""
    what = (
        f"the mass matrix is singular: body {model.names[i]!r} has no inertia about or along an axis of its joint "
        f"{model.joints[i - 1].name!r}{alone} ({hidden} is left, rounding of what it moves, up to {size:.3g} kg m² or "
        "kg)"
    )
    if d < -DIGITS * size:
        what = (
            f"the mass matrix is not positive definite: body {model.names[i]!r} has the inertia {d:.3g} kg m² or kg "
            f"about or along an axis of its joint {model.joints[i - 1].name!r}, with what it carries"
        )
    fix = f"give it moments of inertia, or the joint an armature{repair}"
    return f"{what}; {fix}; kinematics and inverse dynamics work without"


def singular_where(
    model: Model, arrays: Mapping[str, np.ndarray], found: Callable[..., list[Pivot]], options: Sequence[Any]
) -> str:
    """The same for the first row of arguments (…, n) where M(q) is singular; empty if there is none."""
    shapes = {"q": (model.nq,), **{name: p.shape for name, p in model.parameters.items()}}
    batch = np.broadcast_shapes(*(arrays[n].shape[: arrays[n].ndim - len(shape)] for n, shape in shapes.items()))
    rows = {n: np.broadcast_to(arrays[n], batch + shape).reshape(-1, *shape) for n, shape in shapes.items()}
    for k, q in enumerate(rows["q"]):
        given = {name: list(rows[name][k].ravel()) for name in model.parameters}
        reason = _reason(model, model.over(np.float64, lambda: None, given), q, found, *options)
        if reason is not None:
            place = f"at q[{', '.join(map(str, np.unravel_index(k, batch)))}] " if batch else ""
            return f"{place}{reason}"
    return ""
