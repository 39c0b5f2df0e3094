"""Integrators and actuators of users: their code is theirs, whatever it is called."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import featherweight as fw
from featherweight.constraints import DryFriction

SCRIPT = """
import sys
import featherweight as fw

class Mine(fw.integrators.Integrator):
    def step(self, tree, q, v, h, acceleration):
        return [x + h * float(sys.argv[1]) for x in q], list(v)

print(fw.simulate(fw.robots.pendulum(), [0.0], [0.0], duration=1.0, dt=0.1, integrator=Mine()).q[-1, 0])
"""


def own_integrator(speed: float) -> fw.integrators.Integrator:
    class Mine(fw.integrators.Integrator):
        def step(self, tree, q, v, h, acceleration):
            return [x + h * speed for x in q], list(v)

    return Mine()


def test_two_integrators_of_one_name() -> None:
    model = fw.robots.pendulum()
    for speed in (1.0, 2.0):
        run = fw.simulate(model, [0.0], [0.0], duration=1.0, dt=0.1, integrator=own_integrator(speed))
        assert np.isclose(run.q[-1, 0], speed)


def test_an_integrator_that_was_changed_between_two_processes(tmp_path) -> None:
    for speed in ("1.0", "2.0"):
        environment = {**os.environ, "FEATHERWEIGHT_CACHE": str(tmp_path)}
        command = [sys.executable, "-c", SCRIPT, speed]
        result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
        assert np.isclose(float(result.stdout), float(speed))


def test_joints_stay_within_their_limits_in_steps_of_a_user() -> None:
    """Impulses act where such a step ends."""

    class Explicit(fw.integrators.Integrator):
        def step(self, tree, q, v, h, acceleration):
            return [x + h * u for x, u in zip(q, v, strict=True)], [
                u + h * a for u, a in zip(v, acceleration(q, v), strict=True)
            ]

    slide, limits = fw.Inertia.sphere(1.0, 0.1), fw.Limits(-1.0, 0.0495)
    builder = fw.Builder(gravity=(0, 0, 0)).add_body("b", joint=fw.joints.Prismatic("x"), inertia=slide, limits=limits)
    with fw.interpret():
        run = fw.rollout(builder.build(), [0.0], [1.0], steps=60, dt=1e-3, integrator=Explicit())
    assert run.q.max() <= 0.0495 + 1e-6
    assert run.q[-1, 0] == pytest.approx(0.0495, abs=1e-6)
    assert run.q[45, 0] == pytest.approx(0.045)


def test_a_method_of_a_user_moves_before_impulses_act() -> None:
    """So dry friction, which is to hold a joint before it moves, cannot be a constraint in its steps."""
    with pytest.raises(ValueError, match=r"needs a semi-implicit step, got Mine\(\)"):
        fw.rollout(
            fw.robots.pendulum(),
            [0.0],
            [0.0],
            steps=1,
            dt=0.1,
            integrator=own_integrator(1.0),
            constraints=DryFriction(),
        )
