"""Runs that fail or diverge: pages and numbers show what there is up to there, and say where it failed."""

from __future__ import annotations

import base64
import gzip
import json
import re
import struct
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import featherweight as fw
from featherweight.report import summary
from featherweight.simulation import Status
from featherweight.visuals import good_part, motion_of

MOST = 1000.0  # m, and J for each newton of weight: more is not to be seen on any page


@pytest.fixture(scope="module")
def diverged() -> fw.Trajectory:
    """A quadruped on springs whose steps are far too long: at 1e100 J before its numbers are no longer finite."""
    model = fw.robots.mini_cheetah()
    q = model.neutral()
    q[2], q[7:] = 0.5, np.tile([0.0, -0.8, 1.6], 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(fw.SimulationError) as failed:
            fw.simulate(model, q, np.zeros(18), duration=2.0, dt=5e-3, contact=fw.contact.SpringDamper())
    run = failed.value.trajectory
    assert isinstance(run, fw.Trajectory)
    assert np.nanmax(run.energy()) > 1e50
    return run


def without_status(run: fw.Trajectory) -> fw.Trajectory:
    """As it is one step before it is noticed."""
    last = int(run.failed_step)
    records = {name: getattr(run, name)[: last - 1] for name in ("tau", "contact_force", "contact_slip", "penetration")}
    ends = {"status": np.array(0, np.uint8), "failed_step": np.array(-1)}
    states = {name: getattr(run, name)[:last] for name in ("t", "q", "v")}
    return replace(run, solver=run.solver[: last - 1], **states, **records, **ends)


def numbers_in(page: str) -> tuple[dict[str, object], np.ndarray]:
    """Head and 4-byte numbers of an exported page."""
    packed = re.search(r'"(H4sI[A-Za-z0-9+/=]+)"', page)
    assert packed is not None
    data = gzip.decompress(base64.b64decode(packed[1]))
    (size,) = struct.unpack_from("<I", data)
    return json.loads(data[4 : 4 + size]), np.frombuffer(data[4 + size :], "<f4")


def test_only_what_a_robot_can_do_is_shown(diverged: fw.Trajectory) -> None:
    for run in (diverged, without_status(diverged)):
        part, failure = good_part(run)
        assert failure is not None
        assert 10 < len(part.t) == failure.samples < np.isfinite(run.q).all(axis=-1).sum()
        assert np.abs(part.energy()).max() < MOST * fw.robots.mini_cheetah().weight
        motion = motion_of(run)
        assert np.abs(motion.position).max() < MOST
        assert motion.failure == failure.text
    failure = good_part(diverged)[1]
    assert failure is not None
    assert failure.text.startswith(f"failed at step {int(diverged.failed_step)}: it diverged; shown up to")


def test_a_run_that_is_fine_is_shown_whole() -> None:
    run = fw.simulate(fw.robots.double_pendulum(), [3.0, 1.0], [0.0, 30.0], duration=0.5, dt=1e-3)
    part, failure = good_part(run)
    assert failure is None
    assert len(part.t) == len(run.t)
    far = fw.robots.mini_cheetah()  # a long fall is no failure
    q = far.neutral()
    fall = fw.simulate(far, q, np.zeros(18), duration=30.0, dt=1e-2)
    assert good_part(fall)[1] is None


def test_the_lane_of_a_batch_is_named() -> None:
    model = fw.robots.double_pendulum()
    run = fw.rollout(model, np.ones((3, 2)), np.zeros((3, 2)), steps=20, dt=1e-2)
    q, status, failed = np.array(run.q), np.array(run.status), np.array(run.failed_step)
    q[1, 8:], status[1], failed[1] = np.nan, Status.BAD_CONTROL, 8
    run = replace(run, q=q, status=status, failed_step=failed)
    assert good_part(run, 0)[1] is None
    failure = good_part(run, 1)[1]
    assert failure is not None
    assert failure.samples == 8
    assert failure.text.startswith("failed at step 8 of lane 1: the controller gave NaN or inf; shown")


def test_pages_have_no_wild_numbers_and_say_where_it_failed(diverged: fw.Trajectory, tmp_path: Path) -> None:
    for run in (diverged, without_status(diverged)):
        fw.viewer.export([run, run], tmp_path / "run.html", labels=["one", "two"])
        page = (tmp_path / "run.html").read_text("utf-8")
        head, numbers = numbers_in(page)
        assert np.abs(numbers[np.isfinite(numbers)]).max() < 1e4
        assert "it diverged" in str(head["robots"][0]["label"])  # type: ignore[index]
        assert np.linalg.norm(head["direction"]) == pytest.approx(1.0)
        assert "NaN" not in json.dumps(head)
        fw.viewer.export(run, tmp_path / "run.html")
        title = re.search("<title>(.*)</title>", (tmp_path / "run.html").read_text("utf-8"))
        assert title is not None
        assert title[1].startswith("mini_cheetah: failed at ")


def test_plots_movies_and_reports_say_it_too(diverged: fw.Trajectory, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from featherweight.report import write_report

    for run in (diverged, without_status(diverged)):
        figure = fw.plot.plot(run)
        assert "it diverged" in figure.axes[0].texts[0].get_text()
        ends = [float(np.abs(line.get_ydata()[np.isfinite(line.get_ydata())]).max(initial=0.0))
                for axes in figure.axes for line in axes.lines]  # fmt: skip
        assert max(ends) < 1e6
        write_report({"run": run}, tmp_path / "report.html", title="run", rate=5)
        assert "DIVERGED at s" in (tmp_path / "report.html").read_text("utf-8")


def test_the_summary_has_the_numbers_before_it(diverged: fw.Trajectory) -> None:
    for run in (diverged, without_status(diverged)):
        lines = {line.name: line for line in summary(run)}
        assert lines["status"].value == "DIVERGED"
        assert lines["status"].text.startswith("DIVERGED at s")
        assert lines["energy_band"].value < MOST * fw.robots.mini_cheetah().weight
        assert lines["duration"].value < 2.0
