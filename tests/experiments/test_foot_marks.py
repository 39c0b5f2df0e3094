"""Marks of feet: slides from where a foot landed, forces of the last steps; and parts of a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import featherweight as fw
from featherweight.experiments.excerpt import excerpt
from featherweight.experiments.foot_marks import fan, landings, slides
from featherweight.visuals import Segments

DT = 0.01


@pytest.fixture(scope="module")
def run() -> fw.Trajectory:
    """A ball of two stances of 0.1 s, 0.1 s apart, that slides 1 mm in each step it presses."""
    model = (
        fw.Builder("ball")
        .add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
        .add_contact_point("foot", parent="ball", position=(0, 0, 0))
        .build()
    )
    steps = 40
    pressed = (np.arange(steps) // 10) % 2 == 0
    q = np.tile(model.neutral(), (steps + 1, 1))
    q[1:, 0] = np.cumsum(1e-3 * pressed)
    force = np.zeros((steps, 1, 3))
    force[pressed, 0] = [3.0, 0.0, 4.0]
    t = DT * np.arange(steps + 1)
    zeros = np.zeros((steps, 1))
    return fw.Trajectory(
        model, t, q, np.zeros((steps + 1, 6)), np.zeros((steps, 6)), force, np.array(0), np.array(-1),
        contact_slip=zeros, penetration=zeros,
    )  # fmt: skip


def test_hops_are_no_landings(run: fw.Trajectory) -> None:
    pressed = run.contact_force[:, 0, 2] > 0
    assert landings(pressed, DT).tolist() == [0, 20]
    pressed[5:8] = False  # 0.03 s
    assert landings(pressed, DT).tolist() == [0, 20]


def test_a_slide_begins_where_the_foot_landed_and_stays_until_it_lands_again(run: fw.Trajectory) -> None:
    cross, trail = slides(run, ["foot"], magnified=10)
    assert len(trail.ends) == 20
    assert len(cross.ends) == 4
    now = trail.shown(0.15)  # after the first stance
    assert now[:, 0, 0].min() == pytest.approx(0.0)
    assert now[:, 1, 0].max() == pytest.approx(0.1)  # 10 steps of 1 mm, ten times as long
    later = trail.shown(0.25)  # in the second stance, 6 steps after it landed at 10 mm
    assert later[:, :, 0].min() == pytest.approx(0.01)
    assert later[:, :, 0].max() == pytest.approx(0.01 + 0.06)


def test_a_fan_has_the_forces_of_the_last_steps(run: fw.Trajectory) -> None:
    lines = fan(run, ["foot"], metres=0.1, seconds=0.035)
    now = lines.shown(0.05)
    assert len(now) == 4
    assert np.allclose(now[:, 1] - now[:, 0], [0.3, 0.0, 0.4])
    assert not len(lines.shown(0.15))


def test_an_excerpt_is_the_run_between_two_times(run: fw.Trajectory) -> None:
    part = excerpt(run, 0.1, 0.2)
    assert part.t[[0, -1]] == pytest.approx([0.1, 0.2])
    assert (len(part.q), len(part.contact_force), len(part.tau)) == (11, 10, 10)
    assert (part.q == run.q[10:21]).all()


def test_segments_are_refused_in_words() -> None:
    with pytest.raises(ValueError, match=r"expected shapes \(n, 2, 3\), \(n,\) and \(n,\)"):
        Segments(np.zeros((2, 3)), np.zeros(2), np.zeros(2), (0, 0, 0))
    with pytest.raises(ValueError, match="begin: expected times that never decrease"):
        Segments(np.zeros((2, 2, 3)), np.array([1.0, 0.0]), np.ones(2), (0, 0, 0))


def test_movies_and_pages_draw_segments_while_they_last(run: fw.Trajectory, tmp_path: Path) -> None:
    Image = pytest.importorskip("PIL.Image")
    line = Segments(
        np.array([[[-0.2, 0, 0.3], [0.2, 0, 0.3]]]), np.array([0.1]), np.array([0.2]), (0.0, 1.0, 0.0), 0.02
    )
    camera = fw.plot.Camera((0.0, -2.0, 0.2), (0.0, 0.0, 0.2), 1.0)
    path = tmp_path / "run.gif"
    fw.plot.movie(run, path, rate=10, size=(80, 60), camera=camera, forces=False, segments=[[line]])
    with Image.open(path) as movie:
        green = []
        for k in range(movie.n_frames):
            movie.seek(k)
            r, g, b = np.moveaxis(np.array(movie.convert("RGB"), dtype=int), -1, 0)
            green.append(bool(((g > 150) & (r < 100) & (b < 100)).any()))
    assert green == [False, True, False, False, False]
    for call in (
        lambda: fw.plot.movie(run, path, segments=[[line], [line]]),
        lambda: fw.viewer.export(run, tmp_path / "run.html", segments=[[line], [line]]),
    ):
        with pytest.raises(ValueError, match="segments: expected 1 lists, one for each trajectory, got 2"):
            call()
    with pytest.raises(ValueError, match="speed: expected a number > 0, got 0"):
        fw.viewer.export(run, tmp_path / "run.html", speed=0)
