"""Mechanisms whose equations fit a line: compiled alone, compiled in a batch, and interpreted, to 1e-13."""

import numpy as np
import pytest

import featherweight as fw
from featherweight import Builder, Inertia, Placement
from featherweight.joints import Free, Prismatic, Revolute

TOLERANCE = 1e-13
ROWS = 27  # whole packs and some lanes over, at any width
g = 9.81


def single(function, model, *arrays):
    return np.stack([function(model, *row) for row in zip(*arrays, strict=True)])


def batch(function, model, *arrays):
    return function(model, *arrays)


def interpreted(function, model, *arrays):
    with fw.interpret():
        return function(model, *arrays)


every_mode = pytest.mark.parametrize("evaluate", [single, batch, interpreted])


def states(model, seed=0, n=3):
    """q, v and a third array, with zeros and right angles among the random rows."""
    rng = np.random.default_rng(seed)
    q = np.array([model.random(rng) for _ in range(ROWS)])
    arrays = [q, *(rng.uniform(-3, 3, (ROWS, model.nv)) for _ in range(n - 1))]
    arrays[0][0] = model.neutral()
    for array in arrays[1:]:
        array[:2] = 0.0
    return arrays


def assert_equal(result, right):
    """Row by row, relative to the largest number of the row, or 1."""
    result, right = np.reshape(result, (ROWS, -1)), np.reshape(right, (ROWS, -1))
    assert result.shape == right.shape
    scale = np.maximum(1.0, np.abs(right).max(axis=1))
    assert (np.abs(result - right).max(axis=1) / scale).max() <= TOLERANCE


def columns(*entries):
    return np.stack(np.broadcast_arrays(*entries), axis=-1)


def matrices(rows):
    entries = columns(*(entry for row in rows for entry in row))
    return entries.reshape(ROWS, len(rows), len(rows))


def times(M, x):
    return np.einsum("kij,kj->ki", M, x)


def solve(M, b):
    return np.linalg.solve(M, b[..., None])[..., 0]


def assert_dynamics(evaluate, model, M, c, arrays):
    """M, τ = M a + c and a = M⁻¹(τ - c) for these states."""
    q, v, x = arrays
    assert_equal(evaluate(fw.mass_matrix, model, q), M)
    assert_equal(evaluate(fw.inverse_dynamics, model, q, v, x), times(M, x) + c)
    assert_equal(evaluate(fw.forward_dynamics, model, q, v, x), solve(M, x - c))


# ---- pendulum


@every_mode
def test_pendulum(evaluate):
    """m l² q̈ + m g l sin q = τ."""
    m, l = 1.3, 0.7
    model = fw.robots.pendulum(length=l, mass=m)
    q, v, x = states(model)
    M = np.full((ROWS, 1, 1), m * l * l)
    assert_dynamics(evaluate, model, M, m * g * l * np.sin(q), (q, v, x))


@every_mode
def test_the_rod_of_a_pendulum_pulls_with_weight_and_centrifugal_force(evaluate):
    """In the bob's axes: m l q̇² + m g cos q along the rod, m l q̈ + m g sin q across it."""
    m, l = 1.3, 0.7
    model = fw.robots.pendulum(length=l, mass=m)
    q, v, a = states(model)
    along, across = m * l * v**2 + m * g * np.cos(q), -(m * l * a + m * g * np.sin(q))
    zero = np.zeros_like(along)
    wrench = np.concatenate([across, zero, along, zero, -l * across, zero], axis=1)
    right = np.stack([np.zeros_like(wrench), wrench], axis=1)
    assert_equal(evaluate(fw.joint_wrenches, model, q, v, a), right)


def test_the_bob_is_where_it_should_be():
    l = 0.7
    model = fw.robots.double_pendulum(length1=l)
    q, _, _ = states(model)
    right = np.concatenate([-l * np.sin(q[:, :1]), np.zeros((ROWS, 1)), -l * np.cos(q[:, :1])], axis=1)
    assert_equal(fw.forward_kinematics(model, q).position[:, 2], right)
    assert_equal(np.stack([fw.forward_kinematics(model, row).position[2] for row in q]), right)
    with fw.interpret():
        assert_equal(fw.forward_kinematics(model, q).position[:, 2], right)


# ---- double pendulum


@every_mode
def test_double_pendulum_with_relative_angles(evaluate):
    m1, l1, m2, l2 = 1.1, 0.8, 0.6, 0.5
    model = fw.robots.double_pendulum(length1=l1, mass1=m1, length2=l2, mass2=m2)
    q, v, x = states(model)
    (q1, q2), (v1, v2) = q.T, v.T
    k = m2 * l1 * l2
    cross = m2 * l2**2 + k * np.cos(q2)
    M = matrices([[(m1 + m2) * l1**2 + m2 * l2**2 + 2 * k * np.cos(q2), cross], [cross, m2 * l2**2]])
    coriolis = columns(-k * np.sin(q2) * (2 * v1 * v2 + v2**2), k * np.sin(q2) * v1**2)
    lower = m2 * g * l2 * np.sin(q1 + q2)
    gravity = columns((m1 + m2) * g * l1 * np.sin(q1) + lower, lower)
    assert_dynamics(evaluate, model, M, coriolis + gravity, (q, v, x))


# ---- cart-pole


@every_mode
@pytest.mark.parametrize("I_p", [0.0, 0.03])
def test_cartpole(evaluate, I_p):
    """M = [[m_c + m_p, m_p L cos θ], [·, m_p L² + I_p]], b = (-m_p L θ̇² sin θ, 0), g = (0, m_p g L sin θ)."""
    m_c, m_p, L = 1.4, 0.3, 0.6
    model = fw.robots.cartpole(cart_mass=m_c, pole_mass=m_p, length=L, pole_inertia=I_p)
    q, v, x = states(model)
    angle, rate = q[:, 1], v[:, 1]
    cross = m_p * L * np.cos(angle)
    M = matrices([[m_c + m_p, cross], [cross, m_p * L**2 + I_p]])
    c = columns(-m_p * L * rate**2 * np.sin(angle), m_p * g * L * np.sin(angle))
    assert_dynamics(evaluate, model, M, c, (q, v, x))
    det = m_p * L**2 * (m_c + m_p * np.sin(angle) ** 2) + I_p * (m_c + m_p)
    assert_equal(np.linalg.det(evaluate(fw.mass_matrix, model, q)), det)


@every_mode
def test_the_rail_carries_cart_and_pole(evaluate):
    """At rest the rail pushes up with the weight of both, wherever the cart is."""
    model = fw.robots.cartpole(cart_mass=1.4, pole_mass=0.3)
    q, _, _ = states(model)
    q[:, 1] = 0.0
    wrench = evaluate(fw.joint_wrenches, model, q, 0 * q, 0 * q)[:, 1]
    assert_equal(wrench, np.tile([0, 0, 1.7 * g, 0, 0, 0], (ROWS, 1)))


# ---- a body in free flight


def rotations(q):
    """Body to world, from x y z w."""
    x, y, z, w = q[:, 3:7].T
    return matrices(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), w * w - x * x + y * y - z * z, 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), w * w - x * x - y * y + z * z],
        ]
    )


MOMENTS = np.array([0.3, 0.5, 0.7])


def brick(com=(0, 0, 0)):
    return Builder().add_body("brick", joint=Free(), inertia=Inertia(2.5, com, MOMENTS)).build()


@every_mode
def test_the_pose_of_a_free_body_is_its_configuration(evaluate):
    model = brick()
    q, _, _ = states(model)
    assert_equal(
        evaluate(lambda model, q: fw.forward_kinematics(model, q).rotation[..., 1, :, :], model, q), rotations(q)
    )
    assert_equal(evaluate(lambda model, q: fw.forward_kinematics(model, q).position[..., 1, :], model, q), q[:, :3])


@every_mode
@pytest.mark.parametrize("direction", np.eye(3), ids=["x", "y", "z"])
def test_gravity_of_any_direction_is_turned_into_the_body(evaluate, direction):
    body = Inertia(2.5, (0, 0, 0), MOMENTS)
    model = Builder(gravity=g * direction).add_body("brick", joint=Free(), inertia=body).build()
    q, v, _ = states(model)
    right = np.hstack([g * direction @ rotations(q), np.zeros((ROWS, 3))])
    assert_equal(evaluate(fw.forward_dynamics, model, q, 0 * v, 0 * v), right)


@every_mode
def test_a_spinning_body_obeys_euler_and_falls(evaluate):
    """ω̇ = I⁻¹(τ - ω × I ω), and the body-frame velocity changes by f/m + Rᵀg - ω × v."""
    model = brick()
    q, v, x = states(model)
    linear, w = v[:, :3], v[:, 3:]
    weight = np.array([0, 0, -g]) @ rotations(q)
    dv = x[:, :3] / 2.5 + weight - np.cross(w, linear)
    dw = (x[:, 3:] - np.cross(w, MOMENTS * w)) / MOMENTS
    assert_equal(evaluate(fw.forward_dynamics, model, q, v, x), np.hstack([dv, dw]))


@every_mode
def test_a_body_about_another_point_obeys_newton_and_euler(evaluate):
    """f = m (a_c - g), n = I ω̇ + ω × I ω + c × f, with a_c of the centre of mass."""
    c = np.array([0.1, -0.2, 0.3])
    model = brick(c)
    q, v, a = states(model)
    linear, w, dw = v[:, :3], v[:, 3:], a[:, 3:]
    a_c = a[:, :3] + np.cross(w, linear) + np.cross(dw, c) + np.cross(w, np.cross(w, c))
    force = 2.5 * (a_c - np.array([0, 0, -g]) @ rotations(q))
    moment = MOMENTS * dw + np.cross(w, MOMENTS * w) + np.cross(c, force)
    right = np.hstack([force, moment])
    assert_equal(evaluate(fw.inverse_dynamics, model, q, v, a), right)
    assert_equal(evaluate(fw.joint_wrenches, model, q, v, a)[:, 1], right)
    assert_equal(evaluate(fw.forward_dynamics, model, q, v, right), a)


@every_mode
def test_a_wrench_on_a_free_body_acts_like_its_joint_force(evaluate):
    model = brick((0.1, 0, 0))
    q, v, x = states(model)
    f_ext = np.stack([np.full_like(x, 77.0), x], axis=1)  # the world's row is ignored
    right = evaluate(fw.forward_dynamics, model, q, v, x)
    assert_equal(evaluate(fw.forward_dynamics, model, q, v, 0 * x, f_ext), right)
    assert_equal(evaluate(fw.inverse_dynamics, model, q, v, right, f_ext), 0 * x)


# ---- a slider on an incline


def slopes(slope):
    """The same slider by a tilted axis, and by a tilted rail."""
    axis = (np.cos(slope), 0, np.sin(slope))
    body = Inertia.sphere(1.7, 0.2, (0.1, 0.2, 0.3))
    yield Builder().add_body("slider", joint=Prismatic(axis), inertia=body).build()
    rail = Placement((1, 2, 3), rpy=(0, -slope, 0))
    yield Builder().add_body("slider", joint=Prismatic("x"), placement=rail, inertia=body).build()


@every_mode
@pytest.mark.parametrize("slope", [0.0, 0.3, np.pi / 2, -1.0])
def test_a_slider_on_an_incline(evaluate, slope):
    """m q̈ = τ - m g sin α."""
    for model in slopes(slope):
        q, v, x = states(model)
        M, weight = np.full((ROWS, 1, 1), 1.7), np.full((ROWS, 1), 1.7 * g * np.sin(slope))
        assert_dynamics(evaluate, model, M, weight, (q, v, x))


# ---- arms of two joints


@every_mode
def test_a_turning_slider_feels_centrifugal_and_coriolis_force(evaluate):
    """Polar coordinates in a level plane: m r² φ̈ + 2 m r ṙ φ̇ = τ, m r̈ - m r φ̇² = f."""
    m = 0.9
    model = (
        Builder()
        .add_body("turntable", joint=Revolute("z"), inertia=Inertia(1.0, (0, 0, 0), 0.4))
        .add_body("bead", parent="turntable", joint=Prismatic("x"), inertia=Inertia.point(m))
        .build()
    )
    q, v, x = states(model)
    r, turn, slide = q[:, 1], v[:, 0], v[:, 1]
    M = matrices([[0.4 + m * r * r, 0], [0, m]])
    assert_dynamics(evaluate, model, M, columns(2 * m * r * slide * turn, -m * r * turn**2), (q, v, x))


# ---- chain


def chain_motion(q, v, a, length=1.5):
    """Position, velocity and acceleration (y, z) of every centre of mass, and Jacobians, from the angles' sums."""
    n = q.shape[1]
    angle, rate, growth = (np.cumsum(x, axis=1) for x in (q, v, a))
    reach = np.tril(np.full((n, n), length), -1) + np.eye(n) * length / 2  # of link k along link j
    s, c = np.sin(angle), np.cos(angle)
    p = np.stack([-s @ reach.T, c @ reach.T], axis=-1)
    velocity = np.stack([-(c * rate) @ reach.T, -(s * rate) @ reach.T], axis=-1)
    bend = np.stack([(s * rate**2) @ reach.T, -(c * rate**2) @ reach.T], axis=-1)  # J̇ v
    acceleration = bend + np.stack([-(c * growth) @ reach.T, -(s * growth) @ reach.T], axis=-1)
    below = np.tril(np.ones((n, n)))  # joint i turns link j if i ≤ j
    J = np.stack([np.einsum("kj,rj,ji->rki", reach, -x, below) for x in (c, s)], axis=2)
    return p, velocity, acceleration, bend, J, below


@every_mode
@pytest.mark.parametrize("n", [2, 4])
def test_chain_by_projected_newton_euler(evaluate, n):
    """M = Σ J_Pᵀ m J_P + J_Rᵀ Θ J_R, b = Σ J_Pᵀ m J̇_P q̇, g = -Σ J_Pᵀ m g; mass 1, inertia 1."""
    model = fw.robots.chain(n)
    q, v, x = states(model)
    _, _, _, bend, J, below = chain_motion(q, v, x)
    M = np.einsum("rkdi,rkdj->rij", J, J) + below.T @ below
    c = np.einsum("rkdi,rkd->ri", J, bend) + g * J[:, :, 1].sum(axis=1)
    assert_equal(evaluate(fw.mass_matrix, model, q), M)
    assert_equal(evaluate(fw.inverse_dynamics, model, q, v, x), times(M, x) + c)
    a = evaluate(fw.forward_dynamics, model, q, v, x)
    assert_equal(times(M, a) + c, x)


@every_mode
def test_the_energy_of_a_chain_grows_by_the_power_of_its_joints(evaluate):
    """d/dt (Σ ½ m ṗ² + ½ Θ ω² + m g z) = v·τ, from the motion of the centres of mass."""
    model = fw.robots.chain(2)
    q, v, tau = states(model, seed=3)
    a = evaluate(fw.forward_dynamics, model, q, v, tau)
    _, velocity, acceleration, _, _, _ = chain_motion(q, v, a)
    spin, growth = np.cumsum(v, axis=1), np.cumsum(a, axis=1)
    power = (velocity * acceleration).sum(axis=(1, 2)) + (spin * growth).sum(axis=1) + g * velocity[:, :, 1].sum(axis=1)
    size = np.abs(velocity * acceleration).sum(axis=(1, 2)) + np.abs(v * tau).sum(axis=1) + 1
    assert_equal(power / size, (v * tau).sum(axis=1) / size)
    kinetic = (velocity**2).sum(axis=(1, 2)) / 2 + (spin**2).sum(axis=1) / 2
    assert_equal(np.einsum("ki,kij,kj->k", v, evaluate(fw.mass_matrix, model, q), v) / 2, kinetic)


@every_mode
def test_the_links_of_a_chain_are_where_the_angles_put_them(evaluate):
    model = fw.robots.chain(3)
    q, _, _ = states(model)

    def positions(model, q):
        return fw.forward_kinematics(model, q).position

    angle = np.cumsum(q, axis=1)
    y = np.cumsum(-1.5 * np.sin(angle), axis=1)[:, :2]
    z = np.cumsum(1.5 * np.cos(angle), axis=1)[:, :2]
    right = np.zeros((ROWS, 4, 3))
    right[:, 2:, 1], right[:, 2:, 2] = y, z
    assert_equal(evaluate(positions, model, q), right)
