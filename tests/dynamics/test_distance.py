"""The distance of two shapes of a model: against MuJoCo, and what nearest points are."""

import mujoco
import numpy as np
import pytest

import featherweight as fw

SHAPES = {
    "ball": fw.shapes.Sphere(0.2),
    "pill": fw.shapes.Capsule(0.1, 0.4),
    "block": fw.shapes.Box((0.3, 0.5, 0.4)),
    "drum": fw.shapes.Cylinder(0.2, 0.5),
}
GEOMS = {
    "ball": (mujoco.mjtGeom.mjGEOM_SPHERE, [0.2, 0, 0]),
    "pill": (mujoco.mjtGeom.mjGEOM_CAPSULE, [0.1, 0.2, 0]),
    "block": (mujoco.mjtGeom.mjGEOM_BOX, [0.15, 0.25, 0.2]),
    "drum": (mujoco.mjtGeom.mjGEOM_CYLINDER, [0.2, 0.25, 0]),
}
PLACE = fw.Placement((0.1, -0.2, 0.3), rpy=(0.3, -0.5, 0.9))  # of each shape on its body


def world():
    """Free bodies with a shape each, and a block that stands in the world."""
    builder = fw.Builder("shapes")
    builder.add_geometry("world", SHAPES["block"], placement=PLACE, name="fixed")
    for name, shape in SHAPES.items():
        builder.add_body(name, joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
        builder.add_geometry(name, shape, placement=PLACE)
    return builder.build()


def expected(model, q, a, b):
    """The same by MuJoCo."""
    spec = mujoco.MjSpec()
    for k, name in enumerate((a, b)):
        body = spec.worldbody.add_body(name=f"body{k}", mocap=True)
        kind, size = GEOMS["block" if name == "fixed" else name]
        body.add_geom(type=kind, size=size)
    spec.option.ccd_tolerance, spec.option.ccd_iterations = 1e-12, 200
    compiled = spec.compile()
    data, quaternion = mujoco.MjData(compiled), np.zeros(4)
    own = PLACE.transform
    R, p = np.array(own.E).T, np.array(own.r)
    for k, name in enumerate((a, b)):
        pose = fw.frame_pose(model, q, "world" if name == "fixed" else name)
        mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(pose.rotation @ R).ravel())
        data.mocap_pos[k], data.mocap_quat[k] = pose.position + pose.rotation @ p, quaternion
    mujoco.mj_kinematics(compiled, data)
    return mujoco.mj_geomDistance(compiled, data, 0, 1, 10.0, np.zeros(6))


MODEL = world()
RNG = np.random.default_rng(1)


def configurations(n, spread):
    q = np.array([MODEL.random(RNG) for _ in range(n)])
    for k in range(len(SHAPES)):
        q[:, 7 * k : 7 * k + 3] = RNG.normal(size=(n, 3)) * spread
    return q


@pytest.mark.parametrize(
    ("a", "b"), [("ball", "pill"), ("block", "fixed"), ("fixed", "drum"), ("ball", "block"), ("drum", "pill")]
)
def test_distances_are_those_of_mujoco(a, b):
    q = configurations(60, 0.5)
    found = fw.distance(MODEL, q, a, b)
    reference = np.array([expected(MODEL, row, a, b) for row in q])
    apart = reference > 0
    assert np.mean(apart) > 0.1
    assert np.abs(found.distance - reference)[apart].max() < 1e-7
    assert (found.distance[~apart] < 1e-9).all()
    assert np.abs(np.linalg.norm(found.normal, axis=1) - 1).max() < 1e-12
    assert np.abs(found.point_b - found.point_a - found.normal * found.distance[:, None]).max() < 1e-12
    # the other way round
    other = fw.distance(MODEL, q, b, a)
    assert np.abs(other.distance - found.distance)[apart].max() < 1e-7
    assert np.abs(other.normal + found.normal)[apart].max() < 1e-3


def test_one_state_and_a_batch_have_the_same_bits():
    q = configurations(9, 0.4)
    batch = fw.distance(MODEL, q, "block", "drum")
    for k, row in enumerate(q):
        one = fw.distance(MODEL, row, "block", "drum")
        assert all(np.array_equal(x, y[k]) for x, y in zip(one, batch, strict=True))
    with fw.interpret():
        again = fw.distance(MODEL, q, "block", "drum")
    assert np.abs(again.distance - batch.distance).max() < 1e-6


def test_boxes_that_are_apart_are_as_far_as_their_corners():
    model, q = MODEL, MODEL.neutral()
    own = PLACE.transform
    q[14:17] = np.array(own.E).T @ [2.0, 1.0, 1.5]  # the block, off the fixed one along all its axes
    found = fw.distance(model, q, "block", "fixed")
    assert found.distance == pytest.approx(np.linalg.norm([2.0 - 0.3, 1.0 - 0.5, 1.5 - 0.4]), abs=1e-12)


@pytest.mark.parametrize(("a", "b"), [("drum", "pill"), ("block", "drum"), ("ball", "drum"), ("block", "pill")])
def test_shapes_that_are_kilometres_apart(a, b):
    q, there = MODEL.neutral(), 7 * list(SHAPES).index(a)
    near, far = q.copy(), q.copy()
    near[there], far[there] = 10.0, 5000.0
    found, known = fw.distance(MODEL, far, a, b), fw.distance(MODEL, near, a, b)
    assert found.distance == pytest.approx(known.distance + 4990.0, abs=1e-2)
    assert np.abs(found.point_b - found.point_a - found.normal * found.distance).max() < 1e-9


def test_names_that_are_not_there():
    with pytest.raises(KeyError, match="no shape named 'bal'; did you mean 'ball'"):
        fw.distance(MODEL, MODEL.neutral(), "bal", "pill")


def test_a_shape_is_not_held_against_itself() -> None:
    ball = fw.Builder("ball").add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    model = ball.add_geometry("ball", fw.shapes.Sphere(0.1)).build()
    with pytest.raises(ValueError, match="expected two shapes, got 'ball' twice"):
        fw.distance(model, model.neutral(), "ball", "ball")
