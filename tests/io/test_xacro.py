"""xacro files: expanded where the package is installed and the name of the file asks for it, else told what to do."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from xml.dom import minidom

import pytest
from bad_models import GOOD, but, in_joint, more

import featherweight as fw

NAMED = GOOD.replace('<robot name="r">', '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">')
MACROS = """<robot name="r" xmlns:xacro="x">
  <xacro:macro name="leg" params="side"><link name="${side}_leg"/></xacro:macro>
  <xacro:leg side="left"/>
</robot>"""


@pytest.fixture
def package(monkeypatch):
    """What the package does, as far as it is used: a document of the standard library, or an exception."""
    module = types.ModuleType("xacro")

    def process_file(path):
        text = Path(path).read_text(encoding="utf-8")
        if "fails" in text:
            raise RuntimeError("undefined substitution argument\n  side")
        return minidom.parseString(text.replace("${length}", "0.5"))

    module.process_file = process_file
    monkeypatch.setitem(sys.modules, "xacro", module)


def written(tmp_path, text, name="robot.urdf.xacro"):
    path = tmp_path / name
    path.write_text(text)
    return path


EXPRESSION = in_joint('<origin xyz="0 ${length} 0"/>')


def test_a_file_that_is_called_xacro_is_expanded(package, tmp_path):
    model = fw.load(written(tmp_path, EXPRESSION))
    assert model.X_tree[1].r.y == 0.5
    assert model.fingerprint == fw.loads(EXPRESSION.replace("${length}", "0.5")).fingerprint


def test_lines_are_those_of_what_it_expands_to(package, tmp_path):
    path = written(tmp_path, but('parent link="base"', 'parent link="bse"'))
    with pytest.raises(fw.ModelError, match=r"robot.urdf.xacro \(expanded\):\d+: <joint \"hinge\">: parent link 'bse'"):
        fw.load(path)
    assert fw.lint(path)[0].kind == "tree"


def test_meshes_are_looked_for_beside_the_file(package, tmp_path):
    (tmp_path / "a.stl").write_text("solid")
    shape = '<link name="base"><visual><geometry><mesh filename="a.stl"/></geometry></visual></link>'
    model = fw.load(written(tmp_path, but('<link name="base"/>', shape)))
    assert model.geometry[0].path == str((tmp_path / "a.stl").resolve())


def test_what_the_package_says_is_told(package, tmp_path):
    message = "xacro cannot expand it: RuntimeError: undefined substitution argument side; with ROS around it"
    with pytest.raises(fw.ModelError, match=message):
        fw.load(written(tmp_path, but('name="r"', 'name="fails"')))
    with pytest.raises(fw.ModelError, match="cannot read the file: No such file"):
        fw.load(tmp_path / "nothing.xacro")


def test_other_files_are_never_expanded(package, tmp_path):
    """Expanding evaluates what stands in a file."""
    for name in ("robot.urdf", "robot.xml"):
        with pytest.raises(fw.ModelError, match="is an expression of xacro; expand the xacro file first"):
            fw.load(written(tmp_path, EXPRESSION, name))
    with pytest.raises(fw.ModelError, match="is an expression of xacro"):
        fw.loads(EXPRESSION)


def test_without_the_package_it_is_told_how(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(fw.ModelError, match=r"pip install xacro.*xacro robot.xacro > robot.urdf"):
        fw.load(written(tmp_path, EXPRESSION))


@pytest.mark.parametrize("text", [MACROS, MACROS.replace("<xacro:leg", '<link name="a"/><link name="b"/><xacro:leg')])
def test_a_file_of_macros_is_told_to_be_one(text, tmp_path):
    """Before what follows from it: no link, or two roots."""
    path = written(tmp_path, text, "robot.urdf")
    with pytest.raises(fw.ModelError, match=r"this is a xacro file; expand it first.* > robot.urdf") as caught:
        fw.load(path)
    assert caught.value.line in (2, 3)
    assert fw.lint(path)[0].kind == "xacro"


@pytest.mark.parametrize(
    "left", ['<xacro:sensor_usb name="a"/>', '<xacro:property name="a" value="1"/>', "<xacro:if><link/></xacro:if>"]
)
def test_what_is_left_over_in_a_whole_robot_is_left_out(left, tmp_path):
    path = written(tmp_path, NAMED.replace("</robot>", f"{left}\n</robot>"), "robot.urdf")
    with pytest.warns(UserWarning, match=r"line 11: <xacro:\w+>: is not expanded.*: it is left out"):
        assert fw.load(path).fingerprint == fw.loads(GOOD).fingerprint
    with pytest.raises(fw.ModelError, match=r"robot.urdf:11: <xacro:\w+>: is not expanded"):
        fw.load(path, policy="strict")
    assert fw.load(path, policy="repair").nv == 1


def test_xacro_in_what_is_not_used_is_not_looked_at():
    model = fw.loads(more("<gazebo><xacro:plugin/></gazebo>"), policy="strict")
    assert model.notes == ('line 11: <robot "r"> <gazebo>: is not used',)
    assert fw.loads(NAMED, policy="strict").notes == ()
