"""The recursions of the sources, literally: 6×6 matrices on NumPy, one body after the other, as they are printed.

Six-vectors are linear first, in the bodies' own axes; body 0 is the world. Weight acts on each body as a force, so that
accelerations are true ones. What a source leaves out can be left out here, to see what it does.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from featherweight.compiler import interpret
from featherweight.dynamics import forward_kinematics, jacobian
from featherweight.model import Model


def skew(r: np.ndarray) -> np.ndarray:
    """r ×, as a matrix (3, 3)."""
    return np.cross(np.eye(3), r)


def crossed(v: np.ndarray) -> np.ndarray:
    """v × on motions, (6, 6); on forces v ×* is -(v ×)ᵀ."""
    return np.block([[skew(v[3:]), skew(v[:3])], [np.zeros((3, 3)), skew(v[3:])]])


@dataclass(frozen=True, eq=False)
class Bodies:
    """Of each body: X from its parent (6, 6), S (6, n), I (6, 6), velocity v (6,), c = v × S q̇, and p = v ×* I v - I g,
    less the force from outside."""

    model: Model
    X: list[np.ndarray]
    S: list[np.ndarray]
    I: list[np.ndarray]
    v: np.ndarray
    c: np.ndarray
    p: np.ndarray

    @property
    def from_world(self) -> list[np.ndarray]:
        """Motions in the axes of the world, about its origin, to those of each body."""
        found = [np.eye(6)]
        for i in range(1, self.model.nb + 1):
            found.append(self.X[i] @ found[self.model.parent[i]])
        return found


def bodies(model: Model, q: np.ndarray, v: np.ndarray, f_ext: np.ndarray | None = None) -> Bodies:
    """What the recursions begin with: q (nq,), v (nv,), forces from outside (nb + 1, 6) in the axes of the bodies."""
    rotation, position = forward_kinematics(model, q)
    n = model.nb + 1
    X, S, I = [np.eye(6)], [np.zeros((6, 0))], [np.zeros((6, 6))]
    V, c, p = np.zeros((3, n, 6))
    for i, joint in enumerate(model.joints, start=1):
        parent, (m, h, moment) = model.parent[i], model.inertias[i]
        E, r = rotation[i].T @ rotation[parent], rotation[parent].T @ (position[i] - position[parent])
        X.append(np.block([[E, -E @ skew(r)], [np.zeros((3, 3)), E]]))
        I.append(np.block([[m * np.eye(3), -skew(np.array(h))], [skew(np.array(h)), np.array(moment.matrix)]]))
        with interpret():
            S.append(jacobian(model, q, model.names[i])[:, joint.v])
        V[i] = X[i] @ V[parent] + S[i] @ v[joint.v]
        c[i] = crossed(V[i]) @ S[i] @ v[joint.v]
        g = np.concatenate([rotation[i].T @ np.array(model.gravity), np.zeros(3)])
        p[i] = -crossed(V[i]).T @ I[i] @ V[i] - I[i] @ g - (0.0 if f_ext is None else f_ext[i])
    return Bodies(model, X, S, I, V, c, p)


@dataclass(frozen=True, eq=False)
class Articulated:
    """I^A, p^A of each body, and what its joint lets through: I^a, p^a; U = I^A S, D = Sᵀ U, u = τ - Sᵀ p^A."""

    I_A: list[np.ndarray]
    p_A: np.ndarray
    I_a: list[np.ndarray]
    U: list[np.ndarray]
    D: list[np.ndarray]
    u: list[np.ndarray]


def articulated(given: Bodies, tau: np.ndarray, *, lacks: Collection[str] = ()) -> Articulated:
    """Inward, from the leaves to the base. `lacks=("U D⁻¹ u",)`: p^a = p^A + I^a c, without what the joint's force does
    to the parent."""
    model, n = given.model, given.model.nb + 1
    I_A, p_A = [inertia.copy() for inertia in given.I], given.p.copy()
    I_a, U, D, u = ([np.zeros(0)] * n for _ in range(4))
    for i in range(n - 1, 0, -1):
        joint, parent, X, S = model.joints[i - 1], model.parent[i], given.X[i], given.S[i]
        U[i] = I_A[i] @ S
        D[i] = S.T @ U[i] + np.diag(np.broadcast_to(joint.armature, S.shape[1]))
        u[i] = tau[joint.v] - S.T @ p_A[i]
        I_a[i] = I_A[i] - U[i] @ np.linalg.solve(D[i], U[i].T)
        p_a = p_A[i] + I_a[i] @ given.c[i]
        if "U D⁻¹ u" not in lacks:
            p_a = p_a + U[i] @ np.linalg.solve(D[i], u[i])
        I_A[parent] = I_A[parent] + X.T @ I_a[i] @ X
        p_A[parent] += X.T @ p_a
    return Articulated(I_A, p_A, I_a, U, D, u)


def accelerations(
    given: Bodies, found: Articulated, tau: np.ndarray, *, base: np.ndarray | None = None, lacks: Collection[str] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Outward: q̈ (nv,), and of each body a (nb + 1, 6). `base`: q̈ of the first joint, where it is given.

    `lacks=("I^A",)`: q̈ = D⁻¹ (τ - Sᵀ (I a_λ + p)), with the rigid I and p and without X and c.
    """
    model, a = given.model, np.zeros((given.model.nb + 1, 6))
    q_dd = np.zeros(model.nv)
    for i, joint in enumerate(model.joints, start=1):
        above, S = a[model.parent[i]], given.S[i]
        carried = given.X[i] @ above + given.c[i]
        rest = found.u[i] - found.U[i].T @ carried
        if "I^A" in lacks:
            rest = tau[joint.v] - S.T @ (given.I[i] @ above + given.p[i])
        q_dd[joint.v] = base if base is not None and i == 1 else np.linalg.solve(found.D[i], rest)
        a[i] = carried + S @ q_dd[joint.v]
    return q_dd, a


def on_bodies(model: Model, q: np.ndarray, force: np.ndarray) -> np.ndarray:
    """Forces on bodies (nb + 1, 6), in their axes, of forces (nc, 3) in the world's axes at the contact points."""
    rotation, found = forward_kinematics(model, q).rotation, np.zeros((model.nb + 1, 6))
    for point, pushed in zip(model.contact_points, force, strict=True):
        own = rotation[point.body].T @ pushed
        found[point.body] += np.concatenate([own, np.cross(np.array(point.position), own)])
    return found
