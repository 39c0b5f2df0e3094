"""The soak measures the library's memory: what it notes down of its calls takes none that grows."""

from __future__ import annotations

import importlib
import itertools
import sys
import tracemalloc
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[2] / "benchmarks"


def test_digests_of_all_calls_take_no_more_memory_than_those_of_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(HERE), *sys.path])
    digests = importlib.import_module("soak_digests")
    known = digests.Digests()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for key in itertools.product(range(0, digests.MODELS, 4), digests.NAMES, range(digests.SEEDS)):
            assert key not in known
            assert known.setdefault(key, f"{hash(key) % 2**64:016x}") == known[key]
        assert tracemalloc.get_traced_memory()[0] - before < 10_000
    finally:
        tracemalloc.stop()
    first = (4, digests.NAMES[1], 2)
    assert known.setdefault(first, "0123456789abcdef") == known[first] != "0123456789abcdef"
    assert len(known.keys([4, 5])) == len(digests.NAMES) * digests.SEEDS
    assert known.kinds([5, 4]) == [(4, name) for name in digests.NAMES]
    assert known.keys([]) == known.kinds([]) == []
