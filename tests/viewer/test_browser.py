"""The viewer as people see it, in a real Chromium without a window. Skipped, with a word, where there is none."""

from __future__ import annotations

import io
import itertools
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import featherweight as fw

pytest.importorskip("viser")
Image = pytest.importorskip("PIL.Image")
from featherweight.report import write_report  # noqa: E402
from featherweight.viewer.pose import still_life  # noqa: E402
from viewer.chromium import Page, found  # noqa: E402

pytestmark = pytest.mark.skipif(found() is None, reason="there is no Chromium on this machine")

SIZE = (620, 417)
SMOOTHED = "document.querySelector('canvas').getContext('webgl2').getContextAttributes().antialias"
WATCH = """new Promise(done => {  // the clock and how often was drawn, until it has begun again twice
  const plain = WebGL2RenderingContext.prototype.clear, looks = []; let drawn = 0, begun = 0, told = null;
  WebGL2RenderingContext.prototype.clear = function (...given) { drawn++; return plain.apply(this, given) };
  const look = () => {
    const now = Number(document.getElementById("time").value);
    if (now !== told) looks.push([now, drawn]);
    if (told !== null && now < told) begun++;
    told = now;
    begun < 2 ? setTimeout(look, 20) : done(looks) };
  look() })"""
PACE = """new Promise(done => { // the time of day and the clock, twice
  const look = () => [performance.now() / 1000, Number(document.getElementById("time").value)], first = look();
  setTimeout(() => done([first, look()]), 1500) })"""
SHADERS = """(() => { window.shaders = []; const plain = WebGL2RenderingContext.prototype.shaderSource;
  WebGL2RenderingContext.prototype.shaderSource = function (shader, text) {
    window.shaders.push(text); return plain.call(this, shader, text) } })()"""
PANELS = 215  # pixels from the top that viser may write on


@pytest.fixture(scope="module")
def fall() -> fw.Trajectory:
    """A pendulum of two links that falls from above to below; the second link is orange."""
    model = fw.robots.double_pendulum()
    return fw.simulate(model, [3.0, 0.1], [0.0, 0.0], duration=1.2, dt=1e-3)


def second_link(page: Page) -> np.ndarray:
    """Where the orange link is in the picture, below the panels."""
    with Image.open(io.BytesIO(page.picture())) as picture:
        scene = np.asarray(picture.convert("RGB")).astype(int)[PANELS:]
    return (scene[..., 0] - scene[..., 2] > 60) & (scene[..., 0] > 120)


def ready(page: Page) -> None:
    page.until("document.readyState == 'complete' && document.querySelector('canvas') != null", 60)


def waited(page: Page, done: Callable[[np.ndarray], bool], seconds: float = 20.0) -> np.ndarray:
    """Look until something is to be seen; after different times, so as not to keep step with what plays in circles."""
    end, pauses = time.monotonic() + seconds, itertools.cycle((0.05, 0.11, 0.17, 0.29))
    while time.monotonic() < end:
        mark = second_link(page)
        if done(mark):
            return mark
        time.sleep(next(pauses))
    raise TimeoutError("it is not to be seen")


def test_it_renders_the_slider_moves_the_robot_and_nothing_complains(fall: fw.Trajectory) -> None:
    with fall.show(block=False, browser=False) as viewer:
        replay = viewer.content
        replay._pause(True)
        with Page("about:blank", SIZE) as page:
            page.call("Page.addScriptToEvaluateOnNewDocument", source=SHADERS)
            page.call("Page.navigate", url=viewer.url)
            page.until("document.querySelector('[role=slider]') != null", 60)
            before = second_link(page).sum()
            page.value("document.querySelector('[role=slider]').focus()")
            page.press("End")
            page.until("document.querySelector('[role=slider]').getAttribute('aria-valuenow') > 1.1")
            after = waited(page, lambda mark: mark.sum() > before + 50)
            assert after.sum() > 50, "the link hangs below"
            assert replay._t == pytest.approx(1.2, abs=0.05)
            assert replay.play.stages[0].frame == len(replay.play.motions[0]) - 1
            assert page.value(SMOOTHED) is False, "there is no GPU here"
            shaders = [text for text in page.value("window.shaders") if "void main" in text]
            assert not [text for text in shaders if "#define TONE_MAPPING" in text]
            to_screen = [text for text in shaders if "vec4 sRGBTransferOETF" in text]
            assert to_screen
            assert all("return vec4(sqrt(value.rgb), value.a)" in text for text in to_screen)
            standard = [text for text in to_screen if "#define STANDARD" in text and "hemisphereLights[ 1 ]" in text]
            assert standard
            assert all("linearToOutputTexel(vec4(RECIPROCAL_PI * light" in text for text in standard), "matt"
            assert not page.complaints
            asked = [url for url in page.requests if not url.startswith(("data:", "blob:", viewer.url))]
            assert not asked, "only this machine is asked for anything"


def test_a_robot_of_the_viewer_has_a_shadow_by_day_and_by_night() -> None:
    """A box that floats above the ground; between the two pictures of each page only its shadow comes."""
    builder = fw.Builder("box").add_body("box", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    builder.add_geometry("box", "visual", "box", (0.4, 0.4, 0.1), color=(1.0, 0.6, 0.1, 1.0))
    model = builder.build()
    q = model.neutral()
    q[2] = 0.4
    run = still_life(model, q, (fw.contact.Plane(),))
    with run.show(block=False, browser=False) as viewer, Page("about:blank", (900, 600)) as page:
        play, stage = viewer.content.play, viewer.content.play.stages[0]
        page.call("Page.navigate", url=viewer.url)
        ready(page)
        page.until(f"document.body.textContent.includes('Tiles of {play.tile:g} m')")

        def light() -> np.ndarray:
            with Image.open(io.BytesIO(page.picture())) as picture:
                return np.asarray(picture.convert("L")).astype(int)[PANELS:, :550]

        def seen(done: Callable[[np.ndarray], bool]) -> np.ndarray:
            end = time.monotonic() + 20
            while time.monotonic() < end:
                picture = light()
                if done(picture):
                    return picture
                time.sleep(0.1)
            raise TimeoutError("it is not to be seen")

        for dark, ground, darker in ((False, 200, 30), (True, 60, 15)):
            page.value(f"window.dark = {str(dark).lower()}")
            play.show_dark(dark)
            stage._shadow.visible = False
            bare = seen(lambda x: abs(float(np.median(x[-100:])) - ground) < 30)  # noqa: B023
            stage._shadow.visible = True
            shaded = seen(lambda x: ((bare - x) > darker).sum() > 1000)  # noqa: B023
            places = np.argwhere(bare - shaded > darker)
            assert np.ptp(places, axis=0).max() < 400, "one place"
            assert ((shaded - bare) > 10).sum() < 100, "nothing is lighter"
        assert not page.complaints


def test_feet_that_are_a_little_below_the_ground_leave_no_specks(tmp_path: Path) -> None:
    """Springs let them sink in: what is below must not shine through the ground, not even as a shadow."""
    model = fw.robots.mini_cheetah()
    q = fw.scenes.crouched(model)
    q[2] -= 0.003
    fw.viewer.export(still_life(model, q, (fw.contact.Plane(),)), tmp_path / "feet.html")
    with Page("about:blank", (1000, 600)) as page:
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        page.call("Page.navigate", url=(tmp_path / "feet.html").as_uri())
        page.until("document.getElementById('scale')?.textContent")
        end = time.monotonic() + 20
        while True:
            with Image.open(io.BytesIO(page.picture())) as picture:
                shade = np.asarray(picture.convert("L"))[250:540] < 32
            if shade.sum() > 10_000:  # it is drawn
                break
            assert time.monotonic() < end
        around = np.lib.stride_tricks.sliding_window_view(shade, (9, 9)).sum(axis=(2, 3))
        assert (shade[4:-4, 4:-4] & (around <= 8)).sum() < 25, "dark dots that are alone"
        assert not page.complaints


def test_a_page_of_its_own_loops_without_a_network(fall: fw.Trajectory, tmp_path: Path) -> None:
    """Its clock goes on from picture to picture, and over its end to its beginning; every picture is drawn."""
    fw.viewer.export(fall, tmp_path / "fall.html")
    with Page((tmp_path / "fall.html").as_uri(), SIZE, offline=True) as page:
        ready(page)
        first = waited(page, lambda mark: mark.sum() > 50)
        waited(page, lambda mark: (mark ^ first).sum() > 50)
        looks = page.value(WATCH)
        times = [time for time, _ in looks]
        steps = np.diff(times)
        assert (steps < 0).sum() == 2, "it began again twice"
        assert max(times) <= 1.2
        assert (steps[steps > 0] < 0.6).all(), "it did not leap"
        assert (np.diff([drawn for _, drawn in looks]) > 0).all(), "it was drawn between any two looks"
        assert not page.complaints
        assert not [url for url in page.requests if not url.startswith(("data:", "blob:", "file:"))]


def test_the_controls_of_a_page_of_its_own(fall: fw.Trajectory, tmp_path: Path) -> None:
    fw.viewer.export([fall, fall], tmp_path / "two.html", labels=["one", "<b>two</b>"])
    with Page((tmp_path / "two.html").as_uri(), SIZE) as page:
        ready(page)
        page.until("document.getElementById('clock').textContent != ''", 60)
        page.value("document.getElementById('play').click()")
        assert page.value("document.getElementById('play').textContent") == "Play"
        page.value("const s = document.getElementById('time'); s.value = 1.2; s.dispatchEvent(new Event('input'))")
        hanging = waited(page, lambda mark: mark.sum() > 50).sum()
        assert page.value("document.getElementById('clock').textContent") == "1.20 of 1.2 s"
        assert page.value("[...document.querySelectorAll('.label')].map(l => l.textContent).sort()") == [
            "<b>two</b>",
            "one",
        ]
        page.value("s.value = 0; s.dispatchEvent(new Event('input'))")
        waited(page, lambda mark: mark.sum() < hanging / 2)
        before = page.picture()
        for kind, x in (("mousePressed", 300), ("mouseMoved", 200), ("mouseReleased", 200)):
            page.call("Input.dispatchMouseEvent", type=kind, x=x, y=200, button="left", buttons=1, clickCount=1)
        time.sleep(0.5)
        assert page.picture() != before, "it is turned with the mouse"
        assert not page.complaints


def test_a_page_opens_at_its_speed_and_is_stepped(fall: fw.Trajectory, tmp_path: Path) -> None:
    """Slow motion from the start, one frame forth and back by button and key, to the start, light and dark."""
    fw.viewer.export(fall, tmp_path / "slow.html", speed=0.3)
    with Page((tmp_path / "slow.html").as_uri(), SIZE) as page:
        ready(page)
        page.until("document.getElementById('clock').textContent != ''", 60)
        assert page.value("document.getElementById('speed').value") == "0.3"
        first, later = page.value(PACE)
        assert 0.1 < (later[1] - first[1]) / (later[0] - first[0]) < 0.45, "simulated seconds a second"
        page.value("document.getElementById('reset').click()")
        clock = "document.getElementById('clock').textContent"
        assert page.until(f"{clock} == '0.00 of 1.2 s'")
        page.value("for (const k of [1, 2, 3, 4]) document.getElementById('step').click()")
        assert page.until(f"{clock} == '0.02 of 1.2 s'"), "four frames, 200 of them a second"
        page.press("ArrowLeft", 4)
        assert page.until(f"{clock} == '0.00 of 1.2 s'")
        sky = "getComputedStyle(document.body).backgroundColor"
        light = page.value(sky)
        page.value("document.getElementById('theme').click()")
        assert page.value(sky) != light
        with Image.open(io.BytesIO(page.picture())) as picture:
            assert np.asarray(picture.convert("L"))[:300].mean() < 120, "the scene is dark, too"
        assert not page.complaints


def test_the_camera_follows_a_robot_that_travels(tmp_path: Path) -> None:
    """It stays in the middle of the picture, and leaves it when it is not followed; its way can be drawn."""
    builder = fw.Builder("puck", gravity=(0.0, 0.0, 0.0)).add_body(
        "puck", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1, 0.1)
    )
    builder.add_geometry("puck", "visual", "box", (0.4, 0.4, 0.4), color=(1.0, 0.6, 0.1, 1.0))
    model = builder.build()
    run = fw.simulate(model, model.neutral(), [3.0, 0, 0, 0, 0, 0], duration=2.0, dt=0.01)
    fw.viewer.export(run, tmp_path / "walk.html")
    with Page((tmp_path / "walk.html").as_uri(), SIZE) as page:
        ready(page)
        page.value("const s = document.getElementById('time'); s.value = 2; s.dispatchEvent(new Event('input'))")
        followed = waited(page, lambda mark: mark.sum() > 1000)
        across = np.nonzero(followed.any(axis=0))[0]
        assert abs(across.mean() - SIZE[0] / 2) < 0.06 * SIZE[0]
        page.value("document.getElementById('follow').click(); s.value = 0; s.dispatchEvent(new Event('input'))")
        waited(page, lambda mark: mark.sum() == 0)
        assert not page.complaints
    fw.viewer.export(run, tmp_path / "walk.html", follow=False, trails=["puck"])
    with Page((tmp_path / "walk.html").as_uri(), SIZE) as page:
        ready(page)
        assert page.until("document.getElementById('trails').checkVisibility()")
        page.value("const s = document.getElementById('time'); s.value = 2; s.dispatchEvent(new Event('input'))")
        page.until("document.getElementById('clock').textContent == '2.00 of 2 s'")
        with_trail = page.picture()
        page.value("document.getElementById('trails').click()")
        time.sleep(0.5)
        changed = np.asarray(Image.open(io.BytesIO(with_trail)).convert("L")).astype(int)
        changed -= np.asarray(Image.open(io.BytesIO(page.picture())).convert("L"))
        across = np.nonzero((np.abs(changed) > 10)[: SIZE[1] - 150].any(axis=0))[0]
        assert len(across) > 0.5 * SIZE[0], "from where it began to where it is"
        assert not page.complaints


def test_a_page_of_one_state_has_no_clock(tmp_path: Path) -> None:
    model = fw.robots.double_pendulum()
    fw.viewer.export(still_life(model, np.array([0.3, 0.2])), tmp_path / "still.html")
    with Page((tmp_path / "still.html").as_uri(), SIZE) as page:
        ready(page)
        waited(page, lambda mark: mark.sum() > 50)
        assert (
            page.value("['play', 'time', 'speed'].some(id => document.getElementById(id).checkVisibility())") is False
        )
        assert not page.complaints


# share of the picture that has a robot's colour, on a dark page: what red, green and blue are like there
COLOURS = {
    "anymal_c_simple": (0.01, lambda r, g, b: (r > 120) & (r - g > 60)),  # red
    "go1": (0.01, lambda r, g, b: (b - r > 15) & (b > 80)),  # blue
    "go2": (0.01, lambda r, g, b: (b - r > 8) & (b > 110)),  # lavender
    "panda": (0.02, lambda r, g, b: (r > 170) & (abs(r - b) < 12)),  # white
    "talos_reduced": (0.0003, lambda r, g, b: (r > 150) & (g - b > 40)),  # orange hands
}


def test_real_robots_are_seen_with_their_colours(tmp_path: Path) -> None:
    pytest.importorskip("pinocchio")  # with whose wheel the files come
    with Page("about:blank", (900, 657)) as page:
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        for name, (share, like) in COLOURS.items():
            model = fw.load(f"example-robot-data:{name}")
            fw.viewer.export(still_life(model, model.neutral(), (fw.contact.Plane(),)), tmp_path / f"{name}.html")
            page.call("Page.navigate", url=(tmp_path / f"{name}.html").as_uri())
            page.until("document.getElementById('scale')?.textContent", 60)
            end = time.monotonic() + 20
            while True:
                with Image.open(io.BytesIO(page.picture())) as picture:
                    red, green, blue = np.moveaxis(np.asarray(picture.convert("RGB")).astype(int)[:700], -1, 0)
                if like(red, green, blue).mean() > share:
                    break
                assert time.monotonic() < end, f"{name}: {like(red, green, blue).mean():.2%} of the picture"
                time.sleep(0.2)
        assert not page.complaints


def test_a_page_without_webgl_says_so(fall: fw.Trajectory, tmp_path: Path) -> None:
    fw.viewer.export(fall, tmp_path / "fall.html")
    with Page("about:blank", SIZE) as page:
        page.call("Page.addScriptToEvaluateOnNewDocument", source="HTMLCanvasElement.prototype.getContext = () => null")
        page.call("Page.navigate", url=(tmp_path / "fall.html").as_uri())
        assert "needs WebGL 2" in page.until("document.querySelector('main p')?.textContent")


def test_plots_of_a_report_are_zoomed_and_switched(fall: fw.Trajectory, tmp_path: Path) -> None:
    """By dragging over a part, for all panels over time; "all" shows all again; a press on a name hides its curve."""
    write_report({"fall": fall}, tmp_path / "report.html", title="fall", rate=5)
    with Page((tmp_path / "report.html").as_uri(), (1000, 757), offline=True) as page:
        page.until("document.querySelectorAll('.plot').length == 4", 60)
        page.value("document.querySelector('.plots').scrollIntoView()")
        place = "(() => { const b = document.querySelector('.plot canvas').getBoundingClientRect();"
        x, y, wide = page.value(place + " return [b.left, b.top, b.width] })()")
        page.value("window.shown = (k) => document.querySelectorAll('.plot canvas')[k].ariaLabel")
        assert page.until("window.shown(0)") == "joints [rad or m]: 2 curves from 0 to 1.2"
        for kind, at in (("mousePressed", 0.5), ("mouseMoved", 0.6), ("mouseReleased", 0.6)):
            buttons = {"button": "left", "buttons": 1, "clickCount": 1}
            page.call("Input.dispatchMouseEvent", type=kind, x=x + at * wide, y=y + 60, **buttons)
        low, high = page.until("window.shown(0).match(/from (0[.]\\d+) to (0[.]\\d+)/)?.slice(1)")
        assert 0.4 < float(low) < float(high) < 0.8
        assert float(high) - float(low) == pytest.approx(0.12, rel=0.3), "a tenth of the picture"
        assert page.value("window.shown(1)").endswith(f"3 curves from {low} to {high}"), "the other goes along"
        page.value("document.querySelector('.tools button:last-child').click()")
        page.until("window.shown(0).endsWith('from 0 to 1.2') && window.shown(1).endsWith('from 0 to 1.2')")
        page.value("document.querySelectorAll('.plot')[1].querySelector('.legend button').click()")
        page.until("window.shown(1).includes('2 curves')")
        assert page.value("document.querySelector('.legend .off').textContent") == "kinetic"
        assert page.value("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
        assert page.value("[0, 1e-3, -1e4, 100].map(power)") == ["0", "10⁻³", "−10⁴", "100"]
        assert page.value("decades(298.4).slice(0, 4).map(power)") == ["0", "100", "10³", "10⁴"], "of a force axis"
        page.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
        assert page.until("innerWidth == 390 && document.documentElement.scrollWidth <= 390"), "nor on a phone"
        assert not page.complaints


def test_derivations_fit_on_a_phone(tmp_path: Path) -> None:
    """Formulas are moved sideways on their own; the page is not."""
    pytest.importorskip("sympy")
    from featherweight import equations

    text = equations.page([equations.lagrange(fw.robots.pendulum())])
    (tmp_path / "pendulum.html").write_text(text, encoding="utf-8")
    with Page("about:blank", (390, 844)) as page:
        page.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
        page.call("Page.navigate", url=(tmp_path / "pendulum.html").as_uri())
        page.until("document.querySelector('math') != null")
        assert page.value("[innerWidth, document.documentElement.scrollWidth]") == [390, 390]
        assert not page.complaints


def test_a_run_goes_on_when_the_browser_is_closed() -> None:
    model = fw.robots.double_pendulum()
    pages: list[Page] = []
    with fw.viewer.Live(model, ground=(), speed=None, browser=False) as live:
        pages.append(Page(live.url, SIZE))
        ready(pages[0])

        def watch(t: float, q: np.ndarray, force: np.ndarray) -> None:
            if t > 0.5 and pages:
                pages.pop().close()
            live(t, q, force)

        run = fw.simulate(model, [1.0, 0.5], [0.0, 0.0], duration=2.0, dt=1e-3, watch=watch)
    assert not pages
    alone = fw.simulate(model, [1.0, 0.5], [0.0, 0.0], duration=2.0, dt=1e-3)
    np.testing.assert_array_equal(run.q, alone.q)
