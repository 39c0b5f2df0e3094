"""Derivative of forward dynamics: never through the articulated bodies, but by the equation that its result solves.

At a = q̈(q, v, τ): δa = M⁻¹ (δτ - δ(ID(q, v, a))), inverse dynamics ID differentiated with a held fixed (Carpentier and
Mansard, 2018). Backwards, for cotangents b of a: w = M⁻¹ b is that of τ, and -wᵀ ∂ID those of everything else; linear
in the number of bodies. M⁻¹ b comes from the articulated inertias that forward dynamics has anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from featherweight import algorithms
from featherweight.compiler import Graph
from featherweight.differentiation import Tangents, pullback, pushforward
from featherweight.dynamics.evaluate import wrenches
from featherweight.dynamics.functions import accelerations
from featherweight.model import Model, Tree

FEW = 4  # directions for which M is not worth factorising


@dataclass(frozen=True)
class AccelerationRule:
    """Rule of `forward_dynamics` (inputs q, v, τ and maybe f_ext) and of `solve_mass_matrix` (q and b, at rest)."""

    model: Model
    inputs: tuple[str, ...]
    parameters: tuple[str, ...]

    @property
    def _sizes(self) -> dict[str, int]:
        sizes = {"q": self.model.nq, "f_ext": 6 * (self.model.nb + 1)}
        return {name: sizes.get(name, self.model.nv) for name in self.inputs}

    def _places(self) -> dict[str, slice]:
        """Where inputs and parameters stand; the numbers of the model come after them."""
        sizes = self._sizes | {name: prod(self.model.parameters[name].shape) for name in self.parameters}
        places, at = {}, 0
        for name, n in sizes.items():
            places[name] = slice(at, at + n)
            at += n
        return places

    def _tree(self, values: Sequence[Any], places: dict[str, slice]) -> Tree:
        """The tree over these scalars."""
        end = max((place.stop for place in places.values()), default=0)
        numbers = iter(values[end:])
        given = {name: list(values[places[name]]) for name in self.parameters}
        graph = Graph.tracing()
        mark = (lambda: None) if graph is None else graph.mark
        tree = self.model.over(lambda _: next(numbers), mark, given)
        return tree if "v" in self.inputs else tree.without_gravity()

    def _forces(self, values: Sequence[Any], a: Sequence[Any]) -> list[Any]:
        """ID(q, v, a)."""
        places = self._places()
        tree = self._tree(values, places)
        v = values[places["v"]] if "v" in places else [0] * tree.nv
        f_ext = wrenches(list(values[places["f_ext"]])) if "f_ext" in places else None
        return algorithms.inverse_dynamics(tree, values[places["q"]], v, a, f_ext)[0]

    def _solved(self, inputs: Sequence[Any], b: Sequence[Any]) -> list[Any]:
        """M⁻¹ b by the articulated inertias."""
        places = self._places()
        tree = self._tree(inputs, places).without_gravity()
        return accelerations(tree, list(inputs[places["q"]]), [0] * tree.nv, list(b), None)[0][0]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        n, places = len(inputs), self._places()
        end = max(place.stop for place in places.values())
        w = self._solved(inputs, cotangents)
        found = pullback(
            lambda x: self._forces(x[:n], x[n:]),
            [*inputs, *outputs],
            [-w_k for w_k in w],
            [k < end for k in range(n + len(outputs))],
        )[:n]
        found[places[self._force]] = w
        return found

    def pushforward(
        self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Tangents]
    ) -> list[dict[int, Any]]:
        n, places = len(inputs), self._places()
        still: list[Tangents] = [{} for _ in outputs]
        moved = pushforward(lambda x: self._forces(x[:n], x[n:]), [*inputs, *outputs], [*tangents, *still])
        pushed = tangents[places[self._force]]
        right: dict[int, list[Any]] = {}  # δτ - δID, by direction
        for d in sorted({d for own in tangents for d in own}):
            right[d] = [own.get(d, 0.0) - of_forces.get(d, 0.0) for own, of_forces in zip(pushed, moved, strict=True)]
        tree = self._tree(inputs, places)
        if len(right) <= FEW:
            solved = {d: self._solved(inputs, b) for d, b in right.items()}
        else:
            factors = algorithms.factorize(algorithms.mass_matrix(tree, inputs[places["q"]]), tree.mark)
            solved = {}
            for d, b in right.items():
                tree.mark()
                solved[d] = factors.solve(b)
        return [{d: a[k] for d, a in solved.items()} for k in range(len(outputs))]

    @property
    def _force(self) -> str:
        return "tau" if "tau" in self.inputs else "b"
