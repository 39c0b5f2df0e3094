"""Is the mass matrix M(q) regular? What each joint must feel, and what may hide it.

Forward dynamics divides by the pivots of M: the inertia that a coordinate feels while all joints beyond it are free.
A pivot is a difference of numbers as large as the inertia of everything the joint carries, so one below 10⁻¹³ of that
is rounding: a division by it gives garbage that is finite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.model.model import Model
from featherweight.scalar import absolute, sqrt
from featherweight.spatial import Motion, RigidInertia, Transform, Vector

DIGITS = 1e-13  # of what a joint carries: a smaller pivot is rounding; three digits are left to one at the limit


def carried(
    parent: Sequence[int], X_tree: Sequence[Transform], I: Sequence[RigidInertia]
) -> tuple[list[Any], list[Any]]:
    """Of each body with all it carries: the mass [kg], and a bound of ∫ r² dm [kg m²] about its frame, wherever joints
    turn. A load m with the bound B about its own frame has at most (√B + d √m)² about a point d away."""
    m = [own.m for own in I]
    B = [0.5 * (absolute(own.I.xx) + absolute(own.I.yy) + absolute(own.I.zz)) for own in I]
    for i in range(len(parent) - 1, 0, -1):
        r = X_tree[i].r
        reach = sqrt(B[i]) + sqrt(r.dot(r) * m[i])
        m[parent[i]] = m[parent[i]] + m[i]
        B[parent[i]] = B[parent[i]] + reach * reach
    return m, B


def largest(s: Motion, m: Any, B: Any) -> Any:
    """A bound of sᵀ I s, the inertia that a coordinate with the axis s feels of a load, by the triangle inequality."""
    speed = sqrt(s.angular.dot(s.angular) * B) + sqrt(s.linear.dot(s.linear) * m)
    return speed * speed


def singular_bodies(model: Model) -> list[int]:
    """The bodies whose own inertia, with the motor's, is lost among the digits of what they carry, for some motion of
    their own joint. Of a model of numbers.

    If there are none, and all joints are uniform, M(q) is positive definite at every q: a pivot is not less than what
    the joint feels of the body alone, because the inertia of what hangs on it, felt through free joints, is positive
    semidefinite.
    """
    m, B = carried(model.parent, model.X_tree, model.inertias)
    spins = _spins(model)
    lost = []
    for joint in model.joints:
        i, kind = joint.body, joint.kind
        q = kind.neutral() if kind.uniform else kind.random(np.random.default_rng(0))
        S = kind.subspace(list(q))
        if len(S) == 1:  # nearly all joints of large models: no matrices
            feels = _felt(S[0], model.inertias[i], spins.get(i, ())) + joint.armature[0] + joint.rotor_inertia
            regular = feels > DIGITS * largest(S[0], m[i], B[i])
        else:
            columns = np.array([[*s.angular, *s.linear] for s in S], dtype=float)
            own = columns @ _matrix(model.inertias[i], spins.get(i, ())) @ columns.T
            least = _least(own + np.diag(np.array(joint.armature, dtype=float)))
            regular = all(d > DIGITS * largest(s, m[i], B[i]) for d, s in zip(least, S, strict=True))
        if not regular:
            lost.append(i)
    return lost


def _spins(model: Model) -> dict[int, list[Vector]]:
    """Of bodies that carry rotors, what they do not feel where the rotors stand still: σ with the moments σ σᵀ."""
    spins: dict[int, list[Vector]] = {}
    for joint in model.joints:
        inertia = joint.armature[0] + joint.rotor_inertia if joint.spin is not None else 0.0
        if joint.spin is not None and inertia > 0:
            spins.setdefault(model.parent[joint.body], []).append(joint.spin * (1.0 / math.sqrt(inertia)))
    return spins


def _felt(s: Motion, I: RigidInertia, spins: Sequence[Vector]) -> float:
    """sᵀ I s, without what rotors take of it."""
    (x, y, z), v, (xx, xy, xz, yy, yz, zz) = s.angular, s.linear, I.I
    whole = xx * x * x + yy * y * y + zz * z * z + 2 * (xy * x * y + xz * x * z + yz * y * z)
    whole += 2 * s.angular.dot(I.h.cross(v)) + I.m * v.dot(v)
    for spin in spins:
        whole -= spin.dot(s.angular) ** 2
    return whole


def _least(D: np.ndarray) -> Sequence[float]:
    """The pivots of a joint's inertia, each when it is the last: 1 / (D⁻¹)_kk, the least it can be in any order."""
    size = np.sqrt(np.maximum(np.diag(D), 0.0))
    if not size.all():
        return [0.0] * len(D)
    values, vectors = np.linalg.eigh(D / np.outer(size, size))
    if not values[0] > 0:
        return [0.0] * len(D)
    return (size**2 / (vectors**2 @ (1.0 / values))).tolist()


def _matrix(I: RigidInertia, spins: Sequence[Vector]) -> np.ndarray:
    """A rigid inertia as a 6×6 matrix, angular first; without what rotors take of it."""
    (h_x, h_y, h_z), matrix = I.h, np.zeros((6, 6))
    matrix[:3, :3] = I.I.matrix
    matrix[:3, 3:] = [[0, -h_z, h_y], [h_z, 0, -h_x], [-h_y, h_x, 0]]
    matrix[3:, :3] = matrix[:3, 3:].T
    matrix[3:, 3:] = I.m * np.eye(3)
    for spin in spins:
        matrix[:3, :3] -= np.outer(spin, spin)
    return matrix
