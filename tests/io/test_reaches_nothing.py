"""Loading opens the file and nothing else: no other file, no socket, no code, no import after the first."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest
from bad_models import ALL, GOOD, shape

import featherweight as fw

# What a hook hears while a file is loaded for the second time.
SPY = textwrap.dedent("""
    import json, sys, warnings
    warnings.simplefilter("ignore")
    import featherweight as fw
    first, path, function, options = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
    fw.load(first, policy="repair"), fw.load(first, policy="warn"), fw.lint(first)  # imports what is needed
    heard, listening = [], False
    harmless = ("object.__getattr__", "object.__setattr__", "sys._getframe")

    def hook(event, arguments):
        if listening and event not in harmless:
            heard.append([event, [str(a) for a in arguments]])

    sys.addaudithook(hook)
    before = set(sys.modules)
    listening = True
    try:
        getattr(fw, function)(path, **options)
        outcome = "loaded"
    except fw.ModelError:
        outcome = "refused"
    listening = False
    print(json.dumps({"heard": heard, "imported": sorted(set(sys.modules) - before), "outcome": outcome}))
""")

PATHS = (
    "package://../../etc/passwd",
    "package://r/meshes/../../../../../etc/passwd",
    "file:///etc/passwd",
    "/etc/passwd",
    "../../../../etc/passwd",
    "http://localhost:1/mesh.stl",
    "\\\\server\\share\\mesh.stl",
    "~/mesh.stl",
    "$HOME/mesh.stl",
    "mesh.stl; rm -rf /",
)
MESHES = "".join(f"<visual><geometry><mesh filename='{path}'/></geometry></visual>" for path in PATHS)
ROBOT = GOOD.replace('<link name="base"/>', f'<link name="base">{MESHES}{MESHES.replace("visual", "collision")}</link>')


def spy(path, first, function="load", **options):
    command = [sys.executable, "-c", SPY, str(first), str(path), function, json.dumps(options)]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return json.loads(result.stdout)


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "good.urdf"
    path.write_text(GOOD)
    return path


def only_reads(heard, path):
    """The file is opened to be read, and nothing else is heard."""
    assert [event for event, _ in heard] == ["open"], heard
    name, mode, _ = heard[0][1]
    assert (name, mode) == (str(path), "r" if mode == "r" else "rb")


@pytest.mark.parametrize("options", [{"policy": "strict"}, {"base": "free", "policy": "repair"}, {"contact": False}])
def test_loading_opens_the_file_and_nothing_else(options, good, tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(ROBOT)
    found = spy(path, good, **options)
    assert found["outcome"] == ("refused" if options.get("policy") == "strict" else "loaded")
    assert found["imported"] == []
    only_reads(found["heard"], path)


def test_meshes_that_are_there_are_not_opened(good, tmp_path):
    """In the folder of the file, in a package below another root, and behind a link that leads outside."""
    folder, share = tmp_path / "robot", tmp_path / "share"
    (share / "arm").mkdir(parents=True)
    folder.mkdir()
    for mesh in (folder / "a.stl", share / "arm" / "b.stl", tmp_path / "secret.stl"):
        mesh.write_text("solid")
    (folder / "link.stl").symlink_to(tmp_path / "secret.stl")
    meshes = [f"<visual><geometry><mesh filename='{m}'/></geometry></visual>" for m in ("a.stl", "package://arm/b.stl")]
    path = folder / "robot.urdf"
    path.write_text(GOOD.replace('<link name="base"/>', f'<link name="base">{"".join(meshes)}</link>'))
    found = spy(path, good, roots=[str(share)])
    assert found["outcome"] == "loaded"
    only_reads(found["heard"], path)
    (folder / "package.xml").write_text("<package><name>leg</name></package>")  # may be asked which package this is
    found = spy(path, good, roots=[str(share)])
    assert {given[0] for event, given in found["heard"] if event == "open"} == {str(path), str(folder / "package.xml")}
    (folder / "package.xml").unlink()
    path.write_text(path.read_text().replace("a.stl", "link.stl"))
    found = spy(path, good, roots=[str(share)], policy="strict")
    assert found["outcome"] == "refused"
    assert found["imported"] == []
    only_reads(found["heard"], path)


def test_lint_opens_the_file_and_nothing_else(good, tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(ROBOT)
    found = spy(path, good, "lint")
    assert found["imported"] == []
    only_reads(found["heard"], path)


@pytest.mark.parametrize("name", ["external entity", "parameter entity", "external document type", "billion laughs"])
def test_a_refused_document_reaches_nothing(name, good, tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_bytes(next(bad for bad in ALL if bad.name == name).data)
    found = spy(path, good)
    assert found["outcome"] == "refused"
    assert found["imported"] == []
    only_reads(found["heard"], path)


@pytest.mark.parametrize("encoding", ["iso8859_5", "klingon"])
def test_an_encoding_that_is_named_imports_nothing(encoding, good, tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(f'<?xml version="1.0" encoding="{encoding}"?>\n{GOOD}')
    found = spy(path, good)
    assert found["imported"] == []
    only_reads(found["heard"], path)


def test_the_hook_hears_what_it_should(good, tmp_path):
    """A hook that hears nothing would make every test here pass."""
    code = SPY.replace("getattr(fw, function)(path, **options)", "open(path).close(); import this; eval('1')")
    result = subprocess.run(
        [sys.executable, "-c", code, str(good), str(good), "load", "{}"],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    heard = {event for event, _ in json.loads(result.stdout.splitlines()[-1])["heard"]}
    assert {"open", "import", "compile", "exec"} <= heard


@pytest.mark.filterwarnings("ignore")
def test_paths_of_meshes_are_only_kept_as_text(tmp_path):
    (tmp_path / "robot.urdf").write_text(ROBOT)
    model = fw.load(tmp_path / "robot.urdf", policy="warn")
    assert [g.mesh for g in model.geometry if g.role == "visual"] == list(PATHS)
    assert [g.mesh for g in model.geometry if g.role == "collision"] == list(PATHS)
    assert {g.path for g in model.geometry} == {None}
    assert model.contact_points == ()


@pytest.mark.parametrize("text", ["__import__('os').getcwd()", "1+1", "{0.__class__}", "%(x)s", "1;2", "`id`", "$(id)"])
def test_nothing_is_evaluated(text):
    quoted = text.replace("'", "&apos;")
    with pytest.raises(fw.ModelError, match=r"is not a number|expected a number|is an expression of xacro"):
        fw.loads(shape(f'<geometry><sphere radius="{quoted}"/></geometry>'), policy="strict")
    assert fw.loads(GOOD.replace("arm", quoted)).names[1] == text
