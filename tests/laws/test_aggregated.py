"""Joints that share coordinates, taken as one: which they are, and that the robot stays the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import featherweight as fw
from featherweight.algorithms.articulated import articulated_bodies
from featherweight.algorithms.contact_inertia import pose
from featherweight.algorithms.kinematics import forward_kinematics
from featherweight.joints import Mimic, Revolute, Spherical
from featherweight.model import Tree, aggregated
from laws.measure import allowance, close, law
from laws.random_trees import state, trees

pytestmark = pytest.mark.usefixtures("interpreted")
BODY = fw.Inertia.box(1.0, (0.1, 0.2, 0.3), (0.1, 0, 0))
MANY = trees(most=9, kinds=("revolute any", "prismatic any", "helical any", "spherical", "mimic", "mimic"))


def over(model: fw.Model) -> Tree:
    return model.over(float, lambda: None)


def robot(*bodies: str) -> fw.Model:
    """Bodies as "name parent", "name parent spherical" or "name parent leader ratio"."""
    builder = fw.Builder("robot")
    for k, text in enumerate(bodies):
        name, parent, *kind = text.split()
        joint = Revolute((1, k, 0.3))
        if kind == ["spherical"]:
            joint = Spherical()
        elif kind:
            joint = Mimic(joint, f"{kind[0]}_joint", float(kind[1]), 0.1)
        place = fw.Placement((0.1, 0.2, 0.1 * k), rpy=(0.1, 0.2 * k, 0.3))
        builder.add_body(name, parent=parent, joint=joint, inertia=BODY, placement=place)
    return builder.build()


SHAPES = {  # robot: bodies that hang on joints of several bodies, and the body that carries them
    "nothing follows": (["a world", "b a"], {}),
    "a gripper": (["arm world", "a arm", "b arm a -1"], {"a b": "arm"}),
    "a finger": (["a world", "b a a 0.5", "c b a 0.7"], {"a b c": "world"}),
    "in the middle of a chain": (["a world", "b a", "c b spherical", "d c b -2", "e d"], {"b c d": "a"}),
    "a follower before its leader": (["a world", "b a e 2", "c b", "d a", "e d"], {"b d e": "a"}),
    "two that follow one": (["a world", "b world a 1", "c b", "d a a -1"], {"a b d": "world"}),
    "two grippers": (
        ["arm world", "a arm", "b arm a -1", "hand arm", "c hand", "d hand c -1"],
        {"a b": "arm", "c d": "hand"},
    ),
    "one that follows a follower": (["a world", "b world a 2", "c world b 2"], {"a b c": "world"}),
    "loops that cross": (["a world", "b a", "c b a -1", "d c b 2"], {"a b c d": "world"}),
    "branches on a joint of two bodies": (["a world", "b world a -1", "c a", "d b", "e d"], {"a b": "world"}),
    "branches on both fingers of a gripper": (
        ["arm world", "a arm", "b arm a -1", "c a", "d b", "e d"],
        {"a b": "arm"},
    ),
    "coordinates between": (["a world", "b a", "c b", "d a", "e d b 1"], {"b c d e": "a"}),
}


@pytest.mark.parametrize("name", SHAPES)
def test_joints_are_joined_where_they_must_be(name: str) -> None:
    bodies, expected = SHAPES[name]
    model = robot(*bodies)
    tree = aggregated(over(model))
    together: dict[tuple[int, int], list[int]] = {}
    for i, joint in enumerate(tree.joints[1:], start=1):
        together.setdefault((joint.v.start, tree.parent[i]), []).append(i)
    found = {
        " ".join(model.names[i] for i in group): model.names[parent]
        for (_, parent), group in together.items()
        if len(group) > 1
    }
    assert found == expected
    check_dynamics(model)


def test_a_robot_on_which_nothing_follows_is_the_same_object() -> None:
    tree = over(fw.robots.mini_cheetah())
    assert aggregated(tree) is tree


@law
@given(MANY)
def test_joined_joints_have_all_coordinates_of_their_bodies_and_no_others(model: fw.Model) -> None:
    apart = over(model)
    tree = aggregated(apart)
    dofs = {tuple(joint.dofs) for joint in tree.joints[1:]}
    assert sorted(d for own in dofs for d in own) == list(range(model.nv))
    for i in range(1, model.nb + 1):
        own = tree.joints[i].dofs
        assert set(apart.joints[i].dofs) <= set(own)
        way = apart.path(i)
        on_joint = way[: way.index(tree.parent[i])] if tree.parent[i] else way
        assert all(tree.joints[j].dofs == own and tree.parent[j] == tree.parent[i] for j in on_joint)
        if tree.parent[i]:
            assert tree.joints[tree.parent[i]].dofs != own


@law
@given(MANY)
def test_bodies_are_where_they_were(model: fw.Model) -> None:
    q, _, _ = state(model)
    apart = over(model)
    tree = aggregated(apart)
    bodies = articulated_bodies(tree, list(q))
    places = forward_kinematics(apart, list(q))
    for i, name in enumerate(model.names[1:], start=1):
        found = pose(tree, bodies, i)
        close(np.array(found.E), np.array(places[i].E))
        close(np.array(found.r), np.array(places[i].r))
        # the columns of S, carried from joint to joint, are those of the Jacobian
        J, to_body = np.zeros((6, model.nv)), fw.spatial.Transform.identity()
        for j in tree.path(i):
            for d, s in zip(tree.joints[j].dofs, bodies.S[j], strict=True):
                column = to_body @ s
                J[:, d] = [*column.linear, *column.angular]
            to_body = to_body @ bodies.X[j]
        close(J, fw.jacobian(model, q, name))


def check_dynamics(model: fw.Model) -> None:
    """Delassus matrix, responses, forward and hybrid dynamics against dense algebra."""
    q, v, a = state(model, 2)
    M, tolerance = fw.mass_matrix(model, q), 1e-12 * allowance(model, q)
    J = np.concatenate([fw.jacobian(model, q, name, "world_aligned")[:3] for name in model.names[1:]])
    response = np.linalg.solve(M, J.T)
    close(fw.delassus(model, q, model.names[1:]), J @ response, tolerance)
    for k, name in enumerate(model.names[1:]):
        for axis in range(3):
            found = fw.unit_force_response(model, q, name, np.eye(3)[axis])
            close(found, response[:, 3 * k + axis], tolerance)
    close(fw.solve_mass_matrix(model, q, a), np.linalg.solve(M, a), tolerance)
    tau = fw.inverse_dynamics(model, q, v, a)
    close(fw.forward_dynamics(model, q, v, tau), a, tolerance)
    for joint in model.joints:
        tau, accelerations = fw.hybrid_dynamics(model, q, v, a, a, [joint.name])
        assert (accelerations[joint.v] == a[joint.v]).all()
        close(fw.inverse_dynamics(model, q, v, accelerations), tau, tolerance)
        assert (np.delete(tau, joint.v) == np.delete(a, joint.v)).all()


@law
@given(MANY)
def test_responses_of_many_joined_joints_are_those_of_the_mass_matrix(model: fw.Model) -> None:
    check_dynamics(model)


@pytest.mark.parametrize("ratio", [-6.0, 1.0])
def test_rotors_on_bodies_that_turn_with_them(ratio: float) -> None:
    """The rotor of a leader is on its follower, and that of another follower on the leader."""
    wheel = fw.Inertia(0.3, (0, 0, 0), (0.02, 0.02, 0.03))
    builder = fw.Builder("gears").add_body("base", joint=Spherical(), inertia=BODY)
    builder.add_body("a", parent="base", joint=Mimic(Revolute((1, 2, 3)), "b_joint", ratio, 0.3), inertia=BODY)
    builder.add_body("b", parent="a", joint=Revolute("z"), inertia=BODY, rotor=fw.Rotor(9.0, wheel), armature=0.1)
    follow = Mimic(Revolute("x"), "b_joint", 0.5)
    rotor = fw.Rotor(5.0, wheel, fw.Placement(rpy=(0.2, 0.3, 0.1)), axis="z")
    builder.add_body("c", parent="b", joint=follow, inertia=BODY, rotor=rotor)
    model = builder.build()
    assert all(model.joint(f"{name}_joint").spin is not None for name in "bc")
    check_dynamics(model)


def test_a_body_without_inertia_may_follow() -> None:
    """Its joint alone would have nothing to push; joined with its leader it moves with that."""
    builder = fw.Builder("arm", policy="warn").add_body("a", joint=Revolute("y"), inertia=BODY)
    nothing = fw.Inertia(0.0, (0, 0, 0), (0, 0, 0))
    builder.add_body("b", parent="a", joint=Mimic(Revolute("y"), "a_joint", -2.0, 0.2), inertia=nothing)
    with pytest.warns(UserWarning, match="its mass is 0 kg"):
        model = builder.build()
    check_dynamics(model)
