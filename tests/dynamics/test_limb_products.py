"""Products of sparse matrices and substitutions, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from featherweight.algorithms.elimination import eliminated
from featherweight.algorithms.products import TALLEST, _whole_limbs, multiplied

LIMBS = [[0, 1, 2, 3], [4, 5], [6, 7, 8], [9, 10, 11], [12]]


def sparse(matrix: np.ndarray) -> list[dict[int, float]]:
    return [{j: float(x) for j, x in enumerate(row) if x} for row in matrix]


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("limbs", [(), LIMBS])
def test_products_are_those_of_dense_matrices(limbs: list[list[int]], times: int) -> None:
    rng = np.random.default_rng(times)
    A = rng.normal(size=(13 * times, 20)) * (rng.random((13 * times, 20)) < 0.6)
    B = rng.normal(size=(20, 39)) * (rng.random((20, 39)) < 0.4)
    start = rng.normal(size=(13 * times, 39)) * (rng.random((13 * times, 39)) < 0.2)
    marks: list[None] = []
    found = multiplied(sparse(A), sparse(B), lambda: marks.append(None), sparse(start), limbs)
    dense = [[row.get(c, 0.0) for c in range(39)] for row in found]
    np.testing.assert_allclose(dense, A @ B + start, rtol=1e-13, atol=1e-13)
    assert marks


def test_blocks_have_whole_limbs_of_one_copy_of_the_coordinates() -> None:
    begins, n = {limb[0] for limb in LIMBS}, 13
    blocks = _whole_limbs(2 * n, begins, n)
    assert [i for block in blocks for i in block] == list(range(2 * n))
    assert all(block[0] % n in begins and len(block) <= TALLEST for block in blocks)
    assert [block[0] // n for block in blocks] == [block[-1] // n for block in blocks]
    assert [len(block) for block in blocks] == [6, 6, 1] * 2
    assert [len(block) for block in _whole_limbs(14, {0}, 14)] == [6, 6, 2]  # a limb that is too long is cut


def test_substitutions_solve() -> None:
    rng = np.random.default_rng(3)
    A, b = rng.normal(size=(7, 7)) + 5.0 * np.eye(7), rng.normal(size=7)
    factors = eliminated(A.tolist())
    np.testing.assert_allclose(factors.solve(b.tolist()), np.linalg.solve(A, b), rtol=1e-12)
    np.testing.assert_allclose(factors.solve_transposed(b.tolist()), np.linalg.solve(A.T, b), rtol=1e-12)
