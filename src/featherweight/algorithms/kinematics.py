"""Forward kinematics: where every body is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.model import Tree
from featherweight.spatial import Transform


def forward_kinematics(tree: Tree, q: Sequence[Any]) -> list[Transform]:
    """X_0i for every body: from the world's coordinates to the body's."""
    X = tree.per_body(Transform.identity())
    for i, parent, joint in tree.outward():
        X[i] = joint.transform(q) @ tree.X_tree[i] @ X[parent]
    return X
