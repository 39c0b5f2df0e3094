"""What one-coordinate joints feel of their body is what the 6×6 matrix says."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from featherweight.joints import Helical, Prismatic, Revolute
from featherweight.model.regularity import _inertia_along, _matrix, singular_bodies
from featherweight.spatial import Motion, RigidInertia, Symmetric, Vector

JOINTS = {"revolute": Revolute((1, 2, 3)), "prismatic": Prismatic((1, 2, 3)), "helical": Helical((1, 2, 3), 0.1)}


@pytest.mark.parametrize("seed", range(20))
def test_the_inertia_felt_along_an_axis_is_that_of_the_matrix(seed):
    rng = np.random.default_rng(seed)
    I = RigidInertia(float(rng.uniform()), Vector(*rng.normal(size=3)), Symmetric(*rng.normal(size=6)))
    spins = [Vector(*rng.normal(size=3)) for _ in range(seed % 3)]
    s = rng.normal(size=6)
    expected = s @ _matrix(I, spins) @ s
    assert _inertia_along(Motion(Vector(*s[:3]), Vector(*s[3:])), I, spins) == pytest.approx(
        expected, rel=1e-12, abs=1e-12
    )


@pytest.mark.parametrize("kind", JOINTS)
@pytest.mark.parametrize("share", [0.5, 2.0])
def test_a_body_counts_as_singular_below_the_last_digits_of_what_it_carries(kind, share):
    """A load of 1 kg one metre away, on a hand whose own inertia is about 10⁻¹³ of that."""
    lightest = 1e-13 * {"revolute": 1.0, "prismatic": 1.0, "helical": 1.21}[kind]
    load = fw.Inertia(1.0, (0, 0, 0), 1e-30)
    model = (
        fw.Builder(policy="accept")
        .add_body("hand", joint=JOINTS[kind], inertia=fw.Inertia.zero(), armature=share * lightest)
        .add_body("load", parent="hand", joint=Prismatic("x"), placement=fw.Placement((0, 1, 0)), inertia=load)
        .build()
    )
    assert singular_bodies(model) == ([1] if share < 1 else [])
