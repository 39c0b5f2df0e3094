"""Poses as values: products, inverses, matrices; exponential and logarithm against their definition with 40 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import featherweight as fw

AXES = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.6, -0.8, 0.0], [0.2, 0.3, -0.9327379053088815]])
ANGLES = [0.0, 1e-300, 1e-9, 1e-4, 0.3, 1.0, 2.9, 3.1, np.pi - 1e-4, np.pi - 1e-8, np.pi - 1e-15]
TWISTS = np.array([[1.0, -2.0, 0.5, *(angle * axis)] for axis in AXES for angle in ANGLES])


def series(twist: np.ndarray) -> np.ndarray:
    """exp of the 4×4 matrix [[ω̂, v], [0, 0]], by its definition."""
    v, w = twist[:3], twist[3:]
    rows = [[0, -w[2], w[1], v[0]], [w[2], 0, -w[0], v[1]], [-w[1], w[0], 0, v[2]], [0, 0, 0, 0]]
    with mpmath.workdps(40):
        return np.array(mpmath.expm(mpmath.matrix(rows)).tolist(), dtype=float)


def test_exp_is_the_series_of_the_matrix() -> None:
    poses = fw.exp(TWISTS)
    right = np.array([series(twist) for twist in TWISTS])
    np.testing.assert_allclose(poses.matrix, right, rtol=0, atol=1e-15)
    np.testing.assert_allclose(poses.rotation @ poses.rotation.swapaxes(-1, -2) - np.eye(3), 0.0, atol=4e-15)
    far = np.array([0.3, 0.1, -0.2, 5.0, -7.0, 11.0])  # several turns
    np.testing.assert_allclose(fw.exp(far).matrix, series(far), rtol=0, atol=1e-14)


def test_log_undoes_exp_up_to_half_a_turn() -> None:
    """Near π the rotation vector is still good to all digits; its sign is free at π itself."""
    right = np.array([series(twist) for twist in TWISTS])
    np.testing.assert_allclose(fw.log(right), TWISTS, rtol=0, atol=1e-14)
    np.testing.assert_allclose(fw.log(fw.exp(TWISTS)), TWISTS, rtol=0, atol=1e-14)
    small = TWISTS[np.abs(TWISTS[:, 3:]).max(axis=1) < 1e-3]  # relative, also of what is tiny
    np.testing.assert_allclose(fw.log(fw.exp(small))[:, 3:], small[:, 3:], rtol=1e-12, atol=0)


@pytest.mark.parametrize("axis", AXES)
def test_half_a_turn_and_more(axis: np.ndarray) -> None:
    half = fw.exp([0.1, 0.2, 0.3, *(np.pi * axis)])
    twist = fw.log(half)
    assert np.linalg.norm(twist[3:]) == pytest.approx(np.pi, rel=1e-15)
    np.testing.assert_allclose(fw.exp(twist).matrix, half.matrix, atol=2e-15)
    beyond = fw.log(fw.exp([0.0, 0.0, 0.0, *((np.pi + 0.1) * axis)]))  # the other way round is shorter
    np.testing.assert_allclose(beyond[3:], -(np.pi - 0.1) * axis, atol=1e-14)


def test_products_and_inverses_are_those_of_matrices() -> None:
    rng = np.random.default_rng(0)
    a, b = fw.exp(rng.normal(size=(4, 1, 6))), fw.exp(rng.normal(size=(3, 6)))
    assert isinstance(a @ b, fw.Pose)
    assert (a @ b).position.shape == (4, 3, 3)
    np.testing.assert_allclose((a @ b).matrix, a.matrix @ b.matrix, atol=1e-15)
    np.testing.assert_allclose(a.inverse().matrix, np.linalg.inv(a.matrix), atol=1e-14)
    np.testing.assert_allclose(fw.log(a @ a.inverse()), 0.0, atol=1e-14)
    points = rng.normal(size=(3, 3))
    right = a.matrix @ np.append(points, np.ones((3, 1)), axis=1)[..., None]
    np.testing.assert_allclose(a @ points, right[..., :3, 0], atol=1e-14)
    again = fw.Pose.from_matrix(a.matrix)
    assert [x.tobytes() for x in again] == [np.ascontiguousarray(x).tobytes() for x in a]


def test_poses_of_a_robot_are_composed() -> None:
    model, q = fw.robots.double_pendulum(), np.array([[0.3, -0.4], [1.0, 2.0]])
    upper, lower = (fw.frame_pose(model, q, name) for name in model.names[1:])
    between = upper.inverse() @ lower
    np.testing.assert_allclose(fw.log(between)[:, 3:], q[:, 1:] * [0.0, 1.0, 0.0], atol=1e-15)
    assert fw.log(fw.forward_kinematics(model, q)).shape == (2, 3, 6)


def test_one_pose_and_a_batch_have_the_same_bits() -> None:
    poses, twists = fw.exp(TWISTS), fw.log(fw.exp(TWISTS))
    for k, twist in enumerate(TWISTS):
        one = fw.exp(twist)
        assert (one.rotation.tobytes(), one.position.tobytes()) == (
            poses.rotation[k].tobytes(),
            poses.position[k].tobytes(),
        )
        assert fw.log(one).tobytes() == twists[k].tobytes()
    assert fw.exp(np.zeros((0, 6))).rotation.shape == (0, 3, 3)
    assert fw.log(np.zeros((0, 4, 4))).shape == (0, 6)


def test_they_work_inside_a_compiled_controller() -> None:
    """Towards a pose: the twist from the frame to it, in its axes."""
    model = fw.robots.double_pendulum()
    name, target = model.names[2], fw.exp([0.1, 0.0, -0.2, 0.0, 0.7, 0.0])

    def control(t, q, v, x, p):
        turn = fw.exp(np.array([0.0, 0.0, 0.0, 0.0, q[0], 0.0]))
        twist = fw.log(fw.frame_pose(model, q, name).inverse() @ target @ turn)
        return fw.jacobian(model, q, name).T @ twist, x

    run = fw.simulate(model, [0.2, 0.3], [0.0, 0.0], duration=2e-3, dt=1e-3, control=fw.compiled(control))
    for k in range(2):
        tau, _ = control(0.0, run.q[k], run.v[k], None, None)
        np.testing.assert_allclose(run.tau[k], tau, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: fw.exp([1.0, 2.0]), ValueError, r"twist: expected shape \(…, 6\)"),
        (lambda: fw.exp(np.full((2, 6), np.nan)), ValueError, r"twist\[0, 0\] is nan; expected finite numbers"),
        (lambda: fw.exp("twist"), TypeError, "twist: expected real numbers"),
        (lambda: fw.log(np.eye(3)), ValueError, r"matrix: expected shape \(…, 4, 4\)"),
        (lambda: fw.log(fw.Pose(2 * np.eye(3), np.zeros(3))), ValueError, "pose.rotation: expected an orthogonal"),
        (lambda: fw.log(np.stack([np.eye(4), np.diag([1, 1, -1, 1.0])])), ValueError, r"matrix\[1\]: expected an"),
        (lambda: fw.Pose.from_matrix(1.001 * np.eye(4)), ValueError, "expected a last row of 0 0 0 1"),
        (lambda: fw.log(fw.Pose(np.eye(3), [0, 0, np.inf])), ValueError, r"pose.position\[2\] is inf"),
        (lambda: fw.exp(np.zeros(6)) @ np.zeros(4), ValueError, r"@: expected a Pose or points of shape \(…, 3\)"),
    ],
)  # fmt: skip
def test_what_is_no_pose_is_refused(call, error, message) -> None:
    with pytest.raises(error, match=message):
        call()


def test_a_shape_is_said_once_where_it_has_no_symbol() -> None:
    swing = fw.robots.pendulum()
    with pytest.raises(ValueError, match=r"^wrench: expected shape \(…, 6\), got \(3,\)$"):
        fw.wrench_on(swing, [0.0], swing.names[1], [0, 0, 1])
