"""Regularity of the mass matrix M(q): bounds below which a pivot is nothing but rounding.

Forward dynamics divides by the pivots of M: the articulated inertia along a coordinate, while all joints beyond it are
free. A pivot is a difference of numbers as large as the inertia of everything that the joint carries. One below 10⁻¹³
of that is rounding, and dividing by it gives finite garbage.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.model.cache import once_per_model
from featherweight.model.inertia import impossible
from featherweight.scalar import absolute, sqrt
from featherweight.spatial import Motion, RigidInertia, Transform, Vector

if TYPE_CHECKING:
    from featherweight.model.model import Model

DIGITS = 1e-13  # smallest pivot, relative to the inertia carried; such a pivot still has three digits


@once_per_model
def impossible_bodies(model: Model) -> Mapping[str, str]:
    """Why the moving bodies that cannot exist cannot, by name: no mass, moments that no solid has, no inertia that the
    body's own joint would feel. Of symbols nothing is known."""
    if model.symbols:
        return MappingProxyType({})
    found = {i: why for i in range(1, model.nb + 1) if (why := impossible(model.inertias[i])) is not None}
    for i in singular_bodies(model):
        found.setdefault(i, f"it has no inertia about or along an axis of its joint {model.joints[i - 1].name!r}")
    return MappingProxyType({model.names[i]: found[i] for i in sorted(found)})


def carried(
    parent: Sequence[int], X_tree: Sequence[Transform], I: Sequence[RigidInertia]
) -> tuple[list[Any], list[Any]]:
    """Of each body with all it carries: the mass [kg], and a bound of ∫ r² dm [kg m²] about its frame at any q.

    A load m with the bound B about its own frame has at most (√B + d √m)² about a point at a distance d.
    """
    m = [own.m for own in I]
    B = [0.5 * (absolute(own.I.xx) + absolute(own.I.yy) + absolute(own.I.zz)) for own in I]
    for i in range(len(parent) - 1, 0, -1):
        r = X_tree[i].r
        reach = sqrt(B[i]) + sqrt(r.dot(r) * m[i])
        m[parent[i]] = m[parent[i]] + m[i]
        B[parent[i]] = B[parent[i]] + reach * reach
    return m, B


def largest(s: Motion, m: Any, B: Any) -> Any:
    """A bound of sᵀ I s, the inertia of a load along a joint axis s, by the triangle inequality."""
    speed = sqrt(s.angular.dot(s.angular) * B) + sqrt(s.linear.dot(s.linear) * m)
    return speed * speed


def singular_bodies(model: Model) -> list[int]:
    """The bodies whose own inertia with armature is below the rounding of what they carry, along some axis of their
    joint. For a model of numbers.

    If there are none, no body is indefinite and all joints are uniform, M(q) is positive definite at every q: the
    inertia propagated through the joints beyond is positive semidefinite, so no pivot is less than that of the body
    alone.
    """
    m, B = carried(model.parent, model.X_tree, model.inertias)
    spins = _spins(model)
    lost = []
    for joint in model.joints:
        i, kind = joint.body, joint.kind
        q = kind.neutral() if kind.uniform or kind.leader else kind.random(np.random.default_rng(0))
        S = kind.subspace(list(q))
        if len(S) == 1:  # nearly all joints of large models: no matrices
            own = _inertia_along(S[0], model.inertias[i], spins.get(i, ()))
            regular = own + joint.armature[0] + joint.rotor_inertia > DIGITS * largest(S[0], m[i], B[i])
        else:
            columns = np.array([[*s.angular, *s.linear] for s in S], dtype=float)
            own = columns @ _matrix(model.inertias[i], spins.get(i, ())) @ columns.T
            least = _least(own + np.diag(np.array(joint.armature, dtype=float)))
            regular = all(d > DIGITS * largest(s, m[i], B[i]) for d, s in zip(least, S, strict=True))
        if not regular:
            lost.append(i)
    return lost


def indefinite_bodies(model: Model) -> list[int]:
    """The bodies with a negative moment of inertia about some axis. What carries one may have a pivot that is less than
    its own inertia, or negative."""
    spins, moments = _spins(model), []
    for i, (m, (h_x, h_y, h_z), I) in enumerate(model.inertias):
        about_origin = np.array(I.matrix, dtype=float)
        for spin in spins.get(i, ()):
            about_origin -= np.outer(spin, spin)
        c = np.array((h_x, h_y, h_z), dtype=float) / (m if m > 0 else math.inf)
        moments.append((about_origin - m * (c @ c * np.eye(3) - np.outer(c, c)), abs(about_origin).max()))
    least = np.linalg.eigvalsh(np.array([moment for moment, _ in moments]))[:, 0]
    return [i for i, (_, size) in enumerate(moments) if i > 0 and least[i] < -DIGITS * size]


def _spins(model: Model) -> dict[int, list[Vector]]:
    """Of bodies that carry rotors: vectors σ, where σ σᵀ is the inertia that is lost while the rotors stay at rest."""
    spins: dict[int, list[Vector]] = {}
    for joint in model.joints:
        inertia = joint.armature[0] + joint.rotor_inertia if joint.spin is not None else 0.0
        if joint.spin is not None and inertia > 0:
            spins.setdefault(model.parent[joint.body], []).append(joint.spin * (1.0 / math.sqrt(inertia)))
    return spins


def _inertia_along(s: Motion, I: RigidInertia, spins: Sequence[Vector]) -> float:
    """sᵀ I s, less what rotors at rest take of it."""
    (x, y, z), v, (xx, xy, xz, yy, yz, zz) = s.angular, s.linear, I.I
    whole = xx * x * x + yy * y * y + zz * z * z + 2 * (xy * x * y + xz * x * z + yz * y * z)
    whole += 2 * s.angular.dot(I.h.cross(v)) + I.m * v.dot(v)
    for spin in spins:
        whole -= spin.dot(s.angular) ** 2
    return whole


def _least(D: np.ndarray) -> Sequence[float]:
    """The least value of each pivot of D over all elimination orders: 1 / (D⁻¹)_kk, when it comes last."""
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
