"""Operator splitting of all laws, beside its documented recursion in dense matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from contact.test_slots import Chains
from featherweight.constraints import Cone
from featherweight.constraints.interval import Equality, Interval, Stop
from featherweight.constraints.law import LocalProblem
from featherweight.constraints.solve.coupling import Coupling
from featherweight.constraints.solve.splitting import TURNS, Split, split
from featherweight.constraints.solve.system import AllBlocks

DOFS = 9
FRICTION, LIMITS, YIELDS, BEFORE = 0.7, (-0.2, 0.3), 0.4, 0.1
LAWS: list[Any] = [
    Cone(FRICTION),
    Cone(FRICTION),
    Stop(),
    Interval(*LIMITS),
    Interval(*LIMITS, yields=YIELDS),
    Equality(),
]


def problem(seed: int, roaming: tuple[int, ...] = (), idle: tuple[int, ...] = ()) -> Coupling:
    """Blocks of all laws on nine degrees of freedom, with random rows; T Yᵀ is symmetric."""
    rng = np.random.default_rng(seed)
    problems: list[LocalProblem] = []
    inertia = rng.uniform(0.5, 2.0, DOFS)
    for law in LAWS:
        T = rng.normal(size=(law.size, DOFS))
        e = rng.normal(size=law.size).tolist()
        problems.append(law.problem(tuple(range(DOFS)), T.tolist(), (T / inertia).tolist(), e, [BEFORE] * law.size))
    acts = [k not in idle for k in range(len(LAWS))]
    return Coupling(Chains(), problems, acts, range(DOFS), roaming)  # type: ignore[arg-type]


def some(seed: int) -> Split:
    """Impulses and velocity errors to begin with."""
    rng = np.random.default_rng(seed)
    first, second = ([rng.normal(size=law.size).tolist() for law in LAWS] for _ in range(2))
    return Split(first, second)


def reference(coupling: Coupling, begin: Split, weight: float) -> tuple[np.ndarray, np.ndarray]:
    """As often as `split`: λ = z + κ m (p - u), z = λ - κ m p as far as allowed, p = p - (λ - z) / (κ m)."""
    T, Y = (np.concatenate([getattr(own, name) for own in coupling.problems]) for name in ("T", "Y"))
    G, e = T @ Y.T, np.concatenate([own.e for own in coupling.problems])
    rows = np.cumsum([0, *(law.size for law in LAWS)])
    yields, km = np.zeros(len(e)), np.zeros(len(e))
    for k, (law, i, j) in enumerate(zip(LAWS, rows, rows[1:], strict=False)):
        if isinstance(law, Cone):
            km[i:j] = weight * 3.0 / (np.trace(G[i:j, i:j]))
        else:
            yields[i] = YIELDS * G[i, i] if k == 4 else 0.0
            km[i] = weight / (G[i, i] + yields[i])
    z, p = np.concatenate(begin.impulses), np.concatenate(begin.errors)
    for _ in range(TURNS):
        # u = e + G λ + R (λ - λ₀)
        left = np.eye(len(e)) + km[:, None] * (G + np.diag(yields))
        impulses = np.linalg.solve(left, z + km * (p - e + yields * BEFORE))
        z = impulses - km * p
        for law, i, j in zip(LAWS, rows, rows[1:], strict=False):
            if isinstance(law, Cone):
                z[i] = max(z[i], 0.0)
                size = math.hypot(z[i + 1], z[i + 2])
                z[i + 1 : j] *= min(1.0, FRICTION * z[i] / size)
            else:
                z[i] = min(max(z[i], law.least), law.most)
        p = p - (impulses - z) / km
    return z, p


@pytest.mark.parametrize("weight", [0.3, 4.0, 64.0])
@pytest.mark.parametrize("roaming", [(), (1, 3)], ids=["at home", "roaming"])
def test_turns_are_the_documented_ones(weight: float, roaming: tuple[int, ...]) -> None:
    coupling, begin = problem(1, roaming), some(2)
    found = split(AllBlocks(coupling), begin, weight)
    z, p = reference(coupling, begin, weight)
    np.testing.assert_allclose(np.concatenate(found.impulses), z, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(np.concatenate(found.errors), p, rtol=1e-5, atol=1e-7)
    assert np.abs(z - np.concatenate(begin.impulses)).max() > 0.1


@pytest.mark.parametrize("roaming", [(), (1, 3)], ids=["at home", "roaming"])
def test_what_does_not_act_changes_nothing(roaming: tuple[int, ...]) -> None:
    idle = (1, 2)
    coupling = problem(3, roaming, idle)
    begin = some(4)
    begin = Split(
        *([[0.0] * len(x) if k in idle else x for k, x in enumerate(own)] for own in (begin.impulses, begin.errors))
    )
    found = split(AllBlocks(coupling), begin, 4.0)
    for k in idle:
        np.testing.assert_array_equal(found.impulses[k], 0.0)
        np.testing.assert_array_equal(found.errors[k], 0.0)
    alone = Coupling(
        Chains(), [own for k, own in enumerate(coupling.problems) if k not in idle],  # type: ignore[arg-type]
        [True] * (len(LAWS) - len(idle)), range(DOFS),
    )  # fmt: skip
    others = [k for k in range(len(LAWS)) if k not in idle]
    without = split(
        AllBlocks(alone), Split([begin.impulses[k] for k in others], [begin.errors[k] for k in others]), 4.0
    )
    np.testing.assert_allclose(
        np.concatenate([found.impulses[k] for k in others]), np.concatenate(without.impulses), rtol=1e-6, atol=1e-9
    )


def test_many_turns_come_to_a_solution() -> None:
    """All laws hold there."""
    for seed in range(5):
        blocks, now = (
            AllBlocks(problem(seed)),
            Split([[0.0] * law.size for law in LAWS], [[0.0] * law.size for law in LAWS]),
        )
        for _ in range(40):
            now = split(blocks, now, 4.0)
        assert blocks.error(now.impulses) < 1e-16
