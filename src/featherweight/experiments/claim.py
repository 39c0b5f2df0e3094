"""What a source says, beside what was measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """A sentence of a source in our words, what we measure, and whether that bears it out."""

    text: str
    measured: str
    holds: bool
