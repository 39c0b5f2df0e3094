"""Fixed joint: no motion. The builder merges the body with its parent and keeps it as a frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.joints.joint import Joint
from featherweight.spatial import Motion, Transform


class Fixed(Joint):
    """S has no columns."""

    nq = nv = 0

    def transform(self, q: Sequence[Any]) -> Transform:
        return Transform.identity()

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        return ()

    def random(self, rng: np.random.Generator) -> np.ndarray:
        return np.zeros(0)
