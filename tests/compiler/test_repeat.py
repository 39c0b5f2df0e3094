"""`repeat`, `when` and `lookup`: the same for every scalar, each lane for itself."""

import mpmath
import numpy as np
import pytest
import sympy

from featherweight.compiler import Argument, Kernel, interpret
from featherweight.compiler.llvm.emit import TINY
from featherweight.compiler.native.target import host
from featherweight.compiler.plan.steps import Chunk, Turn
from featherweight.scalar import cos, lookup, only_where, repeat, sin, sqrt, when, where


def kernel(function, inputs, outputs, **options):
    """A kernel of one input and one output vector."""

    def traced(scalars, lift, mark):
        return [list(function(*scalars[0]))], 0

    return Kernel("test", [Argument("x", (inputs,), "n")], [(outputs,)], traced, lambda _: "", **options)


def root(x):
    """√x by Newton's method, and the number of turns."""
    return repeat(
        lambda c: [0.5 * (c[0] + x / c[0]), c[1] + 1.0],
        [0.5 * x + 0.5, 0.0],
        until=lambda c: abs(c[0] * c[0] - x) <= 1e-12 * x,
        at_most=50,
    )


def nested(a, b):
    """A repeat in a repeat, sines and a piece that is only needed at times; values from all levels meet."""
    offset = a * b + 1.0

    def inner(c):
        return [0.5 * c[0] + 0.2 * sin(c[0] + b) * offset, c[1] + 1]

    def outer(c):
        t, n, total = c
        s, turns = repeat(inner, [t, 0.0], until=lambda c: c[1] >= n, at_most=10)
        (w,) = when(s > a, lambda: [cos(s) * sqrt(abs(s)) + sin(a)], [t])
        return [w + 0.1 * s, n + 1, total + turns]

    last = repeat(outer, [a, 0.0, 0.0], until=lambda c: (c[1] >= 5) | (c[2] > 8) | (abs(c[0]) > 3 * abs(b)), at_most=20)
    return [*last, sin(a) + offset]


STATES = np.random.default_rng(0).normal(size=(101, 2))


def test_each_lane_makes_the_turns_it_needs():
    x = np.geomspace(1e-3, 1e6, 45)
    (result,) = kernel(root, 1, 2)(x[:, None])
    np.testing.assert_allclose(result[:, 0], np.sqrt(x), rtol=1e-12)
    alone = np.array([root(float(one)) for one in x])
    np.testing.assert_array_equal(result[:, 1], alone[:, 1])
    assert len(set(result[:, 1])) > 5


@pytest.mark.parametrize("limit", [None, 1, 3, 10, 1000])
def test_nested_repeats_have_the_same_bits_for_any_lane_and_cutting(limit):
    whole = kernel(nested, 2, 4, chunk_limit=limit)
    (result,) = kernel(nested, 2, 4)(STATES)
    np.testing.assert_array_equal(whole(STATES)[0], result)
    np.testing.assert_array_equal([whole(x)[0] for x in STATES], result)
    np.testing.assert_array_equal(whole(STATES[::-1])[0][::-1], result)


def test_floats_numpy_and_forty_digits_agree_with_native_code():
    compiled = kernel(nested, 2, 4)
    (result,) = compiled(STATES)
    np.testing.assert_allclose([nested(*map(float, x)) for x in STATES], result, rtol=1e-11, atol=1e-12)
    with interpret():
        np.testing.assert_allclose(compiled(STATES)[0], result, rtol=1e-11, atol=1e-12)
    with mpmath.workdps(40):
        exact = [[float(y) for y in nested(*map(mpmath.mpf, map(float, x)))] for x in STATES[:20]]
    np.testing.assert_allclose(exact, result[:20], rtol=1e-11, atol=1e-12)


def test_at_most_ends_what_does_not_end():
    (result,) = kernel(lambda x: repeat(lambda c: [c[0] + x], [0.0], until=lambda c: False, at_most=7), 1, 1)(
        [[2.0]] * 9
    )
    np.testing.assert_array_equal(result, 14.0)


def test_a_condition_known_to_hold_makes_no_turn():
    assert repeat(lambda c: [c[0] + 1], [1.0], until=lambda c: True, at_most=7) == [1.0]
    (result,) = kernel(lambda x: repeat(lambda c: [c[0] + 1], [x], until=lambda c: True, at_most=7), 1, 1)([[2.0]] * 9)
    np.testing.assert_array_equal(result, 2.0)


def test_values_can_change_places():
    def turned(x, y):
        after = repeat(lambda c: [c[1], c[0], c[2] + 1], [x, y, 0.0], until=lambda c: c[2] >= 3, at_most=9)
        return after[:2]

    (result,) = kernel(turned, 2, 2)(STATES)
    np.testing.assert_array_equal(result, STATES[:, ::-1])


def test_two_pieces_that_compute_the_same_do_not_share_what_may_not_have_run():
    """sin x of the first piece is not there for the second one, nor for what follows."""

    def twice(x, y):
        (a,) = when(x > 0, lambda: [sin(x) * cos(y)], [0.0])
        (b,) = when(y > 0, lambda: [sin(x) * cos(y)], [0.0])
        return a, b, sin(x) * cos(y)

    (result,) = kernel(twice, 2, 3)(STATES)
    x, y = STATES.T
    expected = np.sin(x) * np.cos(y)
    np.testing.assert_allclose(result.T, [expected * (x > 0), expected * (y > 0), expected], atol=1e-15)


def test_a_pack_skips_what_no_lane_needs():
    """A piece of work that would never end in reasonable time is not begun."""

    def idle(x):
        def forever():
            return repeat(lambda c: [c[0] * 1.0000001], [x], until=lambda c: c[0] < 0, at_most=10**15)

        return when(x > 0, forever, [x])

    x = -np.ones((16, 1))
    np.testing.assert_array_equal(kernel(idle, 1, 1)(x)[0], x)


def test_a_lane_that_is_done_does_not_hold_up_inner_loops():
    """A frozen lane's inner repeat would run on without end: it starts with values it has left behind."""

    def outer(c):
        n, k = c
        m = repeat(lambda c: [c[0] + 1.0], [0.0], until=lambda c: c[0] == n, at_most=10**15)[0]
        return [m + 1.0, k + 1.0]

    def counted(stop):
        # after its last turn n is -1, which the inner repeat never reaches
        return repeat(
            lambda c: [where(c[1] == stop - 1, -1.0, outer(c)[0]), c[1] + 1.0],
            [0.0, 0.0],
            until=lambda c: c[1] >= stop,
            at_most=100,
        )

    stops = np.array([[3.0], [9.0]] * 8)
    (result,) = kernel(counted, 1, 2)(stops)
    np.testing.assert_array_equal(result[:, 1], stops[:, 0])


def test_loops_do_not_wait_for_lanes_that_are_left_out():
    """They would turn without end there: the target of a lane that is left out is never reached. Inner and later loops
    are left out too, those after the block are not."""

    def counted(target, wanted):
        def turn(c):
            (inner,) = repeat(lambda c: [c[0] + 1.0], [0.0], until=lambda c: c[0] == target, at_most=10**15)
            return [c[0] + 1.0, inner]

        with only_where(wanted > 0):
            turns = repeat(turn, [0.0, -1.0], until=lambda c: c[0] == target, at_most=10**15)
            (more,) = when(target < 100, lambda: [target + 1.0], [7.0])
        (after,) = repeat(lambda c: [c[0] + 1.0], [0.0], until=lambda c: c[0] >= 3, at_most=5)
        return [*turns, more, after]

    states = np.array([[4.0, 1.0], [0.5, 0.0], [2.0, 1.0], [-3.0, -1.0]] * 5)
    (result,) = kernel(counted, 2, 4)(states)
    expected = {4.0: [4, 4, 5, 3], 0.5: [0, -1, 7, 3], 2.0: [2, 2, 3, 3], -3.0: [0, -1, 7, 3]}
    np.testing.assert_array_equal(result, [expected[target] for target in states[:, 0]])
    np.testing.assert_array_equal(kernel(counted, 2, 4)(states[1])[0], expected[0.5])


def test_a_table_is_looked_up_and_never_left():
    table = np.arange(10.0) ** 2
    index = np.array([*np.linspace(-3, 13, 100), 1e300, -1e300])
    (result,) = kernel(lambda x: [lookup(table, x), lookup(table[:3], x)], 1, 2)(index[:, None])
    expected = table[np.clip(np.floor(np.clip(index, -1, 20)), 0, 9).astype(int)]
    np.testing.assert_array_equal(result[:, 0], expected)
    np.testing.assert_array_equal(result[:, 1], np.minimum(expected, 4.0))
    np.testing.assert_array_equal(lookup(table, index), expected)
    assert [lookup(table, float(x)) for x in index] == list(expected)
    assert lookup(table, mpmath.mpf("3.5")) == 9.0
    assert lookup(table, float("nan")) == 0.0


def test_the_turns_are_steps_of_the_plan():
    """Code grows with the body, not with the number of turns."""
    few, many = (
        kernel(lambda x, n=n: repeat(lambda c: [c[0] * x + 1.0], [x], until=lambda c: False, at_most=n), 1, 1).plan
        for n in (1, 1000)
    )
    assert few.operations == many.operations < 10
    assert [step.kind for step in many.steps if isinstance(step, Turn)] == ["begin", "test", "end"]


def test_next_values_are_made_over_the_ones_before():
    """Each is read, by its own and by other sums, before it is overwritten; two places take one value; loops go on with
    the results of others. Whatever is made in its place, the numbers are those of Python."""

    def mixed(a, b):
        def turn(c):
            x, y, z, w, n = c
            shared = x * y + z
            return [y + 0.5 * z, shared, shared, w * 0.5 + x - shared, n + 1.0]

        first = repeat(turn, [a + b, a * b, a - b, b * b, 0.0], until=lambda c: c[4] >= 3, at_most=9)
        again = repeat(
            lambda c: [c[1] - c[0], c[0] * c[2], c[2] + c[1], c[3]], first[:4], until=lambda c: c[0] > 9, at_most=2
        )
        return [*again, a + b]

    x = np.random.default_rng(3).uniform(-1, 1, (21, 2))
    for limit in (4, 250):
        native = kernel(mixed, 2, 5, chunk_limit=limit)
        (rows,) = native(x)
        np.testing.assert_allclose(rows, [mixed(*map(float, row)) for row in x], rtol=1e-12, atol=1e-13)
        assert [tuple(native(row)[0]) for row in x] == [tuple(row) for row in rows]
    moved = [len(step.copies) for step in native.plan.steps if isinstance(step, Turn)]
    assert sum(moved) <= 6  # constants, and whether lanes are done


@pytest.mark.parametrize("condition", [False, True])
def test_a_condition_that_is_known_while_tracing(condition):
    """Where the condition does not hold the values are not defined; but they are there, as many."""

    def function(x):
        return when(condition, lambda: [x + 1.0, 2.0 * x], None)

    assert kernel(function, 1, 2)([3.0])[0].tolist() == function(3.0) == [4.0, 6.0]


def test_what_is_undefined_elsewhere_is_skipped_there():
    native = kernel(lambda x: when(x > 0, lambda: [x + 1.0, 2.0 * x], None), 1, 2)
    assert native([3.0])[0].tolist() == [4.0, 6.0]
    assert [step.kind for step in native.plan.steps if isinstance(step, Turn)] == ["begin", "test", "end"]


# ---- misuse


def test_a_value_of_the_inside_cannot_be_used_outside():
    kept = []

    def leak(x):
        def body(c):
            kept.append(c[0] * 3.0)
            return [c[0] + 1.0]

        (result,) = repeat(body, [x], until=lambda c: c[0] > 3, at_most=9)
        return [result + kept[-1]]

    with pytest.raises(TypeError, match="inside of repeat or when was used outside"):
        kernel(leak, 1, 1)([1.0])


@pytest.mark.parametrize("traced", [False, True])
def test_misuse_is_explained(traced):
    def run(**options):
        def function(x):
            return repeat(
                *options.pop("args", (lambda c: c, [x])), **{"at_most": 3, "until": lambda c: c[0] > 3} | options
            )

        return kernel(function, 1, 1)([1.0]) if traced else function(1.0)

    for bad in (0, -1, 2.5, True, None):
        with pytest.raises(ValueError, match="at_most: expected a whole number of turns > 0"):
            run(at_most=bad)
    with pytest.raises(ValueError, match="expected the body to return 1 values"):
        run(args=(lambda c: [*c, 1.0], [1.0]))
    with pytest.raises(TypeError, match="expected until to"):
        run(until=lambda c: c[0])


def test_the_line_of_an_if_on_a_traced_value_is_named():
    def branches(x):
        return repeat(lambda c: [c[0] if c[0] > 1 else 1.0], [x], until=lambda c: False, at_most=3)

    with pytest.raises(TypeError, match=r"test_repeat\.py:\d+: a traced value has no truth value yet"):
        kernel(branches, 1, 1)([1.0])


def test_symbols_are_refused():
    x = sympy.Symbol("x")
    with pytest.raises(TypeError, match="expected until to be true or false"):
        repeat(lambda c: [c[0] + 1], [x], until=lambda c: c[0] > 3, at_most=3)


@pytest.mark.parametrize("table", [[], [[1.0, 2.0]], 3.0])
def test_a_table_is_a_row_of_numbers(table):
    with pytest.raises(ValueError, match="table: expected numbers, shape"):
        lookup(table, 1.0)


@pytest.mark.parametrize("width", [1, 4])
def test_few_operations_stand_where_the_program_branches(width):
    """A function of its own would cost more than they do, and the branch would wait for what it stores."""

    def function(x):
        for _ in range(3):
            x = when(x > 1.0, lambda x=x: [sqrt(x) + 1.0 / x], [x])[0]
        return [x]

    own = kernel(function, 1, 1)
    sizes = [len(step.code) for step in own.plan.steps if isinstance(step, Chunk)]
    text = own.module(width, host()).text
    calls = text.count("call void @chunk") + text.count("call void @shared")
    assert calls == sum(size > TINY for size in sizes) < len(sizes)
    x = np.array([[0.5], [1.5], [5.0], [100.0], [2.0]])
    assert np.array_equal(own(x)[0], [own(row)[0] for row in x])
