"""The trot of the notes: what they say of springs and impulses, as figures, and the figures by their definitions."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from featherweight.experiments.trot import EXPERIMENT, FEET, Trot, TrotExperiment, trot

SECONDS = 10.0


@pytest.fixture(scope="module")
def result() -> TrotExperiment:
    return trot(SECONDS)


def test_what_the_notes_say_is_there_but_not_for_their_reason(result: TrotExperiment) -> None:
    """With the published parameters at 1 ms, which the robot survives: it bumps, slides, and its forces turn."""
    bumps, turn, slide, because = result.statements
    assert [bumps.holds, turn.holds, slide.holds, because.holds] == [True, True, True, False]
    assert because.springs < 20  # [%]: nearly all of the slip is later in a stance
    assert slide.springs > 10 > 1e-2 > slide.impulses  # [mm/s]
    assert turn.springs > 10 > 1 > turn.impulses  # [deg/ms]
    for one in (result.springs, result.impulses, result.fine_springs):
        height = one.run.q[one.run.t > 2.0, 2]
        assert one.run.t[-1] == pytest.approx(SECONDS)
        assert np.abs(height - 0.28).max() < 5e-3
    assert result.springs.label == "springs, 1 ms"


def test_steps_that_are_short_enough_end_most_of_it(result: TrotExperiment) -> None:
    fine, coarse = result.fine_springs, result.springs
    assert fine.slip < coarse.slip / 5
    assert fine.turning < coarse.turning / 10
    assert fine.cone_slip < 0.2 < coarse.cone_slip  # springs that hold give way
    assert fine.jolts < result.impulses.jolts < coarse.jolts
    assert fine.peak_force < coarse.peak_force < result.impulses.peak_force


@pytest.mark.parametrize("name", ["springs", "impulses", "fine_springs"])
def test_the_figures_are_what_they_are_called(result: TrotExperiment, name: str) -> None:
    """Step by step."""
    one: Trot = getattr(result, name)
    run, dt, peak, angles = one.run, float(one.run.t[1]), 0.0, []
    ways, landing, on_cone = dict.fromkeys(FEET, 0.0), 0.0, 0.0
    names = [point.name for point in run.model.contact_points]
    for foot in FEET:
        last, before, landed = -math.inf, None, 0
        for s, force in enumerate(run.contact_force[:, names.index(foot)].tolist()):
            size = math.hypot(*force)
            if size > 0:
                landed = s if (s - last) * dt > 0.05 else landed
                last = s
                if s * dt >= 2.0 - 1e-9:
                    way = run.contact_slip[s, names.index(foot)] * dt
                    ways[foot] += way
                    landing += way if (s - landed) * dt < 0.02 - 1e-9 else 0.0
                    on_cone += way if math.hypot(*force[:2]) > 0.8 * 0.999 * force[2] else 0.0
                    peak = max(peak, size)
                    if before is not None:
                        cosine = sum(a * b for a, b in zip(force, before, strict=True)) / size / math.hypot(*before)
                        angles.append(math.degrees(math.acos(min(1.0, cosine))))
            before = force if size > 0 and s * dt >= 2.0 - 1e-9 else None
    assert one.slip == pytest.approx(max(ways.values()) / (SECONDS - 2.0), rel=1e-9)
    assert one.landing_slip == pytest.approx(landing / sum(ways.values()), rel=1e-3, abs=1e-6)
    assert one.cone_slip == pytest.approx(on_cone / sum(ways.values()), rel=1e-9)
    assert one.peak_force == pytest.approx(peak, rel=1e-12)
    assert one.turning == pytest.approx(sum(angles) / len(angles) / (1e3 * dt), rel=1e-9)
    z = run.q[:: round(1e-3 / dt), 2][2000:]
    jolts = [(c - 2 * b + a) / 1e-6 for a, b, c in zip(z[:-2], z[1:-1], z[2:], strict=True)]
    assert one.jolts == pytest.approx(math.sqrt(sum(x * x for x in jolts) / len(jolts)), rel=1e-9)


@pytest.mark.parametrize("seconds", [2.0, -1, float("nan"), float("inf"), "ten"])
def test_runs_that_are_too_short_are_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match=r"seconds: expected 2\.5 or more, got"):
        trot(seconds)


def test_the_claims_carry_the_figures_and_say_what_is_wrong(result: TrotExperiment) -> None:
    claims = result.claims
    assert [claim.holds for claim in claims] == [True, True, True, False, True]
    assert f"{result.springs.turning:.3g} deg/ms" in claims[1].measured
    assert "1 ms is too long" in claims[3].why
    assert [row[0] for row in result.table.rows] == ["springs, 1 ms", "impulses, 1 ms", "springs, 0.25 ms"]


def test_its_pictures_run_at_the_speed_of_the_notes(tmp_path: Path) -> None:
    """Slower than real time by 0.3, 20 pictures a second and more, both robots on one page."""
    Image = pytest.importorskip("PIL.Image")
    outcome = EXPERIMENT.run(tmp_path, lambda text: None, True)
    assert {path.name for path in tmp_path.iterdir()} == {*outcome.pictures, *outcome.pages}
    with Image.open(tmp_path / "trot.gif") as movie:
        frames, milliseconds = movie.n_frames, movie.info["duration"]
    assert milliseconds <= 50
    assert (frames - 1) * milliseconds / 1e3 == pytest.approx(0.1 / 0.3, abs=0.05)  # 0.1 s of the run
    page = (tmp_path / "trot-3d.html").read_text("utf-8")
    data = gzip.decompress(base64.b64decode(re.search(r'const PACKED = "([^"]*)"', page)[1]))
    head = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    assert head["speed"] == 0.3
    assert [robot["label"] for robot in head["robots"]] == ["springs, 1 ms", "impulses, 1 ms"]
    assert all(len(robot["segments"]) == 3 for robot in head["robots"])
