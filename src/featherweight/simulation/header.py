"""What a trajectory's file says beside its states: robot, ground and parameters, so that it can be looked at alone."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np

from featherweight import contact
from featherweight.contact import Pair, Surface
from featherweight.contact.pair import Pairs, checked_pairs
from featherweight.io import from_plain, to_plain
from featherweight.model import Model, Placement

MOST_BYTES = 500_000  # of robot or ground; a recording's head has room for twice that
AGAIN = "dataclasses.replace(trajectory, ground=…)"
ROW = "parameters"  # name of their array


def header_of(
    model: Model | None,
    ground: Sequence[Surface],
    parameters: Mapping[str, np.ndarray] = MappingProxyType({}),
    pairs: Pairs = None,
) -> dict[str, Any]:
    """Robot, ground, which shapes may touch, and names and shapes of parameters for a file's head; None, with a
    warning, for what does not fit there or has code that is not ours."""
    robot = None
    if model is not None:
        plain = to_plain(model)
        robot = _fitting(plain)
        if plain is None:
            _left_out(
                f"the robot {model.name!r}", "it has a joint of another package", "Trajectory.load(path, model=…)"
            )
        elif robot is None:
            _left_out(
                f"the robot {model.name!r}", f"it takes more than {MOST_BYTES} bytes", "Trajectory.load(path, model=…)"
            )
    others = {type(s).__name__ for s in ground if getattr(contact, type(s).__name__, None) is not type(s)}
    surfaces = None if others else _fitting([_plain(surface) for surface in ground])
    if others:
        _left_out("the ground", f"{', '.join(sorted(others))} is not a surface of featherweight.contact", AGAIN)
    elif surfaces is None:
        _left_out("the ground", f"it takes more than {MOST_BYTES} bytes", AGAIN)
    return {
        "robot": robot,
        "ground": surfaces,
        "pairs": [[p.a, p.b, p.friction, p.restitution] for p in pairs] if isinstance(pairs, tuple) else pairs,
        "parameters": [[name, list(np.shape(values))] for name, values in parameters.items()],
    }


def _left_out(what: str, why: str, instead: str) -> None:
    warnings.warn(f"{what} is not written into the file: {why}; states are. Give it again with {instead}", stacklevel=4)


def in_a_row(parameters: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Parameters as the array of a file: all their numbers, one after the other; nothing if there are none."""
    return {ROW: np.concatenate([np.ravel(x) for x in parameters.values()])} if parameters else {}


def parameters_in(facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The parameters of a file, by name; ValueError if its numbers are not as many as its head says."""
    found: dict[str, np.ndarray] = {}
    numbers = np.asarray(arrays.get(ROW, ()), dtype=float)
    for name, shape in facts.get("parameters") or ():
        if not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError(f"impossible shape of a parameter: {str(shape)[:100]}")
        own, numbers = numbers[: prod(shape)], numbers[prod(shape) :]
        found[str(name)] = own.reshape(shape)
    if numbers.size:
        raise ValueError(f"expected the numbers of {len(found)} parameters, got {numbers.size} more")
    return found


def robot_in(facts: dict[str, Any]) -> Model | None:
    """The robot of a file; None if it has none. ModelError if what it has is none."""
    return None if facts.get("robot") is None else from_plain(facts["robot"])


def ground_in(facts: dict[str, Any]) -> tuple[Surface, ...]:
    """The surfaces of a file; ValueError if what it has are none."""
    return tuple(_surface(data) for data in facts.get("ground") or ())


def pairs_in(facts: Mapping[str, Any]) -> Pairs:
    """Which shapes may touch which, as a file says; ValueError if it says nothing of the kind."""
    given = facts.get("pairs")
    try:
        return checked_pairs([Pair(*one) for one in given] if isinstance(given, list) else given)
    except TypeError as error:
        raise ValueError(f"not pairs of shapes as plain data: {error}") from None


def _fitting(data: Any) -> Any:
    return data if len(json.dumps(data)) <= MOST_BYTES else None


def _plain(surface: Surface) -> dict[str, Any]:
    values = {f.name: getattr(surface, f.name) for f in fields(surface) if f.init}
    return {"kind": type(surface).__name__} | {name: _value(value) for name, value in values.items()}


def _value(value: Any) -> Any:
    if isinstance(value, Placement):
        return [list(value.position), [list(row) for row in value.rotation]]
    return np.asarray(value).tolist() if value is not None else None


def _surface(data: Any) -> Surface:
    try:
        given = dict(data)
        kind = getattr(contact, given.pop("kind"))
        if not issubclass(kind, Surface):
            raise TypeError(f"{kind.__name__} is not a surface")
        if "placement" in given:
            given["placement"] = Placement(given["placement"][0], rotation=given["placement"][1])
        return kind(**given)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"not a surface as plain data: {type(error).__name__}: {error}") from None
