"""Inertia at points and frames is that of J M⁻¹ Jᵀ, found without the mass matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import featherweight as fw
from laws.measure import allowance, close, law
from laws.random_trees import Body, build, floating, recipes, state, states, trees

pytestmark = pytest.mark.usefixtures("interpreted")
XYZ = (0.1, -0.2, 0.3)


def point_jacobian(model: fw.Model, q: np.ndarray, body: str, xyz: tuple[float, ...]) -> np.ndarray:
    """Velocity of a point of a body in the world's axes: v + ω × R xyz."""
    J = fw.jacobian(model, q, body, "world_aligned")
    arm = fw.frame_pose(model, q, body).rotation @ xyz
    return J[..., :3, :] + np.cross(J[..., 3:, :], arm[..., None], axisa=-2, axisb=-2, axisc=-2)


def with_points(bodies: list[Body]) -> fw.Model:
    builder = fw.Builder("tree")
    for body in bodies:
        builder.add_body(**vars(body))
    return (
        builder.add_contact_point("foot", parent=bodies[-1].name, position=XYZ)
        .add_frame("tool", parent=bodies[0].name, placement=fw.Placement(XYZ, rpy=(0.3, 0.2, -0.7)))
        .build()
    )


@law
@given(recipes(mimic=True))
def test_delassus_matrix_is_J_M_inverse_J_transposed(bodies: list[Body]) -> None:
    """By name, by body and point, by number, in the frame of a frame; the world does not move."""
    model = with_points(bodies)
    q, _, _ = states(model, 3)
    last, middle = bodies[-1].name, model.nb // 2 + 1
    points = ["foot", (middle, XYZ), ("tool", (0.0, 0.5, 0.0)), ("world", XYZ)]
    J = np.concatenate(
        [
            point_jacobian(model, q, last, XYZ),
            point_jacobian(model, q, model.names[middle], XYZ),
            point_jacobian(model, q, "tool", (0.0, 0.5, 0.0)),
            np.zeros((3, 3, model.nv)),
        ],
        axis=1,
    )
    G = fw.delassus(model, q, points)
    right = J @ np.linalg.solve(fw.mass_matrix(model, q), J.swapaxes(1, 2))
    close(G, right, 1e-12 * allowance(model, q))
    assert np.array_equal(G, G.swapaxes(1, 2))
    assert not G[:, 9:].any()


@law
@given(recipes(mimic=True))
def test_a_unit_force_accelerates_by_M_inverse_J_transposed(bodies: list[Body]) -> None:
    model = with_points(bodies)
    q, _, _ = states(model, 3)
    direction = np.random.default_rng(8).normal(size=(3, 3))
    n = direction / np.linalg.norm(direction, axis=1, keepdims=True)
    J = np.einsum("bi,bij->bj", n, point_jacobian(model, q, bodies[-1].name, XYZ))
    response = np.linalg.solve(fw.mass_matrix(model, q), J[..., None])[..., 0]
    tolerance = 1e-12 * allowance(model, q)
    close(fw.unit_force_response(model, q, "foot", direction), response, tolerance)
    inverse = np.einsum("bj,bj->b", J, response)
    close(1 / fw.contact_inertia(model, q, "foot", direction), inverse, tolerance)
    # the same as a wrench in forward dynamics
    push = fw.wrench_on(model, q, "foot", np.concatenate([n, np.zeros((3, 3))], axis=1))
    zero = np.zeros((3, model.nv))
    still = fw.forward_dynamics(model, q, zero, zero)
    close(fw.forward_dynamics(model, q, zero, zero, push) - still, response, 10 * tolerance)


@law
@given(trees(mimic=True))
def test_contact_inertia_of_the_world_is_infinite(model: fw.Model) -> None:
    q, _, _ = state(model)
    assert fw.contact_inertia(model, q, ("world", XYZ), (1.0, 2.0, 3.0)) == np.inf
    assert not fw.unit_force_response(model, q, ("world", XYZ), (1.0, 2.0, 3.0)).any()


@pytest.mark.parametrize("angle", [0.0, 0.3, -1.2, np.pi / 2])
def test_contact_inertia_along_a_rod_is_infinite(angle: float) -> None:
    """A pendulum's bob cannot move along its rod; but for rounding of the direction, in which it may."""
    along = (-np.sin(angle), 0.0, -np.cos(angle))
    inertia = fw.contact_inertia(fw.robots.pendulum(), [angle], ("bob", (0, 0, -1)), along)
    assert inertia > 1e25
    across = fw.contact_inertia(fw.robots.pendulum(mass=3.0), [angle], ("bob", (0, 0, -1)), (-along[2], 0.0, along[0]))
    close(across, 3.0)


def test_a_sliding_block_is_immovable_across_its_rail() -> None:
    model = fw.Builder().add_body("block", joint=fw.joints.Prismatic("x"), inertia=fw.Inertia.point(2.0)).build()
    assert fw.contact_inertia(model, [0.3], "block", (1, 0, 0)) == 2.0
    assert fw.contact_inertia(model, [0.3], "block", (0, 1, 0)) == np.inf


@pytest.mark.parametrize("in_", ["body", "world", "world_aligned"])
@law
@given(recipes(mimic=True).map(floating))
def test_operational_inertia_is_the_inverse_of_J_M_inverse_J_transposed(in_: str, bodies: list[Body]) -> None:
    model = with_points(bodies)
    q, _, _ = state(model)
    for frame in ("tool", "foot"):
        J = fw.jacobian(model, q, frame, in_)
        G = J @ np.linalg.solve(fw.mass_matrix(model, q), J.T)
        inertia = fw.operational_inertia(model, q, frame, in_)
        assert (inertia == inertia.T).all()
        tolerance = 1e-12 * max(allowance(model, q), np.linalg.cond(G) / 1e3)
        close(inertia, np.linalg.inv(G), tolerance)


@law
@given(recipes(kinds=("free", "spherical", "revolute any")).map(floating))
def test_operational_inertia_of_several_frames_is_one_matrix(bodies: list[Body]) -> None:
    """For the base and a body that floats on its own."""
    other = Body("other", "world", fw.joints.Free(), fw.Placement(XYZ), fw.Inertia.box(1.0, (0.1, 0.2, 0.3)))
    model = build([*bodies, other])
    q, _, _ = state(model)
    J = np.concatenate([fw.jacobian(model, q, name) for name in ("base", "other")])
    G = J @ np.linalg.solve(fw.mass_matrix(model, q), J.T)
    found = fw.operational_inertia(model, q, ["base", "other"])
    close(found, np.linalg.inv(G), 1e-12 * max(allowance(model, q), np.linalg.cond(G) / 1e3))
    assert not found[:6, 6:].any()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_operational_inertia_refuses_a_frame_that_cannot_move_freely(n: int) -> None:
    rng = np.random.default_rng(n)
    builder = fw.Builder("arm")
    for k in range(n):
        builder.add_body(
            f"link{k}",
            parent=f"link{k - 1}" if k else "world",
            joint=fw.joints.Revolute(rng.normal(size=3)),
            placement=fw.Placement(rng.normal(size=3), rpy=rng.normal(size=3)),
            inertia=fw.Inertia.box(1.0, (0.1, 0.2, 0.3)),
        )
    model = builder.build()
    for seed in range(5):
        with pytest.raises(ValueError, match="operational_inertia"):
            fw.operational_inertia(model, model.random(seed), f"link{n - 1}")
