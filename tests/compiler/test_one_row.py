"""Moving one state's rows: every number is checked, and vectors stay short where long ones lower the clock."""

import ctypes
import re

import numpy as np
import pytest

from featherweight.compiler.llvm.one_row import covering
from featherweight.compiler.llvm.support import COMMON, GROUPS, emit_support
from featherweight.compiler.native.target import Target, host
from featherweight.compiler.runtime.kernel import Argument, Kernel
from featherweight.compiler.runtime.shared import support

LENGTHS = (1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 65, 130)
FINE = (-0.0, 5e-324, -2.2e-308, 1.7976931348623157e308, -1.7976931348623157e308)
BAD = (np.inf, -np.inf, np.nan, -np.nan)
AVX512 = "+avx2,+fma,+avx512f,+avx512dq,+avx512vl,-prefer-256-bit"

needs_support = pytest.mark.skipif(not host().links_modules, reason="support functions are in each module here")


def called(name, *arguments):
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(arguments))(support(1, host(), GROUPS)[name])
    return function(*arguments)


@needs_support
@pytest.mark.parametrize("n", LENGTHS)
def test_a_number_that_is_not_finite_is_found_wherever_it_stands(n):
    row = np.resize(FINE, n)
    to = np.empty(n)
    assert called("finite", row.ctypes.data, n) == 0
    for k in range(n):
        for bad in BAD:
            row[k] = bad
            assert called("finite", row.ctypes.data, n) != 0
            assert called("pack", row.ctypes.data, 0, 0, 0, to.ctypes.data, n) != 0
        row[k] = FINE[k % len(FINE)]
    assert called("pack", row.ctypes.data, 0, 0, 0, to.ctypes.data, n) == 0
    assert to.tobytes() == row.tobytes()


@needs_support
@pytest.mark.parametrize("n", LENGTHS)
def test_a_row_is_cleared_and_nothing_beside_it(n):
    memory = np.full(n + 2, 7.0)
    called("clear", memory.ctypes.data + 8, n)
    assert memory.tolist() == [7.0, *[0.0] * n, 7.0]


@needs_support
@pytest.mark.parametrize("n", [4, 5, 9, 40, 131])
def test_pieces_clear_all_zeros_and_are_checked_where_numbers_stand(n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        numbers = rng.random(n) < rng.random()
        numbers[rng.permutation(n)[:2]] = True, False
        zeros, others = np.flatnonzero(~numbers).tolist(), np.flatnonzero(numbers).tolist()
        memory = np.full(n + 2, np.nan)
        row = memory[1:-1]
        table = 8 * np.array(covering(zeros, n), dtype=np.int32)
        called("clear_pieces", row.ctypes.data, table.ctypes.data, len(table))
        assert not row[zeros].any()
        assert np.isnan(memory[[0, -1]]).all()
        row[others] = np.resize(FINE, len(others))
        table = 8 * np.array(covering(others, n), dtype=np.int32)
        assert called("finite_pieces", row.ctypes.data, table.ctypes.data, len(table)) == 0
        for k in others:
            for bad in BAD:
                kept, row[k] = row[k], bad
                assert called("finite_pieces", row.ctypes.data, table.ctypes.data, len(table)) != 0
                row[k] = kept


def test_a_long_result_that_is_zero_for_good_beside_one_with_numbers():
    def traced(scalars, lift, mark):
        (a,) = scalars[0]
        return [[a * a if k % 3 == 0 else 0.0 for k in range(256)], [0.0] * 256], 0

    squares = Kernel("squares", [Argument("a", (1,), "1")], [(16, 16), (16, 16)], traced, lambda _: "")
    for a in (3.0, -2.0):
        numbers, zeros = squares([a])
        assert numbers.ravel().tolist() == [a * a if k % 3 == 0 else 0.0 for k in range(256)]
        assert not zeros.any()
    with pytest.raises(ValueError, match="too large"):
        squares([1e200])


def widths_of_sums(cpu, width):
    """Lanes of the vectors that a support module computes with, but for products with matrices and rows that are
    shorter than a vector."""
    text = emit_support(width, Target("x86_64-unknown-linux-gnu", cpu, AVX512, 8), COMMON)
    text = re.sub(r"\nsingle:.*?\nsingleend:", "", text, flags=re.DOTALL)
    functions = [f for f in text.split("\ndefine ") if "@linear_" not in f.splitlines()[0]]
    body = "\n".join(f for f in functions if "declare" not in f)
    found = re.findall(r"= (?:fadd|fsub|fmul|call) <(\d+) x double>", body)
    return {int(w) for w in found}


def test_one_state_computes_with_short_vectors_where_long_ones_lower_the_clock():
    assert max(widths_of_sums("cascadelake", 1)) <= 2
    assert max(widths_of_sums("znver4", 1)) == 8
    assert max(widths_of_sums("cascadelake", 8)) == 8  # a pack is worth it
