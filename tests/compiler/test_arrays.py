"""Arrays and counted loops: the same bits alone, in packs, on threads and cut anywhere; the same numbers on NumPy."""

import mpmath
import numpy as np
import pytest

import featherweight as fw
from featherweight.compiler import Argument, Kernel, interpret
from featherweight.compiler.runtime.loop import Call, Loop
from featherweight.scalar import array, count, exp, lookup, repeat, sin, when, where

STATES = np.random.default_rng(0).normal(size=(37, 2))  # packs, and a part of one


def kernel(function, inputs, outputs, **options):
    """A kernel of one input and one output vector."""

    def traced(scalars, lift, mark):
        return [list(function(*scalars[0]))], 0

    return Kernel("test", [Argument("x", (inputs,), "n")], [(outputs,)], traced, lambda _: "", **options)


def same_everywhere(function, states, outputs, **options):
    """Results of all rows: alone with the same bits, on NumPy and on floats with the same numbers."""
    k = kernel(function, states.shape[1], outputs, **options)
    (pack,) = k(states)
    assert np.stack([k(row)[0] for row in states]).tobytes() == pack.tobytes()
    with interpret():
        np.testing.assert_allclose(k(states)[0], pack, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(k(states[5])[0], pack[5], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose([function(*map(float, row)) for row in states], pack, rtol=1e-12, atol=1e-13)
    return pack


# ---- counted loops


def test_a_counted_loop_makes_its_turns_in_all_lanes():
    pack = same_everywhere(lambda a, b: count(7, lambda k, c: [c[0] + k * a, c[1] * b], [0.0, a]), STATES, 2)
    np.testing.assert_allclose(pack[:, 0], 21 * STATES[:, 0], rtol=1e-14)
    np.testing.assert_allclose(pack[:, 1], STATES[:, 0] * STATES[:, 1] ** 7, rtol=1e-13)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_turns(n):
    pack = same_everywhere(lambda a, b: count(n, lambda k, c: [c[0] + b], [a]), STATES, 1)
    np.testing.assert_allclose(pack[:, 0], STATES[:, 0] + n * STATES[:, 1], rtol=1e-14)


def test_what_is_carried_may_be_nested():
    def function(a, b):
        result = count(3, lambda k, c: {"x": (c["x"][0] + k, b), "y": c["y"] * a}, {"x": (a, a), "y": 1.0})
        return [*result["x"], result["y"]]

    same_everywhere(function, STATES, 3)


def test_loops_are_loops_in_the_code_too():
    def sizes(n):
        k = kernel(lambda a, b: count(n, lambda k, c: [sin(c[0]) + k], [a]), 2, 1)
        return k.plan.operations

    assert sizes(5) == sizes(500)


# ---- arrays


def scan(a, b):
    """Running sums, and the largest entry so far, written over the numbers."""
    numbers = array([a, b, a * b, a - b, 1.0, -b])

    def turn(k, carry):
        numbers[k + 1] = numbers[k] + numbers[k + 1]
        return [where(numbers[k] > carry[0], numbers[k], carry[0])]

    (largest,) = count(5, turn, [a])
    return [largest, *(numbers[k] for k in range(6))]


@pytest.mark.parametrize("limit", [1, 2, 5, 250])
def test_a_running_sum(limit):
    pack = same_everywhere(scan, STATES, 7, chunk_limit=limit)
    a, b = STATES.T
    np.testing.assert_allclose(
        pack[:, 1:], np.cumsum([a, b, a * b, a - b, np.ones(37), -b], axis=0).T, rtol=1e-12, atol=1e-14
    )


def test_an_index_may_differ_from_state_to_state():
    table = np.array([3.0, 1.0, 4.0, 1.5])
    index = np.array([-np.inf, -1.0, -1e-9, 0.0, 0.5, 0.999, 1.0, 2.7, 3.0, 3.5, 4.0, 1e300, -0.0, 2.0, 1.0, 0.0, 3.0])

    def function(x):
        numbers = array([*table])
        numbers[1] = numbers[1] + 1.0
        return [numbers[x], lookup(numbers, x)]

    pack = same_everywhere(function, index[1:, None], 2)
    expected = np.where(np.arange(4) == 1, table + 1, table)[np.clip(index[1:], 0, 3).astype(int)]
    np.testing.assert_array_equal(pack, np.stack([expected, expected], axis=-1))


def nested(a, b):
    """Stores in loops in loops and in branches; lanes end at different turns and keep their numbers."""
    numbers = array([a, b, 1.0, a * b, 0.5])

    def turn(c):
        def inner(k, d):
            numbers[k] = numbers[k] * 0.9 + c[0] * 0.01
            return [d[0] + numbers[4 - k]]

        (total,) = count(5, inner, [0.0])

        def replaced():
            own = array([a, b])
            own[0] = own[1] * total
            numbers[2] = own[0] + exp(-numbers[3] * numbers[3])
            return [own[0]]

        (extra,) = when(total > 1, replaced, [0.0])
        return [c[0] + 0.1 * total + 0.05 * extra + 0.05, c[1] + 1]

    x, turns = repeat(turn, [b, 0.0], until=lambda c: (c[0] > 2 + a) | (numbers[0] > 3.0), at_most=7)

    def last():
        numbers[3] = 7.0
        return numbers[3] + a

    y = when(a < 0, last, 1.0)
    return [x, turns, y, *(numbers[k] for k in range(5)), numbers[b * 5]]


@pytest.mark.parametrize("limit", [1, 3, 40, 250])
def test_lanes_that_are_done_keep_their_numbers(limit):
    pack = same_everywhere(nested, STATES, 9, chunk_limit=limit)
    assert len(set(pack[:, 1])) > 3


def test_a_branch_whose_values_may_be_undefined_stores_where_it_is_taken():
    def function(a, b):
        numbers = array([a, b])

        def taken():
            numbers[0] = 5.0
            return [a]

        when(a > 0, taken, None)
        return [numbers[0], numbers[1]]

    pack = same_everywhere(function, STATES, 2)
    np.testing.assert_array_equal(pack[:, 0], np.where(STATES[:, 0] > 0, 5.0, STATES[:, 0]))


@pytest.mark.parametrize("taken", [True, False])
def test_a_branch_that_is_known_stores_if_it_is_taken(taken):
    def function(a, b):
        numbers = array([a, b])

        def body():
            numbers[1] = 5.0
            return [numbers[1]]

        when(taken, body, None)
        when(taken, body, [0.0])
        return [numbers[0], numbers[1]]

    pack = same_everywhere(function, STATES, 2)
    np.testing.assert_array_equal(pack[:, 1], 5.0 if taken else STATES[:, 1])


def random_steps(rng, depth=0):
    """Loads, stores, loops and branches in any order."""
    steps = []
    for _ in range(int(rng.integers(3, 7))):
        kind = str(rng.choice(["load", "store", "far load", *(["count", "when", "repeat"] if depth < 2 else [])]))
        inside = random_steps(rng, depth + 1) if kind in ("count", "when", "repeat") else None
        steps.append((kind, int(rng.integers(0, 4)), int(rng.integers(0, 2)), inside))
    return steps


def run(steps, x, arrays, k=0):
    """One number that goes through all of it."""
    for kind, place, which, inside in steps:
        a = arrays[which]
        if kind == "load":
            x = 0.5 * x + a[k + place]
        elif kind == "far load":
            x = 0.5 * x + a[4 * x]
        elif kind == "store":
            a[k + place] = 0.25 * x + place
        elif kind == "count":
            (x,) = count(place, lambda j, c, inside=inside: [run(inside, c[0], arrays, j)], [x])
        elif kind == "when":
            (x,) = when(x > 0.5 * place, lambda x=x, inside=inside: [run(inside, x, arrays)], [x])
        else:
            (x,) = repeat(
                lambda c, inside=inside: [run(inside, c[0], arrays) * 0.7], [x], until=lambda c: c[0] < 0.4, at_most=3
            )
    return x


@pytest.mark.parametrize("limit", [1, 7, 250])
@pytest.mark.parametrize("seed", range(8))
def test_random_programs_keep_the_order_of_loads_and_stores(seed, limit):
    steps = random_steps(np.random.default_rng(seed))

    def function(a, b):
        arrays = [array([a, b, 1.0, 0.3]), array([b, a, 0.1])]
        x = run(steps, a, arrays)
        return [x, *(arrays[0][k] for k in range(4)), *(arrays[1][k] for k in range(3))]

    same_everywhere(function, STATES, 8, chunk_limit=limit)


def test_any_scalar():
    numbers = array([mpmath.mpf(1) / 3, mpmath.mpf(2)])
    numbers[0] = numbers[0] + numbers[1]
    assert numbers[0] == mpmath.mpf(1) / 3 + 2
    assert len(numbers) == 2


# ---- inputs that are read by index

TABLE = np.random.default_rng(1).normal(size=(37, 300))


def by_index(scalars, lift, mark):
    x, table = scalars
    (total,) = count(len(table), lambda k, c: [c[0] + table[k] * x[0]], [0.0])
    return [[lookup(table, 100 * x[0] + 150), table[x[1]], total]], 0


def table_kernel():
    inputs = [Argument("x", (2,), "2"), Argument("table", (300,), "300", read_by_index=True)]
    return Kernel("table", inputs, [(3,)], by_index, lambda _: "")


@pytest.mark.parametrize("table", [TABLE[0], TABLE, TABLE[:, ::-1], np.asfortranarray(TABLE)], ids=str)
def test_a_table_may_be_an_input(table):
    """One for all rows, or one for each; it is not moved into lanes."""
    k = table_kernel()
    (pack,) = k(STATES, table)
    rows = np.broadcast_to(table, TABLE.shape)
    assert np.stack([k(x, t)[0] for x, t in zip(STATES, rows, strict=True)]).tobytes() == pack.tobytes()
    index = np.clip(100 * STATES[:, 0] + 150, 0, 299).astype(int)
    np.testing.assert_array_equal(pack[:, 0], rows[np.arange(37), index])
    np.testing.assert_allclose(pack[:, 2], rows.sum(axis=1) * STATES[:, 0], rtol=1e-11, atol=1e-12)
    with interpret():
        np.testing.assert_allclose(k(STATES, table)[0], pack, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(k(STATES[2], rows[2])[0], pack[2], rtol=1e-12, atol=1e-13)
    assert k.plan.size < 50


def test_entry_points_take_tables_too():
    k = table_kernel()
    (pack,) = k(STATES, TABLE)
    np.testing.assert_array_equal(k.entry(batch=True)(STATES, TABLE), pack)
    np.testing.assert_array_equal(k.entry(batch=False)(STATES[4], TABLE[4]), pack[4])


def test_threads_change_nothing():
    states = np.random.default_rng(3).normal(size=(4099, 2))
    k = kernel(nested, 2, 9)
    with fw.threads(1):
        (alone,) = k(states)
    with fw.threads(2):
        assert np.asarray(k(states)[0]).tobytes() == alone.tobytes()


@pytest.mark.parametrize("count_of_rows", [1, 3, 11])
def test_a_loop_reads_its_constants_by_index(count_of_rows):
    """A step that looks a height up, as one on a heightfield does: for all rows, or for each."""

    def step(scalars, lift, mark):
        (x, v), heights = scalars
        return [[x + 0.1 * v, v - 0.1 * (lookup(heights, 3 * x) + 0.5)], [lookup(heights, 3 * x)]], 0

    carry = [Argument("state", (2,), "2")]
    constants = [Argument("heights", (20,), "20", read_by_index=True)]
    loop = Loop("steps", carry, [], constants, [(1,)], step, 1)
    first = np.random.default_rng(2).uniform(1, 3, (count_of_rows, 2))
    for heights in (TABLE[:1, :20], TABLE[:count_of_rows, :20]):
        states, records = np.zeros((count_of_rows, 9, 2)), np.zeros((count_of_rows, 8, 1))
        loop.run(Call([first], [], [np.ascontiguousarray(heights)], [states], [records], 8, 1))
        again, others = np.zeros_like(states), np.zeros_like(records)
        with interpret():
            loop.run(Call([first], [], [np.ascontiguousarray(heights)], [again], [others], 8, 1))
        np.testing.assert_allclose(states, again, rtol=1e-13)
        rows = np.broadcast_to(heights, (count_of_rows, 20))
        index = np.clip(3 * states[:, :-1, 0], 0, 19).astype(int)
        np.testing.assert_array_equal(records[..., 0], np.take_along_axis(rows, index, axis=1))


# ---- misuse


def test_a_store_at_an_index_that_differs_is_refused():
    def function(a, b):
        numbers = array([a, b])
        numbers[a] = 1.0
        return [numbers[0]]

    k = kernel(function, 2, 1)
    for states in (STATES, STATES[0]):
        with pytest.raises(TypeError, match="index that is the same for all states"):
            k(states)
    with interpret(), pytest.raises(TypeError, match="index that is the same for all states"):
        k(STATES)


def test_an_array_of_the_inside_of_a_loop_stays_there():
    def function(a, b):
        kept = []

        def turn(k, c):
            kept.append(array([a, b]))
            return [c[0] + kept[0][k]]

        (total,) = count(2, turn, [0.0])
        return [total + kept[0][0]]

    with pytest.raises(TypeError, match="inside of a loop was used outside"):
        kernel(function, 2, 1)(STATES[0])


def test_an_array_has_numbers():
    with pytest.raises(ValueError, match="at least one number"):
        array([])


@pytest.mark.parametrize("n", [-1, 1.5, True, None])
def test_turns_are_counted_in_whole_numbers(n):
    with pytest.raises(ValueError, match="whole number of turns ≥ 0"):
        count(n, lambda k, c: c, [0.0])


def test_a_body_returns_what_it_was_given():
    with pytest.raises(ValueError, match="count: expected the body to return 2 values"):
        kernel(lambda a, b: count(3, lambda k, c: [a], [a, b]), 2, 2)(STATES[0])
