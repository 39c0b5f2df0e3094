"""The command line as users run it: output, exit status, one clear line on bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cli.command_line import call, run

GOOD = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><mass value="1.5"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/></joint>
  <joint name="mount" type="fixed"><parent link="upper"/><child link="tool"/></joint>
  <gazebo/>
</robot>"""
BAD = GOOD.replace('ixx="1"', 'ixx="9"').replace('lower="-1"', 'lower="5"')


@pytest.fixture
def good(tmp_path: Path) -> str:
    path = tmp_path / "arm.urdf"
    path.write_text(GOOD)
    return str(path)


@pytest.fixture
def bad(tmp_path: Path) -> str:
    path = tmp_path / "bad.urdf"
    path.write_text(BAD)
    return str(path)


def test_info_tells_tree_masses_joints_and_what_was_merged(good: str) -> None:
    result = run("info", good)
    assert result.returncode == 0
    for text in ("arm", "1 bodies", "upper  1.5 kg  (shoulder: Revolute)", "shoulder", "tool -> upper", "<gazebo>"):
        assert text in result.stdout, text


def test_info_as_json(good: str) -> None:
    facts = json.loads(call("info", good, "--json", "--base", "free").stdout)
    assert (facts["nq"], facts["nv"], facts["mass"]) == (8, 7, 1.5)
    assert facts["joints"][1]["upper"] == [2.0]


@pytest.mark.parametrize("name", ["mini_cheetah", "humanoid", "cartpole"])
def test_info_knows_built_in_models(name: str) -> None:
    assert call("info", name).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("info", "nothing.urdf"), "there is no file 'nothing.urdf'"),
        (("lint", "nothing.urdf"), "there is no file 'nothing.urdf'"),
        (("lint", "pendulum"), "there is no file 'pendulum': pendulum is built in, and needs none"),
        (("info", "cartpole", "--base", "flying"), "--base: expected auto, fixed or free, got 'flying'"),
        (("info", "cartpole", "--policy", "lenient"), "--policy: expected warn, repair, strict, got 'lenient'"),
        (("dance",), "dance"),
        (("info",), "MODEL"),
    ],
)
def test_bad_input_gives_status_2_and_no_traceback(arguments: tuple[str, ...], text: str) -> None:
    result = call(*arguments)
    assert "Traceback" not in result.stderr + result.stdout
    assert result.returncode == 2
    assert text in result.stderr


def test_a_bad_file_is_explained_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.urdf"
    path.write_text(GOOD.replace('parent link="base"', 'parent link="bse"'))
    result = run("info", path)
    assert result.returncode == 2
    assert len(result.stderr.strip().splitlines()) == 1
    assert "bad.urdf:5" in result.stderr
    assert "parent link 'bse' does not exist; did you mean 'base'?" in result.stderr


def test_a_policy_may_be_chosen(bad: str) -> None:
    assert call("info", bad, "--policy", "repair").stderr == ""
    strict = call("info", bad, "--policy", "strict")
    assert strict.returncode == 2
    assert "triangle inequality" in strict.stderr


def test_what_is_wrong_with_a_file_is_told_beside_the_answer(bad: str) -> None:
    result = call("info", bad)
    assert result.returncode == 0
    assert "1 bodies" in result.stdout
    lines = result.stderr.strip().splitlines()
    assert lines[0] == f"{bad}: 2 things are wrong; the robot is taken all the same"
    assert "lower 5 is above upper 2: they are exchanged" in lines[2]
    assert f"featherweight lint {bad}" in lines[-1]


def test_bench_measures(good: str) -> None:
    rows = json.loads(call("bench", good, "--base", "fixed", "--json").stdout)
    assert {row["function"] for row in rows} >= {"forward_dynamics", "mass_matrix"}
    assert all(row["single_s"] > 0 for row in rows)


def test_a_robot_that_cannot_be_computed_is_explained(good: str) -> None:
    result = call("bench", good, "--base", "free")  # its base has no mass
    assert result.returncode == 2
    assert "singular" in result.stderr
    assert "Traceback" not in result.stderr


def test_without_its_libraries_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['typer'] = None; from featherweight.cli import main; main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert "pip install featherweight[cli]" in result.stderr


@pytest.mark.parametrize("command", [(), ("info",), ("lint",), ("bench",)])
def test_help_everywhere(command: tuple[str, ...]) -> None:
    result = call(*command, "--help")
    assert result.returncode == 0
    assert "Usage" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(("--help",), 0), (("info", "nothing.urdf"), 2), (("dance",), 2), (("bench", "ARM", "--base", "free"), 2)],
)
def test_a_process_of_its_own_tells_the_same(good: str, arguments: tuple[str, ...], status: int) -> None:
    """So that the other tests may do without one."""
    arguments = tuple(a.replace("ARM", good) for a in arguments)
    alone, here = run(*arguments), call(*arguments)
    assert alone.returncode == here.returncode == status
    assert alone.stdout == here.stdout
    assert alone.stderr == here.stderr
