"""A simulation to play with, in a real Chromium without a window: the mouse pulls, keys steer, curves grow, videos."""

from __future__ import annotations

import io
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import featherweight as fw

pytest.importorskip("viser")
Image = pytest.importorskip("PIL.Image")
from featherweight.files import video  # noqa: E402
from viewer.chromium import Page, found  # noqa: E402

pytestmark = pytest.mark.skipif(found() is None, reason="there is no Chromium on this machine")

SIZE = (1000, 450)
IS_READY = "[...document.querySelectorAll('canvas')].some(c => c.clientHeight > 300)"
PRESS = """(name) => { const found = [...document.querySelectorAll('button')].find(b => b.textContent.trim() == name);
  found?.click(); return found != null }"""
BY_VISER = "Unable to preventDefault inside passive event listener invocation."  # its own, when a mesh is dragged


def puck(height: float = 0.4) -> fw.Model:
    """An orange box of 2 kg that floats without gravity."""
    builder = fw.Builder("puck", gravity=(0.0, 0.0, 0.0)).add_body(
        "puck", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(2.0, 0.1)
    )
    builder.add_geometry("puck", "visual", "box", (0.4, 0.4, height), color=(1.0, 0.5, 0.0, 1.0))
    return builder.build()


def orange(page: Page) -> np.ndarray:
    """Where the picture is orange, between the panels."""
    with Image.open(io.BytesIO(page.picture())) as picture:
        seen = np.asarray(picture.convert("RGB")).astype(int)
    mark = (seen[..., 0] > 150) & (seen[..., 0] - seen[..., 2] > 80) & (seen[..., 1] > 40)
    mark[:, :300] = mark[:, -325:] = False
    return mark


def until(done: Callable[[], Any], seconds: float = 30.0) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = done()
        if value:
            return value
        time.sleep(0.1)
    raise TimeoutError("it did not happen")


def mouse(page: Page, kind: str, x: float, y: float, down: bool = True) -> None:
    page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=int(down), clickCount=1)


def opened(viewer: fw.viewer.Viewer, page: Page) -> None:
    page.call("Page.navigate", url=viewer.url)
    page.until(IS_READY, 60)
    until(lambda: orange(page).sum() > 200)


def test_the_mouse_pulls_the_robot_and_lets_it_go() -> None:
    """To the left in the picture, in metres along the camera's right; released, nothing acts."""
    with fw.viewer.show(fw.Stepper(puck(), dt=1e-3), block=False, browser=False) as viewer:
        content = viewer.content
        with Page("about:blank", SIZE) as page:
            opened(viewer, page)
            content.plots.show(False)
            time.sleep(1.0)
            rows, columns = np.nonzero(orange(page))
            x, y = columns.mean(), rows.mean()
            mouse(page, "mouseMoved", x, y, False)
            time.sleep(0.3)
            mouse(page, "mousePressed", x, y)
            for k in range(1, 9):
                mouse(page, "mouseMoved", x - 12 * k, y)
                time.sleep(0.05)
            (client,) = viewer.server.get_clients().values()
            ahead = np.asarray(client.camera.look_at) - client.camera.position
            right = np.cross(ahead, [0.0, 0.0, 1.0])
            right /= np.linalg.norm(right)
            until(lambda: content.sim.q[0, :3] @ right < -0.05)
            until(lambda: "pulled by" in content._clock.value)
            mouse(page, "mouseReleased", x - 96, y)
            until(lambda: content.pull.force is None)
            assert not content.sim.f_ext.any()
            assert not set(page.complaints) - {BY_VISER}


def test_keys_pause_step_reset_and_steer() -> None:
    goal = np.zeros(1)

    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([goal[0], 0, 0, 0, 0, 0])

    sim = fw.Stepper(puck(), dt=1e-3, control=control)
    knob = fw.viewer.Knob("push [N]", goal, 0, -1.0, 1.0, keys=("K", "I"))
    with fw.viewer.show(sim, knobs=[knob], block=False, browser=False) as viewer:
        content = viewer.content
        with Page("about:blank", SIZE) as page:
            opened(viewer, page)
            page.press("i", 3)
            until(lambda: goal[0] == pytest.approx(0.3))
            page.press("k", 1)
            until(lambda: goal[0] == pytest.approx(0.2))
            assert page.until("[...document.querySelectorAll('input')].some(i => i.value == '0.2')"), "its slider, too"
            page.press("m")
            until(lambda: goal[0] == 0.0)
            page.press("p")
            until(lambda: not content._playing)
            before = float(sim.t[0])
            page.press("n", 2)
            until(lambda: sim.t[0] == pytest.approx(before + 2e-3))
            page.press("r")
            until(lambda: sim.t[0] == 0.0)
            assert page.value(f"({PRESS})('1 step')")
            until(lambda: sim.t[0] == pytest.approx(1e-3))
            page.until(f"({PRESS})('Play')")
            until(lambda: sim.t[0] > 0.1)
            assert not page.complaints


def test_curves_grow_beside_the_robot() -> None:
    sim = fw.Stepper(puck(), v=[0.1, 0, 0, 0, 0, 0], dt=1e-3)
    with fw.viewer.show(sim, block=False, browser=False) as viewer, Page("about:blank", SIZE) as page:
        opened(viewer, page)
        page.until("document.querySelectorAll('.uplot').length >= 1")
        assert "puck_joint x" in page.until("document.querySelector('.uplot .u-legend')?.textContent")
        assert "position of the base [m]" in page.value("document.querySelector('.uplot').textContent")
        ink = """(() => { const c = document.querySelector('.uplot canvas');
          const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0;
          for (let k = 0; k < d.length; k += 4) if (d[k + 3] > 100 && d[k + 2] - d[k] > 60) n++; return n })()"""
        assert page.until(f"{ink} > 40"), "the first curve is blue"
        sharp = "(() => { const c = document.querySelector('.uplot canvas'); return c.width / c.clientWidth })()"
        assert page.value(sharp) == pytest.approx(1.0, abs=0.01), "as many dots as the screen has, also without a GPU"
        canvas = page.value("document.querySelector('.uplot').getBoundingClientRect().right")
        scene = page.value(
            "Math.min(...[...document.querySelectorAll('canvas')].filter(c => c.clientHeight > 300)"
            ".map(c => c.getBoundingClientRect().left))"
        )
        assert canvas <= scene, "beside, not over it"
        assert not page.complaints


def test_names_and_frames_are_shown_on_demand_and_dark_is_dark() -> None:
    with fw.viewer.show(puck(0.02), block=False, browser=False) as viewer, Page("about:blank", SIZE) as page:
        opened(viewer, page)
        tags = viewer.content._play.stages[0].tags

        def picture() -> np.ndarray:
            time.sleep(0.3)
            with Image.open(io.BytesIO(page.picture())) as seen:
                return np.asarray(seen.convert("RGB")).astype(int)[:, :-325]

        def axis() -> int:
            """Dots of the blue axis."""
            seen = picture()
            return int(((seen[..., 2] > 100) & (seen[..., 2] - seen[..., 0] > 80)).sum())

        before = orange(page)

        def label() -> int:
            """Dots of the box that something covers."""
            return int((before & ~orange(page)).sum())

        assert axis() == 0
        tags.show_names(True)
        until(lambda: label() > 80)
        tags.show_names(False)
        until(lambda: label() < 20)
        for show, hide in (
            (lambda: tags.show_frames(True), lambda: tags.show_frames(False)),
            (lambda: tags.show_frame("puck"), lambda: tags.show_frame("none")),
        ):
            show()
            until(lambda: axis() > 12)
            hide()
            until(lambda: axis() == 0)
        page.value("[...document.querySelectorAll('*')].find(e => e.firstChild?.data == 'show').click()")
        box = "[...document.querySelectorAll('label')].find(l => l.textContent.trim() == 'dark')"
        page.until(f"{box} != null")
        page.value(f"document.getElementById({box}.htmlFor).click()")
        page.until("document.documentElement.dataset.mantineColorScheme == 'dark'")
        until(lambda: picture()[5:60].mean() < 80)
        assert not page.complaints


def test_a_pose_is_simulated_on_the_same_page() -> None:
    model = fw.robots.double_pendulum()
    with fw.viewer.show(model, block=False, browser=False) as viewer, Page("about:blank", SIZE) as page:
        page.call("Page.navigate", url=viewer.url)
        page.until(IS_READY, 60)
        viewer.content._set(0, 1.0)
        page.until(f"({PRESS})('limp')")
        sim = until(lambda: getattr(viewer.content, "sim", None), 60)
        until(lambda: abs(sim.q[0, 0] - 1.0) > 0.3)
        page.until("[...document.querySelectorAll('button')].some(b => b.textContent.trim() == 'Pause')")
        right = "Math.max(...[...document.querySelectorAll('canvas')].map(c => c.getBoundingClientRect().right))"
        assert page.until(f"{right} < innerWidth - 250"), "the panel is beside the robot, as it was"
        assert not page.complaints


def test_a_video_of_a_replay_is_downloaded_and_read_by_others(tmp_path: Path) -> None:
    pytest.importorskip("imageio_ffmpeg")
    run = fw.simulate(puck(), puck().neutral(), [0.5, 0, 0, 0, 0, 0], duration=0.4, dt=1e-3)
    with run.show(block=False, browser=False) as viewer, Page("about:blank", (900, 357)) as page:
        page.call(
            "Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path), browserContextId=page.context
        )
        page.call("Page.navigate", url=viewer.url)
        page.until(IS_READY.replace("300", "200"), 60)
        until(lambda: viewer.server.get_clients() and orange(page).sum() > 200)
        page.until(f"({PRESS})('Save video')")
        movie = tmp_path / "puck.mp4"
        until(movie.exists, 120)
        until(lambda: not list(tmp_path.glob("*.crdownload")))
        command = [video.encoder(".mp4"), "-loglevel", "error", "-i", str(movie), "-vf", "scale=320:128"]
        raw = subprocess.run([*command, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True, check=True)
        pictures = np.frombuffer(raw.stdout, np.uint8).reshape(-1, 128, 320, 3).astype(int)
        assert len(pictures) == 13, "0.4 s, 30 a second, both ends"
        seen = [np.nonzero((one[..., 0] > 150) & (one[..., 0] - one[..., 2] > 80))[1] for one in pictures]
        assert all(len(columns) > 100 for columns in seen), "the puck is in every frame"
        assert abs(seen[-1].mean() - seen[0].mean()) > 5, "and moves"


def test_a_live_simulation_is_recorded_and_saved(tmp_path: Path) -> None:
    """A press begins, a press ends, and the film is made; then it goes on. The run is read from the file.

    It is reset while it is recorded, so that it is in the picture: the film begins there.
    """
    pytest.importorskip("imageio_ffmpeg")
    sim = fw.Stepper(puck(), v=[0.1, 0, 0, 0, 0, 0], dt=1e-3)
    with fw.viewer.show(sim, block=False, browser=False) as viewer, Page("about:blank", SIZE) as page:
        content, folder = viewer.content, {"behavior": "allow", "downloadPath": str(tmp_path)}
        content._follow.value = False
        page.call("Browser.setDownloadBehavior", browserContextId=page.context, **folder)
        opened(viewer, page)
        page.until(f"({PRESS})('Record video')")
        until(lambda: content._recorded is not None)
        page.until(f"({PRESS})('reset')")
        until(lambda: content._recorded == 0.0)
        until(lambda: sim.t[0] > 0.5)
        page.until(f"({PRESS})('Stop recording')")
        movie = tmp_path / "puck.mp4"
        until(movie.exists, 120)
        until(lambda: not list(tmp_path.glob("*.crdownload")))
        until(lambda: content._playing)
        page.until(f"({PRESS})('Save run')")
        until((tmp_path / "run.fw").exists)
        until(lambda: not list(tmp_path.glob("*.crdownload")))
        run = fw.Trajectory.load(tmp_path / "run.fw")
        assert run.t[0] == 0.0
        assert run.t[-1] > 0.5
        np.testing.assert_allclose(run.q[:, 0], 0.1 * run.t, atol=1e-6)
        raw = subprocess.run(
            [video.encoder(".mp4"), "-loglevel", "error", "-i", str(movie), "-vf", "scale=160:128",
             "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True, check=True,
        ).stdout  # fmt: skip
        pictures = np.frombuffer(raw, np.uint8).reshape(-1, 128, 160, 3).astype(int)
        assert len(pictures) >= 15, "half a second, 30 a second"
        seen = [np.nonzero((one[..., 0] > 150) & (one[..., 0] - one[..., 2] > 80))[1] for one in pictures]
        assert all(len(columns) > 100 for columns in seen), "the puck is in every frame"
        assert abs(seen[-1].mean() - seen[0].mean()) > 2, "and moves"
        assert not page.complaints


def test_two_runs_beside_each_other_do_not_hide_each_other() -> None:
    model = puck()
    run = fw.simulate(model, model.neutral(), [0.0, 0, 0, 0, 0, 1.0], duration=0.2, dt=1e-2)
    show = fw.viewer.show([run, run], labels=["one", "two"], block=False, browser=False)
    with show as viewer, Page("about:blank", SIZE) as page:
        page.call("Page.navigate", url=viewer.url)
        page.until(IS_READY, 60)

        def blobs() -> int:
            with Image.open(io.BytesIO(page.picture())) as picture:
                seen = np.asarray(picture.convert("RGB")).astype(int)[:, :-325]
            columns = ((seen[..., 0] > 150) & (seen[..., 0] - seen[..., 2] > 80)).sum(axis=0) > 3
            return int((np.diff(columns.astype(int)) == 1).sum() + columns[0])

        until(lambda: blobs() == 2)
        assert not page.complaints
