"""Runs in files: killed at any moment they lose at most their last chunk and go on to the same bits."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import featherweight as fw
from featherweight.recording import read
from featherweight.simulation import checkpoint, running

MODEL = fw.robots.mini_cheetah()
STATES = np.tile(MODEL.neutral(), (20, 1)), np.random.default_rng(1).normal(size=(20, MODEL.nv))


def swing(t, q, v, x, p):
    """Forces that depend on time, on the state and on what the controller remembers."""
    x = 0.9 * x + 0.1 * v[6:8]
    return np.concatenate([0.0 * q[:6], p[0] * fw.scalar.sin(t) - 0.3 * v[6:] + 0.05 * x[0]]), x


SWING = fw.compiled(swing, state=[0.0, 1.0], parameters=[[2.0]])
OPTIONS = {"steps": 3000, "dt": 1e-3, "control": SWING, "record_every": 5}


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of about a millisecond."""
    monkeypatch.setattr(running, "FIRST_CHUNK", 1e5)
    monkeypatch.setattr(running, "CHUNK_SECONDS", 1e-3)
    monkeypatch.setattr(checkpoint, "SECONDS", 1e-3)


def same(a: fw.Trajectory, b: fw.Trajectory) -> bool:
    names = ("t", "q", "v", "tau", "status", "failed_step")
    return all(np.array_equal(getattr(a, n), getattr(b, n), equal_nan=True) for n in names) and a.complete == b.complete


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork to kill quickly")
def test_fifty_kills_lose_no_more_than_a_chunk_and_change_no_bit(tmp_path):
    """In a process of its own: to fork a small one takes a millisecond, one that ran a thousand tests much longer."""
    command = f"from simulation.test_resume import kill_fifty_times; kill_fifty_times({str(tmp_path / 'run.fw')!r})"
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    ran = subprocess.run(
        [sys.executable, "-c", command], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "50 kills\n"


def kill_fifty_times(name):
    file = Path(name)
    running.FIRST_CHUNK, running.CHUNK_SECONDS, checkpoint.SECONDS = 1e5, 1e-3, 1e-3  # as in `small_chunks`
    whole = fw.rollout(MODEL, *STATES, **OPTIONS)
    assert (whole.status == fw.Status.OK).all()
    rng = np.random.default_rng(0)
    kills = done = parts = 0
    while kills < 50:
        child = os.fork()
        if not child:
            fw.rollout(MODEL, *STATES, **OPTIONS, file=file)
            os._exit(0)
        size, end = _size(file), time.monotonic() + 0.5
        while kills % 2 and _size(file) <= size and time.monotonic() < end:
            time.sleep(1e-4)  # every other time something is written first
        time.sleep(rng.uniform(0.0, 0.02))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        kills += os.WIFSIGNALED(status)
        if file.exists():
            chunks = read(file).chunks
            samples = chunks[-1][0]["samples"] if chunks else 0
            assert samples >= done  # nothing that was written is lost
            done = samples
            if chunks:
                part = fw.Trajectory.load(file)
                assert np.array_equal(part.q, whole.q[:, : samples + 1])
            parts += 0 < samples < whole.q.shape[1] - 1
            if samples == whole.q.shape[1] - 1:
                file.unlink()  # this one got to the end: begin anew
                done = 0
    assert same(fw.rollout(MODEL, *STATES, **OPTIONS, file=file), whole)
    assert same(fw.Trajectory.load(file, model=MODEL), whole)
    assert same(fw.rollout(MODEL, *STATES, **OPTIONS, file=file), whole)  # it is there: nothing is computed again
    assert parts >= 5, "runs that were killed before they wrote anything say little"
    print(kills, "kills")


def _size(file):
    return file.stat().st_size if file.exists() else 0


@pytest.mark.parametrize("single", [False, True])
def test_an_interrupted_run_goes_on(tmp_path, small_chunks, monkeypatch, single):
    states = (STATES[0][0], STATES[1][0]) if single else STATES
    whole = fw.rollout(MODEL, *states, **OPTIONS)
    advance = running.Run.advance

    def interrupted(run, samples):
        if run.done > 100:
            raise KeyboardInterrupt
        advance(run, samples)

    with monkeypatch.context() as patch:
        patch.setattr(running.Run, "advance", interrupted)
        part = fw.rollout(MODEL, *states, **OPTIONS, file=tmp_path / "run.fw")
    assert not part.complete
    assert same(fw.Trajectory.load(tmp_path / "run.fw"), part)
    assert same(fw.rollout(MODEL, *states, **OPTIONS, file=tmp_path / "run.fw"), whole)


def test_failed_lanes_come_back_from_the_file(tmp_path, small_chunks):
    v = np.array(STATES[1])
    v[3] *= 1e160
    run = fw.rollout(MODEL, STATES[0], v, **OPTIONS, file=tmp_path / "run.fw")
    assert run.status[3] == fw.Status.DIVERGED
    assert same(fw.Trajectory.load(tmp_path / "run.fw"), run)
    run = fw.rollout(MODEL, STATES[0], STATES[1] * 1e160, **OPTIONS, file=tmp_path / "all.fw")
    assert run.q.shape[1] == 601
    assert same(fw.Trajectory.load(tmp_path / "all.fw"), run)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dt": 2e-3}, r"is of another run: dt is 0\.002 here and 0\.001 there; choose another file"),
        ({"steps": 3005}, "is of another run: steps is 3005 here and 3000 there"),
        ({"record_every": 1}, "is of another run: record_every is 1 here and 5 there"),
        ({"integrator": "rk4"}, r"the robot, what moves it \(.*limits\), its first state or the parameters differ"),
        ({"control": fw.compiled(swing, state=[0.0, 1.0], parameters=[[2.5]])}, "the parameters differ"),
        ({"control": fw.compiled(lambda *a: swing(*a[:4], [1.0]), state=[0.0, 1.0], parameters=[[2.0]])}, "the robot"),
    ],
)
def test_a_file_of_another_run_is_left_alone(tmp_path, change, message):
    file = tmp_path / "run.fw"
    fw.rollout(MODEL, *STATES, **OPTIONS, file=file)
    before = file.read_bytes()
    with pytest.raises(ValueError, match=message):
        fw.rollout(MODEL, *STATES, **{**OPTIONS, **change}, file=file)
    assert file.read_bytes() == before


def test_a_python_controller_is_written_but_does_not_go_on(tmp_path):
    def hold(t, q, v):
        return -0.1 * v

    options = {"duration": 0.05, "dt": 1e-3, "control": hold, "file": tmp_path / "run.fw"}
    run = fw.simulate(MODEL, STATES[0][0], STATES[1][0], **options)
    assert same(fw.Trajectory.load(tmp_path / "run.fw"), run)
    with pytest.raises(ValueError, match="a run with a Python controller cannot go on"):
        fw.simulate(MODEL, STATES[0][0], STATES[1][0], **options)


def test_two_writers_a_missing_folder_and_a_saved_trajectory_are_explained(tmp_path):
    file = tmp_path / "run.fw"
    run = fw.rollout(MODEL, *STATES, **OPTIONS, file=file)
    code = (
        f"from featherweight.recording import Recording as R; r = R.resume({str(file)!r}); print(flush=True); input()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        with pytest.raises(OSError, match="another process"):
            fw.rollout(MODEL, *STATES, **OPTIONS, file=file)
        other.communicate(b"\n")
    with pytest.raises(OSError, match="nowhere"):
        fw.rollout(MODEL, *STATES, **OPTIONS, file=tmp_path / "nowhere" / "run.fw")
    run.save(tmp_path / "saved.fw")
    with pytest.raises(ValueError, match=r"saved\.fw: was written whole"):
        fw.rollout(MODEL, *STATES, **OPTIONS, file=tmp_path / "saved.fw")


def test_a_full_disk_keeps_what_was_written(tmp_path, small_chunks, monkeypatch):
    """The error names the file; the chunks before it are good, and the run goes on when there is room again."""
    from featherweight.recording import recording

    whole = fw.rollout(MODEL, *STATES, **OPTIONS)
    write_all, calls = recording.write_all, []

    def full(file, pieces):
        calls.append(1)
        if len(calls) > 4:
            file.write(bytes(pieces[0])[:40])
            raise OSError(28, "No space left on device")
        write_all(file, pieces)

    with monkeypatch.context() as patch:
        patch.setattr(recording, "write_all", full)
        with pytest.raises(OSError, match=r"run\.fw"):
            fw.rollout(MODEL, *STATES, **OPTIONS, file=tmp_path / "run.fw")
    part = fw.Trajectory.load(tmp_path / "run.fw")
    assert 1 < len(part.t) < len(whole.t)
    assert same(fw.rollout(MODEL, *STATES, **OPTIONS, file=tmp_path / "run.fw"), whole)


@pytest.mark.parametrize("samples", [10, 25])
def test_a_chunk_is_written_when_it_is_large_enough(samples: int, tmp_path, monkeypatch) -> None:
    """However fast it goes: so many bytes of q, v and tau may be lost, no more."""
    model = fw.robots.double_pendulum()
    monkeypatch.setattr(running, "FIRST_CHUNK", 1.0)  # one step at a time
    monkeypatch.setattr(running, "CHUNK_SECONDS", 1e-9)
    monkeypatch.setattr(checkpoint, "SECONDS", np.inf)
    monkeypatch.setattr(checkpoint, "BYTES", 8 * 3 * 2 * 4 * samples)  # numbers of (q, v, tau) of 4 robots
    fw.rollout(model, np.zeros((4, 2)), np.ones((4, 2)), steps=100, dt=1e-3, file=tmp_path / "run.fw")
    _, chunks, _ = read(tmp_path / "run.fw")
    ends = [facts["samples"] for facts, _ in chunks]
    assert ends == list(range(samples, 101, samples))


def test_a_chunk_is_written_once_a_second(tmp_path, monkeypatch) -> None:
    """By a clock that goes on an eighth of a second whenever it is read, twice a step."""
    monkeypatch.setattr(running, "FIRST_CHUNK", 1.0)  # one step at a time
    monkeypatch.setattr(running, "CHUNK_SECONDS", 1e-9)
    monkeypatch.setattr(running, "time", SimpleNamespace(perf_counter=itertools.count(0.0, 0.125).__next__))
    fw.rollout(fw.robots.pendulum(), [0.1], [0.0], steps=10, dt=1e-3, file=tmp_path / "run.fw")
    _, chunks, _ = read(tmp_path / "run.fw")
    assert [facts["samples"] for facts, _ in chunks] == [4, 8, 10]
