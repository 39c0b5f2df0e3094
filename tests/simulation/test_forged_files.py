"""Files with good checksums and false contents: a trajectory, or ValueError with the file's name, in little memory."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight.recording import read, write

MODEL = fw.robots.double_pendulum()
Chunks = list[tuple[dict[str, Any], dict[str, Any]]]
Change = Callable[[dict[str, Any], Chunks], None]
# reads a file with a limit of memory, and tells what came out and how much it took
READ = """
import resource, sys
import featherweight as fw
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
try:
    found = repr(fw.Trajectory.load(sys.argv[1]))
except ValueError as error:
    found = "ValueError"
print(found, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1000 < 200, sep="|")
"""


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is in the file of a run, and of a trajectory that was saved."""
    folder = tmp_path_factory.mktemp("good")
    run = fw.rollout(MODEL, np.ones((3, 2)), np.zeros((3, 2)), steps=20, dt=1e-2, file=folder / "run.fw")
    run.save(folder / "saved.fw")
    return {name: read(folder / f"{name}.fw")[:2] for name in ("run", "saved")}


def forged(kinds: dict[str, Any], kind: str, change: Change, folder: Path) -> Path:
    facts, chunks = copy.deepcopy(kinds[kind])
    change(facts, chunks)
    write(folder / "forged.fw", facts, chunks)
    return folder / "forged.fw"


def of_run(name: str, value: Any) -> Change:
    return lambda facts, chunks: facts["run"].__setitem__(name, value)


def fact(name: str, value: Any) -> Change:
    return lambda facts, chunks: facts.__setitem__(name, value)


def array(name: str, value: Any) -> Change:
    return lambda facts, chunks: chunks[0][1].__setitem__(name, value)


def without(name: str) -> Change:
    return lambda facts, chunks: chunks[0][1].pop(name)


def ends(*clock: float) -> np.ndarray:
    return np.array([clock] * 3)


IMPOSSIBLE: list[tuple[str, Change]] = [
    ("run", of_run("record_every", 0)), ("run", of_run("record_every", -1)), ("run", of_run("record_every", 1.5)),
    ("run", of_run("dt", "x")), ("run", of_run("dt", 10**400 // 10**10)), ("run", of_run("dt", 0)),
    ("run", of_run("dt", True)), ("run", of_run("steps", -1)), ("run", of_run("steps", 3)),
    ("run", lambda facts, chunks: facts["run"].update(dt=1e299, steps=10**12)),
    ("run", of_run("steps", 10**300)), ("run", of_run("batch", [10**9, 10**9])), ("run", of_run("batch", {"a": 1})),
    ("run", of_run("batch", [-3])), ("run", of_run("batch", None)), ("run", fact("run", 5)), ("run", fact("run", [])),
    ("run", fact("parameters", [["a", [2**40, 2**40]]])), ("run", fact("parameters", [["a", [-1]]])),
    ("run", fact("parameters", 5)), ("run", fact("parameters", [["a", ["b"]]])),
    ("run", fact("ground", [{"kind": "x"}])),
    ("run", fact("ground", 7)), ("run", fact("robot", 7)), ("run", fact("robot", {})),
    ("run", array("clock", np.full((3, 3), np.nan))), ("run", array("clock", np.zeros((3, 0)))),
    ("run", array("clock", ends(0, 9, 0))), ("run", array("clock", ends(0, 2, 0.5))),
    ("run", array("clock", ends(0, 2, 1e300))), ("run", array("q", np.zeros((3, 5)))),
    ("run", array("q", np.zeros((3, 21, 7), np.uint8))), ("run", array("q", np.zeros((3, 21, 7)))),
    ("run", array("v", np.zeros((3, 20, 2)))), ("run", array("tau", np.zeros((3, 21, 2)))), ("run", without("tau")),
    ("run", without("clock")), ("run", lambda facts, chunks: chunks.clear()),
    ("saved", lambda facts, chunks: chunks.extend(chunks)), ("saved", fact("complete", [])),
    ("saved", array("model", np.zeros(3))), ("saved", array("ground", np.zeros(3))), ("saved", without("status")),
    ("saved", array("q", np.float64(3))), ("saved", array("t", np.zeros(0))),
    ("saved", array("t", np.full(21, np.nan))),
    ("saved", array("status", np.zeros(3))), ("saved", array("status", np.full(3, 200, np.uint8))),
    ("saved", array("failed_step", np.zeros((3, 3), int))), ("saved", array("q", np.zeros((3, 21, 5)))),
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(IMPOSSIBLE)))
def test_what_is_impossible_is_refused_with_the_files_name(k: int, kinds: dict[str, Any], tmp_path: Path) -> None:
    path = forged(kinds, *IMPOSSIBLE[k], tmp_path)
    with pytest.raises(ValueError, match=r"forged\.fw: not a trajectory of featherweight: "):
        fw.Trajectory.load(path)


def test_unchanged_they_are_read(kinds: dict[str, Any], tmp_path: Path) -> None:
    for kind in kinds:
        assert fw.Trajectory.load(forged(kinds, kind, lambda facts, chunks: None, tmp_path)).q.shape == (3, 21, 2)


def _failed(steps: int) -> Change:
    def change(facts: dict[str, Any], chunks: Chunks) -> None:
        facts["run"]["steps"] = steps
        chunks[0][1]["clock"] = np.array([[0.2, 2.0, 21.0]] * 3)

    return change


def _nobody(samples: int) -> Change:
    """A batch without robots takes no bytes, however many samples it has."""

    def change(facts: dict[str, Any], chunks: Chunks) -> None:
        facts["run"] |= {"batch": [0], "steps": samples}
        arrays = chunks[0][1]
        for name in list(arrays):
            shape = (0, samples + (name in ("q", "v")), *arrays[name].shape[2:])
            arrays[name] = np.zeros((0, 3) if name == "clock" else shape)

    return change


@pytest.mark.skipif(sys.platform == "win32", reason="limits of memory are POSIX")
@pytest.mark.parametrize(
    ("change", "found"),
    [
        (_failed(10**9), "<Trajectory: 3 lanes, 3 failed, 21 states, 0.2 s>"),
        (_failed(10**15), "<Trajectory: 3 lanes, 3 failed, 21 states, 0.2 s>"),
        (_nobody(10**9), "ValueError"),
    ],
)
def test_a_few_kilobytes_never_take_gigabytes(
    change: Change, found: str, kinds: dict[str, Any], tmp_path: Path
) -> None:
    path = forged(kinds, "run", change, tmp_path)
    assert path.stat().st_size < 10_000
    command = [sys.executable, "-c", READ, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == f"{found}|True"


def test_a_run_that_failed_is_filled_to_its_end_if_that_is_little(kinds: dict[str, Any], tmp_path: Path) -> None:
    run = fw.Trajectory.load(forged(kinds, "run", _failed(1000), tmp_path))
    assert run.q.shape == (3, 1001, 2)
    assert np.isfinite(run.q[:, :21]).all()
    assert np.isnan(run.q[:, 21:]).all()


@pytest.mark.parametrize(
    "change", [fact("run", 5), array("q", np.zeros((3, 5))), without("clock"), array("tau", np.zeros((3, 9, 7)))]
)
def test_a_forged_run_cannot_go_on(change: Change, kinds: dict[str, Any], tmp_path: Path) -> None:
    from featherweight.recording import Recording

    facts, chunks = copy.deepcopy(kinds["run"])
    change(facts, chunks)
    with Recording.create(tmp_path / "grown.fw", facts) as recording:
        for chunk in chunks:
            recording.append(*chunk)
    with pytest.raises(ValueError, match=r"grown\.fw: exists and is "):
        fw.rollout(MODEL, np.ones((3, 2)), np.zeros((3, 2)), steps=20, dt=1e-2, file=tmp_path / "grown.fw")


def test_a_lane_that_failed_at_once_is_read_again(tmp_path: Path) -> None:
    q = np.ones((2, 2))
    q[0] = np.nan
    run = fw.rollout(MODEL, q, np.zeros((2, 2)), steps=3, dt=1e-2)
    run.save(tmp_path / "run.fw")
    again = fw.Trajectory.load(tmp_path / "run.fw")
    assert again.failed_step.tolist() == run.failed_step.tolist() == [0, -1]
    assert again.status.tolist() == run.status.tolist() == [fw.Status.BAD_INPUT, fw.Status.OK]
