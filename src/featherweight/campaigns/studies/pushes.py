"""Pushes that a standing humanoid survives: a force at its chest for a tenth of a second, from any side.

Each lane has another direction and impulse. After two seconds it stands, or has fallen. The controller knows nothing of
the push.
"""

from typing import Any

import numpy as np

import featherweight as fw

scene = fw.scenes.balance()
model, contact, actuators, control = scene.model, scene.contact, scene.actuators, scene.control
lanes, seed, steps, dt = 100_000, 0, 1000, 2e-3
START, DURATION, LARGEST = 0.1, 0.1, 50.0  # [s], [s], [N s]
standing = fw.control.balance(model, scene.q)
height = scene.q[2]


def sample(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    """Directions that it is pushed to [rad], 0 is forwards, and impulses [N s], uniform over a disc."""
    direction, impulse = rng.uniform(-np.pi, np.pi, n), LARGEST * np.sqrt(rng.uniform(size=n))
    force = impulse[:, None] / DURATION * np.stack([np.cos(direction), np.sin(direction), np.zeros(n)], axis=1)
    driven = fw.control.pushed(standing, model, "chest", force=force, start=START, duration=DURATION)
    return scene.q, scene.v, None, driven.parameters


def reduce(run: fw.Trajectory) -> dict[str, np.ndarray]:
    """Whether the pelvis is still up, and how high it is [m]."""
    z = run.q[:, -1, 2]
    return {"stands": (run.status == 0) & (z > 0.8 * height), "height": z}


def push(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Direction [rad] and impulse [N s] of the pushes with these parameters of the controller, (…, m)."""
    force = p[..., -5:-2]  # then follow begin and end: `featherweight.control.pushed`
    return np.arctan2(force[..., 1], force[..., 0]), DURATION * np.hypot(force[..., 0], force[..., 1])
