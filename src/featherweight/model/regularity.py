"""Is the mass matrix M(q) regular? What each joint must feel, and what may hide it.

Forward dynamics divides by the pivots of M: the inertia that a coordinate feels while all joints beyond it are free.
A pivot is a difference of numbers as large as the inertia of everything the joint carries, so one below 10⁻¹³ of that
is rounding: a division by it gives garbage that is finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.model.tree import Tree
from featherweight.scalar import absolute, sqrt
from featherweight.spatial import Motion

DIGITS = 1e-13  # of what a joint carries: a smaller pivot is rounding; three digits are left to one at the limit


def carried(tree: Tree) -> tuple[list[Any], list[Any]]:
    """Of each body with all it carries: the mass [kg], and a bound of ∫ r² dm [kg m²] about its frame, wherever joints
    turn. A load m with the bound B about its own frame has at most (√B + d √m)² about a point d away."""
    m = [I.m for I in tree.I]
    B = [0.5 * (absolute(I.I.xx) + absolute(I.I.yy) + absolute(I.I.zz)) for I in tree.I]
    for i in range(len(tree.parent) - 1, 0, -1):
        parent, r = tree.parent[i], tree.X_tree[i].r
        reach = sqrt(B[i]) + sqrt(r.dot(r) * m[i])
        m[parent] = m[parent] + m[i]
        B[parent] = B[parent] + reach * reach
    return m, B


def largest(s: Motion, m: Any, B: Any) -> Any:
    """A bound of sᵀ I s, the inertia that a coordinate with the axis s feels of a load, by the triangle inequality."""
    speed = sqrt(s.angular.dot(s.angular) * B) + sqrt(s.linear.dot(s.linear) * m)
    return speed * speed


def singular_bodies(tree: Tree) -> list[int]:
    """The bodies whose own inertia, with the motor's, is lost among the digits of what they carry, for some motion of
    their own joint. Of floats.

    If there are none, and all joints are uniform, M(q) is positive definite at every q: a pivot is not less than what
    the joint feels of the body alone, because the inertia of what hangs on it, felt through free joints, is positive
    semidefinite.
    """
    m, B = carried(tree)
    own = [_matrix(I) for I in tree.I]
    for i, joint in enumerate(tree.joints[1:], start=1):  # a rotor may stand still while its carrier turns
        if joint.spin is not None and joint.armature[0] > 0:
            spin = np.array([*joint.spin.moment, *joint.spin.force])
            own[tree.parent[i]] -= np.outer(spin, spin) / joint.armature[0]
    lost = []
    for i, joint in enumerate(tree.joints[1:], start=1):
        kind = joint.joint
        q = kind.neutral() if kind.uniform else kind.random(np.random.default_rng(0))
        S = kind.subspace(list(q))
        scale = [float(largest(s, m[i], B[i])) for s in S]
        columns = np.array([[*s.angular, *s.linear] for s in S], dtype=float)
        felt = _least(columns @ own[i] @ columns.T + np.diag(np.array(joint.armature, dtype=float)))
        if any(not d > DIGITS * c for d, c in zip(felt, scale, strict=True)):
            lost.append(i)
    return lost


def _least(D: np.ndarray) -> Sequence[float]:
    """The pivots of a joint's inertia, each when it is the last: 1 / (D⁻¹)_kk, the least it can be in any order."""
    if len(D) == 1:
        return [float(D[0, 0])]
    size = np.sqrt(np.maximum(np.diag(D), 0.0))
    if not size.all():
        return [0.0] * len(D)
    values, vectors = np.linalg.eigh(D / np.outer(size, size))
    if not values[0] > 0:
        return [0.0] * len(D)
    return (size**2 / (vectors**2 @ (1.0 / values))).tolist()


def _matrix(I: Any) -> np.ndarray:
    """A rigid inertia as a 6×6 matrix, angular first."""
    (h_x, h_y, h_z), matrix = I.h, np.zeros((6, 6))
    matrix[:3, :3] = I.I.matrix
    matrix[:3, 3:] = [[0, -h_z, h_y], [h_z, 0, -h_x], [-h_y, h_x, 0]]
    matrix[3:, :3] = matrix[:3, 3:].T
    matrix[3:, 3:] = I.m * np.eye(3)
    return matrix
