"""Numbers with names: a frozen dataclass laid out in a row, such as the parameters p of a compiled controller.

Parameters are inputs of the compiled step. Whatever a user may tune belongs there, so that other gains or targets run
the same machine code. What remains in the controller's own fields is structure: the model, frames, counts, what is
absent. A row is read back over any scalar, on traced values too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from math import prod
from typing import Any, Generic, TypeVar, cast

import numpy as np

from featherweight.cached import cached_property

SHAPE = "featherweight.shape"
Number = float | np.ndarray  # one for all robots, or an array with one for each robot of a batch
T = TypeVar("T")


def shaped(*shape: int | str, **options: Any) -> Any:
    """A dataclass field that holds an array; a text in its shape is a size that a `RowLayout` is given.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Hold:
    ...     target: np.ndarray = shaped("nq")
    ...     stiffness: float = 10.0
    >>> layout = RowLayout(Hold, {"nq": 2})
    >>> layout.pack(Hold(np.array([0.1, 0.2])))
    array([ 0.1,  0.2, 10. ])
    >>> float(layout.read(np.array([0.3, 0.4, 20.0])).stiffness)
    20.0
    """
    return field(metadata={SHAPE: shape}, **options)


@dataclass(frozen=True)
class RowLayout(Generic[T]):
    """Where the numbers of a dataclass stand in a row: field after field, arrays in C order.

    A field made by `shaped` is an array. A field whose default is a dataclass is laid out in its place. Any other field
    is one number.

    Args:
        kind: the dataclass.
        sizes: what the texts in the shapes of its arrays stand for.
    """

    kind: type[T]
    sizes: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def size(self) -> int:
        """Length of the row."""
        return sum(part.size if isinstance(part, RowLayout) else prod(part) for _, part in self._parts)

    def pack(self, numbers: T) -> np.ndarray:
        """The row (…, size) of these numbers.

        Leading axes of a number are those of a batch; a number without them is the same for the whole batch. A row is
        of floats, or of objects if one of the numbers is, e.g. a traced value.
        """
        leaves = list(self._leaves(numbers, ""))
        batch = np.broadcast_shapes(*(array.shape[: array.ndim - len(shape)] for array, shape in leaves))
        kind = object if any(array.dtype == object for array, _ in leaves) else float
        row, at = np.empty((*batch, self.size), dtype=kind), 0
        for array, shape in leaves:
            end = at + prod(shape)
            row[..., at:end] = array.reshape(*array.shape[: array.ndim - len(shape)], end - at)
            at = end
        return row

    def read(self, row: np.ndarray) -> T:
        """The numbers of a row (…, size), by name. Nothing is checked or derived again, whatever the scalar."""
        if row.shape[-1:] != (self.size,):
            raise ValueError(
                f"expected a row of {self.size} numbers for {self.kind.__name__}, shape (…, {self.size}), "
                f"got shape {row.shape}"
            )
        numbers, at = object.__new__(self.kind), 0
        for name, part in self._parts:
            value: Any
            if isinstance(part, RowLayout):
                end = at + part.size
                value = part.read(row[..., at:end])
            else:
                end = at + prod(part)
                value = row[..., at:end].reshape(*row.shape[:-1], *part) if part else row[..., at][()]
            object.__setattr__(numbers, name, value)
            at = end
        return numbers

    @cached_property
    def _parts(self) -> list[tuple[str, tuple[int, ...] | RowLayout[Any]]]:
        """Each field's name, with its shape or its own layout."""
        parts: list[tuple[str, tuple[int, ...] | RowLayout[Any]]] = []
        for own in fields(cast(Any, self.kind)):
            if is_dataclass(own.default):
                parts.append((own.name, RowLayout(cast(Any, type(own.default)), self.sizes)))
            else:
                shape = own.metadata.get(SHAPE, ())
                parts.append((own.name, tuple(self.sizes[n] if isinstance(n, str) else n for n in shape)))
        return parts

    def _leaves(self, numbers: Any, path: str) -> Iterator[tuple[np.ndarray, tuple[int, ...]]]:
        """Each number as an array (…, *shape), with its shape."""
        if not isinstance(numbers, self.kind):
            raise TypeError(f"{path or 'numbers'}: expected {self.kind.__name__}, got {type(numbers).__name__}")
        for name, part in self._parts:
            value, where = getattr(numbers, name), f"{path}.{name}" if path else name
            if isinstance(part, RowLayout):
                yield from part._leaves(value, where)
                continue
            array = np.asarray(value)
            if array.shape[array.ndim - len(part) :] != part:
                shape = ", ".join(["…", *map(str, part)])
                raise ValueError(f"{where}: expected shape ({shape}), got {array.shape}")
            yield array, part
