"""The page that is sent to a colleague, without a browser: what is packed into it."""

from __future__ import annotations

import base64
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import featherweight as fw


@pytest.fixture(scope="module")
def standing() -> fw.Trajectory:
    """The Mini Cheetah on its feet, pressed down by its weight."""
    robot = fw.robots.mini_cheetah()
    q, contact = fw.scenes.crouched(robot), fw.contact.SpringDamper()
    hold = fw.control.joint_pd(robot, q)
    return fw.simulate(robot, q, np.zeros(robot.nv), duration=0.2, dt=2.5e-4, control=hold, contact=contact)


def unpacked(path: Path) -> dict[str, Any]:
    """The scene of a page, with arrays in their places."""
    data = gzip.decompress(base64.b64decode(re.search(r'const PACKED = "([^"]*)"', path.read_text())[1]))
    length = int.from_bytes(data[:4], "little")

    def array(facts: dict[str, Any]) -> Any:
        if "kind" not in facts:
            return facts
        return np.frombuffer(data, f"<{facts['kind']}", facts["count"], 4 + length + facts["at"])

    return json.loads(data[4 : 4 + length], object_hook=array)


def test_bodies_are_where_kinematics_has_them(standing: fw.Trajectory, tmp_path: Path) -> None:
    fw.viewer.export([standing, standing], tmp_path / "two.html", labels=["a", "b"], rate=30.0)
    scene = unpacked(tmp_path / "two.html")
    left, right = scene["robots"]
    frames = len(left["t"])
    assert frames == 7, "0.2 s, 30 a second, with both ends"
    index = np.rint(left["t"] / 2.5e-4).astype(int)
    poses = fw.forward_kinematics(standing.model, standing.q[index])
    shown = left["poses"].reshape(frames, -1, 4, 3)
    np.testing.assert_allclose(shown[:, :, 3], poses.position[:, 1:], atol=1e-6)
    np.testing.assert_allclose(shown[:, :, :3], np.swapaxes(poses.rotation[:, 1:], -1, -2), atol=1e-6)
    beside = right["poses"].reshape(frames, -1, 4, 3) - shown
    np.testing.assert_allclose(beside[:, :, 3], np.broadcast_to(beside[0, 0, 3], beside[:, :, 3].shape), atol=1e-6)
    direction = np.array(scene["direction"])
    right = np.cross([0.0, 0.0, 1.0], direction) / np.hypot(*direction[:2])
    assert beside[0, 0, 3] @ right == pytest.approx(np.linalg.norm(beside[0, 0, 3]), rel=1e-6), "across the picture"
    assert beside[0, 0, 3] @ right > 0.3, "the other stands beside it"


def test_arrows_are_the_forces_at_their_points(standing: fw.Trajectory, tmp_path: Path) -> None:
    fw.viewer.export(standing, tmp_path / "one.html", rate=30.0)
    (robot,) = unpacked(tmp_path / "one.html")["robots"]
    tails, tips = np.moveaxis(robot["arrows"].reshape(len(robot["t"]), -1, 2, 3)[-1], 1, 0)
    force = standing.contact_force[-1]
    pressed = np.linalg.norm(force, axis=1) > 1.0
    assert pressed.sum() == 4
    arrows = tips - tails
    assert (arrows[~pressed] == 0).all()
    ratio = arrows[pressed][:, 2] / force[pressed][:, 2]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-4)
    np.testing.assert_allclose(robot["below"].reshape(-1, 3)[:, 2], 0.0, atol=1e-6)
    np.testing.assert_allclose(robot["below"].reshape(-1, 3)[:, :2], robot["com"].reshape(-1, 3)[:, :2])


def test_everybody_is_in_the_picture_as_long_as_it_moves(standing: fw.Trajectory, tmp_path: Path) -> None:
    """All vertices in all frames are within the corners that the page fits its camera to."""
    fw.viewer.export([standing, standing], tmp_path / "two.html")
    scene = unpacked(tmp_path / "two.html")
    corners = scene["corners"].reshape(2, -1, 3)
    for robot, box in zip(scene["robots"], corners, strict=True):
        poses = robot["poses"].reshape(len(robot["t"]), -1, 4, 3)
        for part in robot["parts"]:
            vertices = part["vertices"].reshape(-1, 3)
            places = vertices @ poses[:, part["body"], :3] + poses[:, part["body"], 3:]
            assert (places.min(axis=(0, 1)) > box.min(axis=0) - 1e-6).all()
            assert (places.max(axis=(0, 1)) < box.max(axis=0) + 1e-6).all()


def test_the_clock_begins_where_the_run_does(tmp_path: Path) -> None:
    """A run that goes on from the end of another one: nothing stands still before it."""
    sim = fw.Stepper(fw.robots.pendulum(), [1.0], dt=0.01)
    sim.step(200)
    later = sim.rollout(50)
    assert repr(later) == "<Trajectory: 51 states, 0.5 s>"
    fw.viewer.export(later, tmp_path / "later.html")
    scene = unpacked(tmp_path / "later.html")
    assert (scene["start"], scene["end"]) == pytest.approx((2.0, 2.5))
    assert scene["times"][0] == scene["robots"][0]["t"][0] == pytest.approx(2.0)


def test_slow_motion_has_more_frames_and_trails_are_ways_of_points(standing: fw.Trajectory, tmp_path: Path) -> None:
    fw.viewer.export(standing, tmp_path / "slow.html", rate=30.0, speed=0.5, trails=["FL_foot", "body"])
    scene = unpacked(tmp_path / "slow.html")
    (robot,) = scene["robots"]
    assert len(robot["t"]) == 13, "0.2 s, 60 of each, with both ends"
    assert scene["speed"] == 0.5
    index = np.rint(robot["t"] / 2.5e-4).astype(int)
    model = standing.model
    foot, body = robot["trails"]
    k = [point.name for point in model.contact_points].index("FL_foot")
    place = fw.forward_kinematics(model, standing.q[index])
    local, on = np.array(model.contact_points[k].position), model.contact_points[k].body
    expected = place.position[:, on] + place.rotation[:, on] @ local
    np.testing.assert_allclose(foot["places"].reshape(-1, 3), expected, atol=1e-6)
    np.testing.assert_allclose(body["places"].reshape(-1, 3), place.position[:, 1], atol=1e-6)
    pressed = np.linalg.norm(standing.contact_force[np.minimum(index, 799), k], axis=-1) > 0
    np.testing.assert_array_equal(foot["pressed"] > 0, pressed)
    assert pressed.any()


def test_options_that_a_page_cannot_have(standing: fw.Trajectory, tmp_path: Path) -> None:
    for speed in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="speed: expected a number > 0"):
            fw.viewer.export(standing, tmp_path / "no.html", speed=speed)
    with pytest.raises(ValueError, match="no contact point, link or frame named 'FL_fot'; did you mean 'FL_foot'"):
        fw.viewer.export(standing, tmp_path / "no.html", trails=["FL_fot"])
    with pytest.raises(ValueError, match="trails: expected names in a list, got 'FL_foot'"):
        fw.viewer.export(standing, tmp_path / "no.html", trails="FL_foot")
    assert not list(tmp_path.iterdir())


def test_normals_look_outward(standing: fw.Trajectory, tmp_path: Path) -> None:
    fw.viewer.export(standing, tmp_path / "one.html")
    scene = unpacked(tmp_path / "one.html")
    ball = scene["signs"]["ball"]
    vertices, normals = ball["vertices"].reshape(-1, 3), ball["normals"].reshape(-1, 3)
    radii = np.linalg.norm(vertices, axis=1, keepdims=True)
    used = np.unique(ball["faces"])
    assert ((vertices / radii * normals).sum(axis=1)[used] > 0.95).all()


def test_it_is_one_file_that_asks_nothing_of_the_network(standing: fw.Trajectory, tmp_path: Path) -> None:
    fw.viewer.export(standing, tmp_path / "one.html", labels=["</title><script>"])
    text = (tmp_path / "one.html").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["one.html"]
    assert "http" not in re.sub(r'const PACKED = "[^"]*"', "", text)
    assert "<title>&lt;/title&gt;&lt;script&gt;</title>" in text


def test_it_needs_no_extra(tmp_path: Path) -> None:
    """Neither viser nor anything else that is not needed to simulate."""
    code = (
        "import sys\n"
        "for name in ('viser', 'trimesh', 'matplotlib', 'PIL', 'rich', 'typer'): sys.modules[name] = None\n"
        "import featherweight as fw\n"
        "run = fw.simulate(fw.robots.pendulum(), [1.0], [0.0], duration=0.1, dt=0.01)\n"
        "fw.viewer.export(run, sys.argv[1])"
    )
    path = tmp_path / "page.html"
    result = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert unpacked(path)["end"] == pytest.approx(0.1)
