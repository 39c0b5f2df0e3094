"""The bar of a long run: by rich if it is there, a hint if it is not."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import featherweight as fw

MODEL = fw.robots.pendulum()
RUN = {"steps": 50, "dt": 1e-3, "record_every": 5}
CONTROLS = {
    "none": None,
    "native": fw.compiled(lambda t, q, v, x, p: (-0.1 * v, x)),
    "python": lambda t, q, v: -0.1 * v,
}


@pytest.mark.parametrize("control", CONTROLS)
def test_a_bar_is_shown_and_changes_nothing(control: str, capsys) -> None:
    right = fw.rollout(MODEL, [0.5], [0.0], control=CONTROLS[control], **RUN)
    assert capsys.readouterr().out == ""
    run = fw.rollout(MODEL, [0.5], [0.0], control=CONTROLS[control], progress=True, **RUN)
    shown = capsys.readouterr().out
    assert "simulating" in shown
    assert "0.05 s of 0.05 s" in shown
    assert (run.q == right.q).all()
    fw.simulate(MODEL, [0.5], [0.0], duration=0.05, dt=1e-3, control=CONTROLS[control], progress=True)
    assert "simulating" in capsys.readouterr().out


@pytest.mark.parametrize("control", [lambda t, q, v: 1 / 0, lambda t, q, v: v * np.nan])
def test_a_bar_ends_with_a_run_that_fails(control) -> None:
    for _ in range(2):  # a bar that is still there would refuse the next
        with pytest.raises(fw.SimulationError, match="step 0"):
            fw.simulate(MODEL, [0.5], [0.0], duration=0.05, dt=1e-3, control=control, progress=True)


def test_without_rich_a_hint_is_given(monkeypatch) -> None:
    for name in [name for name in sys.modules if name == "rich" or name.startswith("rich.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(ImportError, match=r"progress: the bar needs rich; pip install featherweight\[cli\]"):
        fw.rollout(MODEL, [0.5], [0.0], progress=True, **RUN)
    assert fw.rollout(MODEL, [0.5], [0.0], **RUN).complete
