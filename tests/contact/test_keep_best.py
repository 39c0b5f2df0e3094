"""`Impulse(keep_best=True)`: a step that is not solved goes on, and the trajectory has its residual.

The residual is recomputed from the recorded forces by dense algebra: with ρ = 3 / tr G of a contact and w = v⁺ - v*,
impulses that keep its laws are λ = λ - ρ w, projected onto the cone; what they are off, as a velocity, is the residual.
"""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from contact.test_laws import free_velocity
from featherweight.contact import Impulse

H, MU, COUNT = 1e-3, 0.5, 24


def block(corners: int) -> fw.Model:
    """Of the few below contacts know of each other by the Delassus matrix, of all eight by what they push."""
    size = np.array([0.4, 0.3, 0.2])
    builder = fw.Builder("block").add_body("block", joint=fw.joints.Free(), inertia=fw.Inertia.box(2.0, size))
    for k in range(corners):
        corner = size * [0.5 if k >> axis & 1 else -0.5 for axis in range(3)]
        builder.add_contact_point(f"corner{k}", parent="block", position=corner)
    return builder.build()


def thrown(model: fw.Model) -> tuple[np.ndarray, np.ndarray]:
    """Blocks that hit the ground with several corners, nearly flat."""
    rng = np.random.default_rng(0)
    q = np.tile(model.neutral(), (COUNT, 1))
    q[:, 3:7] = rng.normal(size=(COUNT, 4)) * [0.05, 0.05, 0.05, 1.0]
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    low = np.min([fw.frame_pose(model, q, point.name).position[:, 2] for point in model.contact_points], axis=0)
    q[:, 2] -= low + 0.02
    return q, 2.0 * rng.normal(size=(COUNT, 6))


def residual(model: fw.Model, q: np.ndarray, v: np.ndarray, run: fw.Trajectory) -> np.ndarray:
    """By how much the contact that is farthest from its laws misses them [m/s], without recovery from depth."""
    names, order = [point.name for point in model.contact_points], [2, 0, 1]  # the normal first
    J = np.stack([fw.jacobian(model, q, name, "world_aligned")[:, order] for name in names], axis=1)
    M, impulse = fw.mass_matrix(model, q), H * run.contact_force[:, 0][..., order]
    pushed = np.linalg.solve(M, np.einsum("bpkn,bpk->bn", J, impulse)[..., None])[..., 0]
    w = np.einsum("bpkn,bn->bpk", J, free_velocity(model, q, v, H) + pushed)
    height = np.stack([fw.frame_pose(model, q, name).position[:, 2] for name in names], axis=1)
    w[..., 0] += np.maximum(height, 0.0) / H
    rho = 3.0 / np.einsum("bpkn,bnm,bpkm->bp", J, np.linalg.inv(M), J)[..., None]
    y = impulse - rho * w
    normal, size = np.maximum(y[..., :1], 0.0), np.linalg.norm(y[..., 1:], axis=-1, keepdims=True)
    kept = np.concatenate([normal, np.minimum(1.0, MU * normal / np.maximum(size, 1e-300)) * y[..., 1:]], axis=-1)
    missed = np.linalg.norm((impulse - kept) / rho, axis=-1)
    return np.max(np.where(height <= 0.1 * H, missed, 0.0), axis=1)


@pytest.mark.parametrize("corners", [4, 8])
def test_a_step_that_is_not_solved_goes_on_and_says_by_how_much_laws_are_missed(corners: int) -> None:
    model = block(corners)
    q, v = thrown(model)
    with fw.interpret():
        runs = {
            keep: fw.rollout(
                model, q, v, steps=1, dt=H,
                contact=Impulse(friction=MU, recovery=0.0, iterations=3, keep_best=keep),
            )
            for keep in (True, False)
        }  # fmt: skip
    found, missed = runs[True].solver[:, 0, 1], residual(model, q, v, runs[True])
    unsolved = found > 1e-8
    assert 3 < unsolved.sum() < COUNT
    assert (runs[True].status == fw.Status.OK).all()
    assert ((runs[False].status == fw.Status.NOT_CONVERGED) == unsolved).all()
    np.testing.assert_array_equal(runs[True].q[~unsolved], runs[False].q[~unsolved])
    assert (missed <= found + 1e-12).all()
    assert (missed[unsolved] > 1e-8).all()
    assert np.isfinite(runs[True].q).all()
    assert np.isnan(runs[False].q[unsolved, 1]).all()


@pytest.mark.parametrize("corners", [4, 8])
def test_a_step_that_is_solved_by_newton_steps_has_the_residual_of_its_laws(corners: int) -> None:
    """To rounding, so far from none as a coarse tolerance lets it be."""
    model = block(corners)
    q, v = thrown(model)
    contact = Impulse(friction=MU, recovery=0.0, tolerance=0.02, keep_best=True)
    with fw.interpret():
        run = fw.rollout(model, q, v, steps=1, dt=H, contact=contact)
    turns, found = run.solver[:, 0].T
    by_newton = turns > 4
    assert by_newton.sum() > 2
    missed = residual(model, q, v, run)
    assert (missed <= contact.tolerance).all()
    assert found[by_newton].max() > 1e-6
    np.testing.assert_allclose(missed[by_newton], found[by_newton], rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize(("iterations", "turns"), [(1, 1), (3, 3), (4, 4), (5, 24), (24, 24), (25, 94)])
def test_a_step_is_given_up_after_the_trial_in_which_its_turns_are_used_up(iterations: int, turns: int) -> None:
    """Four sweeps, then trials: the first of 20 Newton steps, others of 30 turns of splitting and 40 Newton steps."""
    model = block(8)
    q, v = thrown(model)
    contact = Impulse(friction=MU, iterations=iterations, tolerance=1e-30, keep_best=True)
    with fw.interpret():
        run = fw.rollout(model, q, v, steps=1, dt=H, contact=contact)
    assert run.solver[:, 0, 0].max() == turns
