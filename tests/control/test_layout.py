"""Numbers with names in a row: packed and read back, for batches and over any scalar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import sympy

from featherweight.control.layout import RowLayout, shaped


@dataclass(frozen=True)
class Inner:
    stiffness: float
    damping: float = 2.0


@dataclass(frozen=True)
class Outer:
    target: np.ndarray = shaped("n")
    rows: np.ndarray = shaped(2, "n")
    inner: Inner = Inner(10.0)
    last: float = 5.0


LAYOUT = RowLayout(Outer, {"n": 3})
NUMBERS = Outer(np.arange(3.0), np.arange(6.0).reshape(2, 3) + 10.0, Inner(20.0, 21.0), 30.0)


def test_fields_stand_one_after_the_other() -> None:
    assert LAYOUT.size == 12
    assert LAYOUT.pack(NUMBERS).tolist() == [0, 1, 2, 10, 11, 12, 13, 14, 15, 20, 21, 30]


def test_what_is_read_is_what_was_packed() -> None:
    own = LAYOUT.read(LAYOUT.pack(NUMBERS))
    assert isinstance(own, Outer)
    assert isinstance(own.inner, Inner)
    assert (own.target == NUMBERS.target).all()
    assert (own.rows == NUMBERS.rows).all()
    assert (own.inner.stiffness, own.inner.damping, own.last) == (20.0, 21.0, 30.0)


def test_each_robot_of_a_batch_has_its_own() -> None:
    last = np.array([[1.0], [2.0]])
    row = LAYOUT.pack(Outer(np.zeros((4, 3)), NUMBERS.rows, Inner(np.arange(4.0)), last))
    assert row.shape == (2, 4, 12)
    assert (row[..., 9] == np.arange(4.0)).all()
    assert (row[..., 11] == last).all()
    own = LAYOUT.read(row)
    assert own.rows.shape == (2, 4, 2, 3)
    assert (own.rows == NUMBERS.rows).all()
    assert np.shape(own.last) == (2, 4)


def test_scalars_may_be_symbols() -> None:
    symbols = np.array(sympy.symbols("a:12"), dtype=object)
    own = LAYOUT.read(symbols)
    assert own.inner.damping is symbols[10]
    assert own.rows[1, 2] is symbols[8]
    again = LAYOUT.pack(own)
    assert again.dtype == object
    assert (again == symbols).all()


@pytest.mark.parametrize(
    ("numbers", "error", "message"),
    [
        (Outer(np.zeros(4), NUMBERS.rows), ValueError, r"target: expected shape \(…, 3\), got \(4,\)"),
        (Outer(np.zeros(3), np.zeros((3, 2))), ValueError, r"rows: expected shape \(…, 2, 3\), got \(3, 2\)"),
        (Outer(np.zeros(3), NUMBERS.rows, (1.0, 2.0)), TypeError, r"inner: expected Inner, got tuple"),
        (Inner(1.0), TypeError, r"numbers: expected Outer, got Inner"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_by_name(numbers: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        LAYOUT.pack(numbers)


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match=r"expected a row of 12 numbers for Outer, shape \(…, 12\), got shape \(11,\)"):
        LAYOUT.read(np.zeros(11))
