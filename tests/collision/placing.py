"""Shapes in many placements at once, and what independent methods say about them."""

from functools import cache

import mujoco
import numpy as np

from featherweight.collision import Placed, touch_count, touches
from featherweight.compiler import Argument, Kernel, Lanes, plain
from featherweight.shapes import Box, Capsule, Convex, Cylinder, Sphere
from featherweight.spatial import Matrix, Transform, Vector


def rotations(rng, n):
    """Random rotations, shape (n, 3, 3)."""
    q = rng.normal(size=(n, 4))
    x, y, z, w = (q / np.linalg.norm(q, axis=1)[:, None]).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def transform(R, p):
    """X of a body with rotation R (body to world) at p; arrays with a leading axis are lanes."""
    R, p = np.asarray(R, dtype=float), np.asarray(p, dtype=float)
    lane = (lambda x: Lanes(np.ascontiguousarray(x))) if p.ndim == 2 else float
    E = Matrix.of([[lane(R[..., j, i]) for j in range(3)] for i in range(3)])
    return Transform(E, Vector(*(lane(p[..., k]) for k in range(3))))


def unpacked(found, n):
    """Touches as arrays: gap (n, k), normal and point (n, k, 3)."""
    gap = np.stack([np.broadcast_to(plain(t.gap), n) for t in found], axis=1)
    vectors = [
        np.stack([np.stack([np.broadcast_to(plain(x), n) for x in v], axis=1) for v in part], axis=1)
        for part in ([t.normal for t in found], [t.point for t in found])
    ]
    return gap, *vectors


def touched(a, b, Ra, pa, Rb, pb):
    """gap, normal, point of shapes in n placements, by compiled code; `interpreted` has the same by NumPy."""
    (found,) = compiled(a, b)(np.concatenate([numbers(Ra, pa), numbers(Rb, pb)], axis=1))
    parts = found.reshape(len(pa), touch_count(a, b), 7)
    return parts[:, :, 0], parts[:, :, 1:4], parts[:, :, 4:]


def interpreted(a, b, Ra, pa, Rb, pb):
    """gap, normal, point of shapes in n placements, by arrays as scalars."""
    return unpacked(touches(Placed(a, transform(Ra, pa)), Placed(b, transform(Rb, pb))), len(pa))


@cache
def compiled(a, b):
    """Code for a pair of shapes: 24 numbers to gap, normal and point of each touch."""

    def function(scalars, lift):
        return flat(touches(placed(a.lifted(lift), scalars[:12]), placed(b.lifted(lift), scalars[12:])))

    return kernel(function, 7 * touch_count(a, b))


def flat(found):
    return [x for t in found for x in (t.gap, *t.normal, *t.point)]


def kernel(function, n_out, n_in=24):
    """A compiled function of n_in numbers."""

    def traced(scalars, lift, mark):
        return [function(scalars[0], lift)], 0

    return Kernel("touches", [Argument("x", (n_in,), "n")], [(n_out,)], traced, lambda _: "")


def placed(shape, x):
    """A shape whose X is 12 scalars: E by rows, then r."""
    return Placed(shape, Transform(Matrix.of([x[0:3], x[3:6], x[6:9]]), Vector(*x[9:12])))


def numbers(R, p):
    """The 12 numbers of X, shape (n, 12)."""
    return np.concatenate([np.swapaxes(R, 1, 2).reshape(len(p), 9), p], axis=1)


GEOMS = {
    "sphere": (mujoco.mjtGeom.mjGEOM_SPHERE, lambda s: [s.radius, 0, 0]),
    "capsule": (mujoco.mjtGeom.mjGEOM_CAPSULE, lambda s: [s.radius, s.length / 2, 0]),
    "box": (mujoco.mjtGeom.mjGEOM_BOX, lambda s: [x / 2 for x in s.sizes]),
    "cylinder": (mujoco.mjtGeom.mjGEOM_CYLINDER, lambda s: [s.radius, s.length / 2, 0]),
}


def mujoco_distances(a, b, Ra, pa, Rb, pb, most=10.0):
    """mj_geomDistance of two shapes in each placement: an independent implementation."""
    spec = mujoco.MjSpec()
    for k, shape in enumerate((a, b)):
        body = spec.worldbody.add_body(name=f"body{k}", mocap=True)
        if shape.kind == "convex":
            spec.add_mesh(name=f"mesh{k}", uservert=np.ravel(shape.points))
            body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f"mesh{k}")
        else:
            kind, size = GEOMS[shape.kind]
            body.add_geom(type=kind, size=size(shape))
    spec.option.ccd_tolerance, spec.option.ccd_iterations = 1e-12, 200
    model = spec.compile()
    data = mujoco.MjData(model)
    distances, fromto = [], np.zeros(6)
    quaternion = np.zeros(4)
    for k in range(len(pa)):
        for i, (R, p) in enumerate(((Ra[k], pa[k]), (Rb[k], pb[k]))):
            mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(R).ravel())
            data.mocap_pos[i], data.mocap_quat[i] = p, quaternion
        mujoco.mj_kinematics(model, data)
        distances.append(mujoco.mj_geomDistance(model, data, 0, 1, most, fromto))
    return np.array(distances)


def outside(shape, R, p, x):
    """How far points x (n, 3) are outside the shape, ≤ 0 inside: by its definition, in NumPy."""
    y = np.einsum("nji,nj->ni", R, x - p)
    if shape.kind == "sphere":
        return np.linalg.norm(y, axis=1) - shape.radius
    if shape.kind == "capsule":
        z = np.clip(y[:, 2], -shape.length / 2, shape.length / 2)
        return np.linalg.norm(y - z[:, None] * [0, 0, 1], axis=1) - shape.radius
    if shape.kind == "box":
        return np.max(np.abs(y) - np.array(shape.sizes) / 2, axis=1)
    if shape.kind == "cylinder":
        return np.maximum(np.hypot(y[:, 0], y[:, 1]) - shape.radius, np.abs(y[:, 2]) - shape.length / 2)
    from scipy.spatial import ConvexHull

    planes = ConvexHull(np.array(shape.points)).equations
    return np.max(y @ planes[:, :3].T + planes[:, 3], axis=1)


SHAPES = {
    "sphere": Sphere(0.3),
    "capsule": Capsule(0.15, 0.7),
    "box": Box((0.5, 0.8, 0.3)),
    "cylinder": Cylinder(0.3, 0.6),
    "convex": Convex(np.random.default_rng(5).normal(size=(12, 3)) * [0.3, 0.2, 0.25]),
}
