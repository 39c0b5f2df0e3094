"""Fused passes over a tree: the same numbers, in fewer and larger pieces; and long chains."""

import numpy as np
import pytest

import featherweight as fw
from featherweight.compiler import Argument, Kernel
from featherweight.compiler.plan.steps import Chunk
from featherweight.integrators import SemiImplicit, Variational
from featherweight.simulation.options import StepOptions
from featherweight.simulation.step import step_loop

MODEL = fw.robots.chain(6)


def passes(x, tree, backward_first):
    """Two passes inward, and one outward that may need what one of them made."""
    total, square, double = x[0], x[0], [0] * len(x)
    for i, _, _ in tree.inward():
        total = total * 0.5 + x[i - 1]
    for i, _, _ in tree.inward():
        square = square * x[i - 1] - 1.0
    for i, _, _ in tree.outward():
        double[i - 1] = 2.0 * x[i - 1] + (total * x[i - 1] if backward_first else 1.0)
    if backward_first:  # and an inward one that needs the outward one
        for i, _, _ in tree.inward():
            total = total + double[i - 1]
    return [total, square, *double]


def kernel(fused, backward_first=False):
    def function(scalars, lift, mark):
        tree = MODEL.over(lift, mark)
        return [passes(scalars[0], tree.fused_passes() if fused else tree, backward_first)], 0

    return Kernel("test", [Argument("x", (6,), "n")], [(8,)], function, lambda _: "")


def test_woven_passes_give_the_same_numbers():
    x = np.random.default_rng(0).normal(size=(5, 6))
    expected = np.array([passes(list(row), MODEL.over(float, lambda: None), False) for row in x])
    for fused in (False, True):
        assert np.allclose(kernel(fused)(x)[0], expected, rtol=1e-14, atol=1e-14)


def test_passes_that_wait_for_each_other_cannot_be_woven():
    x = np.ones(6)
    kernel(fused=False, backward_first=True)(x)
    with pytest.raises(RuntimeError, match="need each other"):
        kernel(fused=True, backward_first=True)(x)


@pytest.mark.parametrize("method", [SemiImplicit(), Variational()])
def test_code_does_not_grow_with_a_chain(method):
    """Four times as many links: not twice as many operations of different code."""

    def distinct(n):
        steps = step_loop(fw.robots.chain(n), StepOptions(method)).kernel.plan.steps
        return sum(len(code) for code, _ in {step.signature() for step in steps if isinstance(step, Chunk)})

    assert distinct(128) < 2 * distinct(32)
