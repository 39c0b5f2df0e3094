"""A step that was traced, with all that a run needs beside its states: as plain data it goes to other processes.

What moves the robot (controller, contact, integrator, actuators, force elements) is in the trace, not as code of
somebody. So nothing is traced again where it arrives, and nothing but arithmetic can arrive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.compiler import Argument
from featherweight.compiler.runtime.loop import Loop
from featherweight.contact import Surface
from featherweight.contact.pair import Pairs
from featherweight.io import from_plain, to_plain
from featherweight.model import Model
from featherweight.simulation.header import ground_in, header_of, pairs_in
from featherweight.simulation.options import StepOptions
from featherweight.simulation.step import RETURNED, step_loop

OF_TRACE = "trace "  # names of its arrays begin with it


@dataclass(frozen=True, eq=False)
class TracedStep:
    """The loop around a step, and the numbers it is given in every run."""

    model: Model
    loop: Loop
    records: dict[str, tuple[int, ...]]  # shapes of what is recorded in a step, by name
    numbers: list[float]  # of contact, actuators …
    tables: list[np.ndarray]
    ground: tuple[Surface, ...]
    pairs: Pairs  # which shapes may touch which
    state: np.ndarray | None  # of a controller at the beginning
    control_parameters: np.ndarray | None

    @classmethod
    def of(cls, model: Model, options: StepOptions) -> TracedStep:
        """For a model and what moves it."""
        own, contact = options.control, options.contact
        return cls(
            model, step_loop(model, options), options.records(model), options.numbers, options.tables,
            () if contact is None else contact.surfaces, None if contact is None else contact.allowed,
            None if own is None else own.state, None if own is None else own.parameters,
        )  # fmt: skip

    def to_plain(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Facts for JSON, and arrays. ValueError for a robot with joints of other packages."""
        robot = to_plain(self.model)
        if robot is None:
            raise ValueError(f"model: {self.model.name!r} has a joint of another package, which cannot go to a file")
        structure, trace = self.loop.to_arrays()
        kernel, carried = self.loop.kernel, len(self.loop.carry)
        facts = {
            "robot": robot,
            **{name: header_of(None, self.ground, pairs=self.pairs)[name] for name in ("ground", "pairs")},
            "structure": structure,
            "carry": [_plain(a) for a in self.loop.carry],
            "given": [_plain(a) for a in kernel.inputs[carried : carried + kernel.sizes[1]]],
            "constants": [_plain(a) for a in kernel.inputs[carried + kernel.sizes[1] :]],
            "records": [[name, list(shape)] for name, shape in self.records.items()],
        }
        arrays = {f"{OF_TRACE}{name}": values for name, values in trace.items()}
        arrays |= {f"table {k}": np.asarray(table, dtype=float) for k, table in enumerate(self.tables)}
        arrays["numbers"] = np.array(self.numbers, dtype=float)
        if self.state is not None and self.control_parameters is not None:
            arrays |= {"state": self.state, "control_parameters": self.control_parameters}
        return facts, arrays

    @classmethod
    def from_plain(cls, facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> TracedStep:
        """What `to_plain` gave."""
        carry, given, constants = ([_argument(a) for a in facts[name]] for name in ("carry", "given", "constants"))
        records = {name: tuple(shape) for name, shape in facts["records"]}
        loop = Loop("step", carry, given, constants, list(records.values()), _no_source, RETURNED)
        trace = {n.removeprefix(OF_TRACE): values for n, values in arrays.items() if n.startswith(OF_TRACE)}
        tables = [arrays[f"table {k}"] for k in range(sum(n.startswith("table ") for n in arrays))]
        return cls(
            from_plain(facts["robot"]), loop.adopt(facts["structure"], trace), records, arrays["numbers"].tolist(),
            tables, ground_in(dict(facts)), pairs_in(facts), arrays.get("state"), arrays.get("control_parameters"),
        )  # fmt: skip


def _plain(argument: Argument) -> list[Any]:
    shape, parts = list(argument.shape), list(argument.parts)
    return [argument.name, shape, argument.symbols, parts, argument.read_by_index]


def _argument(data: Any) -> Argument:
    name, shape, symbols, parts, read_by_index = data
    return Argument(name, tuple(shape), symbols, tuple(parts), read_by_index)


def _no_source(*_: Any) -> Any:
    raise RuntimeError("a step that was read from a file has no source: leave fw.interpret() to run it")
