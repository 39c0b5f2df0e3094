"""Arrays that say something else of themselves than NumPy knows: what NumPy knows counts."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw

MODEL = fw.robots.chain(8)
Q = np.random.default_rng(0).normal(size=(2000, 8))


class Liar(np.ndarray):
    """Much larger than it is."""

    shape = property(lambda self: (2000, 8, 8))
    strides = property(lambda self: (512, 64, 8))
    size = property(lambda self: 128_000)
    ndim = property(lambda self: 3)
    dtype = property(lambda self: np.dtype(float))


class Reading(np.ndarray):
    """As large as it says, but nothing else is true."""

    __array_interface__ = property(lambda self: {"data": (8, False), "shape": (3,), "typestr": "<f8", "version": 3})
    __array__ = None
    ctypes = None
    flags = None

    def __setitem__(self, *_):
        raise AssertionError("asked")


class Holder:
    """Hands out an array that lies."""

    def __array__(self, dtype=None, copy=None):
        return np.zeros(8).view(Liar)


def test_a_liar_is_no_place_for_results() -> None:
    small = np.zeros(8)
    with pytest.raises(ValueError, match=r"out: expected shape \(2000, 8, 8\), got \(8,\)"):
        fw.mass_matrix(MODEL, Q, out=small.view(Liar))
    assert not small.any()
    with pytest.raises(TypeError, match="out: expected dtype float64, got float32"):
        fw.mass_matrix(MODEL, Q[0], out=np.zeros((8, 8), dtype=np.float32).view(Liar))


@pytest.mark.parametrize("order", ["C", "F"])
def test_results_go_where_the_memory_is(order: str) -> None:
    memory = np.zeros((2000, 8, 8), order=order)
    out = memory.view(Reading)
    assert fw.mass_matrix(MODEL, Q, out=out) is out
    assert (memory == fw.mass_matrix(MODEL, Q)).all()


def test_arguments_are_as_large_as_they_are() -> None:
    for value in (np.zeros(8).view(Liar), Holder()):
        assert fw.mass_matrix(MODEL, value).tobytes() == fw.mass_matrix(MODEL, np.zeros(8)).tobytes()
    with pytest.raises(ValueError, match=r"q: expected shape \(…, 8\)"):
        fw.mass_matrix(MODEL, np.zeros(3).view(Liar))
    with pytest.raises(ValueError, match=r"q: expected shape \(…, 8\)"):
        fw.rollout(MODEL, np.zeros(3).view(Liar), np.zeros(8), steps=2, dt=1e-3)
    truth = Q.copy()
    assert fw.mass_matrix(MODEL, truth.view(Reading)).tobytes() == fw.mass_matrix(MODEL, Q).tobytes()


def test_a_controller_may_return_a_liar() -> None:
    def run(forces):
        q = Q[0].copy()
        return fw.simulate(MODEL, q, np.zeros(8), duration=3e-3, dt=1e-3, control=lambda t, q, v: forces).q.tobytes()

    assert run(np.ones(8).view(Liar)) == run(np.ones(8))
    with pytest.raises(fw.SimulationError, match="the controller returned"):
        run(np.ones(3).view(Liar))


def test_memory_mapped_and_masked_arrays(tmp_path) -> None:
    mapped = np.memmap(tmp_path / "q", dtype=float, mode="w+", shape=(2000, 8))
    mapped[...] = Q
    out = np.memmap(tmp_path / "M", dtype=float, mode="w+", shape=(2000, 8, 8))
    assert fw.mass_matrix(MODEL, mapped, out=out) is out
    assert out.tobytes() == fw.mass_matrix(MODEL, Q).tobytes()
    with pytest.raises(TypeError, match="masked"):
        fw.mass_matrix(MODEL, np.ma.masked_greater(Q, 1.0))
    with pytest.raises(TypeError, match="out: expected a NumPy array"):
        fw.mass_matrix(MODEL, Q, out=np.ma.masked_less(np.zeros((2000, 8, 8)), 1.0))
    whole = np.ma.MaskedArray(np.zeros((2000, 8, 8)))
    assert fw.mass_matrix(MODEL, Q, out=whole) is whole
    assert whole.data.tobytes() == out.tobytes()
