"""Several joints taken as one: all their coordinates, for bodies that move with some of them."""

from __future__ import annotations

from featherweight.joints.joint import Joint


class Joined(Joint):
    """What it does to a body depends on the body: the algorithms that join joints know the joints apart, too."""

    def __init__(self, nq: int, nv: int) -> None:
        object.__setattr__(self, "nq", nq)
        object.__setattr__(self, "nv", nv)

    def arguments(self) -> tuple[int, int]:
        return self.nq, self.nv
