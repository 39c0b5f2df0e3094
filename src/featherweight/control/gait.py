"""Gaits: which foot stands when, and how a foot swings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from featherweight.scalar import maximum, minimum, structural, where


@dataclass(frozen=True)
class Gait:
    """A periodic pattern of stance and swing. Its times are numbers of any scalar, its pattern is structure.

    Args:
        period: [s].
        duty: share of the period for which a foot stands, from 0 to less than 1.
        offsets: phase of each foot, from 0 to 1; a foot's stance begins at phase 0.
        start: all feet stand until then [s].
    """

    period: Any
    duty: Any
    offsets: tuple[float, ...] = structural()
    start: Any = 0.0

    def cycle(self, t: Any, count: Any) -> tuple[Any, Any]:
        """Phase of the gait, from 0 to 1, and the number of whole periods so far, from that of the last step.

        Time goes on by less than a period from step to step, so that the count grows by one at most.
        """
        whole = maximum(t - self.start, 0.0) * (1.0 / self.period)
        count = where(whole - count >= 1.0, count + 1.0, count)
        return whole - count, count

    def legs(self, phase: Any) -> list[tuple[Any, Any]]:
        """For each foot its progress in stance and in swing: one from 0 to 1, the other 0 or below, or 1 or above."""
        per_stance, per_swing = 1.0 / self.duty, 1.0 / (1.0 - self.duty)
        result = []
        for offset in self.offsets:
            own = phase + offset
            own = where(own >= 1.0, own - 1.0, own)
            result.append((own * per_stance, (own - self.duty) * per_swing))
        return result

    @property
    def stance(self) -> Any:
        """Time for which a foot stands [s]."""
        return self.duty * self.period

    @property
    def swing(self) -> Any:
        """Time for which a foot swings [s]."""
        return (1.0 - self.duty) * self.period


def ramp(progress: Any, share: Any) -> Any:
    """From 0 to 1 in the first share of the way, back to 0 in the last; 0 beyond both ends."""
    rise = minimum(progress, 1.0 - progress) * (1.0 / share)
    return minimum(maximum(rise, 0.0), 1.0)


def smooth(s: Any) -> tuple[Any, Any, Any]:
    """A path from 0 to 1 that begins and ends at rest, with its first and second derivative: 6 s⁵ - 15 s⁴ + 10 s³."""
    return (
        s * s * s * (10.0 + s * (6.0 * s - 15.0)),
        30.0 * s * s * (1.0 + s * (s - 2.0)),
        60.0 * s * (1.0 + s * (2.0 * s - 3.0)),
    )


def bump(s: Any) -> tuple[Any, Any, Any]:
    """A path from 0 up to 1 at s = ½ and back, at rest at both ends, with its derivatives: 64 s³ (1 - s)³."""
    p, dp = s * (1.0 - s), 1.0 - 2.0 * s
    return 64.0 * p * p * p, 192.0 * p * p * dp, 384.0 * p * (dp * dp - p)
