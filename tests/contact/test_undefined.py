"""What is left undefined of contacts that do not act is never read."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import featherweight as fw
from contact.test_search import tumbling
from featherweight.compiler.trace.nesting import flattened, rows
from featherweight.constraints.solve import search
from featherweight.constraints.solve.coupling import ByPushes


@pytest.mark.parametrize("trials", [0.0, search.TRIALS])
def test_nothing_undefined_enters_a_step(trials: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contacts that do not act compute nothing: NaN in its place changes no bit, neither of the first trials of a
    search nor of those that leave recovery out."""
    monkeypatch.setattr(search, "TRIALS", trials)
    model, q, v = tumbling(1, seed=1)
    q[:, 2] = 0.15
    contact = fw.contact.Impulse(restitution=0.5)
    whole = ByPushes.only
    poisoned = 0

    def undefined(acts: Any, body: Callable[[], Any], otherwise: Any) -> Any:
        nonlocal poisoned
        if acts or otherwise is not None:
            return whole(acts, body, otherwise)
        values, nesting = flattened(rows(body()))
        poisoned += len(values)
        return nesting.build([float("nan") for _ in values])

    runs = []
    for own in (whole, undefined):
        monkeypatch.setattr(ByPushes, "only", staticmethod(own))
        with fw.interpret():
            runs.append(fw.rollout(model, q, v, steps=3, dt=1e-3, contact=contact))
    assert poisoned > 0
    assert (runs[0].contact_force[..., 2] > 0).any()
    assert not runs[1].status.any()
    assert np.array_equal(runs[0].v, runs[1].v)
