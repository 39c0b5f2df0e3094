"""Robots by name, from packages that have them: found where they are, told what to do where they are not."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest
from bad_models import GOOD

import featherweight as fw
from featherweight import ModelError
from featherweight.io import catalogue

MODULE = """
from os import getenv as _getenv
from os import path as _path
from ._cache import clone_to_cache as _clone_to_cache
REPOSITORY_PATH: str = _clone_to_cache("dogs", commit=_getenv("ROBOT_DESCRIPTION_COMMIT", None))
PACKAGE_PATH: str = _path.join(REPOSITORY_PATH, "robots", "dog_description")
{kind}_PATH: str = _path.join(PACKAGE_PATH, "{file}")
"""
DOG = GOOD.replace(
    '<link name="base"/>',
    '<link name="base"><visual><geometry><mesh filename="package://dog_description/meshes/a.stl"/></geometry></visual></link>',
)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package laid out as robot_descriptions is, whose `_cache` ends the test; and an empty cache."""
    folder = tmp_path / "site" / "robot_descriptions"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "_cache.py").write_text("raise SystemExit('Git and the network are not for us')")
    (folder / "_repositories.py").write_text(
        textwrap.dedent("""
        class Repository:
            cache_path, commit, url = "unitree", "abc", "https://example.org"
        REPOSITORIES = {"dogs": Repository()}
        """)
    )
    for name, kind, file in (
        ("dog_description", "URDF", "urdf/dog.urdf"),
        ("cat_description", "XACRO", "urdf/dog.urdf"),
        ("cat_mj_description", "MJCF", "cat.xml"),
        ("bird_mj_description", "MJCF", "bird.xml"),
        ("fish_description", "MJCF", "fish.xml"),
        ("_empty_description", "URDF", "none.urdf"),
    ):
        (folder / f"{name}.py").write_text(MODULE.format(kind=kind, file=file))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ROBOT_DESCRIPTION_COMMIT", raising=False)
    yield tmp_path / "cache"
    for name in [name for name in sys.modules if name.partition(".")[0] == "robot_descriptions"]:
        del sys.modules[name]


def cloned(cache: Path, below: str = "unitree") -> Path:
    """The files, as if they had been fetched."""
    robot = cache / below / "robots" / "dog_description"
    (robot / "urdf").mkdir(parents=True)
    (robot / "meshes").mkdir()
    (robot / "urdf" / "dog.urdf").write_text(DOG)
    (robot / "meshes" / "a.stl").write_text("solid")
    return robot


@pytest.mark.parametrize("name", ["dog", "dog_description", "cat"])
def test_a_robot_that_is_there_is_loaded_with_its_meshes(name: str, package: Path) -> None:
    robot = cloned(package)
    model = fw.load(f"robot_descriptions:{name}")
    assert model.description.file == str(robot / "urdf" / "dog.urdf")
    assert model.geometry[0].path == str(robot / "meshes" / "a.stl")
    assert fw.lint(f"robot_descriptions:{name}") == []


def test_nothing_of_it_stays_imported(package: Path) -> None:
    cloned(package)
    before = set(sys.modules)
    fw.load("robot_descriptions:dog")
    assert not {name for name in set(sys.modules) - before if "_cache" in name or "dog" in name}


def test_a_commit_has_a_folder_of_its_own(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = cloned(package, "unitree-1234/unitree")
    monkeypatch.setenv("ROBOT_DESCRIPTION_COMMIT", "1234")
    assert fw.load("robot_descriptions:dog").description.file == str(robot / "urdf" / "dog.urdf")


def test_files_that_are_not_there_are_not_fetched(package: Path) -> None:
    with pytest.raises(ModelError, match="the files of 'dog_description' are not there") as caught:
        fw.load("robot_descriptions:dog")
    assert str(caught.value).endswith("run python -m robot_descriptions pull dog_description")
    (package / "unitree").mkdir(parents=True)  # a repository without the file
    with pytest.raises(ModelError, match="are not there"):
        fw.load("robot_descriptions:dog")


@pytest.mark.parametrize("name", ["cat_mj", "cat_mj_description", "bird", "fish"])
def test_mjcf_alone_is_told(name: str, package: Path) -> None:
    cloned(package)
    with pytest.raises(ModelError, match="as MJCF only, which a later version will read"):
        fw.load(f"robot_descriptions:{name}")


def test_unknown_names_are_told_with_near_ones(package: Path) -> None:
    with pytest.raises(ModelError, match="robot_descriptions has no robot 'dogg'; did you mean 'dog'"):
        fw.load("robot_descriptions:dogg")
    with pytest.raises(ModelError, match="robot_descriptions has no robot '_empty'"):
        fw.load("robot_descriptions:_empty")


def test_without_the_package_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)
    monkeypatch.setattr(catalogue.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match="pip install robot_descriptions"):
        fw.load("robot_descriptions:go2")
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "prefix", "/nowhere")
    with pytest.raises(ModelError, match="pip install example-robot-data"):
        fw.load("example-robot-data:go2")


def test_a_command_takes_names_too(package: Path) -> None:
    pytest.importorskip("typer")
    from cli.command_line import call

    cloned(package)
    done = call("info", "robot_descriptions:dog")
    assert done.returncode == 0, done.stderr
    assert "1 bod" in done.stdout
    assert call("lint", "robot_descriptions:dog").returncode == 0
    assert "by --out" in call("lint", "robot_descriptions:dog", "--fix").stderr
    for command in ("info", "view"):
        done = call(command, "robot_descriptions:dogs")
        assert done.returncode == 2
        assert "did you mean 'dog'" in done.stderr.replace("\n", " ")


def test_robots_of_example_robot_data() -> None:
    pytest.importorskip("pinocchio")
    model = fw.load("example-robot-data:go2", policy="warn")
    assert model.name == "go2_description"
    assert all(shape.path for shape in model.geometry)
    assert fw.load("example-robot-data:anymal_c_simple", policy="warn").name == "anymal"
    with pytest.raises(ModelError, match="several robots named 'anymal'; give one of 'anymal_b_simple', 'anymal_c_"):
        fw.load("example-robot-data:anymal")
    with pytest.raises(ModelError, match=r"no robot 'ur5'; did you mean 'ur5_[a-z_]*' or 'ur5_[a-z_]*' or 'ur5_"):
        fw.load("example-robot-data:ur5")
    with pytest.raises(ModelError, match="example-robot-data has no robot 'go3'; did you mean 'go"):
        fw.load("example-robot-data:go3")
