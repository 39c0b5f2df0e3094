"""Files that must not load: each has its message, with file, line, element, what is wrong and what to do."""

from __future__ import annotations

import builtins
import os
import re
import time
from pathlib import Path

import pytest
from bad_models import ALL, GOOD, said_of

import featherweight as fw
from featherweight import ModelError

BY_NAME = {bad.name: bad for bad in ALL}
# Not about one place in the file
WITHOUT_A_LINE = {"empty", "only spaces", "too large"}


def caught_of(bad, path):
    path.write_bytes(bad.data)
    with pytest.raises(ModelError) as caught:
        fw.load(path, policy="strict")
    return caught.value


def test_the_good_model_is_good(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(GOOD)
    model = fw.load(path)
    assert model.notes == ()
    assert fw.lint(path) == []
    assert (model.nv, model.joint_names) == (1, ("hinge",))


def test_there_are_more_than_a_hundred_and_each_has_a_name_of_its_own():
    assert len(BY_NAME) == len(ALL) > 100


@pytest.mark.parametrize("name", BY_NAME)
def test_a_bad_model_is_refused_with_its_message(name, tmp_path):
    bad = BY_NAME[name]
    start = time.process_time()
    assert said_of(bad, tmp_path / "robot.urdf") == bad.message
    assert time.process_time() - start < 2


# What leaves open which links and joints make the tree, or where the joints are: no policy reads it.
REFUSED_BY_ALL = """
    no link, two roots, seven roots, circle, circle beside the root, self-loop, two parents, duplicate link,
    duplicate joint, dangling parent, dangling child, dangling child far from any, link without a name,
    link with an empty name, link with a name of spaces, joint without a name, joint with an empty name,
    joint without a type, unknown joint type, joint type in capitals, joint without a parent, joint without a child,
    parent without a link, NaN, infinity, minus infinity, too large a number, too far away, underscore, hexadecimal,
    Arabic digits, decimal comma, a unit, two signs, half an exponent, an expression of xacro, too few numbers,
    too many numbers, numbers with commas between, numbers with semicolons between, no numbers,
    a long text for a number, not XML, JSON, truncated, truncated in a tag, mismatched tags, attribute twice,
    attribute without quotes, wrong outermost element, SDF, MuJoCo's format, empty, only spaces, only a comment,
    a NUL byte, only NUL bytes, a control character, a ZIP file, document type, billion laughs, external entity,
    parameter entity, external document type, an entity that is not defined, bytes of another encoding,
    half a UTF-16 file, too deep, too many elements, too large
"""
ALWAYS = {" ".join(name.split()) for name in REFUSED_BY_ALL.split(",")}


def test_the_names_of_those_that_are_always_refused_are_names():
    assert set(BY_NAME) >= ALWAYS


@pytest.mark.parametrize("name", BY_NAME)
def test_whatever_is_a_tree_loads_by_default(name):
    if name in ALWAYS:
        for policy in ("warn", "repair"):
            with pytest.raises(ModelError):
                fw.loads(BY_NAME[name].data, policy=policy)
    else:
        with pytest.warns(UserWarning, match="wrong; the robot is taken all the same"):
            fw.loads(BY_NAME[name].data)
        fw.loads(BY_NAME[name].data, policy="repair")


@pytest.mark.parametrize("name", BY_NAME)
def test_the_error_knows_file_line_and_element(name, tmp_path):
    path = tmp_path / "robot.urdf"
    error = caught_of(BY_NAME[name], path)
    assert type(error) is ModelError
    assert isinstance(error, ValueError)
    place = re.fullmatch(r"(?s)FILE(?::(\d+))?: (<.*?>(?: <[^:]*>)*(?=: ))?.*", BY_NAME[name].message)
    if place is None:
        pytest.xfail("the message says nothing of the file")
    assert error.file == str(path)
    assert error.line == (int(place[1]) if place[1] else None)
    assert error.element == place[2]
    if error.line is None and name not in WITHOUT_A_LINE:
        pytest.xfail("the message says nothing of the line")


@pytest.mark.parametrize("name", BY_NAME)
def test_lint_finds_it_too(name, tmp_path):
    """And does not raise: it is for files that are not good."""
    path = tmp_path / "robot.urdf"
    error = caught_of(BY_NAME[name], path)
    found = [finding for finding in fw.lint(path) if finding.level in ("error", "wrong")]
    if error.line is None and not found:
        pytest.xfail("found only when the model is built")
    assert found[0].line == (error.line or 0)
    assert found[0].message in str(error)
    assert found[0].fix in str(error)
    assert [finding.line for finding in found] == sorted(finding.line for finding in found)


OF_BYTES = [
    "a space before the declaration",
    "unknown encoding",
    "an encoding that is none",
    "an encoding of several bytes",
    "UTF-16 by name only",
]
OF_TEXT = [bad.name for bad in ALL if isinstance(bad.text, str) and bad.name not in OF_BYTES]


@pytest.mark.parametrize("name", OF_TEXT)
def test_text_is_refused_like_a_file(name):
    bad = BY_NAME[name]
    with pytest.raises(ModelError) as caught:
        fw.loads(bad.text, policy="strict")
    assert caught.value.file is None
    assert str(caught.value) == re.sub("^FILE(:(?=[0-9])|: )", "", bad.message)


@pytest.mark.parametrize("name", OF_BYTES)
def test_text_has_no_encoding(name):
    assert fw.loads(BY_NAME[name].text).nv == 1


# ---- paths


def test_a_missing_file(tmp_path):
    path = tmp_path / "robot.urdf"
    with pytest.raises(ModelError) as caught:
        fw.load(path)
    assert str(caught.value) == f"{path}: cannot read the file: No such file or directory"
    assert caught.value.file == str(path)
    assert [finding.message for finding in fw.lint(path)] == ["cannot read the file: No such file or directory"]


def test_a_folder(tmp_path):
    with pytest.raises(ModelError) as caught:
        fw.load(tmp_path)
    assert str(caught.value) == f"{tmp_path}: cannot read the file: Is a directory"


def test_a_file_below_a_file(tmp_path):
    (tmp_path / "robot.urdf").write_text(GOOD)
    path = tmp_path / "robot.urdf" / "arm.urdf"
    with pytest.raises(ModelError) as caught:
        fw.load(path)
    assert str(caught.value) == f"{path}: cannot read the file: Not a directory"


def test_a_file_one_may_not_read(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "robot.urdf"
    path.write_text(GOOD)
    path.chmod(0)
    if os.access(path, os.R_OK):  # root may
        monkeypatch.setattr(builtins, "open", refuse)
    with pytest.raises(ModelError) as caught:
        fw.load(path)
    assert str(caught.value) == f"{path}: cannot read the file: Permission denied"


def test_a_path_with_a_nul():
    with pytest.raises(ModelError) as caught:
        fw.load("robot\0.urdf")
    assert str(caught.value) == "robot\0.urdf: cannot read the file: embedded null byte"


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless file here")
def test_an_endless_file():
    with pytest.raises(ModelError, match="at most 20000000 bytes are read"):
        fw.load("/dev/zero")


@pytest.mark.parametrize("path", [None, 1.5, ["robot.urdf"], {"path": "robot.urdf"}, object()])
@pytest.mark.parametrize("function", [fw.load, fw.lint])
def test_what_is_no_path(function, path):
    with pytest.raises(TypeError, match=f"path: expected a path, got {type(path).__name__}"):
        function(path)


def test_the_name_of_a_file_is_no_text():
    with pytest.raises(
        ModelError, match=r"text: expected URDF text, got 'robot\.urdf'; fw\.load takes the name of a file"
    ):
        fw.loads("robot.urdf")


@pytest.mark.parametrize("text", [None, 1.5, ["<robot/>"], bytearray(b"<robot/>"), Path("robot.urdf")])
def test_what_is_no_text(text):
    with pytest.raises(TypeError, match=f"text: expected URDF text, got {type(text).__name__}"):
        fw.loads(text)


# ---- options


@pytest.mark.parametrize("base", ["float", "", None, 3, ["free"], True])
def test_what_is_no_base(base):
    with pytest.raises(ModelError, match=re.escape(f"base: expected one of fixed, free, got {base!r}")):
        fw.loads(GOOD, base=base)


@pytest.mark.parametrize("policy", ["accept", "", None, 3])
def test_what_is_no_policy(policy):
    with pytest.raises(ModelError, match=re.escape(f"policy: expected one of strict, repair, warn, got {policy!r}")):
        fw.loads(GOOD, policy=policy)


@pytest.mark.parametrize("gravity", [None, 9.81, (0, 0), (0, 0, float("nan")), "down"])
def test_what_is_no_gravity(gravity):
    with pytest.raises(ModelError, match="gravity: expected"):
        fw.loads(GOOD, gravity=gravity)


@pytest.mark.parametrize("names", [["arm"], ["arm.weight"], ["nobody.mass"], "arm.mass"])
def test_what_are_no_parameters(names):
    with pytest.raises(ModelError, match="parameter"):
        fw.loads(GOOD, parameters=names)


# ---- what must load


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "iso-8859-1"])
def test_well_formed_files_in_other_encodings_load(encoding, tmp_path):
    path = tmp_path / "robot.urdf"
    name = {"utf-8-sig": "utf-8", "utf-16-le": "utf-16", "utf-16-be": "utf-16"}.get(encoding, encoding)
    text = f'<?xml version="1.0" encoding="{name}"?>\n{GOOD.replace("arm", "bräs")}'
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    path.write_bytes(mark + text.encode(encoding))
    assert fw.load(path).names == ("world", "bräs")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1", "klingon"])
def test_the_encoding_a_text_claims_does_not_matter(encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n{GOOD.replace("arm", "脚")}'
    assert fw.loads(text).names == ("world", "脚")


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_them(ends, tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_bytes(BY_NAME["unknown joint type"].data.replace(b"\n", ends.encode()))
    with pytest.raises(ModelError) as caught:
        fw.load(path)
    assert caught.value.line == 6


def test_paths_may_be_text_or_path_or_bytes(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(GOOD)
    for one in (path, str(path), os.fsencode(path)):
        assert fw.load(one).nv == 1
