"""SRDF files: collisions that they disable, and what is told of the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

import featherweight as fw
from featherweight.errors import ModelError

BALL = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def robot(links: int = 4) -> str:
    text = "".join(f'<link name="l{k}">{INERTIAL}{BALL}</link>' for k in range(links))
    for k in range(1, links):
        text += f'<joint name="j{k}" type="continuous"><parent link="l{k - 1}"/><child link="l{k}"/>'
        text += '<origin xyz="1 0 0"/></joint>'
    return f'<robot name="r">{text}</robot>'


def srdf(tmp_path: Path, inside: str) -> Path:
    path = tmp_path / "r.srdf"
    path.write_text(f'<?xml version="1.0"?><robot name="r">{inside}</robot>')
    return path


def used(model: fw.Model) -> list[str]:
    return sorted(f"{pair.a} {pair.b}" for pair in model.collision_pairs() if pair.used)


def test_disabled_pairs_are_left_out(tmp_path: Path) -> None:
    file = srdf(tmp_path, '<group name="arm"/><disable_collisions link1="l3" link2="l0" reason="Never"/>')
    urdf = tmp_path / "r.urdf"
    urdf.write_text(robot())
    assert used(fw.load(urdf)) == ["l0 l2", "l0 l3", "l1 l3"]
    model = fw.load(urdf, srdf=file)
    assert used(model) == used(fw.loads(robot(), srdf=str(file))) == ["l0 l2", "l1 l3"]
    assert model.excluded == (("l3", "l0"),)
    assert not model.notes


def test_links_that_are_not_there_are_notes(tmp_path: Path) -> None:
    file = srdf(tmp_path, '<disable_collisions link1="l33" link2="l0"/>\n<enable_collisions link1="l1" link2="l0"/>')
    model = fw.loads(robot(), srdf=file)
    assert model.excluded == ()
    first, second = model.notes
    assert first == f"{file}:1: <disable_collisions>: the robot has no link 'l33'; did you mean 'l3'?"
    assert second == f"{file}:2: <enable_collisions> is not used"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot><disable_collisions link1='a'/></robot>", r":1: <disable_collisions>: expected link1 and link2"),
        ("<sdf/>", "expected an SRDF file"),
        ("<robot>", "r.srdf"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><robot>&a;</robot>', "document types"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "r.srdf"
    file.write_text(text)
    with pytest.raises(ModelError, match=message):
        fw.loads(robot(), srdf=file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot read the file: No such file"):
        fw.loads(robot(), srdf=tmp_path / "no.srdf")
