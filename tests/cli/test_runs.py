"""simulate, view and demo as users run them: output, files, exit status, one clear line on bad input."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

import featherweight as fw
from cli.command_line import call, run
from featherweight.cli.starts import start

pytest.importorskip("rich")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "swing.fw"
    model = fw.robots.double_pendulum()
    fw.simulate(model, [1.0, 0.5], [0.0, 0.0], duration=1.0, dt=1e-3).save(path)
    return path


def test_simulate_tells_status_energy_slip_solver_and_speed(tmp_path: Path) -> None:
    result = run("simulate", "mini_cheetah", "--duration", 0.1, "--dt", 0.002, "-o", tmp_path / "run.fw")
    assert result.returncode == 0, result.stderr
    for text in ("status", "OK", "energy", "slip of the worst point", "contact solver", "times as fast as real time"):
        assert text in " ".join(result.stdout.split()), text
    loaded = fw.Trajectory.load(tmp_path / "run.fw")
    assert (len(loaded.t), loaded.model.name, len(loaded.ground)) == (51, "mini_cheetah", 1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--duration", -1), "duration: expected a time > 0 [s], got -1.0"),
        (("--dt", 0), "dt: expected a time step > 0 [s], got 0.0"),
        (("--duration", 0.0105), "duration: expected a multiple of dt = 0.001 s, got 0.0105"),
        (("--duration", 0.1, "--record-every", 7), "record_every: expected a divisor of steps = 100, got 7"),
    ],
)
def test_a_time_that_cannot_be_is_refused_before_anything_is_compiled(options: tuple[object, ...], said: str) -> None:
    result = call("simulate", "mini_cheetah", *options)
    assert (result.returncode, result.stderr) == (2, f"featherweight: {said}\n")


def test_simulate_as_json_with_options() -> None:
    options = ("--duration", 0.5, "--integrator", "rk4", "--set", "hinge=0.5", "--record-every", 10, "--json")
    result = call("simulate", "pendulum", *options)
    facts = json.loads(result.stdout)
    assert facts["status"] == "OK"
    assert facts["energy_start"] == pytest.approx(facts["energy_end"], abs=1e-9)
    assert facts["energy_start"] == pytest.approx(-9.81 * 0.8775825618903728)
    assert facts["real_time_factor"] > 0


@pytest.mark.parametrize(
    ("options", "value", "text"),
    [
        (("pendulum",), "none", "none (auto); --controller pd holds it"),
        (("pendulum", "--controller", "none"), "none", "none"),
        (("pendulum", "--controller", "pd"), "pd", "pd"),
        (("humanoid",), "balance", "balance (auto)"),
    ],
)
def test_simulate_says_what_drives_the_robot(options: tuple[str, ...], value: str, text: str) -> None:
    result = call("simulate", *options, "--duration", 0.01)
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("│ controller ")]
    assert line.split("│")[2].strip() == text
    assert json.loads(call("simulate", *options, "--duration", 0.01, "--json").stdout)["controller"] == value


@pytest.mark.parametrize(("robot", "name"), [("mini_cheetah", "trot"), ("mini_cheetah", "stand"), ("humanoid", "auto")])
def test_simulate_with_a_controller_by_name(robot: str, name: str) -> None:
    result = call("simulate", robot, "--duration", 0.05, "--controller", name, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["status"] == "OK"


def test_a_quadruped_of_a_file_trots() -> None:
    """It begins on bent legs, on the feet that are named."""
    pytest.importorskip("pinocchio")  # brings example-robot-data
    options = ("example-robot-data:go2", "--feet", "FL_foot,FR_foot,RL_foot, RR_foot", "--controller", "trot")
    result = call("simulate", *options, "--duration", 0.05, "--json")
    assert result.returncode == 0, result.stderr
    facts = json.loads(result.stdout)
    assert facts["status"] == "OK"
    assert facts["contact_points_used"] == 4
    assert facts["deepest"] < 1e-3
    assert facts["effort_used"] < 0.5
    refused = call("simulate", "mini_cheetah", "--feet", "FR_foot")
    assert refused.returncode == 2
    assert "--feet: expected a robot of a file" in " ".join(refused.stderr.split())


def test_simulate_with_a_controller_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def push(t, q, v):\n    return 0 * v + 2.5\n")
    result = call("simulate", "pendulum", "--duration", 0.1, "--controller", f"{tmp_path / 'mine.py'}:push", "--json")
    assert json.loads(result.stdout)["largest_joint_force"] == 2.5


def test_a_run_that_fails_is_told_with_status_1(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def bad(t, q, v):\n    return v * (float('nan') if t > 0.05 else 0)\n")
    result = run("simulate", "pendulum", "--duration", 0.1, "--controller", f"{tmp_path / 'mine.py'}:bad")
    assert result.returncode == 1
    assert "the controller gave NaN or inf" in " ".join(result.stderr.split())
    assert "BAD_CONTROL at step" in result.stdout


def test_simulate_writes_a_report(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result = call("simulate", "double_pendulum", "--duration", 0.2, "--report", tmp_path / "page.html")
    assert result.returncode == 0, result.stderr
    text = (tmp_path / "page.html").read_text()
    for part in ("<h1>double_pendulum</h1>", "data:image/gif;base64,", 'class="plots" data-packed="', "energy", "OK"):
        assert part in text
    assert "http" not in text.replace("data:", "")


def test_a_report_without_its_meshes_says_so_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    rod = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    mesh = '<visual><geometry><mesh filename="package://gone/rod.stl"/></geometry></visual>'
    (tmp_path / "rod.urdf").write_text(
        f'<robot name="rod"><link name="base"/><link name="rod">{rod}{mesh}</link><joint name="j" type="continuous">'
        '<parent link="base"/><child link="rod"/></joint></robot>'
    )
    result = call("simulate", tmp_path / "rod.urdf", "--duration", 0.01, "--report", tmp_path / "rod.html")
    assert "the mesh 'package://gone/rod.stl' cannot be shown" in result.stderr
    assert "UserWarning" not in result.stderr


def test_a_robot_that_begins_in_the_ground_is_told(tmp_path: Path) -> None:
    rod = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    tip = '<collision><origin xyz="0 0 -0.5"/><geometry><sphere radius="0.1"/></geometry></collision>'
    (tmp_path / "rod.urdf").write_text(
        f'<robot name="rod"><link name="base"/><link name="rod">{rod}{tip}</link><joint name="j" type="continuous">'
        '<parent link="base"/><child link="rod"/></joint></robot>'
    )
    told = "rod begins 0.6 m deep in the ground, and is pushed out; move it by --set JOINT=VALUE"
    assert told in call("simulate", tmp_path / "rod.urdf", "--duration", 0.01).stderr
    assert "deep" not in call("simulate", tmp_path / "rod.urdf", "--duration", 0.01, "--set", "j=3.1").stderr


def test_view_exports_a_page(saved: Path, tmp_path: Path) -> None:
    result = call("view", saved, saved, "--export", tmp_path / "two.html")
    assert result.returncode == 0, result.stderr
    assert "<title>swing | swing</title>" in (tmp_path / "two.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("simulate", "nothing.urdf"), "there is no file 'nothing.urdf'"),
        (("simulate", "pendulum", "--contact", "glue"), "--contact: expected auto, none, impulse, spring, got 'glue'"),
        (("simulate", "pendulum", "--contact", "impulse"), "'pendulum' has no contact points"),
        (("simulate", "pendulum", "--friction", "-1"), "friction: expected a number of 0 or more, got -1.0"),
        (("simulate", "pendulum", "--integrator", "magic"), "integrator: expected one of 'semi_implicit'"),
        (("simulate", "pendulum", "--duration", "-1"), "duration: expected a time > 0"),
        (("simulate", "mini_cheetah", "--height", "nan"), "--height: expected a number of metres, got nan"),
        (("simulate", "pendulum", "--set", "hinge=x"), "--set hinge=x: expected JOINT=NUMBER"),
        (("simulate", "pendulum", "--set", "hing=1"), "no joint named 'hing'; did you mean 'hinge'?"),
        (
            ("simulate", "pendulum", "--controller", "magic"),
            "--controller: expected none, hold, balance, pd, stand, trot or FILE.py:NAME, got 'magic'",
        ),
        (("view", "nothing.fw"), "there is no file 'nothing.fw'"),
        (("view", "pendulum", "--export", "x.html"), "--export: expected a trajectory, got a model"),
        (("view", "pendulum", "chain"), "'pendulum' is a model"),
        (("view", "."), "'.' is a folder, expected a trajectory's file"),
        (("simulate", "pendulum", "--set", "hinge=nan"), "--set hinge=nan: expected JOINT=NUMBER (it is not finite)"),
        (("simulate", "mini_cheetah", "--base", "loose"), "--base: expected auto, fixed or free, got 'loose'"),
        (("simulate", "pendulum", "-o", "no/run.fw"), "no/run.fw: there is no folder 'no'; make it first"),
        (("simulate", "pendulum", "--report", "."), ".: expected a file, got a folder: name a file in it"),
        (("demo", "--folder", __file__), "is a file, expected a folder or a new name"),
    ],
)
def test_bad_input_gives_one_line_and_status_2(arguments: tuple[str, ...], text: str) -> None:
    result = call(*arguments)
    assert result.returncode == 2
    assert text in result.stderr
    assert result.stderr.count("\n") == 1, result.stderr


def test_what_a_trajectory_is_no_good_for_is_told(saved: Path) -> None:
    results = {
        "is a trajectory, expected a robot": call("simulate", saved),
        "its states have 2 coordinates, 'humanoid' has 38: another robot": call("view", saved, "--model", "humanoid"),
    }
    for text, result in results.items():
        assert result.returncode == 2
        assert text in result.stderr
        assert result.stderr.count("\n") == 1, result.stderr


@pytest.mark.parametrize(("code", "told"), [("f = 1 +", "SyntaxError"), ("\nf = 1 / 0", "line 2: ZeroDivisionError")])
def test_a_controllers_file_that_cannot_be_run_is_told(tmp_path: Path, code: str, told: str) -> None:
    (tmp_path / "mine.py").write_text(code)
    result = call("simulate", "pendulum", "--controller", f"{tmp_path / 'mine.py'}:f")
    assert result.returncode == 2
    assert f"mine.py cannot be run: {told}" in result.stderr
    assert result.stderr.count("\n") == 1, result.stderr


def test_view_tells_of_lost_meshes_in_one_line_and_finds_them_in_roots(tmp_path: Path) -> None:
    """Without the line of our source that a warning of Python comes with."""
    box = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
    mesh = "<visual><geometry><mesh filename='lost.stl'/></geometry></visual>"
    joint = "<joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint>"
    robot = fw.loads(f"<robot name='r'><link name='a'/><link name='b'>{box}{mesh}</link>{joint}</robot>")
    fw.rollout(robot, [0.0], [0.0], steps=5, dt=0.01).save(tmp_path / "run.fw")
    result = call("view", tmp_path / "run.fw", "--export", tmp_path / "page.html")
    said, written = result.stderr.splitlines()
    assert said.startswith("r: the mesh 'lost.stl' cannot be shown; simple shapes are")
    assert written == f"written: {tmp_path / 'page.html'}"

    (tmp_path / "meshes").mkdir()
    solid = "facet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 1 0 endloop endfacet"
    (tmp_path / "meshes/lost.stl").write_text(f"solid x {solid} endsolid x")
    options = ("--root", tmp_path / "meshes", "--export", tmp_path / "page.html")
    assert call("view", tmp_path / "run.fw", *options).stderr.splitlines() == [written]
    found = fw.Trajectory.load(tmp_path / "run.fw", roots=[tmp_path / "meshes"])
    assert [g.path for g in found.model.geometry] == [str((tmp_path / "meshes/lost.stl").resolve())]
    inside = fw.Trajectory.load(tmp_path / "run.fw", roots=[tmp_path])
    assert [g.path for g in inside.model.geometry] == [None]


def test_view_on_a_port_in_use_says_so(saved: Path) -> None:
    pytest.importorskip("viser")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run("view", saved, "--port", port, "--no-browser")
    assert result.returncode == 2
    assert f"port {port} of 127.0.0.1 is in use; choose another" in result.stderr


@pytest.mark.parametrize("content", [b"", b"no trajectory", b"\0" * 5000])
def test_view_of_a_wrong_file_names_it(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "wrong.fw").write_bytes(content)
    result = call("view", tmp_path / "wrong.fw")
    assert result.returncode == 2
    assert "wrong.fw" in result.stderr
    assert result.stderr.count("\n") == 1, result.stderr


def test_a_file_of_another_version_is_told(saved: Path, tmp_path: Path) -> None:
    later = saved.read_bytes().replace(b"recording 1.0", b"recording 2.0")
    (tmp_path / "later.fw").write_bytes(later)
    result = call("view", tmp_path / "later.fw")
    assert result.returncode == 2
    assert "it says 'featherweight recording 2.0', of another version" in result.stderr


@pytest.mark.parametrize("name", ["mini_cheetah", "humanoid"])
def test_a_start_has_its_lowest_point_at_the_height_that_was_asked_for(name: str) -> None:
    model = getattr(fw.robots, name)()
    plane = fw.contact.Plane((0, 0.1, 1), (0, 0, 0.5))
    q = start(model, ["base.x=2" if name == "humanoid" else "body_joint.x=2"], 0.25, [plane])
    heights = [
        (fw.frame_pose(model, q, p.name).position - [0, 0, 0.5]) @ plane.normal - p.radius for p in model.contact_points
    ]
    assert min(heights) == pytest.approx(0.25)
    assert q[0] == 2.0


def test_springs_get_a_step_that_is_stable(tmp_path: Path) -> None:
    result = run("simulate", "mini_cheetah", "--contact", "spring", "--duration", 0.05, "--json")
    assert result.returncode == 0
    assert "dt is 0.00025 s: steps with these springs are stable up to 0.00071 s" in " ".join(result.stderr.split())
    assert json.loads(result.stdout)["status"] == "OK"


def test_a_step_too_long_for_springs_is_refused() -> None:
    result = run("simulate", "mini_cheetah", "--contact", "spring", "--dt", 0.001)
    assert result.returncode == 2
    assert "--dt: 0.001 s is too long for these springs" in " ".join(result.stderr.split())
    assert result.stdout == ""


def test_a_floating_robot_that_touches_nothing_is_told_of() -> None:
    pytest.importorskip("pinocchio")  # its robots
    result = run("simulate", "example-robot-data:go2", "--duration", 0.01)
    assert result.returncode == 0, result.stderr
    assert "has no contact points: nothing holds it" in " ".join(result.stderr.split())
    assert "--feet" in result.stderr
