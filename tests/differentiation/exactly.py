"""Derivatives to many digits, as oracles: differences of a program that is replayed on mpmath numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np

from featherweight.differentiation import Program, pulled_back, pushed_forward, replayed, traced

DIGITS, STEP = 60, mpmath.mpf("1e-20")


def program_of(function: Callable[[list[Any]], Sequence[Any]], n: int) -> Program:
    """The trace of a function of n numbers."""
    return traced(function, [0.0] * n, [True] * n)


def differences(program: Program, x: Sequence[float]) -> np.ndarray:
    """The Jacobian of a program, by central differences of 60 digits."""
    with mpmath.workdps(DIGITS):
        at = [mpmath.mpf(v) for v in x]
        columns = []
        for k in range(len(at)):
            sides = [
                replayed(program, [v + sign * STEP if j == k else v for j, v in enumerate(at)]) for sign in (1, -1)
            ]
            columns.append([float((a - b) / (2 * STEP)) for a, b in zip(*sides, strict=True)])
        return np.array(columns).T


def forward_program(program: Program) -> Program:
    """The Jacobian by rows, in forward mode."""
    n = len(program.inputs)

    def jacobian(x: list[Any]) -> list[Any]:
        found = pushed_forward(program, x, [{k: 1.0} for k in range(n)])[1]
        return [t.get(k, 0.0) for t in found for k in range(n)]

    return program_of(jacobian, n)


def reverse_program(program: Program) -> Program:
    """The Jacobian by rows, each by reverse mode."""
    m = len(program.outputs)

    def jacobian(x: list[Any]) -> list[Any]:
        return [z for k in range(m) for z in pulled_back(program, x, [float(j == k) for j in range(m)])[1]]

    return program_of(jacobian, len(program.inputs))


def jacobians(program: Program, x: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """The Jacobian on floats, in forward and in reverse mode."""
    shape = len(program.outputs), len(program.inputs)
    at = [np.float64(v) for v in x]
    with np.errstate(all="ignore"):
        return tuple(  # type: ignore[return-value]
            np.array(replayed(made(program), at), dtype=float).reshape(shape)
            for made in (forward_program, reverse_program)
        )


def same(found: np.ndarray, expected: np.ndarray, tolerance: float = 1e-12) -> bool:
    """Equal within so much of the largest entry."""
    return bool(np.all(np.abs(found - expected) <= tolerance * max(1.0, np.abs(expected).max(initial=0.0))))
