"""Controllers of one structure on one robot share their compiled code, whatever their parameters."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from featherweight.identity import identity
from featherweight.model import Model
from featherweight.simulation import Compiled, compiled

KEY = ("controllers",)  # of the loops around our controllers among a model's kernels


def controller(function: Callable[..., Any], model: Model, *, state: Any = (), parameters: Any = ()) -> Compiled:
    """`fw.compiled(function, …)`; if all of the function is ours, its loops are kept with the model.

    Loops are found by the fields of the function and the lengths of state and parameters. So a second controller of the
    same structure, with other numbers, is neither traced nor loaded again.
    """
    own = compiled(function, state=state, parameters=parameters)
    if identity(function).foreign:  # code of others: its loops live as long as this controller
        return own
    return replace(own, loops=model._kernels.setdefault(KEY, weakref.WeakKeyDictionary()))
