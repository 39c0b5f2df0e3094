"""The viewer without a browser: who can reach it, what it says on bad input, what it sends."""

from __future__ import annotations

import contextlib
import io
import socket
import subprocess
import sys
import urllib.request

import numpy as np
import pytest

import featherweight as fw

pytest.importorskip("viser")
from featherweight.viewer.unlit import unlit
from featherweight.visuals import Mesh


@pytest.fixture(scope="module")
def swing() -> fw.Trajectory:
    model = fw.robots.double_pendulum()
    return fw.simulate(model, [1.0, 0.5], [0.0, 0.0], duration=1.0, dt=1e-3)


def port_of(viewer: fw.viewer.Viewer) -> int:
    return int(viewer.url.rpartition(":")[2])


def answers(host: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=2):
        return True
    return False


def own_addresses() -> list[str]:
    """Addresses of this machine that are not the loopback's usual one."""
    found = {"127.0.0.2"} if sys.platform.startswith("linux") else set()
    with contextlib.suppress(OSError):
        found |= {facts[4][0] for facts in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    return sorted(found - {"127.0.0.1"})


def test_it_listens_on_loopback_alone(swing: fw.Trajectory) -> None:
    with swing.show(block=False, browser=False) as viewer:
        assert viewer.url.startswith("http://127.0.0.1:")
        assert answers("127.0.0.1", port_of(viewer))
        for address in own_addresses():
            assert not answers(address, port_of(viewer)), address
    assert not answers("127.0.0.1", port_of(viewer)), "closed"


def test_it_can_be_opened_to_others(swing: fw.Trajectory) -> None:
    with swing.show(host="0.0.0.0", block=False, browser=False) as viewer:
        assert all(answers(address, port_of(viewer)) for address in own_addresses())


def test_a_port_in_use_is_named_and_another_is_found_if_none_is_asked_for(swing: fw.Trajectory) -> None:
    with swing.show(block=False, browser=False) as first:
        with pytest.raises(OSError, match=f"port {port_of(first)} of 127.0.0.1 is in use; choose another"):
            swing.show(port=port_of(first), block=False, browser=False)
        with swing.show(block=False, browser=False) as second:
            assert port_of(second) != port_of(first)


@pytest.mark.parametrize("host", ["203.0.113.7", "no.such.host.invalid"])
def test_an_address_of_another_machine_is_refused(swing: fw.Trajectory, host: str) -> None:
    with pytest.raises(OSError, match=f"host: '{host}' is not an address of this machine"):
        swing.show(host=host, block=False, browser=False)


@pytest.mark.parametrize("port", [-1, 70000, "80", True])
def test_a_port_that_is_none_is_refused(swing: fw.Trajectory, port: object) -> None:
    with pytest.raises(ValueError, match="port: expected a number from 0 to 65535, got"):
        swing.show(port=port, block=False, browser=False)


def test_what_cannot_be_shown_is_named() -> None:
    with pytest.raises(TypeError, match="what: expected a trajectory, several, a model, a stepper or a scene, got int"):
        fw.viewer.show([3], block=False, browser=False)
    with pytest.raises(ValueError, match="trajectories: expected one or more, got none"):
        fw.viewer.show([], block=False, browser=False)


def test_the_page_has_no_button_that_opens_a_tunnel(swing: fw.Trajectory) -> None:
    with swing.show(block=False, browser=False) as viewer:
        messages = viewer.server._websock_server._broadcast_buffer.message_from_id.values()
        (theme,) = [m for m in messages if type(m).__name__ == "ThemeConfigurationMessage"]
        assert theme.show_share_button is False


def test_bodies_are_moved_to_where_kinematics_has_them() -> None:
    model = fw.robots.mini_cheetah()
    rng = np.random.default_rng(0)
    q = np.array([model.random(rng) for _ in range(20)])
    poses = fw.forward_kinematics(model, q)
    zero = np.zeros((20, model.nv))
    run = fw.Trajectory(
        model, np.arange(20) / 10, q, zero, zero[1:], np.zeros((19, 16, 3)), np.array(0, np.uint8), np.array(-1)
    )
    with run.show(block=False, browser=False) as viewer:
        viewer.content.close()
        (stage,) = viewer.content.play.stages
        for frame in range(20):
            stage.show(frame)
            for body, handle in stage._bodies.items():
                np.testing.assert_allclose(handle.position, stage._units * poses.position[frame, body])
                w, x, y, z = handle.wxyz
                R = np.array(fw.Placement(quat=(x, y, z, w)).rotation, dtype=float)
                np.testing.assert_allclose(R, poses.rotation[frame, body], atol=1e-12)


def test_a_replay_begins_where_the_run_does() -> None:
    """Of a run that goes on from the end of another; back to the start leads there too."""
    sim = fw.Stepper(fw.robots.pendulum(), [1.0], dt=0.01)
    sim.step(200)
    with sim.rollout(50).show(block=False, browser=False) as viewer:
        replay = viewer.content
        replay.close()
        assert (replay._slider.min, replay._slider.max) == pytest.approx((2.0, 2.5))
        assert 2.0 <= replay._t <= 2.5
        replay.step(-float("inf"))
        assert replay._t == pytest.approx(2.0)
        replay.step(float("inf"))
        assert replay._t == pytest.approx(2.5)


def test_robots_side_by_side_have_their_own_ground_unless_it_is_level() -> None:
    model = fw.Builder("ball").add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    ball = model.add_contact_point("centre", parent="ball", radius=0.1).build()
    contact = fw.contact.SpringDamper(
        [fw.contact.Plane((0, 0, 1), (0, 0, -1)), fw.contact.Box(placement=fw.Placement((0, 0, -2)))]
    )
    run = fw.simulate(ball, ball.neutral(), np.zeros(6), duration=0.01, dt=1e-4, contact=contact)
    with fw.viewer.show([run, run], block=False, browser=False) as viewer:
        names = set(viewer.server.scene._handle_from_node_name)
    assert {"/world/robot0/ground/0", "/world/robot1/ground/0"} <= names
    assert [name for name in names if name.startswith("/world/ground/")] == [
        "/world/ground/0"
    ]  # one chessboard for both


def test_the_camera_sees_nothing_as_near_as_the_sheet_that_viser_lays_over_the_window(swing: fw.Trajectory) -> None:
    with swing.show(block=False, browser=False) as viewer:
        camera = viewer.server.initial_camera
        distance = np.linalg.norm(camera.position - camera.look_at)
        assert 1 < camera.near < distance / 5
        assert camera.far > 5 * distance


def test_a_phone_sees_the_robot_above_the_sheet_from_the_same_height(swing: fw.Trajectory) -> None:
    """In the upper half of an upright window, and not from near the ground."""
    with swing.show(block=False, browser=False) as viewer:
        camera = viewer.content.play._camera
        middle = viewer.content.play.units * (camera._corners.min(axis=0) + camera._corners.max(axis=0)) / 2
        angles, heights = [], []
        for aspect in (1.4, 0.46):
            place, look_at = camera._places(aspect, 1.3)
            ahead, to_robot = look_at - place, middle - place
            angles.append(np.arcsin(-to_robot[2] / np.linalg.norm(to_robot)))
            ahead = ahead / np.linalg.norm(ahead)
            up = np.array([0.0, 0.0, 1.0]) - ahead * ahead[2]
            heights.append((to_robot @ up) / np.linalg.norm(up) / (to_robot @ ahead) / np.tan(1.3 / 2))
        assert angles[1] == pytest.approx(angles[0], abs=0.07), "rad"
        assert abs(heights[0]) < 0.1, "in the middle of the window"
        assert 0.35 < heights[1] < 0.65, "in the middle of its upper half"


def test_a_robot_that_walks_far_is_drawn_as_large_as_one_that_stands() -> None:
    model = fw.robots.mini_cheetah()
    q = np.tile(model.neutral(), (2, 1))
    q[1, 0] += 50.0
    zero = np.zeros((2, model.nv))
    run = fw.Trajectory(
        model, np.array([0.0, 10.0]), q, zero, zero[1:], np.zeros((1, 16, 3)), np.array(0, np.uint8), np.array(-1)
    )
    still = fw.Trajectory(
        model, np.array([0.0]), q[:1], zero[:1], zero[:0], np.zeros((0, 16, 3)), np.array(0, np.uint8), np.array(-1)
    )
    with (
        fw.viewer.show([run], block=False, browser=False) as far,
        fw.viewer.show(still, block=False, browser=False) as near,
    ):
        assert far.content.play.stages[0]._units == near.content.play.stages[0]._units
        assert far.server.initial_camera.far > 50.0 * far.content.play.stages[0]._units


def test_the_page_has_a_script_for_browsers_without_a_gpu_before_its_own(swing: fw.Trajectory) -> None:
    with swing.show(block=False, browser=False) as viewer:
        served = urllib.request.urlopen(viewer.url, timeout=10).read().decode()
    assert served.count("antialias: false") == 1
    assert served.index("antialias: false") < served.index("<script data-p")


def test_a_mesh_without_light_is_a_file_that_others_read() -> None:
    trimesh = pytest.importorskip("trimesh")
    vertices = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    data = unlit(Mesh(vertices, faces), np.full((4, 3), 0.5))
    read = trimesh.load(io.BytesIO(data), file_type="glb", force="mesh", process=False)
    np.testing.assert_array_equal(read.vertices, vertices)
    np.testing.assert_array_equal(read.faces, faces)
    colors = np.frombuffer(data[-48 - 24 : -24], "<f4")  # between the vertices and the faces
    np.testing.assert_allclose(colors, 0.5**2.2, rtol=1e-6)


def test_sliders_pose_a_robot_within_its_limits() -> None:
    with fw.viewer.show(fw.robots.humanoid(), block=False, browser=False) as viewer:
        pose = viewer.content
        stage = pose._play.stages[0]
        hand = fw.robots.humanoid().body("left_hand").index
        before = np.array(stage._bodies[hand].position)
        pose._set(pose._model.joint("left_elbow").q.start, -1.0)
        assert np.linalg.norm(np.array(stage._bodies[hand].position) - before) > 0.1


def test_a_run_can_be_shown_while_it_is_computed() -> None:
    model = fw.robots.double_pendulum()
    with fw.viewer.Live(model, ground=(), speed=None, browser=False) as live:
        run = fw.simulate(model, [1.0, 0.5], [0.0, 0.0], duration=1.0, dt=1e-3, watch=live)
        (stage,) = live._play.stages
        expected = fw.forward_kinematics(model, run.q[-1]).position[2]
        np.testing.assert_allclose(stage._bodies[2].position, stage._units * expected)
        for wild in (1e142, np.nan, np.inf):
            live(2.0, np.array([0.0, wild]), np.zeros((0, 3)))
            np.testing.assert_allclose(stage._bodies[2].position, stage._units * expected)
            assert live._clock.value == "2.00 s: it diverged"
    with pytest.raises(ValueError, match="speed: expected a number > 0 or None, got 0"):
        fw.viewer.Live(model, speed=0, browser=False)


BLOCKED = """
import sys, importlib.abc
class No(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in ({names}):
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, No())
import numpy as np, featherweight as fw
run = fw.simulate(fw.robots.pendulum(), [1.0], [0.0], duration=0.1, dt=0.01)
try:
    {call}
except ModuleNotFoundError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("call", "missing", "text"),
    [
        ("run.plot()", "matplotlib", 'plots need matplotlib: pip install "featherweight[plot]"'),
        ("run.show()", "viser", 'the viewer needs viser: pip install "featherweight[viewer]"'),
        ("fw.plot.still(run.model)", "PIL", 'pictures need PIL: pip install "featherweight[plot]"'),
    ],
)
def test_a_missing_extra_gives_one_line_that_says_what_to_install(call: str, missing: str, text: str) -> None:
    code = BLOCKED.format(names=f'"{missing}",', call=call)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert result.stdout.strip() == text, result.stderr
