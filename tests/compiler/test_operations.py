"""The table of operations: every row does in code, alone and in packs, what it does on numbers and on arrays."""

import re
import struct
from dataclasses import replace

import numpy as np
import pytest

from featherweight import scalar
from featherweight.compiler import Argument, Condition, Graph, Kernel, Node, interpret
from featherweight.compiler.plan.lower import lower
from featherweight.compiler.trace import operations
from featherweight.compiler.trace.operations import LEAVES, OPERATIONS, ROWS, Operation

ROWS_WITH_VALUES = [row for row in ROWS if row.value is not operations._no_value]
ULPS = {"sin": 1, "cos": 1, "exp": 2, "log": 2, "tanh": 3, **dict.fromkeys(("atan2", "asin", "acos", "atan"), 2)}
WHOLE, POSITIVE = {"power_of_two"}, {"sqrt", "log", "exponent", "significand"}
DIVISORS = {"div", "reciprocal", "mod"}  # not 0
COUNT = 19  # two packs and a part


def samples(row):
    """Numbers that a row takes: of every sign where it can, equal ones and zeros among them."""
    x = np.random.default_rng(len(row.name)).normal(size=(COUNT, len(row.takes))) * 3
    if row.name in WHOLE:
        return np.round(100 * x)
    if row.name in POSITIVE:
        return np.abs(x) * np.geomspace(1e-12, 1e12, COUNT)[:, None]
    if row.name in ("asin", "acos"):
        return np.sin(x)
    if row.name not in DIVISORS:
        x[3], x[4:6] = 0.0, 2.0
    return x


def compiled(name, takes):
    """A kernel of one operation; conditions go in and out as numbers."""

    def function(scalars, lift, mark):
        args = [x > 0 if kind == "c" else x for kind, x in zip(takes, scalars[0], strict=True)]
        graph = scalars[0][0].graph
        result = graph._node(name, tuple(a.id for a in args))
        if OPERATIONS[name].gives == "c":
            result = Condition(graph, result.id).select(1.0, 0.0)
        return [[result]], 0

    return Kernel("row", [Argument("x", (len(takes),), "n")], [(1,)], function, lambda _: "")


@pytest.mark.parametrize("row", ROWS_WITH_VALUES, ids=lambda row: row.name)
def test_code_numbers_and_arrays_agree(row):
    x = samples(row)
    given = [[bool(a > 0) if kind == "c" else float(a) for kind, a in zip(row.takes, line, strict=True)] for line in x]
    expected = np.array([float(row.value(*line)) for line in given])
    (pack,) = compiled(row.name, row.takes)(x)
    alone = np.array([compiled(row.name, row.takes)(line)[0][0] for line in x[:6]])
    assert alone.tobytes() == np.ascontiguousarray(pack[:6, 0]).tobytes()
    ulps = ULPS.get(row.name, 0)  # others are exact
    assert (np.abs(pack[:, 0] - expected) <= ulps * np.spacing(np.abs(expected))).all()
    if row.array is not operations._no_value:
        arrays = [np.array(column) for column in zip(*given, strict=True)]
        np.testing.assert_allclose(np.asarray(row.array(*arrays), dtype=float), expected, rtol=1e-15)


@pytest.mark.parametrize("row", ROWS_WITH_VALUES, ids=lambda row: row.name)
def test_constants_fold_to_the_value(row):
    if row.fold is None or row.takes is None:
        return
    graph = Graph()
    for line in samples(row):
        for leaf in (graph.constant, graph.model_constant):
            nodes = [leaf(x) for x in line]
            folded = graph.apply(row.name, *nodes)
            value = folded.value() if isinstance(folded, Node) else folded
            assert value == pytest.approx(row.value(*map(float, line)), rel=1e-15)
            of_model = any(isinstance(x, Node) and x.literal() is None for x in nodes)
            assert isinstance(folded, Node) == (row.own_leaf or (of_model and value not in (0.0, 1.0, -1.0)))
            assert not isinstance(folded, Node) or folded.literal() is None


def test_a_fold_has_no_exceptions():
    graph = Graph()
    zero = graph.constant(0.0)
    assert np.isnan(graph.apply("div", 1.0, zero).value())
    assert np.isnan(graph.apply("reciprocal", zero).value())
    with np.errstate(all="ignore"):
        assert graph.apply("exp", graph.constant(1e4)) == np.inf
        assert graph.apply("log", zero) == -np.inf


def test_rows_say_how_they_become_code_or_are_structure():
    structure = {row.name for row in ROWS if not (row.llvm or row.lower or row.vectors)}
    assert structure == LEAVES | {"repeat", "result", "lookup", "array", "load", "store", "linear", "after"}
    slopes = [(len(row.derivative), (row.takes or "").count("r")) for row in ROWS if row.derivative is not None]
    assert all(found == numbers for found, numbers in slopes)  # right ones: tests/differentiation


@pytest.fixture
def trunc():
    """An operation that is added from outside."""
    row = Operation("trunc", value=np.trunc, array=np.trunc, fold=np.trunc, llvm=operations.CALL.format("trunc"))
    operations.add(row)
    yield row
    for table in (operations.OPERATIONS, operations.ARITY, operations.FOLD):
        del table["trunc"]


def test_an_operation_is_one_row(trunc):
    """It is traced, folded, interpreted and compiled, with the intrinsic that it calls."""
    x = np.linspace(-3.0, 3.0, COUNT)[:, None]

    def function(scalars, lift, mark):
        return [[scalar.apply("trunc", scalars[0][0]) + scalar.apply("trunc", lift(2.5))]], 0

    k = Kernel("trunc", [Argument("x", (1,), "1")], [(1,)], function, lambda _: "")
    np.testing.assert_array_equal(k(x)[0], np.trunc(x) + 2.0)
    np.testing.assert_array_equal(k(x[4])[0], np.trunc(x[4]) + 2.0)
    with interpret():
        np.testing.assert_array_equal(k(x)[0], np.trunc(x) + 2.0)
    with pytest.raises(ValueError, match="there is one of this name already"):
        operations.add(trunc)


def test_traces_are_told_apart_by_the_code_of_their_operations(trunc):
    def digest():
        graph = Graph()
        graph.apply("trunc", graph.input(0, 0))
        return graph.digest()

    before = digest()
    operations.OPERATIONS["trunc"] = replace(trunc, llvm=operations.CALL.format("ceil"))
    assert digest() != before


def test_templates_name_nothing_unknown():
    known = re.compile(r"\{(\d|out|T|I|B|s|true|real:[-\d.e+]+|int:\d+)\}")
    assert all("{" not in known.sub("", row.llvm) for row in ROWS)
    assert struct.pack("<d", float("6755399441056767.0")) == struct.pack("<d", 1.5 * 2.0**52 + 1023)


# ---- late lowering

LOWERED = [row.name for row in ROWS if row.lower]


def written(function, n):
    """A graph of n inputs, and the results of a function of them."""
    graph = Graph()
    with graph.written():
        results = function(*(graph.input(0, k) for k in range(n)))
    return graph, [x.id for x in results]


@pytest.mark.parametrize("name", LOWERED)
def test_an_elementary_function_is_one_node_until_it_is_lowered(name):
    n = len(OPERATIONS[name].takes)
    graph, outputs = written(lambda *x: [scalar.apply(name, *x), 1 + scalar.apply(name, *x)], n)
    assert graph.op.count(name) == 1
    assert len(graph.op) == n + 3  # the inputs, the function, 1, the sum
    lowered, after = lower(graph, outputs)
    assert not set(lowered.op) & set(LOWERED)
    assert after[0] in lowered.args[after[1]]


def test_a_graph_without_such_functions_is_left_alone():
    graph, outputs = written(lambda x, y: [x * y + scalar.sin(x)], 2)
    assert lower(graph, outputs) == (graph, outputs)


def test_lowering_keeps_regions_scopes_and_equal_expressions():
    """What is inside a loop stays there, and what is known outside is not written again."""

    def function(x, y):
        outside = scalar.exp(x) * scalar.atan2(y, 2.0)

        def turn(c):
            return [c[0] + scalar.exp(x) + scalar.tanh(c[0]), c[1] + scalar.log(abs(c[0]) + 1)]

        a, b = scalar.repeat(turn, [outside, y], until=lambda c: c[0] > 50, at_most=4)
        return [a, b, scalar.tanh(a), scalar.exp(x)]

    graph, outputs = written(function, 2)
    lowered, _ = lower(graph, outputs)
    assert (lowered.scope_of, lowered.parent) == (graph.scope_of, graph.parent)
    scopes = [lowered.scope_of[r] for r, op in zip(lowered.region, lowered.op, strict=True) if op == "power_of_two"]
    assert scopes == [0, 0, 2, 0]  # exp outside, tanh in the body, tanh after the loop
    x = np.random.default_rng(0).normal(size=(COUNT, 2))
    k = Kernel("loop", [Argument("x", (2,), "2")], [(4,)], lambda s, *_: ([function(*s[0])], 0), lambda _: "")
    (pack,) = k(x)
    assert np.stack([k(row)[0] for row in x]).tobytes() == pack.tobytes()
    np.testing.assert_allclose(pack, [function(*map(float, row)) for row in x], rtol=1e-13)
