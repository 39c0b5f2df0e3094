"""Operations of one state that are done at once: which ones, and that no bit changes."""

import dataclasses
import re

import numpy as np
import pytest

from compiler.test_repeat import kernel
from featherweight.algorithms.products import multiplied
from featherweight.compiler.llvm.vectors import Vectors
from featherweight.compiler.native.target import host
from featherweight.compiler.plan.steps import Chunk
from featherweight.scalar import count

HEIGHT, INNER, WIDTH = 5, 6, 11
WIDE = dataclasses.replace(host(), cpu="znver5")
STATES = np.random.default_rng(0).normal(size=(19, (HEIGHT + WIDTH) * INNER))


def chunk(*code):
    return Chunk(list(range(len(code))), code=list(code))


def slots(source, *offsets):
    return [("slot", source, k) for k in offsets]


def row(a, b, *others):
    """Products of a number with those of a row, added to others."""
    return [("fma" if c else "mul", a, x, *c) for x, c in zip(b, others or [()] * len(b), strict=True)]


def product(*x):
    """A B of two matrices, by rows, and a sum of its entries that is made one by one."""
    A, B = ([dict(enumerate(x[k : k + n])) for k in range(at, at + size, n)] for at, size, n in PARTS)
    found = [entry for r in multiplied(A, B) for entry in r.values()]
    return [*found, sum(found[::7])]


PARTS = ((0, HEIGHT * INNER, INNER), (HEIGHT * INNER, INNER * WIDTH, WIDTH))
PRODUCT = kernel(product, STATES.shape[1], HEIGHT * WIDTH + 1)


def lanes(*code, widest=8):
    """How many operations each one begins a vector of, in a chunk where vectors pay: there is a product in it, too."""
    paying = [operation for k in range(10, 14) for operation in row(("slot", 0, k), slots(1, *range(90, 94)))]
    found = Vectors(chunk(*code, *paying), widest)
    return [found.width(k) for k in range(len(code))]


def test_the_entries_of_a_row_are_computed_at_once() -> None:
    a, b = slots(0, 0, 7)
    first = row(a, slots(1, 0, 1, 2))
    then = row(b, slots(1, 5, 6, 7), *[(("local", k),) for k in range(3)])
    assert lanes(*first, *then) == [3, 0, 0, 3, 0, 0]
    assert lanes(*first, *then, widest=2) == [2, 0, 1, 2, 0, 1]
    assert lanes(*first, *then, widest=1) == [1, 1, 1, 1, 1, 1]


def test_no_more_than_four_at_once() -> None:
    assert lanes(*row(("slot", 0, 0), slots(1, *range(9)))) == [4, 0, 0, 0, 4, 0, 0, 0, 1]


def test_what_waits_for_what_comes_before_is_not_computed_with_it() -> None:
    a = ("slot", 0, 0)
    chain = [("mul", a, a), *[("fma", a, ("slot", 1, k), ("local", k)) for k in range(6)]]
    assert lanes(*chain) == [1] * 7


@pytest.mark.parametrize("other", [("slot", 3, 3), ("table", 3), ("literal", b"3")])
def test_what_has_the_number_of_a_lane_does_not_pass_for_it(other) -> None:
    vector = row(("slot", 0, 0), slots(1, 0, 1, 2, 3))
    mixed = [("local", 0), ("local", 1), ("local", 2), other]
    assert lanes(*vector, *zip(["add"] * 4, mixed, slots(2, 0, 2, 4, 6), strict=True)) == [4, 0, 0, 0, 1, 1, 1, 1]
    assert lanes(*vector, *zip(["add"] * 4, mixed, slots(2, 0, 1, 2, 3), strict=True)) == [4, 0, 0, 0, 4, 0, 0, 0]


def test_one_operand_may_be_put_together_but_not_two() -> None:
    assert lanes(*row(("slot", 0, 0), slots(1, 0, 2, 4, 6))) == [4, 0, 0, 0]
    both = zip(["mul"] * 4, slots(0, 0, 2, 4, 6), slots(1, 0, 2, 4, 6), strict=True)
    assert lanes(*both) == [1, 1, 1, 1]


def test_no_vectors_where_they_do_not_pay() -> None:
    few = row(("slot", 0, 0), slots(1, *range(8)))  # six operations are saved
    assert not Vectors(chunk(*few), 4).lanes
    many = row(("slot", 0, 0), slots(1, *range(16)))
    assert len(Vectors(chunk(*many), 4).lanes) == 16
    apart = [("sqrt", ("local", k)) for k in range(16)]  # sixteen are taken out again
    assert not Vectors(chunk(*many, *apart), 4).lanes


def test_products_of_matrices_are_made_of_vectors() -> None:
    text = PRODUCT.module(1, WIDE).text
    for n in (4, 3):
        assert f"@llvm.fma.v{n}f64(<{n} x double>" in text
        assert re.search(rf"store <{n} x double>", text)
    assert "x double>" not in "".join(PRODUCT.module(1, dataclasses.replace(host(), width=1)).functions)


def test_no_long_vectors_where_they_lower_the_clock() -> None:
    text = "".join(PRODUCT.module(1, dataclasses.replace(WIDE, cpu="cascadelake")).functions)
    assert {*re.findall(r"<(\d) x double>", text)} == {"2"}


def test_one_state_has_the_bits_of_a_batch() -> None:
    (many,) = PRODUCT(STATES)
    for x, y in zip(STATES, many, strict=True):
        np.testing.assert_array_equal(PRODUCT(x)[0], y)
    entries = many[:, :-1].reshape(-1, HEIGHT, WIDTH)
    A, B = (STATES[:, at : at + size].reshape(len(STATES), -1, n) for at, size, n in PARTS)
    np.testing.assert_allclose(entries, A @ B, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_slots_that_a_loop_replaces_are_read_before_they_are_stored_over(n) -> None:
    def turn(_, x):
        y = x
        for rate in (0.3, -0.2, 0.7, 0.1, -0.6, 0.2, 0.4, -0.1, 0.8):
            y = [rate * a + b for a, b in zip(y, x, strict=True)]
        return y

    loop = kernel(lambda *x: count(9, turn, list(x)), n, n)
    (replaced,) = [step for step in loop.plan.steps if isinstance(step, Chunk) and step.over]
    assert Vectors(replaced, 4).lanes
    states = np.random.default_rng(n).uniform(0.1, 1.0, size=(11, n))
    (many,) = loop(states)
    expected = states
    for _ in range(9):
        expected = turn(None, expected)
    np.testing.assert_allclose(many, expected, rtol=1e-14)
    for x, y in zip(states, many, strict=True):
        np.testing.assert_array_equal(loop(x)[0], y)
