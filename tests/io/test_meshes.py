"""Meshes are looked for inside the allowed folders only: where each is found, and what is said of the others."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest
from bad_models import GOOD

import featherweight as fw
from featherweight import ModelError
from peers.pinocchio_adapter import robots_folder

WHERE = '<link "base"> <visual> <mesh>'


def text_with(*names):
    """The good model with a mesh on each line from 3 on."""
    meshes = "".join(f'\n<visual><geometry><mesh filename="{name}"/></geometry></visual>' for name in names)
    return GOOD.replace('<link name="base"/>', f'<link name="base">{meshes}</link>')


@pytest.fixture
def tree(tmp_path):
    """share/arm_description/{urdf/robot.urdf, urdf/here.stl, meshes/arm.stl, out.stl -> secret}, secret.stl."""
    package = tmp_path / "share" / "arm_description"
    (package / "urdf").mkdir(parents=True)
    (package / "meshes").mkdir()
    for path in (package / "urdf" / "here.stl", package / "meshes" / "arm.stl", tmp_path / "secret.stl"):
        path.write_text("solid")
    (package / "out.stl").symlink_to(tmp_path / "secret.stl")
    (package / "inside.stl").symlink_to(package / "meshes" / "arm.stl")
    return tmp_path


def loaded(tree, name, **options):
    path = tree / "share" / "arm_description" / "urdf" / "robot.urdf"
    path.write_text(text_with(name))
    model = fw.load(path, **options)
    (shape,) = model.geometry
    assert shape.mesh == name
    return shape, model.notes


FOUND = {
    "beside the file": ("here.stl", (), "urdf/here.stl"),
    "beside the file, said at length": ("./x/..//here.stl", (), "urdf/here.stl"),
    "a package in a root": ("package://arm_description/meshes/arm.stl", ["share"], "meshes/arm.stl"),
    "a package that is a root": (
        "package://arm_description/meshes/arm.stl", ["share/arm_description"], "meshes/arm.stl"
    ),
    "a package with a slash more": ("package:///arm_description/meshes/arm.stl", ["share"], "meshes/arm.stl"),
    "in capitals": ("PACKAGE://arm_description/meshes/arm.stl", ["share"], "meshes/arm.stl"),
    "inside a package, up and down": ("package://arm_description/urdf/../meshes/arm.stl", ["share"], "meshes/arm.stl"),
    "up, inside a root": ("../meshes/arm.stl", ["share"], "meshes/arm.stl"),
    "a link inside": ("../inside.stl", ["share"], "meshes/arm.stl"),
    "beside the folder `urdf`": ("../meshes/arm.stl", (), "meshes/arm.stl"),
    "a package that the file is in": ("package://arm_description/meshes/arm.stl", (), "meshes/arm.stl"),
    "the second root": ("package://arm_description/meshes/arm.stl", [".", "share"], "meshes/arm.stl"),
}  # fmt: skip


@pytest.mark.parametrize("what", FOUND)
def test_a_mesh_inside_is_found(what, tree):
    name, roots, expected = FOUND[what]
    shape, notes = loaded(tree, name, roots=[tree / root for root in roots])
    assert shape.path == str((tree / "share" / "arm_description" / expected).resolve())
    assert notes == ()


@pytest.mark.parametrize("kind", ["", "file://"])
def test_an_absolute_path_inside_a_root_is_found(kind, tree):
    path = tree / "share" / "arm_description" / "meshes" / "arm.stl"
    assert loaded(tree, f"{kind}{path}", roots=[tree / "share"])[0].path == str(path.resolve())


@pytest.mark.parametrize("kind", [str, os.fsencode, Path])
def test_roots_may_be_text_bytes_or_paths(kind, tree):
    assert loaded(tree, "package://arm_description/meshes/arm.stl", roots=(kind(tree / "share"),))[0].path


OUTSIDE = {
    "climbing": ("../../../secret.stl", ()),  # out of the package that the folder `urdf` is in
    "climbing beside the package": ("../../other/x.stl", ()),
    "climbing far": ("../../../secret.stl", ["share"]),
    "climbing behind a folder that is not there": ("x/../../../../secret.stl", ["share"]),
    "climbing out of a package": ("package://arm_description/../../secret.stl", ["share"]),
    "climbing out of a package into a root": ("package://arm_description/../arm_description/out.stl", ["share"]),
    "climbing out of a package and back": ("package://arm_description/../arm_description/meshes/arm.stl", ["share"]),
    "no package at all": ("package://../secret.stl", ["share"]),
    "the root as a package": ("package://./secret.stl", ["share"]),
    "a link that leads outside": ("../out.stl", ["share"]),
    "a link that leads outside, of a package": ("package://arm_description/out.stl", ["share"]),
    "a link that leads outside, itself a root's neighbour": ("../out.stl", ["share/arm_description/meshes"]),
    "an address of a file": ("file:///etc/passwd", ["share"]),
    "an address of a file that is not absolute": ("file://secret.stl", ["."]),
    "absolute": ("/etc/passwd", ["share"]),
    "a folder that begins with the same letters": ("/{tree}/share2/x.stl", ["share"]),
    "an address of a file elsewhere": ("file://localhost/etc/passwd", ["share"]),
    "a drive of Windows": ("a:b.stl", ["share"]),
    "Windows": ("C:\\\\secret.stl", ["share"]),
    "a share of Windows": ("\\\\\\\\server\\\\secret.stl", ["share"]),
}


@pytest.mark.parametrize("what", OUTSIDE)
def test_a_mesh_outside_is_refused_and_has_no_path(what, tree):
    name, roots = OUTSIDE[what]
    name = name.replace("/{tree}", str(tree))
    roots = [tree / root for root in roots]
    with pytest.raises(ModelError, match="leads outside the allowed folders") as caught:
        loaded(tree, name, roots=roots, policy="strict")
    assert (caught.value.line, caught.value.element) == (3, WHERE)
    with pytest.warns(UserWarning, match="leads outside"):
        assert loaded(tree, name, roots=roots, policy="warn")[0].path is None
    path = tree / "share" / "arm_description" / "urdf" / "robot.urdf"
    repaired = fw.load(path, roots=roots, policy="repair")
    assert repaired.geometry == ()
    assert [note for note in repaired.notes if note.endswith(f"mesh {name!r} is left out")]


@pytest.mark.parametrize("name", ["http://localhost:1/a.stl", "https://x.org/a.stl", "ftp://x/a", "model://arm/a.stl"])
def test_nothing_is_fetched(name, tree):
    with pytest.raises(ModelError, match="is not fetched"):
        loaded(tree, name, roots=[tree], policy="strict")


MISSING = {
    "no such file": ("there.stl", "there is no mesh 'there.stl'"),
    "a folder": (".", "there is no mesh '.'"),
    "no shell, no home": ("~/x.stl", "there is no mesh '~/x.stl'"),
    "no variables": ("$HOME/x.stl", "there is no mesh '$HOME/x.stl'"),
    "no such file in a package": ("package://arm_description/no.stl", "there is no mesh"),
    "no such package": ("package://leg/no.stl", "there is no package 'leg' around the file: its mesh is not shown"),
}


@pytest.mark.parametrize("what", MISSING)
def test_a_mesh_that_is_not_there_is_noted(what, tree):
    name, message = MISSING[what]
    shape, notes = loaded(tree, name, roots=[tree / "share"])
    assert shape.path is None
    (note,) = notes
    assert note.startswith(f"line 3: {WHERE}: {message}")


def test_each_mesh_and_each_package_is_noted_once(tree):
    path = tree / "robot.urdf"
    path.write_text(text_with("no.stl", "no.stl", "package://leg/a.stl", "package://leg/b.stl", "package://arm/a.stl"))
    assert [(f.level, f.line) for f in fw.lint(path)] == [("note", 3), ("note", 5), ("note", 7)]


def test_lint_looks_in_roots_too(tree):
    path = tree / "robot.urdf"
    path.write_text(text_with("package://arm_description/meshes/arm.stl"))
    (finding,) = fw.lint(path)
    assert finding.message == "there is no package 'arm_description' around the file: its mesh is not shown"
    assert finding.fix == "name its folder in roots= (--root)"
    assert fw.lint(path, roots=[tree / "share"]) == []


def test_a_text_is_in_no_folder(tree, monkeypatch):
    monkeypatch.chdir(tree / "share" / "arm_description" / "urdf")
    (shape,) = fw.loads(text_with("here.stl")).geometry
    assert shape.path is None
    assert fw.loads(text_with("here.stl")).notes == ()  # there is nowhere to look
    (shape,) = fw.loads(text_with("here.stl"), roots=["."]).geometry
    assert shape.path == str(Path("here.stl").resolve())
    with pytest.raises(ModelError, match="outside"):
        fw.loads(text_with("../meshes/arm.stl"), policy="strict")


def test_a_file_named_without_its_folder(tree, monkeypatch):
    monkeypatch.chdir(tree / "share" / "arm_description" / "urdf")
    Path("robot.urdf").write_text(text_with("here.stl"))
    assert fw.load("robot.urdf").geometry[0].path == str(Path("here.stl").resolve())


@pytest.mark.parametrize("roots", ["share", b"share", Path("share"), None, 3])
def test_what_are_no_roots(roots):
    with pytest.raises(TypeError, match="roots: expected a list of folders"):
        fw.loads(GOOD, roots=roots)


def test_roots_that_are_no_folders(tree):
    with pytest.raises(TypeError, match="roots: expected folders, got 3"):
        fw.loads(GOOD, roots=[3])
    with pytest.raises(ModelError, match=r"roots: '.*nowhere' is not a folder"):
        fw.loads(GOOD, roots=[tree / "nowhere"])


def test_saving_keeps_the_name_as_it_was(tree):
    path = tree / "share" / "arm_description" / "urdf" / "robot.urdf"
    path.write_text(text_with("package://arm_description/meshes/arm.stl", "./here.stl"))
    model = fw.load(path, roots=[tree / "share"])
    fw.save_urdf(model, tree / "saved.urdf")
    other = fw.load(tree / "saved.urdf")
    assert [g.mesh for g in other.geometry] == ["package://arm_description/meshes/arm.stl", "./here.stl"]
    assert [g.path for g in other.geometry] == [None, None]
    assert other.geometry == model.geometry  # where a mesh was found is not part of the robot
    assert pickle.loads(pickle.dumps(model)).geometry[0].path == model.geometry[0].path


def test_a_very_long_name_takes_no_time(tree):
    path = tree / "robot.urdf"
    path.write_text(text_with("x/" * 200_000 + "y.stl"))
    assert fw.load(path).geometry[0].path is None


def test_published_robots_find_their_meshes():
    root = robots_folder().parents[1]
    model = fw.load(robots_folder() / "go2_description/urdf/go2.urdf", roots=[root])
    meshes = [g for g in model.geometry if g.kind == "mesh"]
    assert meshes
    assert all(g.path is not None and os.path.isfile(g.path) for g in meshes)
    assert all(os.path.basename(g.path) == os.path.basename(g.mesh) for g in meshes)
