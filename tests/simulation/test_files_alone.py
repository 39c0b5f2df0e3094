"""A trajectory's file carries its robot and its ground; a run can be watched without being disturbed."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

import featherweight as fw
from featherweight import recording

pytestmark = pytest.mark.filterwarnings("ignore:Box. its restitution of 0.2 does not act:UserWarning")
GROUND = (
    fw.contact.Plane((0.1, 0.0, 1.0), (0, 0, -1), friction=0.5),
    fw.contact.Box((1, 2, 3), fw.Placement((4, 5, 6), rpy=(0.1, 0.2, 0.3)), restitution=0.2),
    fw.contact.Sphere((1, 2, -8), 0.5),
    fw.contact.Heightfield(np.arange(6.0).reshape(2, 3) - 20, 0.5, (1, 2)),
)


def ball() -> fw.Model:
    builder = fw.Builder("ball").add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    return builder.add_contact_point("centre", parent="ball", radius=0.1).build()


def fall(**options: object) -> fw.Trajectory:
    model = ball()
    contact = fw.contact.SpringDamper(GROUND, stiffness=1e4, damping=1e2)
    return fw.simulate(model, model.neutral(), np.zeros(6), duration=0.05, dt=1e-3, contact=contact, **options)


def test_robot_and_ground_come_back_from_a_saved_trajectory(tmp_path: Path) -> None:
    run = fall()
    run.save(tmp_path / "run.fw")
    loaded = fw.Trajectory.load(tmp_path / "run.fw")
    assert [repr(surface) for surface in loaded.ground] == [repr(surface) for surface in run.ground]
    assert repr(loaded.ground) == repr(GROUND)
    np.testing.assert_array_equal(loaded.energy(), run.energy())


def test_they_come_back_from_a_run_that_was_written_as_it_went(tmp_path: Path) -> None:
    run = fall(file=tmp_path / "run.fw")
    loaded = fw.Trajectory.load(tmp_path / "run.fw")
    assert repr(loaded.ground) == repr(GROUND)
    np.testing.assert_array_equal(loaded.energy(), run.energy())


def test_a_model_that_is_given_goes_before_the_files(tmp_path: Path) -> None:
    fall().save(tmp_path / "run.fw")
    own = ball()
    assert fw.Trajectory.load(tmp_path / "run.fw", model=own).model is own


def test_a_ground_that_is_too_large_stays_behind(tmp_path: Path) -> None:
    model = ball()
    field = fw.contact.Heightfield(np.random.default_rng(0).normal(size=(300, 300)) - 50)
    contact = fw.contact.SpringDamper(field, stiffness=1e4, damping=1e2)
    run = fw.simulate(model, model.neutral(), np.zeros(6), duration=0.01, dt=1e-3, contact=contact)
    with pytest.warns(UserWarning, match="the ground is not written into the file: it takes more than 500000 bytes"):
        run.save(tmp_path / "run.fw")
    loaded = fw.Trajectory.load(tmp_path / "run.fw")
    assert loaded.ground == ()
    assert loaded.model is not None


@pytest.mark.parametrize(
    ("name", "value"),
    [("robot", {"name": "x"}), ("robot", 7), ("ground", [{"kind": "Impulse"}]), ("ground", [3]), ("ground", [{}])],
)
def test_a_file_with_another_robot_or_ground_is_refused_by_name(tmp_path: Path, name: str, value: object) -> None:
    fall().save(tmp_path / "run.fw")
    facts, chunks, _ = recording.read(tmp_path / "run.fw")
    recording.write(tmp_path / "bad.fw", facts | {name: value}, chunks)
    with pytest.raises(ValueError, match=r"bad\.fw: not a "):
        fw.Trajectory.load(tmp_path / "bad.fw")


def test_a_run_can_be_watched_thirty_times_a_second() -> None:
    seen: list[float] = []

    def watch(t: float, q: np.ndarray, force: np.ndarray) -> None:
        assert q.shape == (7,)
        assert force.shape == (1, 3)
        q[:] = np.nan  # a copy: nothing happens
        seen.append(t)

    run = fw.simulate(ball(), ball().neutral(), np.zeros(6), duration=1.0, dt=1e-3, watch=lambda *a: None)
    model = ball()
    contact = fw.contact.SpringDamper(GROUND, stiffness=1e4, damping=1e2)
    run = fw.simulate(model, model.neutral(), np.zeros(6), duration=1.0, dt=1e-3, contact=contact, watch=watch)
    assert 30 <= len(seen) <= 32
    assert seen[-1] == 1.0
    assert np.isfinite(run.q).all()


def test_a_watcher_that_raises_is_left_alone_and_the_run_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[float] = []

    def watch(t: float, q: np.ndarray, force: np.ndarray) -> None:
        calls.append(t)
        raise ConnectionError("the browser is gone")

    with caplog.at_level(logging.WARNING, "featherweight"):
        watched = fall(watch=watch)
    assert len(calls) == 1
    assert "watch raised ConnectionError: the browser is gone; the run goes on without it" in caplog.text
    np.testing.assert_array_equal(watched.q, fall().q)


def test_what_cannot_watch_is_named() -> None:
    with pytest.raises(TypeError, match=r"watch: expected a function f\(t, q, contact_force\), got int"):
        fall(watch=3)
