"""Bodies that cannot exist are known by the model, wherever it goes."""

from __future__ import annotations

import copy
import pickle
import warnings

import pytest
import sympy

import featherweight as fw
from featherweight.joints import Revolute

TEXT = """<robot name="r"><link name="base"/>
<link name="empty"/><link name="wide"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="5"/></inertial></link>
<link name="negative"><inertial><mass value="1"/><inertia ixx="-1" iyy="1" izz="1"/></inertial></link>
<link name="point"><inertial><mass value="1"/><inertia ixx="0" iyy="0" izz="0"/></inertial></link>
<link name="good"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<link name="lost"><inertial><mass value="-2"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
""" + "".join(
    f'<joint name="to_{name}" type="continuous"><parent link="base"/><child link="{name}"/></joint>'
    for name in ("empty", "wide", "negative", "point", "good", "lost")
) + "</robot>"  # fmt: skip
WHY = {
    "empty": "its mass is 0 kg; a body that moves needs mass > 0",
    "wide": "its principal moments about the centre of mass are 1, 1, 5: the largest exceeds the sum of the others "
    "(triangle inequality)",
    "negative": "its principal moments about the centre of mass are -1, 1, 1: one is negative",
    "point": "it has no inertia about or along an axis of its joint 'to_point'",
    "lost": "its mass is 0 kg; a body that moves needs mass > 0",
}


@pytest.fixture
def model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fw.loads(TEXT)


def test_a_model_knows_which_bodies_cannot_exist_and_why(model):
    assert dict(model.impossible) == WHY


def test_a_model_that_can_exist_has_none():
    assert not fw.robots.humanoid().impossible
    assert list(fw.robots.mini_cheetah().impossible) == [
        f"{leg}_thigh" for leg in ("FR", "FL", "HR", "HL")
    ]  # whose published moments break the triangle inequality


def test_it_goes_wherever_the_model_goes(model, tmp_path):
    assert dict(pickle.loads(pickle.dumps(model)).impossible) == WHY
    assert dict(copy.deepcopy(model).impossible) == WHY
    assert dict(fw.io.from_plain(fw.io.to_plain(model)).impossible) == WHY  # as recordings keep it
    fw.save_urdf(model, tmp_path / "robot.urdf")
    with pytest.warns(UserWarning, match="5 things are wrong"):
        assert dict(fw.load(tmp_path / "robot.urdf").impossible) == WHY


def test_a_repaired_model_has_none(model):
    repaired = fw.loads(TEXT, policy="repair")
    assert not repaired.impossible
    assert repaired.fingerprint != model.fingerprint  # so that no result of one is taken for the other's


def test_nothing_is_known_of_symbols():
    m = sympy.Symbol("m", positive=True)
    model = fw.Builder().add_body("a", joint=Revolute("x"), inertia=fw.Inertia(m, (0, 0, 1))).build()
    assert not model.impossible
