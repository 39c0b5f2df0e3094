"""What a source says, beside what was measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """A sentence of a source in our words, what we measure, and whether that bears it out.

    `section` is where the source says it; `why` tells what is wrong with it, or under which condition it holds.
    """

    text: str
    measured: str
    holds: bool
    section: str = ""
    why: str = ""

    @property
    def verdict(self) -> str:
        """In words."""
        told = "holds" if self.holds else "does not hold"
        return f"{told}: {self.why}" if self.why else told
