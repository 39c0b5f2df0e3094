"""Public URDF files load by default, and are the same robots as for Pinocchio; where a mass matrix is singular,
whatever divides by it names a body."""

from __future__ import annotations

import functools
import re
import warnings

import numpy as np
import pinocchio as pin
import pytest

import featherweight as fw
from peers.public_urdf import FILES, FOLDER, NO_TREE, PINOCCHIO_REFUSES, READ_BY_PINOCCHIO, TREES, needs_data

pytestmark = needs_data
STATES = 2
CASES = [(path, base) for path in READ_BY_PINOCCHIO for base in ("fixed", "free")]


@functools.cache
def ours_of(path, base):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fw.load(FOLDER / path, base=base, contact=False)


@functools.cache
def theirs_of(path, base):
    """Mimic joints are free there."""
    return pin.buildModelFromUrdf(str(FOLDER / path), *([pin.JointModelFreeFlyer()] if base == "free" else []))


class Same:
    """States of ours as Pinocchio's, joint by joint: v_theirs = G v, so that Gᵀ takes forces and GᵀMG M back."""

    def __init__(self, ours, theirs):
        self.ours, self.theirs, self.data = ours, theirs, theirs.createData()
        self.G, self.places = np.zeros((theirs.nv, ours.nv)), []
        assert len(ours.joints) == theirs.njoints - 1
        for joint in ours.joints:
            name = joint.name if theirs.existJointName(joint.name) else joint.name.removesuffix("_joint")
            j, kind = theirs.getJointId(name), joint.kind
            for k, column in enumerate(range(joint.v.start, joint.v.stop)):
                self.G[theirs.idx_vs[j] + k, column] = kind.ratio
            self.places.append((slice(theirs.idx_qs[j], theirs.idx_qs[j] + theirs.nqs[j]), joint.q, kind))

    def q(self, q):
        result = np.empty(self.theirs.nq)
        for place, own, kind in self.places:
            result[place] = kind.to_pinocchio(kind.ratio * q[own] + kind.offset if kind.leader else q[own])
        return result

    def mass_matrix(self, q):
        upper = np.triu(pin.crba(self.theirs, self.data, self.q(q)))
        return self.G.T @ (upper + np.triu(upper, 1).T) @ self.G

    def inverse_dynamics(self, q, v, a):
        return self.G.T @ pin.rnea(self.theirs, self.data, self.q(q), self.G @ v, self.G @ a)


def states(model):
    """Within limits, and within 10 m: Fetch's camera may go as far as 10⁶ m."""
    rng = np.random.default_rng(0)
    return [(np.clip(model.random(rng), -10.0, 10.0), *rng.normal(size=(2, model.nv))) for _ in range(STATES)]


def scaled(M):
    """M with a diagonal of ones, and zeros where a joint moves nothing."""
    size = np.sqrt(np.maximum(np.diag(M), 0.0))
    factor = np.where(size > 0, 1.0 / np.where(size > 0, size, 1.0), 0.0)
    return factor[:, None] * M * factor


def test_all_files_are_here():
    assert len(FILES) == 42
    assert len(READ_BY_PINOCCHIO) == 36
    assert len(TREES) == 39


@pytest.mark.parametrize("path", PINOCCHIO_REFUSES)
def test_pinocchio_refuses_the_others(path):
    with pytest.raises(ValueError, match=r"does not contain a valid URDF|min_effort"):
        theirs_of(path, "fixed")


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("path", TREES)
def test_a_tree_loads_by_default_with_one_warning_at_most(path, base):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fw.load(FOLDER / path, base=base)
    wrong = [finding for finding in fw.lint(FOLDER / path, base=base) if finding.level == "wrong"]
    assert len(caught) == bool(wrong)
    for warning in caught:
        text = str(warning.message)
        assert len(text.splitlines()) <= 10
        assert text.startswith(f"{FOLDER / path}: {len(wrong)} thing")
        assert f"featherweight lint {FOLDER / path}" in text
        assert 'policy="repair"' in text
        assert warning.filename == __file__
    assert model.nb > 0 or base == "fixed"


@pytest.mark.parametrize("path", NO_TREE)
def test_what_is_no_tree_is_refused_with_its_line(path):
    for policy in ("strict", "repair", "warn"):
        with pytest.raises(fw.ModelError, match=rf"{re.escape(path)}:\d+: <") as caught:
            fw.load(FOLDER / path, policy=policy)
        assert caught.value.line


@pytest.mark.parametrize(("path", "base"), CASES)
def test_inverse_dynamics_and_mass_matrix_are_those_of_pinocchio(path, base):
    ours, theirs = ours_of(path, base), theirs_of(path, base)
    same = Same(ours, theirs)
    for q, v, a in states(ours):
        with fw.interpret():
            M, tau = fw.mass_matrix(ours, q), fw.inverse_dynamics(ours, q, v, a)
        M_theirs, tau_theirs = same.mass_matrix(q), same.inverse_dynamics(q, v, a)
        assert np.abs(M - M_theirs).max(initial=0.0) <= 1e-12 * np.abs(M_theirs).max(initial=0.0)
        assert np.abs(tau - tau_theirs).max(initial=0.0) <= 1e-12 * np.abs(tau_theirs).max(initial=0.0)


@pytest.mark.parametrize(("path", "base"), CASES)
def test_forward_dynamics_is_theirs_or_refused_with_the_name_of_a_body(path, base):
    """By the mass matrix of Pinocchio, scaled: with a smallest eigenvalue of 1e-13 or less it is singular."""
    ours, theirs = ours_of(path, base), theirs_of(path, base)
    same = Same(ours, theirs)
    for q, v, a in states(ours):
        M, tau = same.mass_matrix(q), same.inverse_dynamics(q, v, a)
        least = np.linalg.eigvalsh(scaled(M))[0] if len(M) else 1.0
        found = accelerations(ours, q, v, tau)
        if isinstance(found, str):
            refused = re.search(r"the mass matrix is (?:singular|not positive definite): body '(.+?)' has", found)
            assert refused
            assert refused[1] in ours.impossible
            assert 'policy="repair"' in found
            assert least < 1e-11
        else:
            assert least > 1e-13
            root = np.sqrt(np.diag(M))
            size = max(np.abs(root * a).max(initial=0.0), np.abs(tau / root).max(initial=0.0))
            assert np.abs(root * (found - a)).max(initial=0.0) <= 1e-12 * size / least


def accelerations(model, q, v, tau):
    """Or why there are none."""
    try:
        with fw.interpret():
            return fw.forward_dynamics(model, q, v, tau)
    except ValueError as error:
        return str(error)
