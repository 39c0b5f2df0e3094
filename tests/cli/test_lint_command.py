"""`featherweight lint`: one screen, the worst first, statuses for scripts, and files that are repaired."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import featherweight as fw
from cli.command_line import call
from featherweight.io.summary import KINDS, report_lines
from peers.public_urdf import FOLDER, NO_TREE, TREES, needs_data

SCREEN = 40
MASSLESS = "".join(
    f'  <link name="l{k}"/>\n  <joint name="j{k}" type="continuous"><parent link="base"/><child link="l{k}"/></joint>\n'
    for k in range(20)
)
BAD = f"""<robot name="r">
  <!-- kept -->
  <link name="base"/>
{MASSLESS}  <link name="arm">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="9"/></inertial> <!-- kept too -->
  </link>
  <joint name="hinge" type="revolute">
    <parent link="base"/>
    <child link="arm"/>
    <limit lower="1" upper="-1" effort="-1" velocity="-1"/>
  </joint>
  <gazebo reference="arm"><mu1>0.9</mu1></gazebo>
</robot>
"""
LEVELS = ("error", "wrong", "warning", "note")


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.urdf"
    path.write_text(BAD)
    return path


def test_groups_come_worst_first_with_a_summary(bad: Path) -> None:
    result = call("lint", bad)
    lines = result.stdout.splitlines()
    assert result.returncode == 1
    assert lines[0] == f"{bad}: 24 wrong, 1 note"
    assert lines[1].startswith("wrong   no-mass: 20 × moving bodies without mass: l0, l1, l2 and 17 more; give it an")
    assert lines[6] == "    … 16 more"
    assert lines[7].startswith('wrong   triangle: line 45: <link "arm"> <inertial>: its principal moments')
    assert lines[8].startswith("wrong   limit-order: line 50: ")
    assert lines[9].startswith("wrong   negative: 2 × ")
    assert lines[12] == 'note    unused-element: line 52: <robot "r"> <gazebo>: is not used'
    assert lines[13:] == ["`featherweight lint --all` lists all 25", "--fix writes a repaired file"]


def test_all_lists_every_finding(bad: Path) -> None:
    text = call("lint", bad, "--all").stdout
    assert all(f'<link "l{k}">: moves by joint' in text for k in range(20))
    assert "… " not in text


@needs_data
@pytest.mark.parametrize("path", [*TREES, *NO_TREE])
def test_a_public_file_takes_at_most_a_screen(path: str) -> None:
    findings = fw.lint(FOLDER / path)
    for width in (10**9, 100, 60):
        lines = report_lines(findings, str(FOLDER / path), SCREEN, width)
        assert sum(max(1, math.ceil(len(line) / width)) for _, line in lines) <= SCREEN
        levels = [LEVELS.index(level) for level, _ in lines if level]
        assert levels == sorted(levels)
    assert str(findings).splitlines()[0].startswith(str(FOLDER / path))


@pytest.mark.parametrize("count", [1, 3, 300])
@pytest.mark.parametrize("kinds", [1, 3, 5, 8, 40])
def test_no_file_takes_more_than_a_screen(kinds: int, count: int) -> None:
    """Of kinds that there are, and of some that others add, with long names."""
    findings = [
        fw.io.Finding(level, k, f'<link "{"x" * 30}{k}">', "is wrong " * 9, f"make {k % 2} right", kind)
        for level in LEVELS for kind in [*list(KINDS)[: kinds // 2], *(f"other-{k}" for k in range(kinds - kinds // 2))]
        for k in range(count)
    ]  # fmt: skip
    for width in (10**9, 80):
        lines = report_lines(findings, "robot.urdf", SCREEN, width)
        assert sum(max(1, math.ceil(len(line) / width)) for _, line in lines) <= SCREEN
        told = sum("is wrong" in line for _, line in lines)
        assert (f"lists all {len(findings)}" in lines[-1][1]) == (told < len(findings))


STATUS = {
    "clean": ('<robot name="r"><link name="a"/></robot>', 0),
    "a note": ('<robot name="r"><link name="a"/><gazebo/></robot>', 0),
    "a part that cannot be": (
        '<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="9"/></inertial></link>'
        "</robot>", 1),
    "wrong": (BAD, 1),
    "no tree": ('<robot name="r"><link name="a"/><link name="b"/></robot>', 2),
    "no XML": ("robot: r", 2),
}  # fmt: skip


@pytest.mark.parametrize("what", STATUS)
@pytest.mark.parametrize("options", [(), ("--json",), ("--all",)])
def test_the_status_tells_a_script(what: str, options: tuple[str, ...], tmp_path: Path) -> None:
    text, status = STATUS[what]
    (tmp_path / "robot.urdf").write_text(text)
    assert call("lint", tmp_path / "robot.urdf", *options).returncode == status


def test_json_has_every_finding_with_its_kind(bad: Path) -> None:
    findings = json.loads(call("lint", bad, "--json").stdout)
    assert findings == [finding.as_dict() for finding in fw.lint(bad)]
    assert [f["kind"] for f in findings[19:]] == [
        "no-mass", "triangle", "negative", "negative", "limit-order", "unused-element",
    ]  # fmt: skip
    assert {f["taken"] for f in findings if f["kind"] == "negative"} == {"not limited"}


def test_a_base_may_float(bad: Path) -> None:
    fixed, free = (json.loads(call("lint", bad, "--json", "--base", base).stdout) for base in ("fixed", "free"))
    assert [f["line"] for f in free if f not in fixed] == [3]


def test_a_repaired_file_loads_strictly_and_keeps_the_rest(bad: Path) -> None:
    result = call("lint", bad, "--fix")
    target = bad.with_name("bad.fixed.urdf")
    assert result.returncode == 0
    lines = result.stdout.splitlines()
    assert lines[-1] == f"24 changes, written to {target}"
    assert any("lower 1 is above upper -1: they are exchanged" in line for line in lines)
    assert bad.read_text() == BAD
    text = target.read_text()
    for kept in ("<!-- kept -->", "<!-- kept too -->", '<gazebo reference="arm"><mu1>0.9</mu1></gazebo>'):
        assert kept in text
    assert fw.load(target, policy="strict").fingerprint == fw.load(bad, policy="repair").fingerprint
    assert call("lint", target).returncode == 0
    assert call("lint", target, "--fix").stdout.splitlines() == [f"{target}: nothing to repair"]


def test_nothing_is_overwritten_without_being_told(bad: Path) -> None:
    target = bad.with_name("bad.fixed.urdf")
    target.write_text("mine")
    result = call("lint", bad, "--fix")
    assert result.returncode == 2
    assert "is there already; name it by --out to replace it" in result.stderr
    assert target.read_text() == "mine"
    assert call("lint", bad, "--fix", "--out", bad).returncode == 0
    assert fw.load(bad, policy="strict").nv == 21
    assert call("lint", bad, "--fix", "--out", bad.with_name("robot.txt")).returncode == 2


def test_what_is_no_tree_cannot_be_repaired(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(STATUS["no tree"][0])
    result = call("lint", path, "--fix")
    assert result.returncode == 2
    assert "there are 2 root links" in result.stdout
    assert result.stdout.splitlines()[-1] == "mend errors by hand: no file is repaired that has one"
    told = json.loads(call("lint", path, "--fix", "--json").stdout)
    assert told["findings"][0]["level"] == "error"
    assert (told["changes"], told["written"]) == ([], None)
    assert list(tmp_path.iterdir()) == [path]


def test_changes_are_told_as_json(bad: Path) -> None:
    told = json.loads(call("lint", bad, "--fix", "--json").stdout)
    assert told["written"] == str(bad.with_name("bad.fixed.urdf"))
    assert len(told["changes"]) == 24
    assert len(told["findings"]) == 25


@pytest.mark.parametrize("options", [{}, {"NO_COLOR": "1"}])
def test_colours_are_for_terminals_that_want_them(options: dict[str, str], bad: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "featherweight", "lint", str(bad)],
        env={**os.environ, "FORCE_COLOR": "1", "TERM": "xterm-256color", **options}, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert ("\x1b[31mwrong" in told) == (not options)
