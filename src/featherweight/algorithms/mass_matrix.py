"""Mass matrix: the composite-rigid-body algorithm with branch-induced sparsity (RBDA, table 6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.model import Tree


def mass_matrix(tree: Tree, q: Sequence[Any], nv: int) -> list[list[Any]]:
    """M(q), whole and symmetric; entries of bodies on different branches are never computed."""
    X, S = tree.per_body(), tree.per_body(())
    I_c = list(tree.I)
    M: list[list[Any]] = [[0] * nv for _ in range(nv)]

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
        for r, s in zip(rows, S[i], strict=True):
            for column, f in zip(rows[: r - joint.v.start + 1], F, strict=False):
                M[r][column] = M[column][r] = s.dot(f)  # H_ii = Sᵀ F

        # that force, carried towards the root, is felt by every joint on the way
        for j, above in tree.rootward(i):
            F = [X[j].back(f) for f in F]
            columns = tree.joints[above].v
            for r, f in zip(rows, F, strict=True):
                for column, s in zip(range(columns.start, columns.stop), S[above], strict=True):
                    M[r][column] = M[column][r] = s.dot(f)  # H_ij = Fᵀ S_j
    return M
