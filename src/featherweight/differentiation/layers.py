"""Layers of neural networks backwards: y = σ(W x + b), by products with Wᵀ in place of its loops over memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.differentiation.reverse import pullback
from featherweight.scalar import linear
from featherweight.scalar.products import Layer


@dataclass(frozen=True)
class LayerRule:
    """Rule of `scalar.dense`; inputs are the weights by rows, unless they are numbers, then x and b."""

    layer: Layer

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """z̄ = σ'(z) ȳ, x̄ = Wᵀ z̄, b̄ = z̄, W̄ = z̄ xᵀ."""
        m, n = self.layer.shape
        W: Any = self.layer.weights
        if W is None:
            W = np.empty(m * n, dtype=object)
            W[:] = inputs[: m * n]
            W = W.reshape(m, n)
        x, b = list(inputs[-m - n : -m]), list(inputs[-m:])
        z_bar, activation = list(cotangents), self.layer.activation
        if activation is not None:
            z = linear(W, x, b)
            z_bar = [pullback(lambda v: [activation(v[0])], [v], [y], [True])[0] for v, y in zip(z, z_bar, strict=True)]
        x_bar = list(linear(W.T, z_bar))
        of_weights = [] if self.layer.weights is not None else [row * entry for row in z_bar for entry in x]
        return [*of_weights, *x_bar, *z_bar]
