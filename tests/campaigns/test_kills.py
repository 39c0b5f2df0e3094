"""Kills of a worker, the scheduler, the client: the same command finishes, to the bits of an undisturbed run.

`make sweep-kills` makes fifty of them.
"""

import importlib
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import featherweight as fw

pytest.importorskip("distributed")
BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def kills(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    random.seed(1)
    return importlib.import_module("sweep_kills")


def test_kills_of_any_process_change_no_bit(kills, tmp_path):
    study = tmp_path / "study.py"
    study.write_text(kills.STUDY.format(lanes=64 * 40, steps=4000))
    out = tmp_path / "killed.zarr"
    command = [sys.executable, "-m", "featherweight", "sweep", str(study), "-o", str(out), "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:  # on threads, until something is there
        while kills.written(out) < 3 and process.poll() is None:
            time.sleep(0.01)
        process.kill()
    begun = kills.written(out)
    assert begun < 40
    kinds = ["scheduler", "worker"]
    _, done = kills.one_round(tmp_path, study, kinds, (0.0, 0.1), out)
    assert done == ["worker", "scheduler"]
    assert kills.same(fw.Sweep(out), kills.undisturbed(tmp_path, study))
