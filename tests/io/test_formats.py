"""Files of other formats are answered by name, whatever their endings."""

from __future__ import annotations

from pathlib import Path

import pytest
from bad_models import GOOD

import featherweight as fw
from featherweight import ModelError

OTHERS = {
    "MJCF": ("<mujoco model='m'><worldbody/></mujoco>", "an MJCF file .MuJoCo., which a later version will read"),
    "MJCF behind comments": ("<?xml version='1.0'?>\n<!-- <robot> -->\n <mujoco/>", "an MJCF file"),
    "SDF": ("<?xml version='1.0'?><sdf version='1.9'><model name='m'/></sdf>", "an SDF file .Gazebo."),
    "USD": ("#usda 1.0\n(\n)\n", "a USD file"),
    "USD in bytes": (b"PXR-USDC\0\0\0", "a USD file"),
    "USD in an archive": (b"PK\x03\x04rest", "an archive .ZIP, or USD as .usdz."),
    "SRDF": ("<robot name='r'><group name='arm'/></robot>", "an SRDF file"),
    "a mesh": ("<COLLADA version='1.4.1'/>", "a mesh .COLLADA."),
    "a mesh of triangles": ("solid x\nfacet", "a mesh .STL."),
    "a web page": ("<!DOCTYPE html>\n<html><body>robot.urdf</body></html>", "a web page; download the file itself"),
    "a launch file": ("<launch><param name='robot_description'/></launch>", "a launch file"),
    "a pointer": ("version https://git-lfs.github.com/spec/v1\noid sha256:1", "a pointer of Git LFS"),
}


@pytest.mark.parametrize("what", OTHERS)
def test_other_formats_are_answered_by_name(what: str, tmp_path: Path) -> None:
    text, answer = OTHERS[what]
    data = text.encode() if isinstance(text, str) else text
    path = tmp_path / "robot.urdf"
    path.write_bytes(data)
    for policy in ("strict", "warn", "repair"):
        with pytest.raises(ModelError, match=f"this is {answer}") as caught:
            fw.load(path, policy=policy)
        assert caught.value.file == str(path)
    (finding,) = fw.lint(path)
    assert (finding.level, finding.kind) == ("error", "format")
    assert finding.message.startswith("this is ") or finding.message.startswith("<")
    with pytest.raises(ModelError, match=f"this is {answer}"):
        fw.loads(data)


@pytest.mark.parametrize("before", ["", "\ufeff", "<?xml version='1.0'?>", "<!-- <mujoco> --><!-- <sdf> -->\n", "\n\n"])
def test_urdf_is_not_mistaken_for_another(before: str) -> None:
    text = GOOD.partition("?>")[2] if GOOD.startswith("<?xml") else GOOD
    assert fw.loads(before + text).nv == fw.loads(GOOD).nv


def test_a_robot_with_groups_is_not_taken_for_srdf() -> None:
    assert fw.loads(GOOD.replace("</robot>", '<group name="arm"/></robot>')).nv == fw.loads(GOOD).nv


def test_long_comments_take_linear_time() -> None:
    with pytest.raises(ModelError):
        fw.loads(b"<!--" * 2_000_000)
