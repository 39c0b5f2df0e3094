"""`featherweight sweep`: a study's file, how far it is, and what is said of mistakes."""

import json
from pathlib import Path

import numpy as np
import pytest

import featherweight as fw
from campaigns import falling
from cli.command_line import call

STUDY = Path(falling.__file__).read_text()


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("study.py").write_text(STUDY)
    return tmp_path


def test_a_study_runs_goes_on_and_tells_how_far_it_is(study):
    first = call("sweep", "study.py", "-o", "a.zarr", "--part", "0/2", "--json", "--quiet")
    assert first.returncode == 1  # it is not complete
    assert json.loads(first.stdout)["chunks_done"] == 3
    assert "3 of 5" in call("sweep", "-o", "a.zarr", "--status").stdout
    assert call("sweep", "study.py", "-o", "a.zarr", "--quiet").returncode == 0
    facts = json.loads(call("sweep", "-o", "a.zarr", "--status", "--json").stdout)
    assert facts["lanes_done"] == facts["lanes"] == 70
    found = fw.sweep(falling.model, study / "b.zarr", **falling.study())  # the same text, imported: the same bits
    assert np.array_equal(found["last"], fw.Sweep("a.zarr")["last"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("sweep",), "STUDY: expected a file, or one of pushes, payload"),
        (("sweep", "pushs"), "no study of that name; did you mean 'pushes'?"),
        (("sweep", "study.py", "--part", "3"), "--part: expected K/N"),
        (("sweep", "empty.py"), "expected it to say model, lanes"),
        (("sweep", "broken.py"), "broken.py cannot be run: line 2: ZeroDivisionError"),
        (("sweep", "-o", "nowhere.zarr", "--status"), "expected the folder of a sweep"),
    ],
)
def test_mistakes_are_told_in_one_line(study, arguments, said):
    Path("empty.py").write_text("lane = 3\n")
    Path("broken.py").write_text("x = 0\n1 / x\n")
    result = call(*arguments)
    assert result.returncode == 2
    assert said in result.stderr.replace("\n", " ")
    assert "Traceback" not in result.stderr


def test_studies_that_come_with_it_say_all_that_is_needed():
    from featherweight.campaigns.studies import STUDIES
    from featherweight.cli.sweep import _arguments

    for name in STUDIES:
        study = _arguments(name)
        q, v, _, p = study["sample"](np.random.default_rng(0), 3)
        assert np.shape(q)[-1:] == (study["model"].nq,)
        assert np.shape(v)[-1:] == (study["model"].nv,)
        assert p.shape == (3, study["control"].parameters.shape[-1])
