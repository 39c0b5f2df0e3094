"""Random numbers without a state: each is a function of a seed and a counter, and of nothing else."""

from __future__ import annotations

from typing import Any

from featherweight.scalar.functions import apply


def random(seed: Any, *counters: Any) -> Any:
    """A uniform random number, 0 ≤ u < 1: a function of the seed and one to three counters, and of nothing else.

    Each draw needs counters of its own: the number of the step or the time, then which draw of the step it is. The same
    arguments give the same 53 bits in every lane, on any number of threads, in native code and on NumPy. Any numbers
    may be seeds and counters; two that differ in their last digit are as good as any other two.

    The generator is Threefry-2x64-20 (Salmon et al., 2011) on the bits of the numbers.

    >>> random(7, 0), random(7, 1), random(8, 0)
    (0.5038867713852362, 0.6794017809910221, 0.5385841004963716)
    """
    return apply("random", seed, *_three(counters))


def random_normal(seed: Any, *counters: Any) -> Any:
    """A random number of the normal distribution with mean 0 and variance 1; seed and counters as in `random`.

    It is the quantile of a uniform number of 52 bits, so |x| < 8.3, and independent of what `random` gives for the same
    seed and counters.

    >>> random_normal(7, 0), random_normal(7, 1)
    (-0.46548788800392105, -1.5834517398125438)
    """
    return apply("random_normal", seed, *_three(counters))


def _three(counters: tuple[Any, ...]) -> tuple[Any, ...]:
    if not 1 <= len(counters) <= 3:
        raise TypeError(f"random: expected a seed and one to three counters, got {len(counters)} counters")
    return (*counters, *[0.0] * (3 - len(counters)))
