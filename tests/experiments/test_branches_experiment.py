"""The tree of the source on branched chains: its sets by hand, its matrix by definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import featherweight as fw
from featherweight.experiments.branches import PARENTS, Branches, branches, support, tree, walk
from featherweight.experiments.literal import accelerations, articulated, bodies

N = 6


@pytest.fixture(scope="module")
def result() -> Branches:
    return branches()


def test_what_the_source_says_and_where_it_is_wrong(result: Branches) -> None:
    assert [claim.holds for claim in result.claims] == [True, True, True, False, True, False, True, True]


def test_numberings_are_counted_by_trying_all(result: Branches) -> None:
    good = sum(
        all(order[i] > order[parent - 1] for i, parent in enumerate(PARENTS) if parent)
        for order in itertools.permutations(range(N))
    )
    assert result.numberings == good == 20


def test_zeros_are_where_no_joint_carries_the_other(result: Branches) -> None:
    related = np.array([[i in support(j) or j in support(i) for i in range(1, N + 1)] for j in range(1, N + 1)])
    assert ((result.H != 0) == related).all()
    assert result.dots == np.tril(related).sum() == 14
    assert support(5) == [1, 4, 5]


def test_the_matrix_of_the_walk_is_twice_the_kinetic_energy(result: Branches) -> None:
    model, rng = tree(), np.random.default_rng(5)
    q, v = model.random(rng), rng.normal(size=N)
    H, _ = walk(bodies(model, q, v))
    assert v @ H @ v / 2 == pytest.approx(float(fw.kinetic_energy(model, q, v)), rel=1e-12)
    assert np.isclose(result.H_22, result.H[1, 1], rtol=1e-12)


def test_the_literal_recursion_is_forward_dynamics_and_lacks_what_it_is_told_to() -> None:
    model, rng = tree(), np.random.default_rng(6)
    q, v, tau, push = model.random(rng), rng.normal(size=N), rng.normal(size=N), rng.normal(size=(N + 1, 6))
    given, truth = bodies(model, q, v, push), fw.forward_dynamics(model, q, v, tau, push)
    found, _ = accelerations(given, articulated(given, tau), tau)
    assert np.allclose(found, truth, rtol=1e-10)
    for lacks in (("U D⁻¹ u",), ("I^A",)):
        wrong, _ = accelerations(given, articulated(given, tau, lacks=lacks), tau, lacks=lacks)
        assert np.abs(wrong - truth).max() > 0.1 * np.abs(truth).max()
