"""What somebody types first: --version, -h, half a name and a tab, a name that is almost right, an arm from a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import featherweight as fw
from cli.command_line import call
from featherweight.cli import names
from featherweight.cli.bases import usual_base
from featherweight.cli.outcome import outcome
from featherweight.cli.timing import expected_compiling

pytest.importorskip("rich")
ROOT = Path(__file__).parents[2]


def urdf(limbs: int, drop: float, root: str = "base", joints: int = 2) -> str:
    """A base with limbs of so many joints, each of which ends `drop` below the one before."""
    inertia = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>'
    text = f'<robot name="made"><link name="{root}">{inertia if root != "world" else ""}</link>'
    for k in range(limbs):
        for j in range(joints):
            parent = f"l{k}_{j - 1}" if j else root
            text += (
                f'<link name="l{k}_{j}">{inertia}</link><joint name="j{k}_{j}" type="continuous">'
                f'<parent link="{parent}"/><child link="l{k}_{j}"/><axis xyz="0 1 0"/>'
                f'<origin xyz="{0.2 * k} 0 {-drop}"/></joint>'
            )
    return text + "</robot>"


# ---- the first words


def test_the_version_is_that_of_the_package() -> None:
    result = call("--version")
    assert (result.returncode, result.stdout.strip()) == (0, f"featherweight {fw.__version__}")


@pytest.mark.parametrize("command", [(), ("simulate",), ("view",), ("lint",), ("derive",)])
def test_a_short_option_asks_for_help_everywhere(command: tuple[str, ...]) -> None:
    short, long = call(*command, "-h"), call(*command, "--help")
    assert short.returncode == 0
    assert short.stdout == long.stdout
    assert "Usage" in short.stdout


def test_a_name_that_is_almost_right_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_arm.urdf").write_text(urdf(1, 0.2))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(names.catalogue, "names", lambda: ["example-robot-data:panda", "robot_descriptions:go2"])
    for typed, meant in {
        "mini_cheeta": "did you mean 'mini_cheetah'?", "my_arn.urdf": "did you mean 'my_arm.urdf'?",
        "go2": "a package has one: robot_descriptions:go2", "pandda": "did you mean 'example-robot-data:panda'?",
        "xyz": "(pendulum, double_pendulum, cartpole, chain, mini_cheetah, humanoid)",
    }.items():  # fmt: skip
        for command in ("info", "simulate", "view", "bench", "derive"):
            result = call(command, typed)
            assert result.returncode == 2
            assert meant in " ".join(result.stderr.split()), (command, typed, result.stderr)


# ---- completion


def completed(*words: str, shell: str = "bash") -> list[str]:
    """What a shell is told after these words, by the protocol of its own script."""
    code = "import sys; sys.argv = ['featherweight']; from featherweight.cli import main; main()"
    asked = {"_FEATHERWEIGHT_COMPLETE": f"complete_{shell}"}
    if shell == "bash":
        asked |= {"COMP_WORDS": " ".join(["featherweight", *words]), "COMP_CWORD": str(len(words))}
    else:
        asked |= {"_TYPER_COMPLETE_ARGS": " ".join(["featherweight", *words])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True, timeout=60
    )
    return done.stdout.split()


def test_a_shell_is_told_how_words_go_on() -> None:
    assert completed("sim") == ["simulate"]
    assert completed("simulate", "mini") == ["mini_cheetah"]
    assert any("mini_cheetah" in word for word in completed("simulate", "mini", shell="zsh"))


def test_names_go_on_as_robots_files_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("arm.urdf", "arm.fw", "arm.txt", "armour/leg.urdf", ".hidden.urdf"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(names.catalogue, "names", lambda: ["example-robot-data:panda", "robot_descriptions:go2"])
    assert names.robots("p") == ["pendulum"]
    assert names.robots("ar") == ["arm.urdf", "armour/"]
    assert names.robots("armour/") == ["armour/leg.urdf"]
    assert names.robots_and_runs("arm.") == ["arm.urdf", "arm.fw"]
    assert names.robots("no/such/folder/") == []
    assert names.robots("exa") == ["example-robot-data:"]
    assert names.robots("example-robot-data:p") == ["example-robot-data:panda"]
    assert names.one_of(("rk4", "variational"))("r") == ["rk4"]


# ---- the base of a robot from a file


@pytest.mark.parametrize(
    ("text", "base"),
    [
        (urdf(1, -0.3), "fixed"),  # an arm
        (urdf(1, 0.3), "fixed"),  # an arm that hangs
        (urdf(4, 0.3), "free"),  # a quadruped
        (urdf(2, 0.3), "free"),  # a biped
        (urdf(4, -0.3), "fixed"),  # a hand
        (urdf(2, 0.3, root="world"), "fixed"),  # two arms on the world
        (urdf(0, 0.0), "free"),  # a box
        ('<robot name="made"><link name="base"/></robot>', "fixed"),  # nothing that could fall
    ],
)
def test_what_stands_on_limbs_floats_and_all_else_is_bolted_down(text: str, base: str) -> None:
    assert usual_base(fw.loads(text)) == base


def test_real_arms_are_fixed_and_real_legs_are_free() -> None:
    if names.catalogue._examples() is None:
        pytest.skip("example-robot-data is not installed")
    for name, base in {"panda": "fixed", "ur5_robot": "fixed", "go2": "free", "talos_reduced": "free"}.items():
        assert usual_base(fw.load(f"example-robot-data:{name}", policy="repair")) == base


def test_an_arm_does_not_fall_unless_it_is_told_to(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(urdf(1, -0.3))
    results = {}
    for base in ("auto", "fixed", "free"):
        result = call("simulate", tmp_path / "arm.urdf", "--base", base, "--duration", 0.2, "--json")
        results[base] = json.loads(result.stdout)
    assert results["auto"]["base"] == results["fixed"]["base"] == "fixed"
    assert results["auto"]["joints_end"] == results["fixed"]["joints_end"]
    assert results["free"]["base_end"][2] == pytest.approx(-0.5 * 9.81 * 0.2**2, rel=0.02)
    assert "--base free lets it float" in " ".join(call("simulate", tmp_path / "arm.urdf").stdout.split())


def test_every_command_chooses_the_same_base(tmp_path: Path) -> None:
    (tmp_path / "dog.urdf").write_text(urdf(4, 0.3, joints=1))
    assert json.loads(call("info", tmp_path / "dog.urdf", "--json").stdout)["nv"] == 10
    assert json.loads(call("info", tmp_path / "dog.urdf", "--json", "--base", "fixed").stdout)["nv"] == 4
    assert json.loads(call("simulate", tmp_path / "dog.urdf", "--duration", 0.01, "--json").stdout)["base"] == "free"
    assert call("lint", tmp_path / "dog.urdf").returncode == 0


# ---- what a run tells


def test_a_run_begins_within_the_limits_of_its_joints(tmp_path: Path) -> None:
    text = urdf(1, -0.3).replace('type="continuous"', 'type="revolute"')
    text = text.replace("</joint>", '<limit lower="-2" upper="-0.5" effort="9" velocity="9"/></joint>')
    (tmp_path / "arm.urdf").write_text(text)
    result = call("simulate", tmp_path / "arm.urdf", "--duration", 0.01, "--json")
    assert "beyond" not in result.stderr
    assert json.loads(result.stdout)["joints_end"]["j0_1"] == pytest.approx(-0.5, abs=0.01)


def test_compiling_is_told_before_and_after(monkeypatch: pytest.MonkeyPatch) -> None:
    result = call("simulate", "mini_cheetah", "--duration", 0.01)
    first, *_ = result.stderr.splitlines()
    wanted = "mini_cheetah with 18 degrees of freedom and 16 contact points: compiling takes about 2 s of a core"
    assert first.startswith(wanted)
    assert "compiled in" in result.stdout
    assert call("simulate", "pendulum", "--duration", 0.01).stderr == ""
    assert expected_compiling(fw.robots.pendulum(), None) < 0.1


def test_the_end_of_a_run_is_told_in_numbers() -> None:
    model = fw.robots.mini_cheetah()
    q, v = model.neutral(), np.zeros(18)
    q[:3], v[3] = (1.0, 2.0, 3.0), 1.0  # turning about x by 1 rad/s for a quarter of a second, and falling
    lines = {line.name: line for line in outcome(fw.simulate(model, q, v, duration=0.25, dt=1e-3), model)}
    assert lines["base_end"].value[:2] == pytest.approx([1.0, 2.0], abs=0.05)
    assert "tilted 14." in lines["base_end"].text  # 0.25 rad
    swing = fw.simulate(fw.robots.pendulum(), [1.0], [0.0], duration=0.5, dt=1e-3)
    lines = {line.name: line for line in outcome(swing, swing.model)}
    assert lines["joints_end"].value == {"hinge": pytest.approx(swing.q[-1, 0])}
    assert lines["largest_joint_rate"].value == pytest.approx(np.abs(swing.v).max())


def test_the_end_of_a_run_that_diverged_is_where_its_summary_ends() -> None:
    swing = fw.simulate(fw.robots.pendulum(), [1.0], [0.0], duration=0.5, dt=1e-3)
    swing.v[400:] = np.geomspace(10.0, 1e12, 101)[:, None]
    lines = {line.name: line for line in outcome(swing, swing.model)}
    assert lines["largest_joint_rate"].value < 1e3
