"""Thousands of odd calls of a compiled function and its derivatives: the right answer, or an error that names what."""

from __future__ import annotations

import random

import numpy as np
import pytest

import featherweight as fw

MODEL = fw.robots.chain(2)
F = fw.function(
    lambda q, v, p: p[0] * fw.forward_dynamics(MODEL, q, v, [p[1], p[2]]),
    inputs={"q": fw.configuration(MODEL), "v": 2, "p": 3},
)
SIZES = {"q": 2, "v": 2, "p": 3, "dq": 2, "w": 2}


def odd(n: int, choose: random.Random) -> object:
    """An argument that should have the shape (…, n): good ones, odd ones, and wrong ones."""
    rng = np.random.default_rng(choose.randrange(10**6))
    good = rng.normal(size=n)
    batch = rng.normal(size=(choose.choice([1, 2, 3, 9]), n))
    return choose.choice(
        [
            *[lambda: good, lambda: batch] * 4,
            lambda: good.tolist(), lambda: good.astype(np.float32), lambda: rng.integers(-2, 3, n), lambda: tuple(good),
            lambda: batch[:, ::-1], lambda: np.asfortranarray(batch), lambda: batch[None], lambda: batch[:0],
            lambda: np.broadcast_to(good, (3, n)), lambda: np.repeat(good, 2)[::2], lambda: np.ma.array(good),
            lambda: good[:-1], lambda: np.append(good, 1.0), lambda: None, lambda: "text", lambda: 1.0, lambda: [],
            lambda: good * 1j, lambda: good > 0, lambda: np.where(good == good[0], np.nan, good),
            lambda: np.where(good == good[0], np.inf, good), lambda: np.array(good, dtype=object), lambda: {"a": 1},
            lambda: np.ma.array(good, mask=[True] + [False] * (n - 1)), lambda: good.astype("datetime64[s]"),
        ]
    )()  # fmt: skip


def reference(g, arguments):
    """Row by row, of plain arrays."""
    arrays = [np.asarray(x, dtype=float) for x in arguments]
    batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
    rows = [np.broadcast_to(a, (*batch, a.shape[-1])) for a in arrays]
    found = [g(*(row[index].copy() for row in rows)) for index in np.ndindex(*batch)]
    several = isinstance(found[0], tuple) if found else False
    parts = list(zip(*found, strict=True)) if several else [found]
    return [np.array(part).reshape((*batch, *np.shape(part[0]))) for part in parts]


@pytest.mark.parametrize("kind", ["value", "derivative", "jvp", "vjp"])
def test_no_call_gives_a_wrong_answer_or_an_unnamed_error(kind):
    choose = random.Random(kind)
    g = {"value": F, "derivative": fw.derivative(F, "q"), "jvp": fw.jvp(F, "q"), "vjp": fw.vjp(F)}[kind]
    names = [x.name for x in g.inputs]
    g(*(np.ones(SIZES[name]) for name in names))
    refused: list[str] = []
    for _ in range(1200):
        arguments = [odd(SIZES[name], choose) for name in names]
        try:
            found = g(*arguments)
        except (TypeError, ValueError) as error:
            refused.append(str(error))
            continue
        found = found if isinstance(found, tuple) else (found,)
        if found[0].size:
            for one, expected in zip(found, reference(g, arguments), strict=True):
                assert np.array_equal(one, expected)
    assert 300 < len(refused) < 1150
    for text in refused:
        named = any(text.startswith(f"{name}:") or f": {name}[" in text for name in names)
        assert named or "do not broadcast together" in text, text
