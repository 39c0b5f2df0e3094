"""Mass matrix: the composite-rigid-body algorithm with branch-induced sparsity (RBDA, table 6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.model import Tree


def mass_matrix(tree: Tree, q: Sequence[Any]) -> list[list[Any]]:
    """M(q), whole and symmetric; entries of bodies on different branches are never computed."""
    X, S = tree.per_body(), tree.per_body(())
    I_c = list(tree.I)
    M: list[list[Any]] = [[0] * tree.nv for _ in range(tree.nv)]

    # outward: transforms and motion subspaces
    for i, _, joint in tree.outward():
        X[i] = joint.transform(q) @ tree.X_tree[i]
        S[i] = joint.subspace(q)

    # inward: each body with all it carries is one rigid body I_c
    for i, parent, joint in tree.inward():
        if parent > 0:
            I_c[parent] = I_c[parent] + I_c[i].seen_through(X[i])
        F = [I_c[i] @ s for s in S[i]]  # force that accelerates it along S
        rows = range(joint.v.start, joint.v.stop)
        for n, (r, s, armature) in enumerate(zip(rows, S[i], joint.armature, strict=True)):
            M[r][r] = M[r][r] + s.dot(F[n]) + armature  # H_ii = Sᵀ F
            for column, f in zip(rows[:n], F, strict=False):
                add_symmetric(M, r, column, s.dot(f))

        # rootward: project that force on every joint on the path
        for j, above in tree.rootward(i):
            F = [X[j].back(f) for f in F]
            if j == i and joint.spin is not None:
                F[0] = F[0] + joint.spin  # the rotor's momentum acts on the parent
            columns = tree.joints[above].v
            for r, f in zip(rows, F, strict=True):
                for column, s in zip(range(columns.start, columns.stop), S[above], strict=True):
                    add_symmetric(M, r, column, s.dot(f))  # H_ij = Fᵀ S_j
    return M


def add_symmetric(M: list[list[Any]], r: int, column: int, x: Any) -> None:
    """Add x to two symmetric entries. They are one entry if joints share a coordinate."""
    M[r][column] = M[r][column] + x
    M[column][r] = M[column][r] + x if r == column else M[r][column]
