"""The Mini Cheetah against the vectors published with its software (six digits) and their exact twins."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw

MODEL = fw.robots.mini_cheetah()
QUATERNION = (-0.06736233, -0.06209712, -0.11195691, 0.98948063)
BASE = (1217.31257125, -182.792706589, -171.524130149, -4.09393375723, 33.6797700693, -59.9749691377)
JOINTS = (
    -1946.36104107, -1056.62356074, -1470.56503579, -3133.029968, -1263.88827426, -2626.89612304,
    -6637.3842113, -4071.88052461, -4219.1411989, -7554.08070586, -3392.44275234, -5112.85397799,
)  # fmt: skip
PUSHED_BASE = (3153.46, 42.6931, 264.584, -3.80573, -53.3519, 68.5713)
PUSHED_JOINTS = (
    -1211.85, -1167.39, -2024.94, 394.414, -297.854, -2292.29,
    -1765.92, -4040.78, -4917.41, 149.368, -2508.2, -4969.02,
)  # fmt: skip


def rotation(axis: int, t: float) -> np.ndarray:
    """The coordinate rotation of the published program."""
    c, s = np.cos(t), np.sin(t)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = c
    R[i, j], R[j, i] = s, -s
    return R


def state() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    R = rotation(0, 0.123) @ rotation(2, 0.232) @ rotation(1, 0.111)  # body to world
    w = 0.5 * np.sqrt(1 + np.trace(R))
    quaternion = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], 4 * w * w]) / (4 * w)
    assert np.abs(quaternion - QUATERNION).max() < 1e-8
    i = np.arange(1, 13)
    q = np.concatenate([[6, 7, 8], quaternion, i])
    v = np.concatenate([[4, 5, 6, 1, 2, 3], 2.0 * i])
    return q, v, np.concatenate([np.zeros(6), -3.0 * i])


def order(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Base as published, angular first; joints."""
    return np.concatenate([a[3:6], a[:3]]), a[6:]


@pytest.mark.parametrize("way", ["forward dynamics", "mass matrix", "batch"])
def test_the_published_state_without_forces(way: str) -> None:
    q, v, tau = state()
    if way == "forward dynamics":
        a = fw.forward_dynamics(MODEL, q, v, tau)
    elif way == "batch":
        a = fw.forward_dynamics(MODEL, np.tile(q, (9, 1)), v, tau)[4]
    else:
        a = np.linalg.solve(fw.mass_matrix(MODEL, q), tau - fw.bias_force(MODEL, q, v))
    base, joints = order(a)
    assert np.abs(base - BASE).max() <= 1e-8 * np.abs(BASE).max()
    assert np.abs(joints - JOINTS).max() <= 1e-8 * np.abs(JOINTS).max()


def test_the_published_state_with_a_wrench_on_every_body() -> None:
    """[moment; force] in world axes about the world's origin."""
    q, v, tau = state()
    f_ext = np.zeros((MODEL.nb + 1, 6))
    for b, name in enumerate(MODEL.names[1:]):
        numbers = 0.3 * (b + 5 + np.arange(1, 7))
        f_ext += fw.wrench_on(MODEL, q, name, np.concatenate([numbers[3:], numbers[:3]]), in_="world")
    base, joints = order(fw.forward_dynamics(MODEL, q, v, tau, f_ext))
    assert np.allclose(base, PUSHED_BASE, rtol=1e-5, atol=5e-4)
    assert np.allclose(joints, PUSHED_JOINTS, rtol=1e-5, atol=5e-3)


@pytest.mark.parametrize("rotors", ["spinning", "armature", "none"])
def test_forward_dynamics_undoes_inverse_dynamics(rotors: str) -> None:
    model = fw.robots.mini_cheetah(rotors=rotors)
    rng = np.random.default_rng(0)
    q = np.array([model.random(rng) for _ in range(100)])
    v, a = rng.normal(size=(2, 100, model.nv))
    back = fw.forward_dynamics(model, q, v, fw.inverse_dynamics(model, q, v, a))
    assert np.abs(back - a).max() <= 1e-12 * np.abs(a).max() * 10


@pytest.mark.parametrize("rotors", ["spinning", "armature", "none"])
def test_energy_changes_by_the_power_of_the_forces(rotors: str) -> None:
    model = fw.robots.mini_cheetah(rotors=rotors)
    q, v, tau = state()
    a = fw.forward_dynamics(model, q, v, tau)

    def energy(t: float) -> float:
        """Along a motion with this velocity and acceleration."""
        at = fw.integrate(model, q, v + 0.5 * t * a, t)
        return float(fw.kinetic_energy(model, at, v + t * a) + fw.potential_energy(model, at))

    rates = [(energy(h) - energy(-h)) / (2 * h) for h in (1e-5, 5e-6)]
    assert abs((4 * rates[1] - rates[0]) / 3 - tau @ v) <= 1e-6 * np.abs(tau * v).sum()


def test_masses_points_and_names() -> None:
    light = sum(I.m for I in fw.robots.mini_cheetah(rotors="none").inertias)
    assert light == pytest.approx(8.252, abs=1e-12)
    assert sum(I.m for I in MODEL.inertias) == pytest.approx(8.252 + 0.66, abs=1e-12)
    assert len(MODEL.contact_points) == 16
    assert MODEL.joint_names[1:4] == ("FR_abad", "FR_hip", "FR_knee")
    assert [name[:2] for name in MODEL.joint_names[1::3]] == ["FR", "FL", "HR", "HL"]
    assert MODEL.joint("FL_hip").limits.velocity == (pytest.approx(40.0),)


def test_what_armature_leaves_out() -> None:
    """The coupling of the spinning rotors to the base: FACTS lists the error it makes."""
    q, v, tau = state()
    base, joints = order(fw.forward_dynamics(fw.robots.mini_cheetah(rotors="armature"), q, v, tau))
    assert np.abs(base - BASE).max() == pytest.approx(327, abs=1)
    assert np.abs(joints - JOINTS).max() == pytest.approx(420, abs=1)


def test_it_stands_on_straight_legs() -> None:
    feet = [fw.frame_pose(MODEL, MODEL.neutral(), f"{leg}_foot").position for leg in ("FR", "FL", "HR", "HL")]
    assert np.allclose([foot[2] for foot in feet], -0.209 - 0.195)
    assert [tuple(np.sign(foot[:2])) for foot in feet] == [(1, -1), (1, 1), (-1, -1), (-1, 1)]


def test_unknown_rotors_are_named() -> None:
    with pytest.raises(ValueError, match=r"rotors: expected .* got 'big'"):
        fw.robots.mini_cheetah(rotors="big")
