"""Packages are found around a file and where the environment leads, and nothing becomes allowed that should not be."""

from __future__ import annotations

from pathlib import Path

import pytest
from bad_models import GOOD

import featherweight as fw
from featherweight import ModelError


def text_with(*names: str) -> str:
    meshes = "".join(f'\n<visual><geometry><mesh filename="{name}"/></geometry></visual>' for name in names)
    return GOOD.replace('<link name="base"/>', f'<link name="base">{meshes}</link>')


def put(path: Path, text: str = "solid") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def found(file: Path, name: str) -> str | None:
    put(file, text_with(name))
    (shape,) = fw.load(file).geometry
    return shape.path


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "house"))


AROUND = {
    "the package itself": ("ws/arm/urdf/arm.urdf", "arm", "ws/arm/meshes/a.stl"),
    "far above": ("ws/arm/robots/left/v2/arm.urdf", "arm", "ws/arm/meshes/a.stl"),
    "a neighbour": ("ws/arm/urdf/arm.urdf", "hand", "ws/hand/meshes/a.stl"),
    "a neighbour of what is above": ("ws/src/group/arm/urdf/arm.urdf", "hand", "ws/src/hand/meshes/a.stl"),
    "below the file": ("ws/arm.urdf", "hand", "ws/hand/meshes/a.stl"),
    "a package in the home folder": ("house/arm/urdf/arm.urdf", "arm", "house/arm/meshes/a.stl"),
}


@pytest.mark.parametrize("what", AROUND)
def test_a_package_around_the_file_is_found(what: str, tmp_path: Path) -> None:
    file, package, mesh = AROUND[what]
    path = put(tmp_path / mesh)
    assert found(tmp_path / file, f"package://{package}/meshes/a.stl") == str(path.resolve())


def test_a_manifest_names_its_folder(tmp_path: Path) -> None:
    """Clones of a repository are called anything."""
    path = put(tmp_path / "clone-1" / "meshes" / "a.stl")
    put(tmp_path / "clone-1" / "package.xml", "<package><!-- --><name> arm </name></package>")
    assert found(tmp_path / "clone-1" / "any" / "arm.urdf", "package://arm/meshes/a.stl") == str(path.resolve())
    assert found(tmp_path / "clone-1" / "any" / "arm.urdf", "../meshes/a.stl") == str(path.resolve())


def test_the_nearest_is_meant_and_given_roots_go_first(tmp_path: Path) -> None:
    near = put(tmp_path / "ws" / "arm" / "meshes" / "a.stl")
    far = put(tmp_path / "arm" / "meshes" / "a.stl")
    file = tmp_path / "ws" / "arm" / "urdf" / "arm.urdf"
    assert found(file, "package://arm/meshes/a.stl") == str(near.resolve())
    (shape,) = fw.load(file, roots=[tmp_path / "arm"]).geometry
    assert shape.path == str(far.resolve())
    far.unlink()  # what a root has not is looked for around the file
    (shape,) = fw.load(file, roots=[tmp_path / "arm"]).geometry
    assert shape.path == str(near.resolve())


def test_the_environment_of_ros_is_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, name = tmp_path / "elsewhere" / "arm.urdf", "package://hand/meshes/a.stl"
    assert found(file, name) is None
    for variable, value, mesh in (
        ("ROS_PACKAGE_PATH", "one:{0}/ws/src", "ws/src/hand/meshes/a.stl"),
        ("ROS_PACKAGE_PATH", "{0}/ws2", "ws2/repository/hand/meshes/a.stl"),
        ("ROS_PACKAGE_PATH", "{0}/ws3/hand", "ws3/hand/meshes/a.stl"),
        ("AMENT_PREFIX_PATH", "{0}/opt:none", "opt/share/hand/meshes/a.stl"),
    ):
        path = put(tmp_path / mesh)
        with monkeypatch.context() as patch:
            patch.setenv(variable, value.format(tmp_path))
            assert found(file, name) == str(path.resolve())
            (shape,) = fw.loads(text_with(name)).geometry  # a text has the environment too
            assert shape.path == str(path.resolve())


HIDDEN = {
    "the home folder": ("house/downloads/x.urdf", "package://house/secret.stl"),
    "a folder in the home folder": ("house/downloads/x.urdf", "package://private/secret.stl"),
    "what holds the home folder": ("house/downloads/x.urdf", "package://{0}/house/secret.stl"),
}


@pytest.mark.parametrize("what", HIDDEN)
def test_the_home_folder_is_no_package(what: str, tmp_path: Path) -> None:
    """There, any name is that of a folder."""
    put(tmp_path / "house" / "secret.stl")
    put(tmp_path / "house" / "private" / "secret.stl")
    file, name = HIDDEN[what]
    assert found(tmp_path / file, name.format(tmp_path.name)) is None


@pytest.mark.parametrize("inside", ["../secret.stl", "meshes/../../secret.stl", "out.stl"])
def test_a_name_does_not_lead_out_of_a_package_that_was_found(inside: str, tmp_path: Path) -> None:
    put(tmp_path / "ws" / "secret.stl")
    put(tmp_path / "ws" / "hand" / "meshes" / "a.stl")
    (tmp_path / "ws" / "hand" / "out.stl").symlink_to(tmp_path / "ws" / "secret.stl")
    file = put(tmp_path / "ws" / "arm" / "urdf" / "arm.urdf", text_with(f"package://hand/{inside}"))
    with pytest.raises(ModelError, match="leads outside the allowed folders"):
        fw.load(file, policy="strict")


def test_a_package_that_is_found_opens_nothing_else(tmp_path: Path) -> None:
    """Paths that do not name it stay outside."""
    put(tmp_path / "ws" / "hand" / "meshes" / "a.stl")
    names = ("package://hand/meshes/a.stl", "../../hand/meshes/a.stl")
    file = put(tmp_path / "ws" / "arm" / "urdf" / "arm.urdf", text_with(*names))
    with pytest.raises(ModelError, match="leads outside"):
        fw.load(file, policy="strict")


def test_missing_meshes_are_told_once_for_each_package(tmp_path: Path) -> None:
    put(tmp_path / "ws" / "hand" / "there.stl")
    names = [f"package://{package}/{k}.stl" for package in ("arm", "hand", "leg") for k in range(3)]
    file = put(
        tmp_path / "ws" / "arm" / "urdf" / "arm.urdf", text_with(*names, "x.stl", "y.stl", "package://toe/1.stl")
    )
    told = [(finding.line, finding.message, finding.fix) for finding in fw.lint(file)]
    place, beside = "name its folder in roots= (--root)", "put it beside the file, or name its folder in roots="
    assert told == [
        (3, "3 meshes of package 'arm' are not there, the first is 'package://arm/0.stl'", place),
        (6, "3 meshes of package 'hand' are not there, the first is 'package://hand/0.stl'", place),
        (9, "there is no package 'leg' around the file: its 3 meshes are not shown", place),
        (12, "2 meshes are not there, the first is 'x.stl'", beside),
        (14, "there is no package 'toe' around the file: its mesh is not shown", place),
    ]
