"""Aggregated joint: several joints taken as one, with all their coordinates (constraint embedding; Jain 2012)."""

from __future__ import annotations

from featherweight.joints.joint import Joint


class Aggregated(Joint):
    """The number of coordinates of an aggregated joint. It has no transform of its own: each of its bodies moves by the
    joints of the spanning tree (`Tree.spanning_tree`)."""

    def __init__(self, nq: int, nv: int) -> None:
        object.__setattr__(self, "nq", nq)
        object.__setattr__(self, "nv", nv)

    def arguments(self) -> tuple[int, int]:
        return self.nq, self.nv
