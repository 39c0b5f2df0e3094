"""Times at the ends of what numbers can hold, and batches of nothing."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import featherweight as fw


@pytest.mark.parametrize("dt", [5e-324, 1e-308, 1e-101, 1.1e100, 1.7e308, 10**400, np.float64(5e-324)])
@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "variational"])
def test_steps_that_no_number_can_square_are_refused(dt, integrator):
    model = fw.robots.pendulum()
    with pytest.raises(ValueError, match="dt: expected a time step from 1e-100 to 1e100 s, got "):
        fw.rollout(model, [0.1], [1.0], steps=3, dt=dt, integrator=integrator)
    with pytest.raises(ValueError, match="dt: expected a time step from 1e-100 to 1e100 s, got "):
        fw.simulate(model, [0.1], [1.0], duration=1.0, dt=dt, integrator=integrator)


def test_more_steps_than_can_be_counted_are_refused():
    model = fw.robots.pendulum()
    with pytest.raises(ValueError, match=r"duration: expected at most 1e\+10 steps of dt = 1e-100 s, got 1.0"):
        fw.simulate(model, [0.1], [1.0], duration=1.0, dt=1e-100)
    with pytest.raises(ValueError, match="duration: expected a time from 1e-100 to 1e100 s"):
        fw.simulate(model, [0.1], [1.0], duration=10**400, dt=1)


@pytest.mark.parametrize("dt", [1e-100, 1e-20, 1e-9])
def test_small_steps_are_made(dt):
    run = fw.simulate(fw.robots.pendulum(), [0.1], [2.0], duration=3 * dt, dt=dt)
    np.testing.assert_allclose(run.t, [0.0, dt, 2 * dt, 3 * dt], rtol=1e-15)
    np.testing.assert_allclose(run.q[:, 0], 0.1 + 2.0 * run.t, rtol=1e-12)


def test_fractions_are_times():
    run = fw.simulate(fw.robots.pendulum(), [0.1], [0.0], duration=Fraction(1, 10), dt=Fraction(1, 100))
    assert len(run.t) == 11


def gentle(t, q, v, x, p):
    return -0.1 * v, x


@pytest.mark.parametrize("batch", [(0,), (1,), (3,), (2, 3), (2, 0)])
@pytest.mark.parametrize("of", ["q", "parameters"])
def test_batches_of_controllers_without_parameters(batch, of):
    """`parameters=np.zeros((N, 0))` are N sets of no parameters: a batch like any other."""
    model = fw.robots.pendulum()
    control = fw.compiled(gentle, state=np.zeros((*batch, 0)), parameters=np.zeros((*batch, 0)))
    q = np.full((*batch, 1) if of == "q" else (1,), 0.3)
    run = fw.rollout(model, q, [1.0], steps=4, dt=1e-3, control=control)
    assert run.q.shape == (*batch, 5, 1)
    alone = fw.rollout(model, [0.3], [1.0], steps=4, dt=1e-3, control=fw.compiled(gentle))
    np.testing.assert_array_equal(run.q, np.broadcast_to(alone.q, run.q.shape))


def test_batches_that_do_not_fit_are_named():
    control = fw.compiled(gentle, parameters=np.zeros((2, 0)))
    with pytest.raises(ValueError, match=r"do not broadcast together: .* control: parameters \(2, 0\)"):
        fw.rollout(fw.robots.pendulum(), np.zeros((3, 1)), [0.0], steps=2, dt=1e-3, control=control)
