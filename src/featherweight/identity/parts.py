"""Parts of objects as Python has them: the text of plain values, names of slots, names that code looks up."""

from __future__ import annotations

import functools
import itertools
import types
from typing import Any


def text_of(x: Any) -> str:
    """Of a plain number or text, or of many."""
    try:
        return repr(x)
    except ValueError:  # a whole number of thousands of digits
        items = itertools.chain.from_iterable(x.items()) if isinstance(x, dict) else x
        return hex(x) if isinstance(x, int) else f"[{','.join(map(text_of, items))}]"


def slots_of(kind: type) -> list[str]:
    """Names of all slots, as they are spelled outside of the class."""
    names = []
    for base in kind.__mro__:
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else list(slots):
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{base.__name__.lstrip('_')}{name}"
            if name not in ("__dict__", "__weakref__"):
                names.append(name)
    return names


@functools.lru_cache(maxsize=256)
def names_in(code: types.CodeType) -> list[str]:
    """What a function may look up in its module, it itself or a function inside of it."""
    inner = [name for c in code.co_consts if isinstance(c, types.CodeType) for name in names_in(c)]
    return sorted({*code.co_names, *inner})
