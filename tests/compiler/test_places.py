"""What functions refer to: fixed places, or pointers from a table for those that are elsewhere in each call."""

from __future__ import annotations

import re

import pytest

import featherweight as fw
from featherweight.compiler import Argument, Kernel
from featherweight.compiler.llvm.places import together
from featherweight.compiler.native.target import host
from featherweight.compiler.plan.steps import Chunk
from featherweight.dynamics.functions import MASS_MATRIX


def test_a_function_that_is_called_once_needs_no_table() -> None:
    found = together([[("%ws", 64), ("%ws", 8), ("%result0", 8)]])
    assert found.where == [("%ws", 64), ("%ws", 8), ("%result0", 8)]
    assert found.pointers == []
    assert found.table == [[]]


def test_places_that_move_together_need_one_pointer() -> None:
    calls = [
        [("%ws", 64), ("%ws", 40), ("%ws", 96), ("%ws", 0), ("%result0", 96)],
        [("%ws", 164), ("%ws", 40), ("%ws", 196), ("%ws", 8), ("%result0", 196)],
        [("%ws", 364), ("%ws", 40), ("%ws", 396), ("%ws", 9), ("%result0", 396)],
    ]
    found = together(calls)
    assert found.where == [("%place0", 0), ("%ws", 40), ("%place0", 32), ("%place1", 0), ("%place2", 0)]
    assert found.pointers == ["%ws", "%ws", "%result0"]
    assert found.table == [[64, 0, 96], [164, 8, 196], [364, 9, 396]]


def test_distances_from_a_pointer_are_never_negative() -> None:
    found = together([[("%ws", 96), ("%ws", 64)], [("%ws", 196), ("%ws", 164)]])
    assert found.where == [("%place0", 32), ("%place0", 0)]
    assert found.table == [[64], [164]]


@pytest.mark.parametrize("robot", ["mini_cheetah", "humanoid"])
def test_limbs_share_functions_that_store_straight_into_results(robot: str) -> None:
    """As they do in a batch, whose results are copied: their columns are elsewhere, not their code."""
    model = getattr(fw.robots, robot)()
    kernel = MASS_MATRIX.kernel(model)
    chunks = [step for step in kernel.plan.steps if isinstance(step, Chunk)]
    one = kernel.module(1, host())
    assert ", ptr %result0)" in one.text
    assert len(one.functions) == len({chunk.signature() for chunk in chunks}) < len(chunks)


def test_loads_of_what_a_function_replaces_are_not_constant() -> None:
    """They must stay before the stores; all other loads may pass them."""

    def function(scalars, lift, mark):
        (x,) = scalars

        def turn(carry):
            a, b = carry
            return [(a * 0.5 + b) * (b + 1.0) + a / b, b - a * lift(0.3) * (a + b)]  # more than stands in @step

        mark()
        return [fw.scalar.repeat(turn, list(x), until=lambda carry: carry[0] > 100.0, at_most=9)], 0

    kernel = Kernel("turns", [Argument("x", (2,), "2")], [(2,)], function, lambda arrays: "")
    replaced = [step for step in kernel.plan.steps if isinstance(step, Chunk) and step.over]
    assert replaced
    (text,) = [f for f in kernel.module(1, host()).functions if re.search(r"load double.*align 8$", f, re.MULTILINE)]
    loads = re.findall(r"load double, ptr \S+, align 8(.*)", text)
    assert loads.count("") == len({*replaced[0].over.values()})
    assert {*loads} == {"", ", !tbaa !0"}
