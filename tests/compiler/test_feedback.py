"""Compile feedback: one line, after a while, where somebody reads it; and nothing is compiled for bad arguments."""

import io
import logging
import os
import re
import subprocess
import sys
import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight.compiler.runtime import code, feedback


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    stream = Terminal()
    monkeypatch.setattr(feedback, "sys", SimpleNamespace(stderr=stream))  # pytest puts its own into sys
    monkeypatch.setattr(feedback, "AFTER", 0.02)
    return stream


def test_a_line_is_begun_after_a_while_and_ended_with_the_time(terminal: Terminal) -> None:
    with feedback.told("step"):
        assert terminal.getvalue() == ""
        end = time.monotonic() + 20
        while not terminal.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
        assert terminal.getvalue() == "featherweight: compiling step … (once)"
        with feedback.told("inside"):
            time.sleep(0.05)
    assert re.fullmatch(r"featherweight: compiling step … \(once\) \d+\.\d s\n", terminal.getvalue())


def test_what_is_short_is_not_told_and_leaves_no_thread(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feedback, "AFTER", 60.0)
    before = threading.active_count(), len(sys._current_frames())
    for _ in range(20):
        with feedback.told("step"):
            pass
    time.sleep(0.05)
    assert terminal.getvalue() == ""
    assert (threading.active_count(), len(sys._current_frames())) == before


def test_ctrl_c_ends_the_line(terminal: Terminal) -> None:
    def interrupted() -> None:
        with feedback.told("step"):
            time.sleep(0.1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert terminal.getvalue().endswith("(once) stopped\n")
    with feedback.told("next"):
        time.sleep(0.1)
    assert terminal.getvalue().count("compiling next") == 1


def test_nobody_reads_a_pipe_a_closed_stream_or_a_silent_logger(terminal: Terminal, monkeypatch: Any) -> None:
    class Broken(Terminal):
        def write(self, text: str) -> int:
            raise OSError("gone")

    closed = Terminal()
    closed.close()
    for stream in (io.StringIO(), closed, Broken(), None, object()):
        monkeypatch.setattr(feedback.sys, "stderr", stream)
        with feedback.told("step") as notice:
            time.sleep(0.05)
        assert not notice.shown
    monkeypatch.setattr(feedback.sys, "stderr", terminal)
    monkeypatch.setattr(logging.getLogger("featherweight"), "level", logging.ERROR)
    logging.getLogger("featherweight").manager._clear_cache()  # type: ignore[attr-defined]
    with feedback.told("step"):
        time.sleep(0.05)
    logging.getLogger("featherweight").manager._clear_cache()  # type: ignore[attr-defined]
    assert terminal.getvalue() == ""


PROGRAM = """
import numpy as np
import featherweight as fw
from featherweight.compiler.runtime import feedback
feedback.AFTER = 0.01
for _ in range(2):
    fw.rollout(fw.robots.pendulum(), np.zeros(1), np.zeros(1), steps=1, dt=1e-3)
"""


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_a_terminal_sees_each_program_once(tmp_path: Any) -> None:
    """And not at all when it is in the cache, nor where errors go to a pipe."""
    environment = {**os.environ, "FEATHERWEIGHT_CACHE": str(tmp_path / "cache")}
    seen = []
    for _ in range(2):
        ours, theirs = os.openpty()
        with subprocess.Popen([sys.executable, "-c", PROGRAM], stderr=theirs, env=environment) as process:
            assert process.wait(120) == 0
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 4096):
                text += part
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        seen.append(text.decode())
    assert seen[0].startswith("featherweight: compiling step … (once)")
    assert seen[0].endswith(" s\r\n")
    assert seen[0].count("compiling") == 1
    assert seen[1] == ""


def test_arguments_are_checked_before_anything_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    class Compiled(BaseException):
        pass

    def refuse(*_: Any) -> None:
        raise Compiled

    monkeypatch.setattr(code.Code, "__init__", refuse)
    model = fw.robots.double_pendulum()
    q, v = np.zeros(2), np.zeros(2)
    bad_runs: list[dict[str, Any]] = [
        {"q": np.zeros(3)}, {"v": "x"}, {"steps": 0}, {"dt": -1.0}, {"tau": np.zeros((2, 2))}, {"contact": 3},
        {"integrator": "euler"}, {"actuators": 3}, {"limits": 1}, {"forces": 3}, {"constraints": 3}, {"record": "all"},
        {"record_every": 3}, {"parameters": {"mass": 1.0}}, {"file": "run.txt"}, {"control": 3},
        {"f_ext": np.zeros((2, 6))}, {"contact": fw.contact.Impulse()},
    ]  # fmt: skip
    for bad in bad_runs:
        arguments: dict[str, Any] = {"model": model, "q": q, "v": v, "steps": 4, "dt": 1e-3, **bad}
        with pytest.raises((ValueError, TypeError)):
            fw.rollout(**arguments)
    with pytest.raises(ValueError, match="got a batch"):
        fw.simulate(model, np.zeros((2, 2)), v, duration=0.1, dt=0.01)
    for bad in ({"q": np.zeros(3)}, {"count": 0}, {"dt": 0.0}, {"contact": 3}, {"control": 3}):
        with pytest.raises((ValueError, TypeError)):
            fw.Stepper(**{"model": model, "dt": 1e-3, **bad})
    for function in (fw.mass_matrix, fw.gravity_force, fw.potential_energy):
        with pytest.raises(ValueError, match="q: expected shape"):
            function(model, np.zeros(3))
    with pytest.raises(ValueError, match="tau: expected shape"):
        fw.forward_dynamics(model, q, v, np.zeros(3))
    with pytest.raises(KeyError, match="tip"):
        fw.jacobian(model, q, "tip")
    with pytest.raises(Compiled):
        fw.rollout(model, q, v, steps=4, dt=1e-3)
