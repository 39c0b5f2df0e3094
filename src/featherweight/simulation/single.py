"""Single-precision copies of a stepper's views, for learners: written after steps, or read before them."""

from __future__ import annotations

import numpy as np

READ = ("tau", "p")  # what a learner decides
SINGLES = ("q", "v", "x", "contact_force", *READ)


class Singles:
    """float32 arrays beside the double-precision views that they follow or lead."""

    def __init__(self) -> None:
        self._written: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._read: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def of(self, name: str, view: np.ndarray) -> np.ndarray:
        """The array for a view, the same each time."""
        both = self._read if name in READ else self._written
        if name not in both:
            both[name] = view, view.astype(np.float32)
        return both[name][1]

    def read(self) -> None:
        """Before steps: take what was written here."""
        for view, single in self._read.values():
            view[...] = single

    def write(self) -> None:
        """After steps: show what is new."""
        for view, single in self._written.values():
            single[...] = view
