"""Symbols in place of numbers: models for equations of motion, whose masses and lengths have names, not values.

SymPy is never imported here: its numbers are known by the module of their type.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.errors import ModelError
from featherweight.model.cache import once_per_model
from featherweight.spatial import Symmetric, Vector

if TYPE_CHECKING:
    from featherweight.model.model import Model
    from featherweight.model.pieces import JointInfo, Part

OF_JOINT = ("armature", "damping", "friction", "stiffness", "rest")
_of_joint = operator.attrgetter(*OF_JOINT)


def is_symbolic(value: Any) -> bool:
    """Whether there is a SymPy expression among these numbers."""
    if type(value) is float:  # as a rule
        return False
    if type(value) is tuple and {*map(type, value)} == {float}:
        return False
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.dtype == object and value.ndim):
        return any(map(is_symbolic, value))
    return type(value).__module__.partition(".")[0] == "sympy"


def check_symbols(name: str, values: Iterable[Any]) -> None:
    """Refuse expressions that are no real numbers whatever their symbols are, and floats that are not finite."""
    for x in values:
        if is_symbolic(x):
            good = getattr(x, "is_real", None) is not False and getattr(x, "is_finite", None) is not False
        else:
            good = isinstance(x, (int, float, np.integer, np.floating)) and math.isfinite(x)
        if not good:
            raise ModelError(f"{name}: expected real numbers or symbols, got {x!r}")


@once_per_model
def symbols_of(model: Model) -> tuple[str, ...]:
    """Names of all symbols in a model's numbers, sorted."""
    if {*map(type, _numbers(model))} <= {int, float}:  # as a rule
        return ()
    return tuple(sorted({str(s) for x in _numbers(model) for s in getattr(x, "free_symbols", ())}))


def _numbers(model: Model) -> Iterator[Any]:
    flat = itertools.chain.from_iterable
    E, r = zip(*model.X_tree, *(frame.X for frame in model.frames.values()), strict=True)
    m, h, I = zip(*model.inertias, strict=True)
    of_joints = flat(map(_of_joint, model.joints))
    return itertools.chain(model.gravity_vector, m, *map(flat, (r, flat(E), h, I, of_joints)))


def with_values(model: Model, values: Mapping[Any, float]) -> Model:
    """The model with numbers for its symbols, all of them."""
    given = {str(name): float(value) for name, value in values.items()}
    names = symbols_of(model)
    missing, unknown = [n for n in names if n not in given], [n for n in given if n not in names]
    if missing or unknown:
        what = f"no value for {', '.join(missing)}" if missing else f"there is no symbol {', '.join(unknown)}"
        raise ModelError(f"model {model.name!r}: {what}; its symbols are {', '.join(names) or 'none'}")

    def number(x: Any) -> Any:
        return float(x.subs({s: given[str(s)] for s in x.free_symbols})) if is_symbolic(x) else x

    frames = {name: replace(frame, X=frame.X.lift(number)) for name, frame in model.frames.items()}
    return replace(
        model,
        gravity_vector=model.gravity_vector.lift(number),
        X_tree=tuple(X.lift(number) for X in model.X_tree),
        inertias=tuple(inertia.lift(number) for inertia in model.inertias),
        joints=tuple(_joint(joint, number) for joint in model.joints),
        frames=frames,
        parts=tuple(_part(part, number) for part in model.parts),
        geometry=tuple(replace(shape, X=shape.X.lift(number)) for shape in model.geometry),
        description=None,  # has the symbols
    )


def _joint(joint: JointInfo, number: Callable[[Any], Any]) -> JointInfo:
    changed: dict[str, Any] = {name: tuple(map(number, getattr(joint, name))) for name in OF_JOINT}
    return replace(joint, **changed)


def _part(part: Part, number: Callable[[Any], Any]) -> Part:
    i = part.inertia
    moment = Symmetric.of(i.moment_about_com).lift(number).matrix
    inertia = type(i)(number(i.mass), Vector(*i.com).lift(number), moment)
    return replace(part, X=part.X.lift(number), inertia=inertia)
