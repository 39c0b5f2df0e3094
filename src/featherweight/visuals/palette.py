"""Colour quantisation: a few colours for the triangles of a mesh, which may have one each."""

from __future__ import annotations

import numpy as np

MOST = 8  # colours of a mesh
NEAR = 0.06  # how far a colour may be from the one it is painted with, if there are enough
ROUNDS = 4


def painted(colors: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most `MOST` colours (k, 3), and the number of one for each of the given (m, 3), which weigh (m,).

    k-means from a farthest-first start: the next colour is the one furthest from all before; then each moves to the
    mean of its own (Lloyd).
    """
    rounded, owner = np.unique(np.round(255 * colors).astype(int), axis=0, return_inverse=True)
    owner = owner.ravel()
    weight = np.bincount(owner, weights, len(rounded)) + 1e-300
    given = rounded / 255.0
    chosen = [int(weight.argmax())]
    while len(chosen) < MOST:
        distance = np.linalg.norm(given[:, None] - given[chosen], axis=2).min(axis=1)
        if distance.max() <= NEAR:
            break
        chosen.append(int((distance * weight**0.5).argmax()))
    palette = given[chosen]
    for _ in range(ROUNDS if len(given) > len(chosen) else 0):
        nearest = np.linalg.norm(given[:, None] - palette, axis=2).argmin(axis=1)
        total = np.bincount(nearest, weight, len(palette))
        sums = [np.bincount(nearest, weight * x, len(palette)) for x in given.T]
        palette = np.where(total[:, None] > 0, np.stack(sums, axis=1) / np.maximum(total, 1e-300)[:, None], palette)
    nearest = np.linalg.norm(given[:, None] - palette, axis=2).argmin(axis=1)
    return palette, nearest[owner]
