"""Random numbers: the published generator, the same bits everywhere, and what statistics say of them."""

from __future__ import annotations

import math
import struct
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

import featherweight as fw
from featherweight.compiler import Argument, Kernel, interpret, threads
from featherweight.compiler.trace import normal
from featherweight.compiler.trace.operations import OPERATIONS
from featherweight.scalar import random, random_normal

COUNT = 200_000
WORD = 2**64


# ---- the generator, as its paper tells it, on Python's integers


def threefry(counter: tuple[int, int], key: tuple[int, int]) -> tuple[int, int]:
    """Threefry-2x64 with 20 rounds: mix, and add the key's words in turn after every fourth round."""
    schedule = [key[0], key[1], 0x1BD11BDAA9FC1A22 ^ key[0] ^ key[1]]
    rotation = [16, 42, 12, 31, 16, 32, 24, 21]
    x = [(counter[0] + schedule[0]) % WORD, (counter[1] + schedule[1]) % WORD]
    for d in range(20):
        x[0] = (x[0] + x[1]) % WORD
        r = rotation[d % 8]
        x[1] = ((x[1] << r) % WORD | x[1] >> (64 - r)) ^ x[0]
        if (d + 1) % 4 == 0:
            s = (d + 1) // 4
            x[0] = (x[0] + schedule[s % 3]) % WORD
            x[1] = (x[1] + schedule[(s + 1) % 3] + s) % WORD
    return x[0], x[1]


def bits(x: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", x + 0.0))[0]


def number(word: int) -> float:
    return struct.unpack("<d", struct.pack("<Q", word))[0]


def words(seed: float, a: float, b: float = 0.0, c: float = 0.0) -> tuple[int, int]:
    return threefry((bits(a), bits(b)), (bits(seed), bits(c)))


KNOWN_ANSWERS = [  # counter, key, result: published with the generator
    ((0, 0), (0, 0), (0xC2B6E3A8C2C69865, 0x6F81ED42F350084D)),
    ((WORD - 1, WORD - 1), (WORD - 1, WORD - 1), (0xE02CB7C4D95D277A, 0xD06633D0893B8B68)),
    (
        (0x243F6A8885A308D3, 0x13198A2E03707344),
        (0xA4093822299F31D0, 0x082EFA98EC4E6C89),
        (0x263C7D30BB0F0AF1, 0x56BE8361D3311526),
    ),
]


@pytest.mark.parametrize(("counter", "key", "result"), KNOWN_ANSWERS)
def test_the_reference_and_the_functions_give_the_published_answers(counter, key, result) -> None:
    assert threefry(counter, key) == result
    if WORD - 1 in key:  # the bits of no number
        return
    arguments = number(key[0]), number(counter[0]), number(counter[1]), number(key[1])
    assert random(*arguments) == (result[0] >> 11) * 2.0**-53
    assert OPERATIONS["random_centre"].value(*arguments) == ((result[1] >> 12) + 0.5) * 2.0**-52


def arguments(n: int = 300) -> np.ndarray:
    """Seeds and counters: whole numbers, times, zeros of both signs, large, small and negative ones."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.integers(0, 9, (n, 4)), rng.normal(size=(n, 4)) * 10.0 ** rng.integers(-300, 300, (n, 4))])
    x[:5, 1] = [0.0, -0.0, 2.0**53, 0.001, -3.0]
    return x


def kernel(function: Any) -> Kernel:
    return Kernel("test", [Argument("x", (4,), "4")], [(1,)], lambda s, *_: ([[function(*s[0])]], 0), lambda _: "")


@pytest.mark.parametrize("function", [random, random_normal])
def test_the_same_bits_in_code_on_arrays_and_on_numbers(function) -> None:
    x = arguments()
    code = kernel(function)
    numbers = np.array([function(*line) for line in x.tolist()])
    if function is random:
        assert numbers.tolist() == [(words(*line)[0] >> 11) * 2.0**-53 for line in x.tolist()]
    assert code(x)[0].tobytes() == numbers.tobytes()
    assert code(x[3:41])[0].tobytes() == numbers[3:41].tobytes()  # other lanes
    assert [code(line)[0].item() for line in x[:9]] == numbers[:9].tolist()
    assert function(*x.T).tobytes() == numbers.tobytes()
    with interpret():
        assert code(x)[0].tobytes() == numbers.tobytes()
        assert code(x[7])[0].item() == numbers[7]
    assert function(*(np.float64(a) for a in x[5])) == numbers[5]
    assert function(mpmath.mpf(3), 4) == function(3, 4.0, 0.0) == function(3.0, 4, -0.0, 0)


def test_random_numbers_of_a_run_do_not_depend_on_threads_lanes_or_cutting() -> None:
    model, seeds = fw.robots.pendulum(), np.arange(400.0)[:, None]
    q, v = np.zeros((2, 400, 1))

    def noise(t, q, v, x, p):
        return [random_normal(p[0], t) + 0.1 * random(p[0], t, 1)], x

    def run(ids, **options):
        control = fw.compiled(noise, parameters=seeds[ids])
        return fw.rollout(model, q[ids], v[ids], steps=20, dt=1e-3, control=control, **options).tau

    whole = run(np.arange(400))
    times = np.arange(20) * 1e-3
    expected = random_normal(seeds, times) + 0.1 * random(seeds, times, 1)
    np.testing.assert_allclose(whole[..., 0], expected, rtol=0, atol=1e-15)
    for n in (1, 2):
        with threads(n):
            assert run(np.arange(400)).tobytes() == whole.tobytes()
    order = np.random.default_rng(1).permutation(400)
    assert run(order).tobytes() == whole[order].tobytes()
    assert run([17]).tobytes() == whole[17:18].tobytes()


def test_seeds_and_counters_are_asked_for() -> None:
    with pytest.raises(TypeError, match="one to three counters, got 0"):
        random(1)
    with pytest.raises(TypeError, match="one to three counters, got 4"):
        random_normal(1, 2, 3, 4, 5)


# ---- statistics

K = np.arange(COUNT, dtype=float)
STREAMS = {  # of a seed and counters that are neighbours in one of their places
    "counters": (1, K),
    "second counters": (1, 7, K),
    "third counters": (1, 7, 7, K),
    "seeds": (K, 1),
    "times": (1, K * 1e-3),
}


def correlation(x: np.ndarray, y: np.ndarray) -> float:
    """In standard deviations."""
    return abs(np.corrcoef(x, y)[0, 1]) * math.sqrt(len(x))


@pytest.mark.parametrize("stream", STREAMS)
def test_uniform_numbers(stream: str) -> None:
    u = random(*STREAMS[stream])
    assert 0 <= u.min() < 1e-4
    assert 1 - 1e-4 < u.max() < 1
    assert abs(u.mean() - 1 / 2) < 5 * math.sqrt(1 / 12 / COUNT)
    assert abs(u.var() - 1 / 12) < 5 * math.sqrt(1 / 180 / COUNT)
    assert stats.kstest(u, "uniform").pvalue > 1e-4
    cells = np.histogram2d(u[:-1:2], u[1::2], bins=16, range=[[0, 1], [0, 1]])[0]
    assert stats.chisquare(cells.ravel()).pvalue > 1e-4
    assert all(correlation(u[:-lag], u[lag:]) < 5 for lag in (1, 2, 8, 64))


@pytest.mark.parametrize("stream", STREAMS)
def test_normal_numbers(stream: str) -> None:
    x = random_normal(*STREAMS[stream])
    assert stats.kstest(x, "norm").pvalue > 1e-4
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((x**power).mean() - moment) < 5 * math.sqrt(variance / COUNT)
    assert all(correlation(a[:-1], a[1:]) < 5 for a in (x, x * x))
    assert correlation(x, random(*STREAMS[stream])) < 5  # of the same seeds and counters


def test_neighbouring_seeds_and_counters_are_not_correlated() -> None:
    k = np.arange(300.0)
    u = random(k[:, None], k)
    assert correlation(u[1:].ravel(), u[:-1].ravel()) < 5
    assert correlation(u[:, 1:].ravel(), u[:, :-1].ravel()) < 5
    assert correlation(u[np.triu_indices(300, 1)], u.T[np.triu_indices(300, 1)]) < 5  # seed and counter exchanged


# ---- the quantile


def on_arrays(name: str, *args: Any) -> Any:
    return OPERATIONS[name].array(*args)


def test_normal_numbers_are_quantiles() -> None:
    rng = np.random.default_rng(2)
    near_edges = [0.075, 0.925, 0.5 - 2.0**-53, 2.0**-53, 1 - 2.0**-53, 0.25]
    u = np.concatenate([near_edges, rng.uniform(0, 1, 200), 2.0 ** rng.uniform(-53, -1, 200)])
    u = (np.floor(u * 2.0**52) + 0.5) * 2.0**-52
    x = normal.quantile(on_arrays, u)
    with mpmath.workdps(40):
        for p, q in zip(u.tolist(), x.tolist(), strict=True):  # one Newton step from x finds what it lacks
            lacks = (mpmath.ncdf(q) - mpmath.mpf(p)) / mpmath.npdf(q)
            assert abs(lacks) <= 1e-14 * abs(q)
    assert np.array_equal(normal.quantile(on_arrays, 1 - u), -x)
    assert 8.2 < x[4] < 8.3
