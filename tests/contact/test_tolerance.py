"""What `tolerance` says: no row misses its law by more."""

from __future__ import annotations

import pytest

import featherweight as fw
from featherweight.contact import Impulse


@pytest.mark.parametrize("speed", [100.0, 1000.0])
def test_a_fast_point_is_stopped_within_the_tolerance(speed: float) -> None:
    """One point, frictionless, at the centre of mass: 1e-10 of tr G times the impulse is left of its velocity."""
    builder = fw.Builder("rod").add_body("rod", joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (1.0, 0.01, 0.01)))
    model = builder.add_contact_point("middle", parent="rod").build()
    contact = Impulse(friction=0.0, recovery=0.0)
    run = fw.rollout(model, model.neutral(), [0, 0, -speed, 0, 0, 0], steps=1, dt=1e-3, contact=contact)
    assert run.status == fw.Status.OK
    assert abs(run.v[1, 2]) <= contact.tolerance
