"""Curves, stills and moving pictures, made without a window or a GPU."""

from __future__ import annotations

import base64
import gzip
import io
import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import featherweight as fw
from featherweight.plot.curves import _power
from featherweight.plot.layout import save
from featherweight.plot.painter import LIGHT, SHADOW, Painter, _arrows, _on_grid
from featherweight.visuals import DrawnShape, ball, capsule, cylinder, fitted, shapes_of, viewpoint_of
from featherweight.visuals.motion import frames_of
from featherweight.visuals.solids import box
from featherweight.visuals.terrain import terrain_of

matplotlib = pytest.importorskip("matplotlib")
Image = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def swing() -> fw.Trajectory:
    model = fw.robots.double_pendulum()
    return fw.simulate(model, [1.0, 0.5], [0.0, 0.0], duration=1.0, dt=1e-3)


@pytest.fixture(scope="module")
def drop() -> fw.Trajectory:
    model = fw.robots.mini_cheetah(points="feet")
    q = model.neutral()
    q[2], q[7:] = 0.35, np.tile([0.0, -0.8, 1.6], 4)

    def hold(t, now, v, x, p):
        return np.concatenate([np.zeros(6), 40.0 * (q[7:] - now[7:]) - v[6:]]), x

    contact, control = fw.contact.Impulse(), fw.compiled(hold)
    return fw.simulate(model, q, np.zeros(model.nv), duration=0.4, dt=2e-3, contact=contact, control=control)


def titles(figure: object) -> list[str]:
    return [axes.get_title(loc="left").split(" [")[0].split(":")[0] for axes in figure.axes]


def test_a_swing_has_angles_energy_and_a_phase_portrait(swing: fw.Trajectory) -> None:
    figure = swing.plot()
    assert titles(figure) == ["joints", "energy", "energy error |E − E(0)|", "phase portraits"]
    (lines,) = [axes.lines for axes in figure.axes if axes.get_title(loc="left").startswith("energy [J]")]
    kinetic, potential, total = (line.get_ydata() for line in lines)
    np.testing.assert_allclose(kinetic + potential, total)
    np.testing.assert_allclose(total, swing.energy() - (swing.energy()[0] - kinetic[0]), atol=1e-9)


def test_energy_is_shown_as_an_error_where_nothing_takes_or_gives_any(
    swing: fw.Trajectory, drop: fw.Trajectory
) -> None:
    """On a logarithmic axis; not of robots that are driven, touch the ground, or have friction."""
    (axes,) = swing.plot(panels=["energy error"]).axes
    error = np.abs(swing.energy() - swing.energy()[0])
    np.testing.assert_allclose(axes.lines[0].get_ydata(), np.maximum(error, 1e-6 * error.max()), atol=1e-12)
    assert axes.get_yscale() == "log"
    builder = fw.Builder("damped")
    builder.add_body(
        "a", joint=fw.joints.Revolute("y"), inertia=fw.Inertia(1.0, (0, 0, -1.0), (0.1, 0.1, 0.1)), damping=0.1
    )
    damped = fw.simulate(builder.build(), [1.0], [0.0], duration=1.0, dt=1e-3)
    for run in (drop, damped):
        assert not [title for title in titles(run.plot()) if "error" in title]


def test_legends_are_beside_the_curves_few_and_short() -> None:
    """Right of the axes, for the curves that move most; what they leave out they count."""
    run = chain(30, "a_joint_with_a_name_that_nobody_wants_to_read", 1.0)
    figure = run.plot(panels=["angles", "phase"])
    save(figure, io.BytesIO(), dpi=90)
    for axes in figure.axes:
        legend = axes.get_legend()
        assert legend.get_window_extent().x0 >= axes.get_window_extent().x1
        assert legend.get_window_extent().x1 <= figure.bbox.width
        texts = [text.get_text() for text in legend.get_texts()]
        assert texts[-1] == "and 18 more"
        assert len(texts) == 13
        assert max(map(len, texts)) <= 26
    moved = np.ptp(run.q, axis=0)
    named = figure.axes[0].lines[18:]
    shown = sorted(float(np.ptp(line.get_ydata())) for line in named)
    np.testing.assert_allclose(shown, np.sort(moved)[-12:])


def test_curves_are_written_as_a_page(swing: fw.Trajectory, tmp_path: Path) -> None:
    """One file that asks nothing of the network, with the numbers of the trajectory."""
    swing.plot(path=tmp_path / "run.html")
    text = (tmp_path / "run.html").read_text("utf-8")
    assert "http" not in text
    data = gzip.decompress(base64.b64decode(re.search(r'data-packed="([^"]*)"', text)[1]))
    length = int.from_bytes(data[:4], "little")
    angles, *_, phase = json.loads(data[4 : 4 + length])
    place = angles["curves"][1]["y"]
    values = np.frombuffer(data, "<f4", place["count"], 4 + length + place["at"])
    np.testing.assert_allclose(values, swing.q[:, 1], atol=1e-6)
    assert [curve["name"] for curve in angles["curves"]] == ["shoulder", "elbow"]
    assert (angles["over_time"], phase["over_time"]) == (True, False)


def test_contact_has_forces_and_slip(drop: fw.Trajectory) -> None:
    assert {"contact forces", "slip of points that press", "position of the base"} <= set(titles(drop.plot()))


def test_curves_with_a_name_have_colours_of_their_own(drop: fw.Trajectory) -> None:
    (axes,) = drop.plot(panels=["angles"]).axes
    colors = {matplotlib.colors.to_hex(line.get_color()) for line in axes.get_legend().get_lines()}
    assert len(colors) == len(drop.model.joint_names) - 1 == 12


def test_curves_of_contact_are_those_of_the_points_they_name(drop: fw.Trajectory) -> None:
    force = np.linalg.norm(drop.contact_force, axis=-1)
    names = [point.name for point in drop.model.contact_points]
    forces, slip = drop.plot(panels=["forces", "slip"]).axes
    for axes, values in ((forces, force), (slip, np.where(force > 0, drop.contact_slip, np.nan))):
        labels = [text.get_text() for text in axes.get_legend().get_texts()]
        assert labels == [name for name, f in zip(names, force.T, strict=True) if f.any()]
        for label, line in zip(labels, axes.lines, strict=True):
            np.testing.assert_array_equal(
                line.get_ydata(), np.maximum(values[:, names.index(label)], 1e-12 * (axes is slip))
            )


def test_curves_are_the_numbers_of_the_trajectory(swing: fw.Trajectory) -> None:
    (axes,) = swing.plot(panels=["rates"]).axes
    np.testing.assert_array_equal(axes.lines[1].get_ydata(), swing.v[:, 1])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["shoulder", "elbow"]


def test_a_figure_is_written(swing: fw.Trajectory, tmp_path: Path) -> None:
    swing.plot(path=tmp_path / "curves.png")
    with Image.open(tmp_path / "curves.png") as picture:
        assert picture.size[0] > 400


def chain(links: int, name: str, mass: float) -> fw.Trajectory:
    """A run of a chain of balls in free swing: energies are as large as its mass, names as long as it is told."""
    builder, last = fw.Builder("chain"), None
    for k in range(links):
        parent = {} if last is None else {"parent": last}
        last = f"{name}_{k}"
        place = fw.Placement((0.0, 0.0, -0.2))
        ball = fw.Inertia.sphere(mass, 0.1)
        builder.add_body(last, joint=fw.joints.Revolute("y"), inertia=ball, placement=place, **parent)
    model = builder.build()
    q = np.linspace(-1.0, 1.0, links) + 0.3
    return fw.simulate(model, q, np.zeros(links), duration=0.1, dt=1e-3)


@pytest.mark.parametrize(
    ("links", "name", "mass", "size"),
    [(1, "a", 1.0, 10), (3, "b", 1e9, 10), (3, "c", 1e-8, 16), (12, "d" * 50, 1e4, 10), (12, "e", 0.3, 16)],
)
def test_nothing_of_a_written_figure_is_cut_or_overlaps(links: int, name: str, mass: float, size: int) -> None:
    """Titles, labels and legends of all panels are in the figure, and away from those of other panels."""
    with matplotlib.rc_context({"font.size": size}):
        figure = chain(links, name, mass).plot(panels=["angles", "rates", "energy", "phase"])
        save(figure, io.BytesIO(), dpi=90)
        boxes = [axes.get_tightbbox().extents for axes in figure.axes]
    for k, (left, bottom, right, top) in enumerate(boxes):
        assert 0 <= left < right <= figure.bbox.width
        assert 0 <= bottom < top <= figure.bbox.height
        for other in boxes[:k]:
            assert left >= other[2] or right <= other[0] or bottom >= other[3] or top <= other[1]


def test_ticks_of_a_phase_portrait_are_apart(swing: fw.Trajectory, tmp_path: Path) -> None:
    share = (swing.q - swing.q.min()) / np.ptp(swing.q)
    figure = replace(swing, q=0.04 * share - 0.02).plot(path=tmp_path / "curves.png")
    labels = [text.get_window_extent() for text in figure.axes[-1].get_xticklabels() if text.get_text()]
    assert all(left.x1 + 4 < right.x0 for left, right in itertools.pairwise(labels))


def test_log_axes_of_a_written_figure_are_not_cut(drop: fw.Trajectory) -> None:
    figure = drop.plot()
    save(figure, io.BytesIO(), dpi=90)
    box = figure.get_tightbbox()  # in inches
    assert 0 <= box.x0 < box.x1 <= figure.get_figwidth()
    assert 0 <= box.y0 < box.y1 <= figure.get_figheight()


def test_the_axis_of_an_impact_begins_at_zero(drop: fw.Trajectory) -> None:
    harder = replace(drop, contact_force=100 * drop.contact_force)
    (axes,) = harder.plot(panels=["forces"]).axes
    low, high = axes.get_ylim()
    assert axes.get_yscale() == "symlog"
    assert -0.2 * drop.model.weight < low < 0 < high
    assert axes.get_yticks()[0] == 0.0
    assert all(tick >= 0.2 * drop.model.weight for tick in axes.get_yticks()[1:]), "none on the zero"


def test_powers_of_ten_are_plain_letters() -> None:
    texts = {1e-12: "10⁻¹²", 1e-3: "10⁻³", 1.0: "10⁰", 10.0: "10¹", 1e4: "10⁴", 0.0: "0", -100.0: "−10²"}
    assert [_power(value) for value in texts] == list(texts.values())


def test_what_is_added_to_a_figure_later_finds_room(swing: fw.Trajectory, tmp_path: Path) -> None:
    figure = swing.plot(path=tmp_path / "curves.png")
    title = figure.suptitle("all of it")
    figure.savefig(tmp_path / "more.png")
    assert title.get_window_extent().y0 >= max(axes.get_tightbbox().y1 for axes in figure.axes)


def test_an_unknown_panel_is_named(swing: fw.Trajectory) -> None:
    with pytest.raises(ValueError, match=r"panels: expected some of 'position', .*'phase', in a list, got 'anger'"):
        swing.plot(panels=["anger"])
    with pytest.raises(ValueError, match=r"panels: expected some of .* in a list, got 'energy'"):
        swing.plot(panels="energy")
    with pytest.raises(ValueError, match=r"panels: expected some of .* in a list, got \[\]"):
        swing.plot(panels=[])
    with pytest.raises(ValueError, match="lane: expected a number from 0 to 0, got 3"):
        swing.plot(lane=3)


def test_a_lane_that_failed_can_be_plotted() -> None:
    model = fw.robots.pendulum()
    tau = np.zeros((2, 50, 1))
    tau[1, 20] = np.nan
    run = fw.rollout(model, np.zeros((2, 1)), np.ones((2, 1)), steps=50, dt=0.01, tau=tau)
    assert titles(run.plot(lane=1))[0] == "joints"


def frames(path: Path) -> np.ndarray:
    """The pictures of a GIF, (frames, height, width, 3)."""
    pictures = []
    with Image.open(path) as movie:
        for k in range(movie.n_frames):
            movie.seek(k)
            pictures.append(np.asarray(movie.convert("RGB")).astype(int))
    return np.array(pictures)


def ink(image: object) -> np.ndarray:
    """Where a picture is not white."""
    return (np.asarray(image.convert("RGB")).min(axis=-1) < 200)  # fmt: skip


def test_a_still_shows_the_robot_and_all_of_it(tmp_path: Path) -> None:
    for name in ("mini_cheetah", "humanoid", "cartpole"):
        model = getattr(fw.robots, name)()
        mark = ink(fw.plot.still(model, path=tmp_path / f"{name}.png"))
        assert mark.mean() > 0.005, name
        edge = np.concatenate([mark[0], mark[-1], mark[:, 0], mark[:, -1]])
        assert not edge.any(), f"{name} is cut off"
        assert (tmp_path / f"{name}.png").stat().st_size > 1000


def test_a_camera_sees_its_target_in_the_middle_and_up_above() -> None:
    camera = fw.plot.Camera(np.array([0.0, -5.0, 0.0]), np.zeros(3), 2.0)
    pixels, depth = camera.seen(np.array([[0, 0, 0], [1, 0, 0], [0, 0, 0.5], [0, 5, 0]]), (400, 300))
    np.testing.assert_allclose(pixels, [[200, 150], [400, 150], [200, 50], [200, 150]])
    np.testing.assert_allclose(depth, [5, 5, 5, 10])


def test_a_camera_that_is_fitted_touches_the_edge_of_its_picture() -> None:
    """Corners of random boxes are all seen, and the outermost two across, or up and down, are at the margin."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        corners, direction = rng.normal(size=(8, 3)) * rng.uniform(0.1, 2.0, 3), rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        target, distance = fitted(corners, direction, (0.3, 0.2))
        camera = fw.plot.Camera(target + distance * direction, target, 2 * distance * 0.3)
        pixels, depth = camera.seen(corners, (300, 200))
        assert (depth > 0).all()
        x, y = np.abs(pixels - [150, 100]).max(axis=0) / [150, 100]
        assert max(x, y) == pytest.approx(1.0, abs=1e-6)
        low, high = pixels.min(axis=0) - [150, 100], pixels.max(axis=0) - [150, 100]
        assert np.abs(low + high).max() < 0.05 * 300, "in the middle"


def test_a_camera_may_look_straight_down_or_up() -> None:
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 0.5, 0]])
    for height, side in ((5.0, 1), (-5.0, -1)):
        pixels, depth = fw.plot.Camera([0.0, 0.0, height], np.zeros(3), 2.0).seen(points, (400, 300))
        np.testing.assert_allclose(pixels, [[200, 150], [200 + side * 200, 150], [200, 50]], atol=1e-9)
        np.testing.assert_allclose(depth, 5)


def test_a_camera_that_sees_nothing_is_refused() -> None:
    for eye, target, width in (((0, 0, 1), (0, 0, 1), 1.0), ((0, 0, 1), (0, 0, 0), 0.0)):
        with pytest.raises(ValueError, match="width, eye: expected a width > 0"):
            fw.plot.Camera(eye, target, width)
    with pytest.raises(ValueError, match="eye: expected three finite numbers"):
        fw.plot.Camera((0, 0, np.nan), (0, 0, 0), 1.0)


def test_near_things_hide_far_ones() -> None:
    builder = fw.Builder("two").add_body("a", joint=fw.joints.Revolute("z"), inertia=fw.Inertia.sphere(1, 0.1))
    for y, color in ((0.5, (1, 0, 0, 1)), (-0.5, (0, 0, 1, 1))):  # red behind blue, for an eye at -y
        builder.add_geometry("a", "visual", "sphere", (0.2,), fw.Placement((0, y, 0)), color=color)
    camera = fw.plot.Camera(np.array([0.0, -5.0, 0.0]), np.zeros(3), 2.0)
    red, _, blue = np.asarray(fw.plot.still(builder.build(), camera=camera))[240, 320]
    assert blue > 100 > red


def test_the_outside_of_a_box_is_seen_and_lit_from_above() -> None:
    """Its upper face from above, its lower one from below, which is darker."""
    builder = fw.Builder("box").add_body("a", joint=fw.joints.Revolute("z"), inertia=fw.Inertia.sphere(1, 0.1))
    builder.add_geometry("a", "visual", "box", (1.0, 1.0, 1.0), color=(0.8, 0.8, 0.8, 1.0))
    tones = []
    for height in (5.0, -5.0):
        camera = fw.plot.Camera([0.0, 0.0, height], [0.0, 0.0, 0.0], 2.0)
        tones.append(int(np.asarray(fw.plot.still(builder.build(), camera=camera))[240, 320, 0]))
    above, below = tones
    assert above > below + 50
    assert above == pytest.approx(255 * 0.8 * (0.62 + 0.30 * LIGHT[2] + 0.10), abs=2)


def test_a_body_that_is_moved_looks_like_solids_that_are_placed_there() -> None:
    """Its facets, their light and their shadow on a tilted plane, also where it is half in the ground."""
    builder = fw.Builder("one").add_body("a", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1, 0.1))
    model = builder.build()
    rng, ground = np.random.default_rng(1), [fw.contact.Plane(normal=(0.2, 0.1, 1.0), point=(0.0, 0.3, -0.2))]
    camera = fw.plot.Camera([1.5, -2.0, 1.2], [0.0, 0.0, 0.4], 2.5)
    floor = terrain_of(ground, camera.target, 5.0)
    for height in (0.6, 0.4, 0.0, -0.1, -0.2, -0.3):
        q = np.array([*rng.uniform(0.2, 0.6, 2), height, *rng.normal(size=4)])
        q[3:] /= np.linalg.norm(q[3:])
        moved, resting = frames_of(model, np.zeros(1), q[None]), frames_of(model, np.zeros(1), model.neutral()[None])
        mesh = box((0.5, 0.3, 0.2))
        there = mesh.moved(moved.rotation[0, 1], moved.position[0, 1])
        pictures = [
            np.asarray(Painter([DrawnShape(1, solid, (0.8, 0.5, 0.2))], floor, camera, (160, 120)).paint(motion, 0))
            for solid, motion in ((mesh, moved), (there, resting))
        ]
        assert (np.abs(np.subtract(*pictures, dtype=int)).max(axis=-1) > 3).mean() < 1e-3
        shadow = (np.abs(pictures[0] - np.array(SHADOW)).max(axis=-1) < 3).mean()
        assert shadow > 0.005 or height < 0.4


def test_a_picture_of_nothing_is_empty() -> None:
    """Of a robot without shapes; and of one that is all under the ground there is no shadow."""
    motion = frames_of(fw.robots.pendulum(), np.zeros(1), np.zeros((1, 1)))
    camera = fw.plot.Camera([1.5, -2.0, 1.2], [0.0, 0.0, 0.4], 2.5)
    assert (np.asarray(Painter([], [], camera, (80, 60)).paint(motion, 0)) == 255).all()
    floor = terrain_of([fw.contact.Plane()], camera.target, 5.0)
    deep = DrawnShape(0, ball(0.3).moved(np.eye(3), np.array([0.0, 0.0, -0.6])), (0.2, 0.2, 0.2))
    picture = np.asarray(Painter([deep], floor, camera, (160, 120)).paint(motion, 0))
    assert picture.min() < 100
    assert not (np.abs(picture - np.array(SHADOW)).max(axis=-1) < 3).any()


def test_nothing_shines_through_a_solid() -> None:
    """Of the pixels of red balls and capsules before a white sky hardly one is white, from wherever they are seen."""
    rng, holes, inside = np.random.default_rng(0), 0, 0
    motion = frames_of(fw.robots.pendulum(), np.zeros(1), np.zeros((1, 1)))
    for mesh in (ball(0.5, 32), ball(0.5), capsule(0.2, 1.0), cylinder(0.2, 1.0)):
        for _ in range(12):
            camera = fw.plot.Camera(4 * rng.normal(size=3), np.zeros(3), rng.uniform(0.5, 3.0))
            painter = Painter([DrawnShape(0, mesh, (1.0, 0.2, 0.2))], [], camera, (200, 150))
            red = np.asarray(painter.paint(motion, 0)).min(axis=-1) < 90
            across, down = np.arange(200), np.arange(150)[:, None]
            first, last = red.argmax(axis=1), 199 - red[:, ::-1].argmax(axis=1)
            top, bottom = red.argmax(axis=0), 149 - red[::-1].argmax(axis=0)
            between = (across >= first[:, None]) & (across <= last[:, None]) & (down >= top) & (down <= bottom)
            between &= red.any(axis=1)[:, None] & red.any(axis=0)
            holes, inside = holes + int((between & ~red).sum()), inside + int(between.sum())
    assert inside > 500_000
    assert holes < 1e-5 * inside


def test_a_shadow_falls_away_from_the_light() -> None:
    """Seen from above, of a ball 1 m above the ground: beside it by the light's slope."""
    builder = fw.Builder("ball").add_body("a", joint=fw.joints.Revolute("z"), inertia=fw.Inertia.sphere(1, 0.1))
    builder.add_geometry("a", "visual", "sphere", (0.1,), fw.Placement((0.0, 0.0, 1.0)), color=(1.0, 0.0, 0.0, 1.0))
    camera = fw.plot.Camera([0.0, 0.0, 50.0], [0.0, 0.0, 0.0], 4.0)
    picture = np.asarray(fw.plot.still(builder.build(), camera=camera, ground=[fw.contact.Plane()])).astype(int)
    rows, columns = np.nonzero(np.abs(picture - SHADOW).max(axis=-1) < 3)
    pixels = 640 / 4.0  # a metre
    x, y = (columns.mean() - 320) / pixels, (240 - rows.mean()) / pixels
    np.testing.assert_allclose([x, y], -LIGHT[:2] / LIGHT[2], atol=0.05)


def test_lines_of_the_grid_are_at_round_numbers() -> None:
    """In the axes of the plane, also of one that is tilted and turned."""
    c, s = np.cos(0.3), np.sin(0.3)
    tilted = np.array([[1, 0, 0], [0, c, -s], [0, s, c]]) @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    for rotation in (np.eye(3), tilted):
        x, y, z = rotation.T @ _on_grid(rotation, np.array([1.23, -0.47, 0.31]), 0.1)
        assert x / 0.1 == pytest.approx(round(x / 0.1), abs=1e-9)
        assert y / 0.1 == pytest.approx(round(y / 0.1), abs=1e-9)
        place = rotation.T @ [1.23, -0.47, 0.31]
        assert np.abs(place - (x, y, z)).max() <= 0.05 + 1e-9
        assert z == pytest.approx(place[2])


def test_a_movie_moves(swing: fw.Trajectory, tmp_path: Path) -> None:
    fw.plot.movie([swing, swing], tmp_path / "two.gif", rate=10, size=(160, 120), labels=["a", "b"])
    pictures = frames(tmp_path / "two.gif")
    assert pictures.shape == (11, 120, 320, 3)
    first, later = pictures[0], pictures[5]
    assert np.abs(later - first).max() > 50
    np.testing.assert_array_equal(later[30:, :160], later[30:, 160:])  # beside each other, below the labels: the same


def puck() -> fw.Trajectory:
    """A red box that slides 6 m along x."""
    builder = fw.Builder("puck", gravity=(0.0, 0.0, 0.0))
    builder.add_body("puck", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1, 0.1))
    builder.add_geometry("puck", "visual", "box", (0.4, 0.4, 0.4), color=(1.0, 0.0, 0.0, 1.0))
    model = builder.build()
    return fw.simulate(model, model.neutral(), [3.0, 0, 0, 0, 0, 0], duration=2.0, dt=0.01)


def is_red(rgb: np.ndarray) -> np.ndarray:
    return (rgb[..., 0] > 100) & (rgb[..., 1] < 60)


def test_the_camera_follows_who_travels(tmp_path: Path) -> None:
    """It fills the picture and stays in its middle; from where a camera stands it is small and goes across."""
    for follow, stays in ((None, True), (True, True), (False, False)):
        fw.plot.movie(puck(), tmp_path / "run.gif", rate=10, size=(160, 120), follow=follow)
        red = is_red(frames(tmp_path / "run.gif"))
        middles = np.array([np.nonzero(picture.any(axis=0))[0].mean() for picture in red])
        assert (np.abs(middles - 80).max() < 12) == stays
        assert (red.mean() > 0.1) == stays
        assert stays or np.ptp(middles) > 100
    camera = fw.plot.Camera([3.0, -20.0, 1.0], [3.0, 0.0, 0.0], 8.0)
    fw.plot.movie(puck(), tmp_path / "run.gif", rate=10, size=(160, 120), camera=camera)
    red = is_red(frames(tmp_path / "run.gif"))
    assert np.ptp([np.nonzero(picture.any(axis=0))[0].mean() for picture in red]) > 100, "a camera that is given stays"


def test_a_trail_goes_from_the_start_to_where_the_point_is(tmp_path: Path) -> None:
    fw.plot.movie(puck(), tmp_path / "run.gif", rate=10, size=(160, 120), follow=False, trails=["puck"])
    blue = (lambda rgb: rgb[..., 2] - rgb[..., 0] > 40)(frames(tmp_path / "run.gif"))
    lengths = [np.ptp(np.append(np.nonzero(picture.any(axis=0))[0], 0)) for picture in blue[[0, 10, 20]]]
    assert not blue[0].any()
    assert lengths[2] > 1.7 * lengths[1] > 60
    with pytest.raises(ValueError, match="no contact point, link or frame named 'pukc'; did you mean 'puck'"):
        fw.plot.movie(puck(), tmp_path / "no.gif", trails=["pukc"])


def test_what_moves_in_a_plane_is_seen_from_the_front() -> None:
    """In the x-z plane from -y, in the y-z plane from x; others from a corner; all fill the picture."""
    for axis, seen_from in (("y", (0.0, -1.0)), ("x", (1.0, 0.0))):
        builder = fw.Builder("arm").add_body("a", joint=fw.joints.Revolute(axis), inertia=fw.Inertia.sphere(1.0, 0.1))
        place, ball = fw.Placement((0.0, 0.0, -1.0)), fw.Inertia.sphere(1.0, 0.1)
        model = builder.add_body("b", parent="a", joint=fw.joints.Revolute(axis), inertia=ball, placement=place).build()
        motion = frames_of(model, np.zeros(2), np.array([[0.5, 0.3], [-0.5, 0.2]]))
        x, y, z = viewpoint_of(motion, shapes_of(model)).direction
        np.testing.assert_allclose(np.array([x, y]) / np.hypot(x, y), seen_from, atol=1e-12)
        assert abs(z) < 0.1
    robot = fw.robots.mini_cheetah()
    x, y, _ = viewpoint_of(frames_of(robot, np.zeros(1), robot.neutral()[None]), shapes_of(robot)).direction
    assert x > 0.3
    assert y < -0.3


def test_slow_motion_has_more_pictures(swing: fw.Trajectory, tmp_path: Path) -> None:
    fw.plot.movie(swing, tmp_path / "slow.gif", rate=10, speed=0.5, size=(80, 60))
    assert len(frames(tmp_path / "slow.gif")) == 21
    with pytest.raises(ValueError, match="speed: expected a number > 0, got 0"):
        fw.plot.movie(swing, tmp_path / "no.gif", speed=0)
    with pytest.raises(ValueError, match="trajectory: expected one or more, got none"):
        fw.plot.movie([], tmp_path / "no.gif")


def test_forces_are_drawn(drop: fw.Trajectory, tmp_path: Path) -> None:
    fw.plot.movie(drop, tmp_path / "with.gif", rate=5, size=(240, 180))
    rgb = frames(tmp_path / "with.gif")[-1]
    assert ((rgb[..., 0] > 150) & (rgb[..., 1] < 90) & (rgb[..., 2] < 90)).any()


@pytest.mark.parametrize(("rate", "speed"), [(30, 1.0), (12, 0.5), (8, 1.0), (50, 1.0), (3, 2.0)])
@pytest.mark.parametrize("every", [1, 100, 500])
def test_a_movie_takes_as_long_as_what_it_shows(tmp_path: Path, rate: int, speed: float, every: int) -> None:
    """A GIF can only say hundredths of a second; a run may have fewer states than there are pictures."""
    model = fw.robots.double_pendulum()
    run = fw.simulate(model, [1.0, 0.5], [0.0, 0.0], duration=1.0, dt=1e-3, record_every=every)
    fw.plot.movie(run, tmp_path / "timed.gif", rate=rate, speed=speed, size=(80, 60))
    with Image.open(tmp_path / "timed.gif") as movie:
        shown = []
        for k in range(movie.n_frames):
            movie.seek(k)
            shown.append(movie.info["duration"] / 1000)
    picture = round(100 / rate) / 100
    assert min(shown) >= picture - 1e-9
    assert sum(shown) == pytest.approx(1.0 / speed + picture, abs=1.01 * picture)


def test_rates_that_a_movie_cannot_have(swing: fw.Trajectory, tmp_path: Path) -> None:
    for rate in (0, -1, 60, np.nan):
        with pytest.raises(ValueError, match="rate: expected a number > 0, and up to 50 for a GIF"):
            fw.plot.movie(swing, tmp_path / "no.gif", rate=rate)


def test_coordinates_of_a_joint_are_numbered() -> None:
    """Not x, y, z: the third of a planar joint is an angle."""
    model = fw.Builder("puck").add_body("puck", joint=fw.joints.Planar(), inertia=fw.Inertia.sphere(1, 0.1)).build()
    run = fw.simulate(model, [0.0, 0.0, 0.0], [1.0, 0.0, 1.0], duration=0.1, dt=0.01)
    (axes,) = run.plot(panels=["angles"]).axes
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == [f"{model.joint_names[0]} {k}" for k in range(3)]


def test_energy_is_that_of_the_robot_that_was_simulated() -> None:
    model = fw.robots.mini_cheetah(parameters=("body.mass",))
    run = fw.rollout(
        model, model.neutral(), np.zeros(model.nv), steps=10, dt=1e-3, parameters={"body.mass": [3.3, 33.0]}
    )
    (axes,) = run.plot(panels=["energy"], lane=1).axes
    np.testing.assert_allclose(axes.lines[0].get_ydata(), run.energies()[0][1])
    assert run.energies()[0][1, -1] > 3 * run.energies()[0][0, -1]


def test_what_is_no_trajectory_is_told(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="trajectory: expected a Trajectory, got str"):
        fw.plot.plot("run.fw")
    with pytest.raises(TypeError, match="trajectory: expected a Trajectory or several, got str"):
        fw.plot.movie("run.fw", tmp_path / "no.gif")
    for show in (fw.plot.movie, fw.viewer.export):
        with pytest.raises(TypeError, match=r"trajectory: expected .* got Model; fw\.viewer\.show and fw\.plot\.still"):
            show(fw.robots.pendulum(), tmp_path / "no.gif" if show is fw.plot.movie else tmp_path / "no.html")


@pytest.mark.parametrize("labels", ["one", ["one"], ["one", "two", "three"]])
def test_labels_are_as_many_as_trajectories(swing: fw.Trajectory, labels: object, tmp_path: Path) -> None:
    for show, name in ((fw.plot.movie, "no.gif"), (fw.viewer.export, "no.html"), (fw.viewer.export, "no.glb")):
        with pytest.raises(ValueError, match="labels: expected a list with one for each trajectory, 2, got"):
            show([swing, swing], tmp_path / name, labels=labels)


def test_arrows_are_as_long_as_forces_but_no_longer_than_half_the_picture() -> None:
    """A quarter of a picture of 2 m for 10 N: 5 cm for each; 1 m at most; none for what is too short to see."""

    class Pen:
        def __init__(self) -> None:
            self.lines: list[np.ndarray] = []

        def line(self, ends: list, **_: object) -> None:
            self.lines.append(np.array(ends))

        def polygon(self, *_: object, **__: object) -> None:
            pass

    pen, camera = Pen(), fw.plot.Camera([0.0, -5.0, 0.0], [0.0, 0.0, 0.0], 2.0)
    forces = np.array([[0.0, 0.0, 4.0], [0.0, 0.0, -1000.0], [0.0, 0.0, 0.1]])
    _arrows(pen, np.zeros((3, 3)), forces, 0.05, camera, (400, 300))
    (tail, tip), (_, far) = pen.lines
    np.testing.assert_allclose(tip - tail, [0, -0.2 * 200], atol=1e-9)  # up is towards row 0
    np.testing.assert_allclose(far - tail, [0, 1.0 * 200], atol=1e-9)


def test_curves_show_themselves_in_notebooks() -> None:
    run = fw.simulate(fw.robots.pendulum(), [0.3], [0.0], duration=0.1, dt=0.01)
    assert run.plot()._repr_png_().startswith(b"\x89PNG")
