"""Links that lie on the ground with both ends: sweeps over one contact after the other go in circles or creep there."""

import numpy as np
import pytest

import featherweight as fw
from contact.test_closed_forms import block
from contact.test_laws import scenes
from featherweight.constraints.solve.search import STEPS
from featherweight.constraints.solve.solver import PATIENCE

STANCE = np.tile([0.0, -0.8, 1.6], 4)


def hold(t, q, v, state, parameters):
    return [0.0] * 6 + [60.0 * (s - x) - 2.0 * u for s, x, u in zip(STANCE, q[7:], v[6:], strict=True)], state


def tumbling(lanes, seed):
    """Mini Cheetahs with 16 points, thrown."""
    model = fw.robots.mini_cheetah(rotors="armature", friction=0.0, points="all")
    rng = np.random.default_rng(seed)
    q = np.tile(model.neutral(), (lanes, 1))
    q[:, 2], q[:, 7:] = rng.uniform(0.37, 0.77, lanes), STANCE + 0.3 * rng.normal(size=(lanes, 12))
    turned = 0.3 * rng.normal(size=(lanes, 4)) + [0, 0, 0, 1]
    q[:, 3:7] = turned / np.linalg.norm(turned, axis=1, keepdims=True)
    return model, q, 0.5 * rng.normal(size=(lanes, 18))


def test_rough_blocks_that_stick_in_the_ground_converge():
    """One step of each of 2000; some take several trials, each of which ends as soon as it has found something."""
    model, rng = block(), np.random.default_rng(0)
    q, v = scenes(2000, seed=1, model=model)
    q[:, 2] -= rng.uniform(0.0, 0.1, 2000)
    run = fw.rollout(model, q, v, steps=1, dt=1e-3, contact=fw.contact.Impulse(friction=1.5))
    assert not run.status.any()
    turns = run.solver[:, 0, 0]
    assert np.count_nonzero(turns[turns > PATIENCE + STEPS] % STEPS) > 1


@pytest.mark.parametrize("control", [None, fw.compiled(hold)], ids=["limp", "held"])
def test_robots_that_tumble_converge(control):
    model, q, v = tumbling(64, seed=1)
    contact = fw.contact.Impulse()
    run = fw.rollout(model, q, v, steps=500, dt=1e-3, control=control, contact=contact)
    assert not run.status.any()
    assert np.nanmax(run.solver[..., 1]) <= contact.tolerance
    assert np.nanmax(run.solver[..., 0]) > PATIENCE + 10  # some of them are hard

    # what has left the ground is not pushed by it any more
    heights = [fw.frame_pose(model, run.q[:, :-1], point.name).position[..., 2] for point in model.contact_points]
    reach = np.array([point.radius for point in model.contact_points]) + 0.1e-3  # 0.1 m/s times a step
    pushed, touches = (run.contact_force != 0).any(axis=-1), np.stack(heights, axis=-1) <= reach
    assert not (pushed & ~touches).any()
    assert (np.maximum.accumulate(pushed, axis=1)[:, :-1] & ~touches[:, 1:]).any()  # some have left

    # sweeps alone do not get there
    alone = fw.contact.Impulse(iterations=PATIENCE)
    sweeps = fw.rollout(model, q, v, steps=500, dt=1e-3, control=control, contact=alone)
    assert np.count_nonzero(sweeps.status) > 6
    solved = np.arange(500) < np.where(sweeps.status, sweeps.failed_step, 500)[:, None]
    assert np.nanmax(sweeps.solver[solved][:, 1]) <= contact.tolerance


def test_a_lane_is_not_changed_by_others_that_search():
    model, q, v = tumbling(16, seed=2)
    contact = fw.contact.Impulse()
    many = fw.rollout(model, q, v, steps=300, dt=1e-3, contact=contact)
    searched = (many.solver[..., 0] > PATIENCE).any(axis=1)
    assert searched.any()
    for k in np.flatnonzero(searched)[:3]:
        one = fw.rollout(model, q[k], v[k], steps=300, dt=1e-3, contact=contact)
        assert np.array_equal(one.q, many.q[k])
        assert np.array_equal(one.solver, many.solver[k], equal_nan=True)


def test_recoveries_that_contradict_each_other_are_left_out():
    """A point 1 cm inside each of two walls that face each other: both want it to leave at once, which is not possible.
    It falls between them."""
    builder = fw.Builder("point").add_body("b", joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (0.1, 0.1, 0.1)))
    model = builder.add_contact_point("p", parent="b").build()
    walls = fw.contact.Plane((1, 0, 0), (0.01, 0, 0)), fw.contact.Plane((-1, 0, 0), (-0.01, 0, 0))
    run = fw.rollout(model, model.neutral(), np.zeros(6), steps=10, dt=1e-3, contact=fw.contact.Impulse(walls))
    assert run.status == fw.Status.OK
    np.testing.assert_allclose(run.v[-1, :2], 0.0, atol=1e-8)
    assert np.nanmax(run.solver[:, 1]) <= 1e-8
