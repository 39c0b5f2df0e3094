"""featherweight inside other programs that differentiate: JAX and PyTorch, each imported when it is asked for.

`featherweight.interop.jax` and `featherweight.interop.torch` have the same names. Both stand on operators
(`operators.py`): functions of arrays with tangents (push) and cotangents (pull) of the same numbers.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

__all__ = ["jax", "torch"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f"featherweight.interop.{name}")
    text = f"module 'featherweight.interop' has no attribute {name!r}"
    raise AttributeError(text, name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    """What is imported late, too: for completion, and for Python's "Did you mean"."""
    return sorted({*globals(), *__all__})
