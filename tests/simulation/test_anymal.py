"""The energy test of the RaiSim benchmark: ANYmal is pushed up for a second and falls for two, its joints free."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import featherweight as fw
from peers.pinocchio_adapter import robots_folder

URDF = {
    "B": "anymal_b_simple_description/robots/anymal.urdf",  # the one of the benchmark, 30 kg
    "C": "anymal_c_simple_description/urdf/anymal.urdf",
}
DT, PUSH, FREE, G = 1e-3, 1.0, 2.0, 9.81


@functools.cache
def anymal(name: str) -> fw.Model:
    return fw.load(robots_folder() / URDF[name], base="free")


def mass(model: fw.Model) -> float:
    return float(fw.mass_matrix(model, model.neutral())[0, 0])


@functools.cache
def pushed(name: str) -> fw.simulation.Compiled:
    """2 M g along the world's z, at the origin of the base and in its axes, until the push ends."""
    model = anymal(name)
    force = 2 * mass(model) * G

    def push(t, q, v, x, p):
        i, j, k, w = q[3:7]
        f = fw.scalar.where(t < PUSH - DT / 2, force, 0.0)
        up = [2 * (i * k - j * w) * f, 2 * (j * k + i * w) * f, (1 - 2 * (i * i + j * j)) * f]
        return [*up, *[0.0] * (model.nv - 3)], x

    return fw.compiled(push)


def starts(model: fw.Model, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Legs a bit bent and moving; the first straight and at rest."""
    rng = np.random.default_rng(0)
    q, v = np.tile(model.neutral(), (count, 1)), np.zeros((count, model.nv))
    q[1:, 7:], v[1:, 6:] = 0.3 * rng.normal(size=(count - 1, 12)), 0.1 * rng.normal(size=(count - 1, 12))
    return q, v


def flights(name: str, method: str, count: int) -> fw.Trajectory:
    model = anymal(name)
    q, v = starts(model, count)
    steps = round((PUSH + FREE) / DT)
    run = fw.rollout(model, q, v, steps=steps, dt=DT, control=pushed(name), integrator=method, limits=False)
    assert (run.status == fw.Status.OK).all()
    return run


def squared_errors(run: fw.Trajectory) -> np.ndarray:
    """Means over the free phase [J²]."""
    energy = run.energy()[:, round(PUSH / DT) :]
    return np.mean((energy - energy[:, :1]) ** 2, axis=1)


@pytest.mark.parametrize(("method", "most"), [("rk4", 1e-13), ("semi_implicit", 4.0)])
def test_energy_of_anymal(method: str, most: float) -> None:
    """Published: MuJoCo Euler 3.48, Bullet 3.65 J²; RK4 1.6e-17. The legs' motion is chaotic, and where they whip
    through their singular poses the error is larger: from rest, and the median of other beginnings."""
    errors = squared_errors(flights("B", method, 40))
    assert errors[0] <= most
    assert np.median(errors) <= most


def test_energy_of_the_heavier_anymal() -> None:
    """Most of semi-implicit Euler's is free fall's own error, E - E₀ = ½ M g h · g t, and grows with M²."""
    assert squared_errors(flights("C", "rk4", 1))[0] <= 1e-13
    fall = (mass(anymal("C")) * G**2 * DT * FREE / 2) ** 2 / 3
    assert squared_errors(flights("C", "semi_implicit", 1))[0] <= 1.5 * fall


def test_the_push_is_the_one_that_was_meant() -> None:
    """Twice its weight for a second, held in the base's axes during a step: momentum grows by about M g upward,
    whatever the legs do. Then it goes down by exactly twice that."""
    model = anymal("B")
    assert (model.nv, mass(model)) == (18, pytest.approx(30.475, rel=1e-3))
    assert not any(any(j.damping) or any(j.friction) or any(j.stiffness) for j in model.joints)
    run = flights("B", "rk4", 3)
    up = np.array([0.0, 0.0, mass(model) * G])
    p = fw.momentum(model, run.q[:, [0, 1000, 3000]], run.v[:, [0, 1000, 3000]])[..., :3]
    assert np.abs(p[:, 1] - p[:, 0] - up).max() <= 0.02 * up[2]
    assert np.abs(p[:, 2] - p[:, 1] + 2 * up).max() <= 1e-8 * up[2]
    assert np.abs(run.v[..., 6:]).max() > 1.0
