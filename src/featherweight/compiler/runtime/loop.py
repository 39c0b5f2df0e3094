"""A loop in native code: one traced step, run many times on a carry that stays in the lanes.

The carry (positions, velocities, whatever a step hands to the next) is packed once, and what is wanted of it is
written out every so many steps. A lane never sees another, so results do not depend on the batch.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.compiler.llvm.calls import ARRAYS, COUNT, EVERY, MADE, RECORDED_STEP, STEPS, STRIDES, WORTH_A_THREAD
from featherweight.compiler.native.target import Target, host
from featherweight.compiler.runtime.arguments import address_of
from featherweight.compiler.runtime.code import Code
from featherweight.compiler.runtime.interpretation import interpreting
from featherweight.compiler.runtime.kernel import Argument, Function, Kernel
from featherweight.compiler.runtime.singles import Singles
from featherweight.compiler.trace.plain import from_arrays, to_arrays

if TYPE_CHECKING:
    from featherweight.compiler.llvm.module import Module

INTERPRETED = 1e9  # operations that take about as long as a step on NumPy
FEW = 64  # rows that one thread steps sooner than several
_AT = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)  # a function of an address; releases the interpreter lock


class Loop:
    """step(carry, given, constants) -> carry', records; traced once, compiled and kept on disk like any kernel, under
    its fingerprint or, where a user's function is in it, under what was traced.

    `carry` goes from step to step, `given` has new rows for every step, `constants` hold for all steps. The first
    `returned` parts of the carry are what a step from Python gives back. `one_by_one`: on NumPy, a step takes one row
    at a time, for it has a function inside that makes arrays of its numbers.
    """

    def __init__(
        self,
        name: str,
        carry: Sequence[Argument],
        given: Sequence[Argument],
        constants: Sequence[Argument],
        records: Sequence[tuple[int, ...]],
        function: Function,
        returned: int,
        fingerprint: str | None = None,
        *,
        one_by_one: bool = False,
    ) -> None:
        outputs = [*(a.shape for a in carry), *records]
        inputs = [*carry, *given, *constants]
        self.kernel = _LoopKernel(name, inputs, outputs, function, lambda _: "", fingerprint=fingerprint)
        self.kernel.sizes = len(carry), len(given), returned
        self.kernel.carried = len(carry)
        self.carry = tuple(carry)
        self._one_by_one = one_by_one

    def run(self, call: Call) -> None:
        """Make the steps of a call."""
        count = len(call.carry[0])
        if not count:
            return
        if interpreting():
            self.interpret(call)
        else:
            self.code(count).run_rows(call.address, count, repeated=call.steps)

    def interpret(self, call: Call) -> None:
        """The same on NumPy: the step's source line by line, once for all rows. Inputs may be parts of results."""
        count = len(call.carry[0])
        if self._one_by_one and count > 1:
            for row in range(count):
                self.interpret(call.row(row))
            return
        carry = [np.array(c) for c in call.carry]
        sizes = [prod(shape) for shape in self.kernel.outputs]
        for k in range(call.steps + 1):
            at = k // call.every
            if k % call.every == 0:
                for states, now in zip(call.states, carry, strict=True):
                    (states[:, at] if states.ndim == 3 else states)[...] = now
            if k == call.steps:
                break
            rows = [*carry, *(given[:, k] for given in call.given), *call.constants]
            results = [np.empty((count, n)) for n in sizes]
            if count > 1:
                self.kernel.interpret(rows, [1] * len(rows), (count,), tuple(results))
            else:
                self.kernel.interpret([row[0] for row in rows], [1] * len(rows), (), tuple(r[0] for r in results))
            if k % call.every == call.recorded_step:
                for record, new in zip(call.records, results[len(carry) :], strict=True):
                    record[:, at] = new.reshape(record[:, at].shape)
            carry = results[: len(carry)]

    def traced(self, *, now: bool) -> Loop:
        """This loop; traced `now` if what it was made of may change."""
        if now:
            self.kernel.traced()
        return self

    def program(self) -> str:
        """What a step does, as a text that is the same in every process."""
        traced = self.kernel.traced()
        return f"{traced.structure} {traced.table}"

    def to_arrays(self) -> tuple[str, dict[str, np.ndarray]]:
        """What was traced: the name of its structure, and all of it as plain arrays."""
        traced, written = self.kernel.written()
        return traced.structure, to_arrays(*written)

    def adopt(self, structure: str, arrays: Mapping[str, np.ndarray]) -> Loop:
        """This loop with what `to_arrays` gave in another process; its own function is not asked."""
        self.kernel.adopt(structure, arrays["table"], lambda: from_arrays(arrays))
        return self

    def code(self, count: int) -> Code:
        """Native code for so many rows."""
        return self.kernel.code(1 if count == 1 else host().width)

    def cost(self, count: int) -> float:
        """Operations of a step of one row, roughly; a step on NumPy takes as long as very many."""
        return INTERPRETED if interpreting() else self.code(count).cost


class Call:
    """A call of a loop: `steps` steps, of which each `every`-th is recorded; `every` divides `steps`.

    Takes rows (count, n) of the carry, (count, steps, n) of what is given, (count or 1, n) of constants. Writes the
    carry at the beginning and after every so many steps into `states`: (count, steps // every + 1, n) for a history,
    (count, n) for what is wanted at the end alone. Of every interval one step is recorded, the first or the last, in
    (count, steps // every, …). Arrays may be parts of larger ones as long as a row is in one piece; the carry may be a
    part of the states, or the states themselves, and what is given may be the same for all steps (a stride of 0).

    Native code reads `_words`: rows, where the arrays are, steps, every, which step of an interval is recorded, how
    often `SingleSteps` has used it, and how far it is from one sample of an array to the next.
    """

    def __init__(
        self,
        carry: Sequence[np.ndarray],
        given: Sequence[np.ndarray],
        constants: Sequence[np.ndarray],
        states: Sequence[np.ndarray],
        records: Sequence[np.ndarray],
        steps: int,
        every: int,
        *,
        record: str = "first",
    ) -> None:
        self.carry, self.given, self.constants, self.states, self.records = carry, given, constants, states, records
        count = len(carry[0])
        arrays = [*carry, *given, *constants, *states, *records]
        self._loop = loop = ARRAYS + 2 * len(arrays)
        self._words = words = (ctypes.c_int64 * (loop + STRIDES + len(arrays)))()
        words[COUNT] = count
        for k, array in enumerate(arrays):
            words[ARRAYS + 2 * k] = address_of(array)
            words[ARRAYS + 2 * k + 1] = 0 if len(array) == 1 and count > 1 else array.strides[0]
        samples = [0 if array.ndim == 2 else _from_sample(array) for array in (*states, *given, *constants, *states)]
        for k, step in enumerate([*samples, *map(_from_sample, records)]):
            words[loop + STRIDES + k] = step
        self.last = record == "last"
        self.set_steps(steps, every)

    def set_steps(self, steps: int, every: int) -> None:
        """So many steps from now on."""
        words, loop = self._words, self._loop
        self.steps, self.every = words[loop + STEPS], words[loop + EVERY] = steps, every
        self.recorded_step = words[loop + RECORDED_STEP] = every - 1 if self.last else 0

    def row(self, k: int) -> Call:
        """The call for one row alone."""

        def own(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
            return [array if len(array) == 1 else array[k : k + 1] for array in arrays]

        carry, given, constants = own(self.carry), own(self.given), own(self.constants)
        record = "last" if self.last else "first"
        return Call(carry, given, constants, own(self.states), own(self.records), self.steps, self.every, record=record)

    @property
    def address(self) -> int:
        return ctypes.addressof(self._words)

    @property
    def steps_made(self) -> int:
        """Of one row, step by step."""
        return self._words[self._loop + MADE]

    @steps_made.setter
    def steps_made(self, n: int) -> None:
        self._words[self._loop + MADE] = n


def _from_sample(array: np.ndarray) -> int:
    """How far it is from one sample of a row to the next [bytes]; nothing where there is but one."""
    return 0 if array.shape[1] == 1 else array.strides[1]


class InPlace:
    """Steps of a call whose states are its carry: as many as are wanted at a time, and copies of its arrays in single
    precision before and after."""

    def __init__(self, loop: Loop, call: Call, singles: Singles | None = None) -> None:
        self._loop, self._call = loop, call
        self._singles = singles or Singles()
        self._code = code = loop.code(len(call.carry[0]))
        self._count = max(1, len(call.carry[0]))
        self._few = WORTH_A_THREAD // (code.cost * self._count)  # steps that one thread makes sooner than several
        self._keep = workspace = code.workspace()
        words = self._singles.address, code.library["run"], call.address, address_of(workspace), 0
        self._words = (ctypes.c_int64 * len(words))(*words)
        self._address, self._run, self._steps = ctypes.addressof(self._words), self._singles.run_between, 0

    def run(self, n: int) -> None:
        """Make n steps; the interpreter lock is released."""
        if n != self._steps:
            self._call.set_steps(n, n)
            self._steps = n
        if interpreting() or n > self._few:
            self._singles.read()
            self._loop.run(self._call)
            self._singles.write()
            return
        self._run(self._address)


def single_steps(loop: Loop, count: int) -> SingleSteps | InterpretedSteps:
    return InterpretedSteps(loop, count) if interpreting() else SingleSteps(loop, count)


class SingleSteps:
    """Steps of a loop one by one, with the arrays of a call. Those of one row it follows: after a step they point to
    the next rows of the history. Those of many stay where they are."""

    def __init__(self, loop: Loop, count: int) -> None:
        self._count, self._code = count, loop.code(count)
        library, workspace = self._code.library, self._code.workspace()
        self._places = (ctypes.c_int64 * 2)(0, address_of(workspace))
        self._keep = workspace
        self._once = _AT(library["once"])
        self.from_python: Any = None  # given -> copies of the new state; None for what is not a plain array
        if "from_python" in self._code.symbols:
            from featherweight.compiler.runtime.fastcall import make_entry

            states = tuple(a.shape for a in loop.kernel.inputs[: loop.kernel.sizes[2]])
            address = library["from_python"]
            self.from_python = make_entry(address, "step", workspace, library, states, places=self._places)

    def use(self, call: Call) -> None:
        """Go on with the arrays of this call."""
        self._places[0] = call.address
        self._call = call

    def step(self) -> None:
        """One step with what stands in the arrays of the call; the interpreter lock is released."""
        if self._count > FEW:
            self._code.run_rows(self._call.address, self._count)
        else:
            self._once(ctypes.addressof(self._places))


class InterpretedSteps:
    """The same on NumPy."""

    from_python: Any = None

    def __init__(self, loop: Loop, count: int) -> None:
        self._loop, self._count = loop, count

    def use(self, call: Call) -> None:
        self._call = call

    def step(self) -> None:
        call = self._call
        if self._count > 1:
            self._loop.interpret(call)
            return
        k = call.steps_made
        both = list(zip(call.carry, call.states, strict=True))
        carry = [own if states.ndim == 2 else states[:, k] for own, states in both]
        after = [states if states.ndim == 2 else states[:, k : k + 2] for states in call.states]
        records = [record[:, k : k + 1] for record in call.records]
        self._loop.interpret(Call(carry, call.given, call.constants, after, records, 1, 1))
        call.steps_made = k + 1


class _LoopKernel(Kernel):
    """A kernel whose driver repeats the step."""

    sizes: tuple[int, int, int]

    def module(self, width: int, target: Target) -> Module:
        from featherweight.compiler.llvm.module import emit_module

        shapes = [a.shape for a in self.inputs]
        return emit_module(self.plan, shapes, list(self.outputs), width, target, loop=self.sizes)

    def _load(self, width: int) -> Code:
        from featherweight.compiler.llvm.stepping import steps_from_python

        symbols = ("once", "from_python") if steps_from_python(width, self.sizes) else ("once",)
        return Code(self, width, symbols, f"loop {self.sizes}")

    def __call__(self, *values: Any, out: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        raise NotImplementedError("a loop is run by Loop.run")
