"""Where results stand: batches get memory again that was dropped, long results of one state are stored in place."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight.compiler import Argument, Kernel
from featherweight.compiler.llvm.results import BATCH_BYTES
from featherweight.compiler.llvm.straight import LONG, straight_results
from featherweight.compiler.runtime import kept
from featherweight.scalar import cos, sin

MODEL = fw.robots.mini_cheetah()
ROWS = 1 + BATCH_BYTES // (8 * MODEL.nv**2)


def configurations(count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([MODEL.random(rng) for _ in range(count)])


Q = configurations(ROWS)


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_dropped_results_of_batches_are_handed_out_again() -> None:
    fw.mass_matrix(MODEL, Q)
    places = set()
    for _ in range(10):
        places.add(address(fw.mass_matrix(MODEL, Q)))
    assert len(places) <= 2


def test_results_of_batches_in_use_are_never_handed_out_again() -> None:
    expected = fw.mass_matrix(MODEL, Q).copy()
    whole = [fw.mass_matrix(MODEL, Q) for _ in range(4)]
    views = [fw.mass_matrix(MODEL, Q)[2:] for _ in range(4)]
    buffers = [memoryview(fw.mass_matrix(MODEL, Q)) for _ in range(4)]
    for seed in range(1, 6):
        fw.mass_matrix(MODEL, configurations(ROWS, seed))
    assert all((expected == M).all() for M in whole)
    assert all((expected[2:] == M).all() for M in views)
    assert all((np.asarray(M) == expected).all() for M in buffers)


def test_a_watched_result_of_a_batch_is_not_handed_out_again() -> None:
    first = fw.mass_matrix(MODEL, Q)
    place, watch = address(first), weakref.ref(first)
    del first
    others = [fw.mass_matrix(MODEL, Q) for _ in range(3)]
    assert watch() is None or place not in map(address, others)


def test_batches_of_another_length_have_results_of_that_length() -> None:
    for rows in (ROWS, ROWS + 3, ROWS, 2 * ROWS, 7):
        q = configurations(rows)
        M = fw.mass_matrix(MODEL, q)
        assert M.shape == (rows, MODEL.nv, MODEL.nv)
        assert M.flags.owndata
        assert (M[rows - 1] == fw.mass_matrix(MODEL, q[rows - 1].copy())).all()


def test_what_is_written_into_a_dropped_result_is_gone() -> None:
    """Entries that are zero for good are written anew, of one state and of batches."""
    for q in (Q, Q[0].copy()):
        right = fw.mass_matrix(MODEL, q).copy()
        assert (right == 0).any()
        for _ in range(4):
            M = fw.mass_matrix(MODEL, q)
            assert (right == M).all()
            M[...] = np.nan
            del M


def bytes_kept() -> int:
    gc.collect()
    users = [reference() for reference in kept._users.values()]
    return sum(array.nbytes for user in users if user is not None for array in user.arrays)


def test_not_more_than_a_little_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST", 3 << 20)
    for rows in (ROWS, 2 * ROWS, 3 * ROWS):
        q = configurations(rows)
        for f in (fw.mass_matrix, fw.mass_matrix_inverse):
            for _ in range(3):
                held = f(MODEL, q), f(MODEL, q)
                assert held[0].shape == held[1].shape
            assert bytes_kept() <= 3 << 20


def test_what_a_model_keeps_goes_with_it() -> None:
    model = fw.robots.mini_cheetah()
    before = bytes_kept()
    fw.coriolis_matrix(model, Q, np.zeros(model.nv))
    fw.coriolis_matrix(model, Q, np.zeros(model.nv))
    assert bytes_kept() > before
    del model
    assert bytes_kept() <= before


def long_results(scalars: list[list[Any]], lift: Any, mark: Any) -> tuple[list[list[Any]], Any]:
    """Entries of every kind: inputs, numbers of a model, constants, sines, zeros, one value at several places."""
    (x,) = scalars
    mark()
    shared = x[0] * x[1] + lift(2.5)
    rows = []
    for i in range(12):
        mark()
        rows += [x[i % 4] * (x[1] + i) if (i + j) % 3 else 0 for j in range(12)]
    rows[0], rows[5], rows[20], rows[33], rows[143] = x[2], shared, shared, 4.0, lift(7.0)
    other = [shared, x[3], sin(x[0]), cos(x[0]), 0.0, *[x[k % 4] - k for k in range(7, 150)]]
    return [rows, other, [shared * 2]], 0


def test_long_results_of_one_state_are_those_of_a_batch() -> None:
    shapes = [(12, 12), (148,), (1,)]
    kernel = Kernel("long", [Argument("x", (4,), "4")], shapes, long_results, lambda arrays: "")
    assert straight_results(kernel.plan, shapes, 1) is not None
    x = np.random.default_rng(3).normal(size=(9, 4))
    batch, entry = kernel(x), kernel.entry(batch=False)
    with fw.interpret():
        numpy = kernel(x)
    for k in range(9):
        for one in (kernel(x[k]), entry(x[k].copy())):
            for result, right, about in zip(one, batch, numpy, strict=True):
                assert (result == right[k]).all()
                np.testing.assert_allclose(result, about[k], rtol=1e-14, atol=1e-14)


def test_short_results_are_copied() -> None:
    from featherweight.dynamics.functions import INVERSE_DYNAMICS, MASS_MATRIX

    assert straight_results(INVERSE_DYNAMICS.kernel(MODEL).plan, [(MODEL.nv,)], 1) is None
    assert MODEL.nv**2 >= LONG
    assert straight_results(MASS_MATRIX.kernel(MODEL).plan, [(MODEL.nv, MODEL.nv)], 8) is None


def test_long_results_that_are_not_finite_are_refused() -> None:
    assert np.isfinite(fw.coriolis_matrix(MODEL, Q[0], np.zeros(MODEL.nv))).all()
    with pytest.raises(ValueError, match="the inputs are too large"):
        fw.coriolis_matrix(MODEL, Q[0], np.full(MODEL.nv, 1.7e308))
