"""Nested lists and tuples as rows of the numbers in them, which loops carry from turn to turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from featherweight.integrators.variational.drnea import Trial
from featherweight.model import Tree
from featherweight.scalar import known

SQUARE = 0  # place of |e|² in the row of a trial


class Carry:
    """The numbers of something that nests like this. Values that are compile-time constants in it are taken to be the
    same constants in everything that is packed by it, and are not carried."""

    def __init__(self, like: Any) -> None:
        self.like = like
        self.fixed = [x if x is not None and known(x) else None for x in _flat(like)]

    def of(self, nested: Any) -> list[Any]:
        return [x for x, fixed in zip(_flat(nested), self.fixed, strict=True) if fixed is None]

    def back(self, values: Sequence[Any]) -> Any:
        given = iter(values)
        return _like(self.like, iter([next(given) if fixed is None else fixed for fixed in self.fixed]))


class TrialCarry(Carry):
    """Of a trial, |e|² first, without what only a Newton step needs; with a further number for each coordinate, if
    there is one. Joint after joint, so that equal ones can be equal code."""

    def __init__(self, tree: Tree, trial: Trial, further: Sequence[Any] | None = None) -> None:
        self.nv = tree.nv
        self.own = [joint.v for joint in tree.joints[1:] if joint.kind.leader is None]
        super().__init__(self._nested(trial, further))

    def of_trial(self, trial: Trial, further: Sequence[Any] | None = None) -> list[Any]:
        return self.of(self._nested(trial, further))

    def trial(self, values: Sequence[Any]) -> tuple[Trial, list[Any]]:
        """The trial, and what was given further."""
        square, upright, joints = self.back(values)
        lists: list[list[Any]] = [[0] * self.nv for _ in range(4)]
        for v, numbers in zip(self.own, joints, strict=True):
            for own, part in zip(lists, numbers, strict=False):
                own[v] = part
        delta, e, gained, further = lists
        return Trial(delta, e, gained, square, upright, [], []), further

    def _nested(self, trial: Trial, further: Sequence[Any] | None) -> list[Any]:
        lists = [trial.delta, trial.e, trial.gained, *([] if further is None else [further])]
        return [trial.square, trial.upright, [[x[v] for x in lists] for v in self.own]]


def _flat(x: Any) -> list[Any]:
    return [number for part in x for number in _flat(part)] if isinstance(x, (list, tuple)) else [x]


def _like(x: Any, numbers: Iterator[Any]) -> Any:
    """These numbers in lists and tuples like x."""
    if isinstance(x, list):
        return [_like(part, numbers) for part in x]
    if isinstance(x, tuple):
        return type(x)(*[_like(part, numbers) for part in x])
    return next(numbers)
