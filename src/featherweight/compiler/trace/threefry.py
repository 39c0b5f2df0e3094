"""Threefry-2x64-20: random numbers that are a function of a key and a counter (Salmon et al., "Parallel random numbers:
as easy as 1, 2, 3", 2011). There is no state, so a number depends on nothing but its arguments.

A number is a word by its 64 bits, -0 as 0. The key is (seed, third counter), the counter (first, second counter). Of
the two words that come out, the first makes uniform numbers, the second normal ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

ROTATIONS = (16, 42, 12, 31, 16, 32, 24, 21)  # bits, of the rounds in turn
PARITY = 0x1BD11BDAA9FC1A22
ROUNDS = 20


def threefry(key: tuple[Any, Any], counter: tuple[Any, Any], turned: Callable[[Any, int], Any]) -> tuple[Any, Any]:
    """Two words of two words and a key, on whatever adds up modulo 2^64; `turned` rotates bits to the left."""
    keys = (*key, key[0] ^ key[1] ^ PARITY)
    x, y = counter[0] + keys[0], counter[1] + keys[1]
    for k in range(ROUNDS):
        x = x + y
        y = turned(y, ROTATIONS[k % len(ROTATIONS)]) ^ x
        if k % 4 == 3:
            s = k // 4 + 1
            x, y = x + keys[s % 3], y + keys[(s + 1) % 3] + s
    return x, y


def uniform(seed: Any, a: Any, b: Any, c: Any) -> Any:
    """From 0 to 1, without 1: the first 53 bits. On floats and arrays, as the next one."""
    return (_words(seed, a, b, c)[0] >> 11) * 2.0**-53


def centred(seed: Any, a: Any, b: Any, c: Any) -> Any:
    """From 2^-53 to 1 - 2^-53, as many above 1/2 as below: centres of 2^52 intervals."""
    return ((_words(seed, a, b, c)[1] >> 12) + 0.5) * 2.0**-52


def _words(seed: Any, a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    with np.errstate(over="ignore"):
        k, x, y, z = ((np.asarray(w, dtype=float) + 0.0).view(np.uint64) for w in (seed, a, b, c))
        return threefry((k, z), (x, y), lambda word, n: (word << n) | (word >> (64 - n)))
