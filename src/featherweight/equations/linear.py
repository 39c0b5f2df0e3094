"""Linearised equations of motion: A and B about a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy
from sympy import Matrix, S

from featherweight.equations.equations import Equations
from featherweight.equations.expressions import Rate, Substitution, square


def linearize(
    equations: Equations, q: Sequence[Any] | None, v: Sequence[Any] | None, inputs: Mapping[Any, Any]
) -> tuple[Matrix, Matrix]:
    """A = ∂f/∂x and B = ∂f/∂u of ẋ = f(x, u), x = (q, v), f = (N(q) v, M⁻¹(τ - b - g)).

    M is not inverted before it is differentiated: ∂a/∂x = M⁻¹ (∂(τ - b - g)/∂x - (∂M/∂x) a).
    """
    state = _state(equations, q, v, inputs)
    place = Substitution(state)
    exact = not any(x.has(sympy.Float) for x in state.values())
    short = equations.mechanism.ring.short if exact else sympy.sympify  # floats are short already
    states = [*equations.q, *equations.v]
    right = equations.tau - equations.b - equations.g
    M = equations.M.applyfunc(place).applyfunc(short)
    a = _solve(M, right.applyfunc(place).applyfunc(short))

    def response(x: Any) -> list[Any]:
        rate = Rate({x: S.One})
        change = right.applyfunc(rate).applyfunc(place) - equations.M.applyfunc(rate).applyfunc(place) * a
        return list(_solve(M, change.applyfunc(short)))

    kinematic = [[place(Rate({x: S.One})(rate)) for x in states] for rate in equations.mechanism.rates.values()]
    rows = zip(*(response(x) for x in states), strict=True)
    A = square([*kinematic, *rows]).applyfunc(short)
    columns = [[S.Zero] * len(equations.q) + response(u) for u in equations.inputs]
    B = square(zip(*columns, strict=True)) if columns else sympy.ImmutableMatrix.zeros(len(states), 0)
    return A, B.applyfunc(short)


def _state(
    equations: Equations, q: Sequence[Any] | None, v: Sequence[Any] | None, inputs: Mapping[Any, Any]
) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for name, symbols, values in (("q", equations.q, q), ("v", equations.v, v)):
        if values is not None and len(values) != len(symbols):
            raise ValueError(f"{name}: expected {len(symbols)} numbers or symbols, got {len(values)}")
        if values is not None:
            found.update(dict(zip(symbols, map(sympy.sympify, values), strict=True)))
    known = {str(s): s for s in equations.inputs}
    for name, value in inputs.items():
        if str(name) not in known:
            raise ValueError(f"inputs: there is no input {name}; there are {', '.join(known) or 'none'}")
        found[known[str(name)]] = sympy.sympify(value)
    return found


def _solve(M: Matrix, right: Matrix) -> Matrix:
    if M.rows <= 3:
        return M.adjugate() * right / M.det(method="berkowitz")
    return M.LUsolve(right)
