"""Derivatives of dynamics and the regressor against Pinocchio: every kind of joint, and real robots."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import featherweight as fw
from peers.pinocchio_adapter import from_pinocchio, pinocchio_model, robot, to_pinocchio
from peers.pinocchio_functions import States, forces, states
from peers.test_joint_kinds import KINDS, tree

COUNT = 3


def whole(upper: np.ndarray) -> np.ndarray:
    return np.triu(upper) + np.triu(upper, 1).T


def errors(ours: fw.Model, theirs: pin.Model, x: States) -> dict[str, float]:
    """By result: the largest difference, relative to the largest entry."""
    data, q = theirs.createData(), to_pinocchio(ours, theirs, x.q)
    names = [
        *(f"inverse {w}" for w in ("dq", "dv", "da")),
        *(f"forward {w}" for w in ("dq", "dv", "dtau")),
        "regressor",
    ]
    found = [
        *fw.inverse_dynamics_derivatives(ours, x.q, x.v, x.a, x.f_ext),
        *fw.forward_dynamics_derivatives(ours, x.q, x.v, x.tau, x.f_ext),
        fw.regressor(ours, x.q, x.v, x.a),
    ]
    worst = dict.fromkeys(names, 0.0)
    for k in range(len(q)):
        f = forces(x.f_ext[k])
        inverse = [np.array(m) for m in pin.computeRNEADerivatives(theirs, data, q[k], x.v[k], x.a[k], f)]
        forward = [np.array(m) for m in pin.computeABADerivatives(theirs, data, q[k], x.v[k], x.tau[k], f)]
        inverse[2], forward[2] = whole(inverse[2]), whole(forward[2])
        Y = np.array(pin.computeJointTorqueRegressor(theirs, data, q[k], x.v[k], x.a[k]))
        for name, mine, right in zip(names, found, (*inverse, *forward, Y), strict=True):
            worst[name] = max(worst[name], float(np.abs(mine[k] - right).max() / np.abs(right).max()))
    return worst


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "universal"])
def test_every_joint_kind_agrees_with_pinocchio(kind: str) -> None:
    theirs = tree(kind)
    theirs.armature = np.random.default_rng(8).uniform(0.1, 1.0, theirs.nv)
    ours = from_pinocchio(theirs)
    with fw.interpret():
        assert max(errors(ours, theirs, states(ours, COUNT)).values()) <= 1e-11


def test_universal_joints_agree_with_two_revolute_ones() -> None:
    """Pinocchio's derivatives of them do not know that their axes turn: two revolute joints do."""
    theirs = tree("universal", split=True)
    ours = from_pinocchio(tree("universal"))
    x = states(ours, COUNT)
    data = theirs.createData()
    with fw.interpret():
        found = fw.inverse_dynamics_derivatives(ours, x.q, x.v, x.a)
    for k in range(COUNT):
        right = [np.array(m) for m in pin.computeRNEADerivatives(theirs, data, x.q[k], x.v[k], x.a[k])]
        for mine, reference in zip(found, (*right[:2], whole(right[2])), strict=True):
            np.testing.assert_allclose(mine[k], reference, rtol=0, atol=1e-12 * np.abs(reference).max())


@pytest.mark.parametrize(
    ("name", "base", "compiled"),
    [("go2", "free", True), ("simple_humanoid", "free", False), ("talos", "free", False), ("panda", "fixed", False)],
)
def test_real_robots_agree_with_pinocchio(name: str, base: str, compiled: bool) -> None:
    theirs, ours = pinocchio_model(name, base), robot(name, base)
    x = states(ours, COUNT)
    if compiled:
        found = errors(ours, theirs, x)
    else:
        with fw.interpret():
            found = errors(ours, theirs, x)
    assert max(found.values()) <= 1e-10
