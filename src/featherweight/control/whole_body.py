"""Whole-body control: a QP over accelerations and contact forces, then floating-base inverse dynamics.

A robot with a free base, limbs that end in feet (as many joints as a foot's task has dimensions), further joints u.
The feet's accelerations x are given (zero for one that stands), which ties each limb to the base:

    J_b a_b + J_l q̈_l + J̇ v = x    =>    q̈_l = N_l a_b + n_l

The six rows of the base in M q̈ + c = [0; τ] + Jᵀ f have no torque. With the limbs put in they read

    w = G f = B_b a_b + B_u ü + k,    B_b = M_bb + Σ M_bl N_l,    B_u = M_bu,    k = c_b + Σ M_bl n_l:

the ground must give the wrench w at the base. The tasks are a wrench w_h (a rate of the centroidal momentum), a base
acceleration a_d and joint accelerations u_d, each with a weight:

    minimise ½ |w - w_h|²_H + ½ |a_b - a_d|²_B + ½ |ü - u_d|²_U + ½ ε |f|²   over a_b, ü, f in friction cones.

a_b and ü are eliminated: for a given w the best ones cost ½ |w - w_p|² in S⁻¹ with S = B_b B⁻¹ B_bᵀ + B_u U⁻¹ B_uᵀ and
w_p = B_b a_d + B_u u_d + k. A problem in f alone remains (`forces.py`). Then ü = u_d + U⁻¹ B_uᵀ S⁻¹ (w - w_p), a_b
follows from the rows of the base, and τ = M q̈ + c - Jᵀ f, whose first six are zero: the root never receives torque.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.algorithms.linear import factor
from featherweight.control.algebra import damped_inverse, solved, whitened
from featherweight.control.forces import Forces, forces_in_cones
from featherweight.control.gains import ForceSolver
from featherweight.dynamics import bias_force, body_acceleration, inverse_dynamics, jacobian, mass_matrix
from featherweight.model import Model

BASE = 6
LIMB_DAMPING = 3e-3  # [m/rad], of the inverse of a limb's Jacobian: little where its joints move the foot by more
BASE_DAMPING = 1e-5  # of the inverse of B_b, which is about the robot's mass and inertia
SOFTNESS = 1e-9  # of S, against its trace


@dataclass(frozen=True)
class Limb:
    """A chain of joints from the base to a foot.

    Args:
        frame: the foot's.
        dofs: degrees of freedom of its joints, shape (size,).
        points: names of the contact points of the foot.
    """

    frame: str
    dofs: tuple[int, ...]
    points: tuple[str, ...]

    @property
    def size(self) -> int:
        """Rows of the foot's task: 3 for a position, 6 for a pose."""
        return len(self.dofs)


@dataclass(frozen=True)
class Tasks:
    """The tasks of a step: accelerations of the base (6,), each foot (size,), the other joints (n,), and a wrench.

    The base's acceleration is spatial, in its own axes; the feet's are classical, in the world's axes.

    Args:
        base: a_d.
        base_weight: B > 0, shape (6,), linear then angular.
        feet: x of each limb.
        others: u_d of the joints outside the limbs.
        others_weight: U > 0 of these joints, one number for all.
        momentum: w_h (6,) and H (6, 6), or None.
    """

    base: np.ndarray
    base_weight: Any
    feet: Sequence[np.ndarray]
    others: np.ndarray
    others_weight: Any = 1.0
    momentum: tuple[np.ndarray, np.ndarray] | None = None


@dataclass(frozen=True)
class Cones:
    """Friction cones of the contact points, and how the forces in them are found.

    Args:
        friction: μ of all.
        most: limit of each normal force [N], shape (contacts,); 0 for a point in the air.
        warm: warm start, z and u of the last step, shape (contacts, 3) each.
        solver: numbers of the iteration.
    """

    friction: Any
    most: Sequence[Any]
    warm: tuple[np.ndarray, np.ndarray]
    solver: ForceSolver = ForceSolver()


@dataclass(frozen=True)
class Answer:
    """Torques (nv,) with six zeros first, accelerations (nv,), and the contact forces."""

    tau: np.ndarray
    acceleration: np.ndarray
    forces: Forces


@dataclass(frozen=True, eq=False)
class WholeBody:
    """The problem of one robot: its structure. All numbers come with each step.

    Args:
        model: a robot whose first joint is free.
        limbs: its limbs with feet.
        iterations: most iterations for the contact forces.
    """

    model: Model
    limbs: tuple[Limb, ...]
    iterations: int = 60

    @property
    def others(self) -> list[int]:
        """Degrees of freedom of the joints that belong to no limb."""
        taken = {d for limb in self.limbs for d in limb.dofs}
        return [d for d in range(BASE, self.model.nv) if d not in taken]

    @property
    def contacts(self) -> int:
        """Number of contact points."""
        return sum(len(limb.points) for limb in self.limbs)

    def __call__(self, q: np.ndarray, v: np.ndarray, tasks: Tasks, cones: Cones) -> Answer:
        """Torques, accelerations and contact forces for these tasks."""
        model, others = self.model, self.others
        M, c = mass_matrix(model, q)[:BASE], bias_force(model, q, v)[:BASE]

        # tie the limbs to the base
        B_b, k = M[:, :BASE], c
        ties = []
        for limb, x in zip(self.limbs, tasks.feet, strict=True):
            dofs, rest = list(limb.dofs), np.zeros(model.nv)
            J = jacobian(model, q, limb.frame, "world_aligned")[: limb.size]
            drift = body_acceleration(model, q, v, rest, limb.frame, "world_aligned", classical=True)  # J̇ v
            inverse = damped_inverse(J[:, dofs], LIMB_DAMPING)
            N, n = -(inverse @ J[:, :BASE]), inverse @ (x - drift[: limb.size])
            B_b, k = B_b + M[:, dofs] @ N, k + M[:, dofs] @ n
            ties.append((dofs, N, n))
        B_u = M[:, others]

        # the wrench that fulfils all tasks, and what it costs to miss it
        softness = 1.0 / tasks.others_weight  # U⁻¹
        S = (B_b * (1.0 / np.array(tasks.base_weight))) @ B_b.T + B_u @ B_u.T * softness
        w_p = k + B_b @ tasks.base + B_u @ tasks.others
        factors = factor((S + SOFTNESS * np.trace(S) * np.eye(BASE)).tolist())
        S_inverse = solved(factors, np.eye(BASE))
        Q, target = S_inverse, w_p
        if tasks.momentum is not None:
            w_h, H = tasks.momentum
            Q = S_inverse + H
            target = np.array(factor(Q.tolist()).solve(list(S_inverse @ w_p + H @ w_h)), dtype=object)

        # forces of the contacts, and the wrench they give
        J_c = [jacobian(model, q, p, "world_aligned")[:3] for limb in self.limbs for p in limb.points]
        G = np.concatenate([J[:, :BASE] for J in J_c]).T
        R, b = whitened(Q, target)
        forces = forces_in_cones(
            R @ G, b, friction=cones.friction, most=cones.most, warm=cones.warm, **vars(cones.solver),
            iterations=self.iterations,
        )  # fmt: skip
        w = G @ forces.z.ravel()

        # accelerations with that wrench, and the torques for them
        u = tasks.others + B_u.T @ np.array(factors.solve(list(w - w_p)), dtype=object) * softness
        a_b = damped_inverse(B_b, BASE_DAMPING) @ (w - k - B_u @ u)
        a = np.array([0.0] * model.nv, dtype=object)
        a[:BASE], a[others] = a_b, u
        for dofs, N, n in ties:
            a[dofs] = N @ a_b + n
        tau = inverse_dynamics(model, q, v, _numbers(a))
        for J, f in zip(J_c, forces.z, strict=True):
            tau = tau - J.T @ f
        return Answer(np.array([0.0] * BASE + list(tau[BASE:]), dtype=object), a, forces)


def _numbers(a: np.ndarray) -> np.ndarray:
    """An array of floats if it holds nothing else, for functions that take those or traced values."""
    return a.astype(float) if all(isinstance(x, (int, float, np.number)) for x in a) else a
