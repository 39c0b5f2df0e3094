"""Ragdolls fall on boxes: `make motion` drops 200 of them."""

from __future__ import annotations

import numpy as np

import featherweight as fw

COUNT = 24
SCENE = fw.scenes.ragdoll(count=COUNT, seed=1)


def turned(omega: np.ndarray, v: np.ndarray) -> np.ndarray:
    """exp(ω) v, for rows."""
    angle = np.linalg.norm(omega, axis=-1, keepdims=True)
    axis = omega / np.where(angle > 0, angle, 1.0)
    return (
        v * np.cos(angle) + np.cross(axis, v) * np.sin(angle)
        + axis * np.sum(axis * v, axis=-1, keepdims=True) * (1 - np.cos(angle))
    )  # fmt: skip


def test_ragdolls_come_to_rest_within_their_limits() -> None:
    model, h = SCENE.model, SCENE.dt
    run = fw.rollout(model, SCENE.q, SCENE.v, steps=10_000, record_every=10, **SCENE.means)
    assert (run.status == fw.Status.OK).all()
    assert np.isfinite(run.q).all()
    ends = (np.array([np.ravel(getattr(j.limits, e))[0] for j in model.joints[1:]]) for e in ("lower", "upper"))
    lower, upper = ends
    assert np.maximum(lower - run.q[..., 7:], run.q[..., 7:] - upper).max() <= 1e-3
    assert fw.kinetic_energy(model, run.q[:, 0], run.v[:, 0]).min() > 0.1
    assert fw.kinetic_energy(model, run.q[:, -1], run.v[:, -1]).max() <= 0.01  # [J]: 75 kg at less than 2 cm/s

    # what contact and limits did to the kinetic energy of a step, with damping in the inertia as the step has it
    q, v = run.q[:, :400:4].reshape(-1, model.nq), run.v[:, :400:4].reshape(-1, model.nv)
    damping = np.concatenate([np.ravel(j.damping) * np.ones(j.v.stop - j.v.start) for j in model.joints])
    M = fw.mass_matrix(model, q) + h * np.diag(damping)
    energies = []
    for contact in (None, SCENE.contact):
        step = fw.rollout(model, q, v, steps=1, dt=h, contact=contact)
        after = step.v[:, 1].copy()
        after[:, :3] = turned(h * after[:, 3:6], after[:, :3])  # back into the axes of the beginning
        energies.append(0.5 * np.einsum("bi,bij,bj->b", after, M, after))
    free, solved = energies
    assert (free - solved).max() > 1.0  # impacts took some
    assert (solved <= free * (1 + 1e-9) + 1e-6).all()
