"""Equality of two derivations: do they give the same equations?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.equations.equations import Equations, random_values
from featherweight.equations.expressions import Evaluation
from featherweight.equations.normal_form import TooLargeError

SAMPLES = 20
BUDGET = 500_000  # products of terms in a comparison


@dataclass(frozen=True)
class Agreement:
    """Result of a comparison.

    `symbolic`: every difference of M, b, g and tau is 0 in normal form; None where that is too long to expand.
    `largest`: largest difference at random states, relative to the largest entry.
    """

    methods: tuple[str, str]
    symbolic: bool | None
    largest: float

    def __bool__(self) -> bool:
        return self.symbolic is not False and self.largest < 1e-9


def agreement(first: Equations, second: Equations) -> Agreement:
    """Compare M, b, g and tau of two derivations of one model, symbol by symbol and number by number."""
    if tuple(first.q) != tuple(second.q):
        raise ValueError("agreement: expected two derivations of one model, with the same coordinates")
    pairs = [
        (x, y)
        for name in ("M", "b", "g", "tau")
        for x, y in zip(getattr(first, name), getattr(second, name), strict=True)
    ]
    return Agreement((first.method, second.method), _symbolic(first, pairs), _numeric(first, pairs))


def _symbolic(equations: Equations, pairs: list[Any]) -> bool | None:
    ring = equations.mechanism.ring
    try:
        ring.budget = BUDGET
        for x, y in pairs:
            if not ring.equal(x, y):
                return False
    except TooLargeError:
        return None
    return True


def _numeric(equations: Equations, pairs: list[Any]) -> float:
    rng, worst = np.random.default_rng(1), 0.0
    for _ in range(SAMPLES):
        value = Evaluation(random_values(equations, rng))
        numbers = np.array([[float(value(x)), float(value(y))] for x, y in pairs])
        worst = max(worst, float(np.abs(numbers[:, 0] - numbers[:, 1]).max() / max(1.0, np.abs(numbers).max())))
    return worst
