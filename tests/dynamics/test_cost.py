"""Cost in operations, functions and memory: linear in the robot, shared between equal limbs."""

from __future__ import annotations

from collections import Counter

import pytest

import featherweight as fw
from featherweight.compiler.plan.place import Plan
from featherweight.compiler.plan.plan import CHUNK_LIMIT
from featherweight.compiler.plan.steps import Chunk
from featherweight.dynamics.contact_space import DELASSUS
from featherweight.dynamics.evaluate import Quantity
from featherweight.dynamics.functions import FORWARD_DYNAMICS, INVERSE_DYNAMICS, MASS_MATRIX
from featherweight.dynamics.kinematics import FORWARD_KINEMATICS


def distinct(plan: Plan) -> int:
    return len({step.signature() for step in plan.steps if isinstance(step, Chunk)})


@pytest.mark.parametrize("quantity", [FORWARD_DYNAMICS, INVERSE_DYNAMICS, FORWARD_KINEMATICS], ids=lambda q: q.name)
def test_a_chain_costs_the_same_a_link_whatever_its_length(quantity: Quantity) -> None:
    short, middle, long = (quantity.kernel(fw.robots.chain(n)).plan for n in (100, 200, 400))
    assert long.operations - middle.operations == 2 * (middle.operations - short.operations)
    assert long.size <= 4 * short.size + 100  # slots of the workspace
    assert distinct(long) <= distinct(short) + 8  # functions to compile


def gripper_on_a_chain(n: int) -> fw.Model:
    """Two fingers, one of which follows the other, at the end of n links."""
    builder, parent = fw.Builder("gripper"), "world"
    inertia, place = (
        fw.Inertia.box(1.0, (0.1, 0.2, 0.3), (0.1, 0, 0.1)),
        fw.Placement((0.1, 0.2, 0.3), rpy=(0.1, 0.2, 0.3)),
    )
    for k in range(n):
        builder.add_body(
            f"link{k}", parent=parent, joint=fw.joints.Revolute("xyz"[k % 3]), inertia=inertia, placement=place
        )
        parent = f"link{k}"
    follow = fw.joints.Mimic(fw.joints.Prismatic("x"), "a_joint", -1.0)
    for name, joint in (("a", fw.joints.Prismatic("x")), ("b", follow)):
        builder.add_body(name, parent=parent, joint=joint, inertia=inertia, placement=place)
    return builder.build()


def test_a_joint_that_follows_another_costs_the_same_on_any_chain() -> None:
    """Forward dynamics stays linear in the bodies, the Delassus matrix of a finger in its depth."""
    models = [gripper_on_a_chain(n) for n in (12, 24, 48)]
    forward = [FORWARD_DYNAMICS.kernel(m) for m in models]
    finger = [DELASSUS.kernel(m, options=(((m.nb, (0.0, 0.0, 0.1)),),)) for m in models]
    for kernels in (forward, finger):
        short, middle, long = (kernel.plan.operations for kernel in kernels)
        assert long - middle == 2 * (middle - short)


def test_the_mass_matrix_of_a_chain_shares_its_functions_too() -> None:
    short, long = (MASS_MATRIX.kernel(fw.robots.chain(n)).plan for n in (20, 40))
    assert long.operations <= 4.2 * short.operations  # n² / 2 entries
    assert distinct(long) < 2.5 * distinct(short)


def quadruped() -> fw.Model:
    builder = fw.Builder("quadruped")
    builder.add_body("trunk", joint=fw.joints.Free(), inertia=fw.Inertia.box(7.0, (0.4, 0.2, 0.1)))
    for k in range(4):
        parent = "trunk"
        for link, axis in enumerate("xyy"):
            builder.add_body(
                f"leg{k}_{link}",
                parent=parent,
                joint=fw.joints.Revolute(axis),
                placement=fw.Placement((0.2 + 0.01 * k, 0.1 + 0.02 * link, -0.2)),
                inertia=fw.Inertia(1.1 + 0.1 * k, (0.01, 0.02, -0.1 - 0.01 * link), (0.02, 0.021 + 0.001 * k, 0.01)),
            )
            parent = f"leg{k}_{link}"
    return builder.build()


def test_equal_legs_share_their_functions_whatever_their_numbers() -> None:
    plan = INVERSE_DYNAMICS.kernel(quadruped()).plan
    chunks = [step for step in plan.steps if isinstance(step, Chunk)]
    assert max(Counter(chunk.signature() for chunk in chunks).values()) >= 3
    assert max(len(chunk.nodes) for chunk in chunks) <= CHUNK_LIMIT


def test_bodies_on_other_branches_cost_nothing_in_the_mass_matrix() -> None:
    """Entries between two legs are known zeros: they are literals, not operations."""
    M = fw.mass_matrix(quadruped(), quadruped().random(0))
    assert not M[6:9, 9:12].any()
    assert M[6:9, :9].all(axis=0).any()
