"""Every URDF of example-robot-data, fixed and free, as we read it and as Pinocchio does: the same robot."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pinocchio as pin
import pytest

import featherweight as fw
from peers.pinocchio_adapter import MIMIC_UNREADABLE, UNREADABLE, all_urdfs, kind_of, pinocchio_model, robots_folder

STATES = 3
TOLERANCE = 1e-10
READABLE = [urdf for urdf in all_urdfs() if urdf not in UNREADABLE]
CASES = [(urdf, base) for urdf in READABLE for base in ("fixed", "free")]

# Joints follow others here and Pinocchio cannot say so (see MIMIC_UNREADABLE); it has them free, and we move them.
UNFOLDED = (
    "romeo_description/urdf/romeo.urdf",
    "talos_data/robots/talos_full_v2.urdf",
    "talos_data/robots/talos_full_v2_box.urdf",
)
# M has rows of zeros: joints that move bodies without inertia. We refuse to divide by it, Pinocchio gives NaN.
SINGULAR = {
    "romeo_description/urdf/romeo.urdf": "the fingers",
    "romeo_description/urdf/romeo_laas_small.urdf": "the grippers",
}
# M is near singular: Pinocchio's ABA is right to ten digits only (tests/peers has 40 digits as the judge).
NEAR_SINGULAR = {
    "icub_description/robots/icub.urdf": "hips, neck and wrists are points on axes that nearly meet",
    "tiago_description/robots/tiago_no_hand.urdf": "the last link has 4e-6 kg m² about its axis",
}

# Files in which joints are called like links.
SHARED = (
    "anymal_c_simple_description/urdf/anymal.urdf",
    "so_arm_description/urdf/so100.urdf",
)


@functools.cache
def ours_of(urdf, base):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # published robots have bodies that cannot exist
        return fw.load(robots_folder() / urdf, base=base, policy="warn", contact=False)


def theirs_of(urdf, base):
    return pinocchio_model(urdf, base, urdf not in MIMIC_UNREADABLE)


def matrix(x):
    return np.array([[float(e) for e in row] for row in x])


def vector(x):
    return np.array([float(e) for e in x])


def off(ours, theirs):
    """The largest difference, scaled by the largest number."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    return np.abs(ours - theirs).max(initial=0.0) / max(np.abs(theirs).max(initial=0.0), 1e-12)


def bodies(ours, theirs):
    """Our bodies by Pinocchio's joints."""
    joints = {joint.name: joint.body for joint in ours.joints}
    assert sorted(joints) == sorted(theirs.names[1:])
    return {j: joints[name] for j, name in enumerate(theirs.names) if j > 0}


def skew(c):
    return np.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])


def states(ours, seed=0):
    rng = np.random.default_rng(seed)
    q = np.array([ours.random(rng) for _ in range(STATES)])
    return q, *rng.normal(size=(2, STATES, ours.nv))


class AsTheirs:
    """A state of ours as Pinocchio's: through the index maps; joint by joint where its mimic joints are free.

    G: velocities of theirs are G times ours, so that Gᵀ takes forces and GᵀMG the mass matrix back.
    """

    def __init__(self, urdf, ours, theirs):
        if urdf not in UNFOLDED:
            self.q = lambda q: fw.convert.to_pinocchio(ours, q, theirs.names) if ours.nq else q
            self.G = np.eye(ours.nv)[ours.pinocchio_maps(theirs.names).v]
            return
        self.G = np.zeros((theirs.nv, ours.nv))
        places = []
        for joint in ours.joints:
            j, kind = theirs.getJointId(joint.name), joint.kind
            for k, column in enumerate(range(joint.v.start, joint.v.stop)):
                self.G[theirs.idx_vs[j] + k, column] = kind.ratio
            places.append((slice(theirs.idx_qs[j], theirs.idx_qs[j] + theirs.nqs[j]), joint.q, kind))

        def q_theirs(q):
            result = np.empty((*q.shape[:-1], theirs.nq))
            for place, own, kind in places:
                result[..., place] = kind.to_pinocchio(kind.ratio * q[..., own] + kind.offset)
            return result

        self.q = q_theirs


@pytest.mark.parametrize(("urdf", "base"), CASES)
def test_bodies_are_the_same(urdf, base):
    """Parents, mass, centre of mass, moments, and where the joints sit; to 1e-12."""
    ours, theirs = ours_of(urdf, base), theirs_of(urdf, base)
    numbers = bodies(ours, theirs)
    for j, i in numbers.items():
        assert ours.parent[i] == numbers.get(theirs.parents[j], 0)
        X, placement = ours.X_tree[i], theirs.jointPlacements[j]
        assert off(matrix(X.E).T, placement.rotation) < 1e-12
        assert off(vector(X.r), placement.translation) < 1e-12
        inertia, other = ours.inertias[i], theirs.inertias[j]
        size = max(other.mass, 1e-3)
        assert abs(float(inertia.m) - other.mass) <= 1e-12 * size
        assert np.abs(vector(inertia.h) - other.mass * other.lever).max() <= 1e-12 * size
        about_origin = other.inertia - other.mass * skew(other.lever) @ skew(other.lever)
        assert np.abs(matrix(inertia.I.matrix) - about_origin).max() <= 1e-12 * size


@pytest.mark.parametrize(("urdf", "base"), CASES)
def test_links_are_at_the_same_places(urdf, base):
    ours, theirs = ours_of(urdf, base), theirs_of(urdf, base)
    numbers = bodies(ours, theirs) | {0: 0}
    links = [frame for frame in theirs.frames if frame.type == pin.FrameType.BODY]
    assert {frame.name for frame in links} <= {*ours.frames, "universe"}
    for frame in links:
        if frame.name == "universe" or (frame.name == "world" and base == "free"):
            continue  # the world is no link; a link of that name that floats is "world_link"
        X = ours.frame(frame.name).X
        assert ours.frame(frame.name).body == numbers[frame.parentJoint]
        assert off(matrix(X.E).T, frame.placement.rotation) < 1e-12
        assert np.abs(vector(X.r) - frame.placement.translation).max() < 1e-12


@pytest.mark.parametrize("urdf", READABLE)
def test_limits_and_friction_are_the_same(urdf):
    """To the last bit. Continuous joints have no bounds; Pinocchio has those of cosine and sine."""
    ours, theirs = ours_of(urdf, "fixed"), theirs_of(urdf, "fixed")
    numbers = {i: j for j, i in bodies(ours, theirs).items()}
    for joint in ours.independent_joints:
        j = numbers[joint.body]
        q, v = theirs.idx_qs[j], theirs.idx_vs[j]
        limits = joint.limits
        if theirs.nqs[j] == 1:
            assert limits.lower == (theirs.lowerPositionLimit[q],)
            assert limits.upper == (theirs.upperPositionLimit[q],)
        else:
            assert isinstance(joint.kind, fw.joints.Continuous)
            assert limits.lower == (-np.inf,)
            assert limits.upper == (np.inf,)
        assert limits.velocity == (theirs.upperVelocityLimit[v],)
        assert limits.effort == (theirs.upperEffortLimit[v],)
        if not any(other.q == joint.q for other in ours.joints if other is not joint):
            assert joint.damping == (theirs.damping[v],)
            assert joint.friction == (theirs.upperDryFrictionLimit[v],)


@pytest.mark.parametrize(("urdf", "base"), CASES)
def test_motion_is_the_same(urdf, base):
    """Forward kinematics, RNEA, CRBA and ABA at random states."""
    ours, theirs = ours_of(urdf, base), theirs_of(urdf, base)
    as_theirs, data = AsTheirs(urdf, ours, theirs), theirs.createData()
    q, v, a = states(ours)
    with fw.interpret():
        poses, tau = fw.forward_kinematics(ours, q), fw.inverse_dynamics(ours, q, v, a)
        M = fw.mass_matrix(ours, q)
    G, numbers = as_theirs.G, bodies(ours, theirs)
    for k, q_k in enumerate(as_theirs.q(q)):
        v_k, a_k = G @ v[k], G @ a[k]
        tau_k = G.T @ pin.rnea(theirs, data, q_k, v_k, a_k)
        pin.forwardKinematics(theirs, data, q_k)
        for j, i in numbers.items():
            assert off(poses[0][k, i], data.oMi[j].rotation) < TOLERANCE
            assert np.abs(poses[1][k, i] - data.oMi[j].translation).max() < TOLERANCE
        upper = np.triu(pin.crba(theirs, data, q_k))
        M_k = G.T @ (upper + np.triu(upper, 1).T) @ G
        assert off(tau[k], tau_k) < TOLERANCE
        assert off(M[k], M_k) < TOLERANCE
        if urdf not in SINGULAR and urdf not in NEAR_SINGULAR:
            with fw.interpret():
                result = fw.forward_dynamics(ours, q[k], v[k], tau[k])
            assert off(result, a[k]) < 1e-8  # the torques are ours: back to where they came from
            assert off(result, accelerations(theirs, data, q_k, v_k, M_k, G, tau[k])) < TOLERANCE


def accelerations(theirs, data, q, v, M, G, tau):
    """Pinocchio's ABA; it has none for mimic joints, so M is inverted there."""
    if G.shape[0] == G.shape[1] and not any(kind_of(theirs, j) == "Mimic" for j in range(1, theirs.njoints)):
        return G.T @ pin.aba(theirs, data, q, v, G @ tau)
    bias = G.T @ pin.rnea(theirs, data, q, v, np.zeros(theirs.nv))
    return np.linalg.solve(M, tau - bias)


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("urdf", SINGULAR)
def test_a_singular_mass_matrix_is_refused(urdf, base):
    ours = ours_of(urdf, base)
    q, v, a = states(ours)
    with fw.interpret(), pytest.raises(ValueError, match="the mass matrix is singular"):
        fw.forward_dynamics(ours, q, v, a)


@pytest.mark.parametrize("urdf", READABLE)
def test_everything_keeps_its_name(urdf):
    """Joints, those that are called like a link too, and frames: a link's before a joint's."""
    ours, theirs = ours_of(urdf, "fixed"), theirs_of(urdf, "fixed")
    assert sorted(ours.joint_names) == sorted(theirs.names[1:])
    links = {frame.name for frame in theirs.frames if frame.type == pin.FrameType.BODY}
    shared = links & set(theirs.names)
    assert bool(shared) == (urdf in SHARED)
    assert links <= set(ours.frame_names)
    for name in shared:
        body, joint = theirs.frames[theirs.getFrameId(name, pin.FrameType.BODY)], theirs.getJointId(name)
        assert ours.frame(name).body == bodies(ours, theirs).get(body.parentJoint, 0)
        assert ours.joint(name).body == bodies(ours, theirs)[joint] == ours.frame(f"joint:{name}").body


@pytest.mark.parametrize("urdf", READABLE)
def test_what_is_saved_is_the_same_robot_for_pinocchio(urdf, tmp_path):
    """All its numbers, to the last bit."""
    fw.save_urdf(ours_of(urdf, "fixed"), tmp_path / "robot.urdf")
    assert pin.buildModelFromUrdf(str(tmp_path / "robot.urdf")) == pinocchio_model(urdf, "fixed")


def test_all_robots_are_here():
    assert len(all_urdfs()) == 69
    assert len(READABLE) == 68  # the other is empty: neither of us reads it (test_round_trip.py)
    assert {*UNFOLDED, *SHARED, *SINGULAR, *NEAR_SINGULAR} <= set(READABLE)
    assert set(MIMIC_UNREADABLE) - set(UNFOLDED) == {"alex_description/urdf/alex_psyonic_hands.urdf"}
