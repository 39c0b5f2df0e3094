"""A loop in native code: one traced step, run many times on a carry that stays in the lanes.

The carry (positions, velocities, whatever a step hands to the next) is packed once, and what is wanted of it is
written out every so many steps. A lane never sees another, so results do not depend on the batch.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from featherweight.compiler.arguments import address_of
from featherweight.compiler.calls import ARRAYS, COUNT
from featherweight.compiler.code import Code
from featherweight.compiler.kernel import Argument, Function, Kernel
from featherweight.compiler.target import Target, host


class Loop:
    """step(carry, given, constants) -> carry', records; traced once, compiled like any kernel.

    `carry` goes from step to step, `given` has new rows for every step, `constants` hold for all steps.
    """

    def __init__(
        self,
        name: str,
        carry: Sequence[Argument],
        given: Sequence[Argument],
        constants: Sequence[Argument],
        records: Sequence[tuple[int, ...]],
        function: Function,
        fingerprint: str | None = None,
    ) -> None:
        self.carry, self.given, self.constants, self.records = tuple(carry), tuple(given), tuple(constants), records
        outputs = [*(a.shape for a in carry), *records]
        fingerprint = fingerprint and f"loop {len(carry)} {len(given)} {fingerprint}"
        inputs = [*carry, *given, *constants]
        self.kernel = _LoopKernel(name, inputs, outputs, function, lambda _: "", fingerprint=fingerprint)
        self.kernel.sizes = len(carry), len(given)

    def run(
        self,
        carry: Sequence[np.ndarray],
        given: Sequence[np.ndarray],
        constants: Sequence[np.ndarray],
        steps: int,
        every: int,
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Rows (count, n) of the carry, (count, steps, n) of what is given, (count or 1, n) of constants.

        Returns the carry at the beginning and after every so many steps, (count, steps // every + 1, n), and the
        records of the steps that begin there, (count, steps // every, n). `every` divides `steps`.
        """
        count, samples = len(carry[0]), steps // every
        results = [np.empty((count, samples + 1, prod(a.shape))) for a in self.carry]
        records = [np.empty((count, samples, prod(shape))) for shape in self.records]
        if count == 0:
            return results, records
        arrays = [*carry, *given, *constants, *results, *records]
        call = (ctypes.c_int64 * (ARRAYS + 2 * len(arrays) + 2))()
        call[COUNT] = count
        for k, array in enumerate(arrays):
            call[ARRAYS + 2 * k] = address_of(array)
            call[ARRAYS + 2 * k + 1] = 0 if len(array) == 1 and count > 1 else array.strides[0]
        call[ARRAYS + 2 * len(arrays)], call[ARRAYS + 2 * len(arrays) + 1] = steps, every
        code = self.kernel.code(1 if count == 1 else host().width)
        code.run_rows(ctypes.addressof(call), count, repeated=steps)
        return results, records


class _LoopKernel(Kernel):
    """A kernel whose driver repeats the step."""

    sizes: tuple[int, int]

    def ir(self, width: int, target: Target) -> str:
        from featherweight.compiler.module import emit_module

        shapes = [a.shape for a in self.inputs]
        return emit_module(self.plan, shapes, list(self.outputs), width, target, loop=self.sizes)

    def _load(self, width: int) -> Code:
        return Code(width, self.fingerprint, lambda target: (self.plan, self.ir(width, target)), entry=False)

    def __call__(self, *values: Any, out: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        raise NotImplementedError("a loop is run by Loop.run")
