"""What has been computed from a model, in one place: kernels, their entry points, and facts about the model.

A model never changes, so whatever follows from it is computed once. The cache lives and dies with its model; a copy of
the model, also one that was pickled, begins with an empty cache.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar

from featherweight.compiler import compiling, uncollected

if TYPE_CHECKING:
    from featherweight.model.model import Model

Value = TypeVar("Value")


class Kernels(dict[Hashable, Any]):
    """Kernels by key. Each is made once, however many threads ask for it at the same time."""

    def once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The kernel under this key, made on first use."""
        kernel = self.get(key)
        if kernel is None:
            with compiling:
                kernel = self.get(key)
                if kernel is None:
                    kernel = self[key] = uncollected(make)
        return kernel


class ModelCache:
    """The cache of one model, by kind of content.

    `kernels`: compiled functions, by name and options, and compiled time loops.
    `entries`: native entry points of kernels, where public functions look for them (`dynamics.fast_path`).
    `rollouts`: short rollouts that can be repeated, by their arguments (`simulation.prepared`).
    `facts`: results of functions of the model alone, by function (`once_per_model`).
    """

    __slots__ = ("entries", "facts", "kernels", "rollouts")

    def __init__(self) -> None:
        self.kernels = Kernels()
        self.entries: dict[Hashable, Any] = {}
        self.facts: dict[Hashable, Any] = {}
        self.rollouts: dict[Hashable, Any] = {}


def once_per_model(function: Callable[[Model], Value]) -> Callable[[Model], Value]:
    """A function of a model whose result is kept in the model's cache. Threads that race get the same object."""

    @functools.wraps(function)
    def kept(model: Model) -> Value:
        facts = model.cache.facts
        if function not in facts:
            facts.setdefault(function, function(model))
        return facts[function]

    return kept
