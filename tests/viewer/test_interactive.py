"""A simulation to play with, without a browser: what pulls, steers, steps and is kept."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest

import featherweight as fw

pytest.importorskip("viser")
from featherweight.viewer.camera import Smooth
from featherweight.viewer.holding import stepper_at
from featherweight.viewer.interactive import Interactive
from featherweight.viewer.knobs import knobs_of
from featherweight.viewer.reach import how_to_reach


def puck() -> fw.Model:
    """A ball of 2 kg without gravity."""
    builder = fw.Builder("puck", gravity=(0.0, 0.0, 0.0)).add_body(
        "puck", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(2.0, 0.1)
    )
    builder.add_geometry("puck", "visual", "box", (0.2, 0.2, 0.2), color=(1.0, 0.6, 0.1, 1.0))
    return builder.build()


def paused(what: fw.Stepper | fw.scenes.Scene, **options: object) -> fw.viewer.Viewer:
    viewer = fw.viewer.show(what, block=False, browser=False, **options)
    viewer.content._pause(True)
    viewer.content.reset()
    return viewer


def drag(content: Interactive, body: int, phase: str, start: np.ndarray, end: np.ndarray) -> None:
    """What viser tells when the mouse is pressed at a place of a body [m], moved, or let go."""
    units = content.play.units
    callback = next(mesh for b, mesh in content.play.stages[0].meshes if b == body)._impl.drag_cb[0].callback
    event = SimpleNamespace(phase=phase, start_position=tuple(units * start), end_position=tuple(units * end))
    asyncio.run(callback(event))


def test_steps_have_the_bits_of_a_run() -> None:
    model = fw.robots.double_pendulum()
    run = fw.simulate(model, [1.0, 0.5], [0.0, 0.0], duration=0.1, dt=1e-3)
    with paused(fw.Stepper(model, [1.0, 0.5], dt=1e-3)) as viewer:
        viewer.content.step(60)
        viewer.content.step(40)
        np.testing.assert_array_equal(viewer.content.sim.q[0], run.q[-1])
        kept = viewer.content.history.last()
        np.testing.assert_allclose(kept.t, [0.0, 0.06, 0.1], atol=1e-12)
        np.testing.assert_array_equal(kept.q[1:], run.q[[60, 100]])
        viewer.content.reset()
        np.testing.assert_array_equal(viewer.content.sim.q[0], [1.0, 0.5])
        assert len(viewer.content.history) == 1


def test_the_spring_pulls_at_the_grabbed_point_towards_the_cursor() -> None:
    """The wrench is that of the force at the point, here by the textbook: [Rᵀ f; r × Rᵀ f]; it gets there."""
    model = puck()
    q = np.array([0.3, 0.0, 0.1, 0.0, 0.0, np.sin(0.4), np.cos(0.4)])
    with paused(fw.Stepper(model, q, dt=1e-3)) as viewer:
        content, sim = viewer.content, viewer.content.sim
        turn = np.array([[np.cos(0.8), -np.sin(0.8), 0.0], [np.sin(0.8), np.cos(0.8), 0.0], [0.0, 0.0, 1.0]])
        local = np.array([0.1, 0.05, -0.1])
        point, cursor = q[:3] + turn @ local, np.array([0.5, 0.3, 0.4])
        drag(content, 1, "start", point, point)
        drag(content, 1, "update", point, cursor)
        assert content.pull.act()
        stiffness = 2.0 * model.mass * 9.81 / content.play.size  # twice the weight at a drag of the robot's size
        force = stiffness * (cursor - point)
        np.testing.assert_allclose(content.pull.force, force, rtol=1e-6)
        own = turn.T @ force
        np.testing.assert_allclose(sim.f_ext[0, 1], [*own, *np.cross(local, own)], rtol=1e-6, atol=1e-9)
        content.step(20000)
        pose = fw.forward_kinematics(model, sim.q[0])
        there = pose.position[1] + pose.rotation[1] @ local
        assert np.linalg.norm(there - cursor) < 0.02, "but for the spin about it, which nothing brakes"
        drag(content, 1, "end", point, cursor)
        content.step(1)
        assert content.pull.force is None
        assert not sim.f_ext.any(), "what was there before is there again"


def test_a_light_link_of_a_heavy_robot_is_pulled_without_trembling() -> None:
    """The robot's weight would make a spring that a feather's mass cannot bear in steps of a millisecond."""
    builder = fw.Builder("hammer").add_body(
        "head", joint=fw.joints.Revolute((0, 1, 0)), inertia=fw.Inertia.sphere(50.0, 0.2)
    )
    builder.add_body(
        "feather", parent="head", joint=fw.joints.Revolute((0, 1, 0)), inertia=fw.Inertia.sphere(1e-3, 0.01),
        placement=fw.Placement((0, 0, -0.5)),
    )  # fmt: skip
    model = builder.build()
    with paused(fw.Stepper(model, dt=1e-3)) as viewer:
        place = fw.forward_kinematics(model, viewer.content.sim.q[0]).position[2] + np.array([0.01, 0.0, 0.0])
        drag(viewer.content, 2, "start", place, place)
        drag(viewer.content, 2, "update", place, place + np.array([0.3, 0.0, 0.2]))
        speeds = []
        for _ in range(40):
            viewer.content.step(50)
            speeds.append(abs(viewer.content.sim.v[0, 1]))
        assert not viewer.content._problem
        assert max(speeds[20:]) < 1.0, "it is held"


def test_after_a_reset_nothing_of_the_past_is_drawn() -> None:
    """Not even where a panel has nothing to draw yet: torques of a first state."""
    model = fw.robots.double_pendulum()
    held = fw.Stepper(model, [1.0, 0.5], dt=1e-3, control=fw.control.joint_pd(model, [1.0, 0.5]))
    with paused(held) as viewer:
        panel = viewer.content.plots._panels[0]
        panel.choice.value = "torques"
        viewer.content.step(20)
        assert panel._plot.visible
        viewer.content.reset()
        assert not panel._plot.visible
        viewer.content.step(20)
        assert panel._plot.visible


def test_other_wrenches_stay_and_a_pull_is_added() -> None:
    sim = fw.Stepper(puck(), dt=1e-3)
    sim.f_ext[0, 1] = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    with paused(sim) as viewer:
        drag(viewer.content, 1, "start", np.zeros(3), np.zeros(3))
        drag(viewer.content, 1, "update", np.zeros(3), np.array([1.0, 0.0, 0.0]))
        viewer.content.pull.act()
        assert sim.f_ext[0, 1, 0] > 10
        assert sim.f_ext[0, 1, 2] == pytest.approx(1.0)
        viewer.content.pull.cancel()
        np.testing.assert_array_equal(sim.f_ext[0, 1], [0, 0, 1, 0, 0, 0])


def test_knobs_are_found_and_turned() -> None:
    scene = fw.scenes.trot(velocity=(0.3, 0.0, 0.0))
    sim = fw.Stepper(scene.model, scene.q, scene.v, **scene.means)
    forward, sideways, turning = knobs_of(sim)
    assert (forward.value, sideways.value, turning.value) == (0.3, 0.0, 0.0)
    forward.turn(2)
    np.testing.assert_allclose(scene.control.function.layout.read(sim.p[0]).velocity, [0.5, 0.0, 0.0])
    model = fw.robots.double_pendulum()
    goal = fw.control.joint_pd(model, [0.2, -0.3])
    first, second = knobs_of(fw.Stepper(model, control=goal, dt=1e-3))
    assert (first.name, first.value, second.value) == ("shoulder →", 0.2, -0.3)
    second.set(99.0)
    assert second.value == pytest.approx(second.high)
    with pytest.raises(ValueError, match="expected two keys, for less and more, but A, D"):
        fw.viewer.Knob("x", np.zeros(1), 0, 0.0, 1.0, keys=("A", "D"))
    with pytest.raises(ValueError, match="expected finite low < high, got 1"):
        fw.viewer.Knob("x", np.zeros(1), 0, 1.0, 1.0)
    with pytest.raises(TypeError, match="the index of one number"):
        fw.viewer.Knob("x", np.zeros((2, 2)), 0, 0.0, 1.0)


def test_a_controller_that_raises_pauses_and_is_told() -> None:
    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if t > 0.0045:
            raise ValueError("out of ideas")
        return np.zeros(2)

    model = fw.robots.double_pendulum()
    with paused(fw.Stepper(model, [1.0, 0.5], dt=1e-3, control=control)) as viewer:
        viewer.content._pause(False)
        viewer.content.step(10)
        assert "out of ideas" in viewer.content._clock.value
        assert not viewer.content._playing
        viewer.content.reset()
        assert viewer.content._clock.value == "0.00 s"


def test_what_cannot_be_played_with_is_named() -> None:
    model = fw.robots.double_pendulum()
    with pytest.raises(ValueError, match="expected a stepper of one robot, got 3"):
        fw.viewer.show(fw.Stepper(model, count=3, dt=1e-3), block=False, browser=False)
    with pytest.raises(TypeError, match="knobs: expected a stepper or a scene with them, got Model"):
        fw.viewer.show(model, knobs=[], block=False, browser=False)


def test_a_posed_robot_is_simulated_on_the_ground_and_not_in_it() -> None:
    """Its neutral place has its hips at z = 0; one that was posed above the ground stays there."""
    model = fw.robots.mini_cheetah()
    q = model.neutral()
    assert fw.scenes.lowest(model, q) < -0.2
    sim = stepper_at(model, q, limp=False)
    assert fw.scenes.lowest(model, sim.q[0].copy()) == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_array_equal(sim.q[0, 3:], q[3:])
    assert q[2] == 0.0, "the pose is the caller's"
    q[2] = 1.0
    np.testing.assert_array_equal(stepper_at(model, q, limp=True).q[0], q)


def test_the_camera_does_not_lag_behind_a_steady_walk_and_is_calm() -> None:
    path, seconds, last = Smooth(), 1 / 60, np.zeros(3)
    for k in range(600):
        jolt = 0.02 * (-1) ** k
        last = path.next(np.array([0.5 * k * seconds + jolt, 0.0, 0.0]), seconds)
    assert abs(last[0] - 0.5 * 599 * seconds) < 0.004
    np.testing.assert_array_equal(path.next(np.ones(3), np.inf), np.ones(3))


@pytest.mark.parametrize(
    ("environment", "notebook", "words"),
    [
        ({}, False, []),
        ({"SSH_CONNECTION": "10.0.0.1 4711 192.0.2.7 22"}, False, ["ssh -N -L 8081:localhost:8081", "@192.0.2.7"]),
        ({"VSCODE_IPC_HOOK_CLI": "x", "SSH_CONNECTION": "a 1 b 2"}, False, ["VS Code forwards port 8081"]),
        ({"JUPYTERHUB_SERVICE_PREFIX": "/user/a/"}, False, ["ssh -N -L 8081:localhost:8081", "run.player()"]),
        ({}, True, ["If this notebook runs on another machine"]),
    ],
)
def test_it_says_what_to_forward(environment: dict[str, str], notebook: bool, words: list[str]) -> None:
    text = how_to_reach("http://127.0.0.1:8081", environment, notebook)
    assert bool(text) == bool(words)
    assert all(word in text for word in words), text


def test_a_notebook_shows_the_page_and_what_to_forward() -> None:
    with fw.viewer.show(puck(), block=False, browser=False) as viewer:
        shown = viewer._repr_html_()
        assert f'<iframe src="{viewer.url}"' in shown
        assert "ssh -N -L" in shown
    assert "iframe" not in viewer._repr_html_(), "it is closed"
