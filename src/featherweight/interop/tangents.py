"""Between the numbers of configurations and their tangent space, for arrays.

With E = ∂(q ⊕ δ)/∂δ at δ = 0, nq × nv, and P its inverse on the tangent space, P E = 1: `rate` is E δ, `velocity` P q̇,
`on_velocity` Eᵀ w, and `on_numbers` Pᵀ w.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.functions import Configuration, Function, function
from featherweight.functions.configuration import Input, velocities, weights_of_numbers
from featherweight.model import Model
from featherweight.model.cache import once_per_model


@dataclass(frozen=True, eq=False)
class Maps:
    """Linear maps at configurations: functions of (q, vector)."""

    rate: Function
    velocity: Function
    on_velocity: Function
    on_numbers: Function


@once_per_model
def maps(model: Model) -> Maps:
    """The maps of a model, compiled when they are first used."""
    x = Input("q", (model.nq,), (model.nv,), model)

    def rate(q: Any, d: Any) -> Any:
        return [t.get(0, 0.0) for t in x.tangents(list(q), [{0: e} for e in d])]

    def velocity(q: Any, d: Any) -> Any:
        return [t.get(0, 0.0) for t in velocities(model, list(q), [{0: e} for e in d])]

    def on_velocity(q: Any, w: Any) -> Any:
        return x.cotangents(list(q), list(w))

    def on_numbers(q: Any, w: Any) -> Any:
        return weights_of_numbers(model, list(q), list(w))

    sizes = (model.nv, model.nq, model.nq, model.nv)
    made = zip((rate, velocity, on_velocity, on_numbers), sizes, strict=True)
    return Maps(*(function(f, inputs={"q": Configuration(model), "d": n}) for f, n in made))


def times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x, for batches of both."""
    return (A @ x[..., None])[..., 0]
