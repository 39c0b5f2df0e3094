"""Newton's laws, looked at in a trajectory: what forces do to one body, and to all of them together."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from featherweight.dynamics import frame_pose, momentum
from featherweight.model import Model
from featherweight.simulation import Trajectory


def model_of(run: Trajectory) -> Model:
    """The model of a run that has one."""
    if run.model is None:
        raise ValueError("run: expected a trajectory with its model")
    return run.model


def force_on(run: Trajectory, body: str, others: Iterable[str]) -> np.ndarray:
    """Σ of the forces [N] on a body from others, shape (K, 3)."""
    return np.sum([run.force_between(body, other) for other in others], axis=0)


def unexplained_force(run: Trajectory, body: str, others: Iterable[str]) -> float:
    """Largest component of m Δv/h - Σ f - m g [N] over all steps, for a free body whose origin is its centre of mass
    and which others touch."""
    model = model_of(run)
    joint, mass = model.joint(f"{body}_joint"), float(model.inertias[model.frame(body).body].m)
    R = np.asarray(frame_pose(model, run.q, body).rotation)
    velocity = np.einsum("kij,kj->ki", R, run.v[:, joint.v][:, :3])
    acceleration = np.diff(velocity, axis=0) / np.diff(run.t)[:, None]
    return float(np.abs(mass * (acceleration - model.gravity) - force_on(run, body, others)).max())


def momentum_error(run: Trajectory, on_the_ground: Iterable[str]) -> tuple[float, float]:
    """Largest component of p - p₀ - ∫ (Σ f + m g) dt over the run, with the forces of the ground alone, and of p
    [N s]: forces between bodies cancel."""
    model = model_of(run)
    p = np.asarray(momentum(model, run.q, run.v))[:, :3]
    force = run.contact_force.sum(axis=1) + sum(run.force_between(name, "ground") for name in on_the_ground)
    weight = model.weight * np.asarray(model.gravity) / np.linalg.norm(model.gravity)
    impulse = np.cumsum((force + weight) * np.diff(run.t)[:, None], axis=0)
    return float(np.abs(p[1:] - p[0] - impulse).max()), float(np.abs(p).max())
