"""A quadruped that trots with a payload: over the mass of its body, and the speed that is asked for.

The controller believes in the mass of the model. After three seconds the robot is up, or down, and has come so far.
"""

from typing import Any

import numpy as np

import featherweight as fw

model = fw.robots.mini_cheetah(parameters=("body.mass",))
first, still = fw.scenes.crouched(model), np.zeros(model.nv)
contact, actuators = fw.contact.Impulse(friction=0.6), fw.actuators.EffortLimits()
lanes, seed, steps, dt = 20_000, 0, 3000, 1e-3
FASTEST, HEAVIEST = 1.2, 8.0  # [m/s], times its mass


def trotting(speed: np.ndarray) -> Any:
    """The controller for these speeds [m/s] forward, shape (…)."""
    zero = np.zeros_like(speed)
    return fw.control.trot(model, first, velocity=np.stack([speed, zero, zero], axis=-1), friction=0.6)


control = trotting(np.zeros(()))


def sample(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    """Masses [kg] of the body and speeds [m/s]."""
    mass = model.parameters["body.mass"].default * rng.uniform(0.5, HEAVIEST, n)
    return first, still, {"body.mass": mass}, trotting(rng.uniform(0.0, FASTEST, n)).parameters


def reduce(run: fw.Trajectory) -> dict[str, np.ndarray]:
    """Whether the body is up, how high it is and how far it has come [m]."""
    up = (run.status == 0) & (run.q[:, -1, 2] > 0.5 * first[2])
    return {"up": up, "height": run.q[:, -1, 2], "way": run.q[:, -1, 0]}
