"""The laws of contact between shapes, by dense algebra: what a recorded step did, recomputed with NumPy.

Random worlds of bodies that nearly touch; from the forces that a step reports, the rows J of all contact points, the
mass matrix M and the free velocity v⁻ of a step without contact follow

    v⁺ = v⁻ + M⁻¹ Jᵀ λ,    u = J v⁺,    0 ≤ λ_n ⟂ u_n - v* ≥ 0,    |λ_t| ≤ μ λ_n,    λ_t against u_t,

with v* = -gap / h before shapes touch, and 0 where they do. Only the detection of contact points is the library's,
which has tests of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import featherweight as fw
from featherweight.cached import cached_property
from featherweight.collision import Placed, Touch, ground_touch_count, ground_touches, touches
from featherweight.compiler import Lanes, plain
from featherweight.model.collision_shapes import CollisionShape
from featherweight.spatial import Matrix, Transform, Vector

MU, TOLERANCE = 0.6, 1e-8
KINDS = ("sphere", "box", "capsule")


def world(rng: np.random.Generator, count: int, kinds: tuple[str, ...] = KINDS, jointed: bool = False) -> fw.Model:
    """Bodies of random shape and size, from 0.1 to 10 kg, free; `jointed`: every second hangs on the one before."""
    builder = fw.Builder("world")
    for k in range(count):
        kind, mass, size = rng.choice(kinds), 10 ** rng.uniform(-1, 1), rng.uniform(0.08, 0.25)
        edges = size * rng.uniform(0.5, 1.5, 3)
        shape = {
            "sphere": lambda size=size: fw.shapes.Sphere(size / 2),
            "capsule": lambda size=size: fw.shapes.Capsule(size / 3, size),
            "box": lambda edges=edges: fw.shapes.Box(edges),
            "cylinder": lambda size=size: fw.shapes.Cylinder(size / 2, size),
            "convex": lambda rng=rng, size=size: fw.shapes.Convex(rng.normal(size=(8, 3)) * size / 2),
        }[kind]()
        inertia = fw.Inertia.box(mass, edges)
        if jointed and k % 2:
            place = fw.Placement((0.0, 0.0, -0.25))
            builder.add_body(f"b{k}", parent=f"b{k - 1}", joint=fw.joints.Universal(), placement=place, inertia=inertia)
        else:
            builder.add_body(f"b{k}", joint=fw.joints.Free(), inertia=inertia)
        place = fw.Placement(rng.normal(size=3) * 0.02, rpy=rng.normal(size=3))
        builder.add_geometry(f"b{k}", shape, place, friction=rng.uniform(0.1, 1.2))
    return builder.build()


def pairs_of(model: fw.Model) -> list[tuple[str, str]]:
    """Shapes of all bodies that no joint joins."""
    shapes = model.shapes
    return [
        (a.name, b.name)
        for j, b in enumerate(shapes)
        for a in shapes[:j]
        if model.parent[b.body] != a.body or model.parent[b.body] == 0
    ]


def scattered(model: fw.Model, rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """States in which bodies nearly touch and none is deep inside another: one after the other moves towards those that
    are there, until -3 to 10 mm are left to the nearest of them or the ground. Velocities up to some m/s."""
    q = np.array([model.random(rng) for _ in range(count)])
    moved: set[int] = set()
    for joint in model.independent_joints:
        mine = [shape for shape in model.shapes if _root(model, shape.body) == joint.body]
        if not mine:
            continue
        place = slice(joint.q.start, joint.q.start + 3)
        away = rng.normal(size=(count, 3))
        away[:, 2] = np.abs(away[:, 2])
        away /= np.linalg.norm(away, axis=1)[:, None]
        q[:, place] = away * 2.0 + [0.0, 0.0, 0.3]
        others = [shape for shape in model.shapes if _root(model, shape.body) in moved]
        left = rng.uniform(-0.003, 0.01, count)
        for _ in range(60):
            gap = np.min([_ground_gap(model, q, a) for a in mine], axis=0)
            for a in mine:
                for b in others:
                    gap = np.minimum(gap, _gap(model, q, a, b))
            q[:, place] -= away * np.clip(gap - left, -0.005, 0.05)[:, None]
        moved.add(joint.body)
    return q, rng.normal(size=(count, model.nv)) * rng.uniform(0.05, 2.0, (count, 1))


def _root(model: fw.Model, body: int) -> int:
    """The body of its tree that hangs on the world."""
    while body and model.parent[body]:
        body = model.parent[body]
    return body


def _gap(model: fw.Model, q: np.ndarray, a: CollisionShape, b: CollisionShape) -> np.ndarray:
    one, other = placed(model, q, a), placed(model, q, b)
    centers = [np.stack([plain(x) for x in shape.X.r], axis=1) for shape in (one, other)]
    apart = np.linalg.norm(centers[0] - centers[1], axis=1) - a.shape.reach - b.shape.reach
    found = arrays(touches(one, other), len(q)).gap.min(axis=1)
    return np.where(found < 100.0, found, np.maximum(apart, 0.0))  # contact points of far shapes may not be there


def _ground_gap(model: fw.Model, q: np.ndarray, a: CollisionShape) -> np.ndarray:
    return arrays(ground_touches(placed(model, q, a), fw.contact.Plane().height), len(q)).gap.min(axis=1)


def placed(model: fw.Model, q: np.ndarray, shape: CollisionShape) -> Placed:
    """A shape in many states at once."""
    name = model.names[shape.body] if shape.body else None
    E, r = np.array([list(row) for row in shape.X.E], float), np.array(list(shape.X.r), float)
    R, p = np.tile(E.T, (len(q), 1, 1)), np.tile(r, (len(q), 1))
    if name is not None:
        pose = fw.frame_pose(model, q, name)
        R, p = pose.rotation @ E.T, pose.position + pose.rotation @ r
    lane = lambda x: Lanes(np.ascontiguousarray(x))  # noqa: E731
    turn = Matrix.of([[lane(R[:, j, i]) for j in range(3)] for i in range(3)])
    return Placed(shape.shape, Transform(turn, Vector(*(lane(p[:, k]) for k in range(3)))))


@dataclass(frozen=True)
class Points:
    """Contact points of many states: gap (n, k), normal from the second to the first and place (n, k, 3)."""

    gap: np.ndarray
    normal: np.ndarray
    point: np.ndarray


def arrays(found: list[Touch], n: int) -> Points:
    gap = np.stack([np.broadcast_to(plain(t.gap), n) for t in found], axis=1)
    normal, point = (
        np.stack([np.stack([np.broadcast_to(plain(x), n) for x in v], axis=1) for v in part], axis=1)
        for part in ([t.normal for t in found], [t.point for t in found])
    )
    return Points(gap, normal, point)


@dataclass(frozen=True, eq=False)
class Step:
    """One step of many worlds with a plane as ground, and what follows from its forces.

    `used` are the worlds whose step was solved.
    """

    model: fw.Model
    q: np.ndarray
    v: np.ndarray
    h: float
    contact: fw.contact.Impulse
    pairs: list[tuple[str, str]]

    @cached_property
    def run(self) -> fw.Trajectory:
        return fw.rollout(self.model, self.q, self.v, steps=1, dt=self.h, contact=self.contact)

    @cached_property
    def free(self) -> np.ndarray:
        """v⁻ in the axes of the beginning: a step without contact."""
        return self.turned_back(fw.rollout(self.model, self.q, self.v, steps=1, dt=self.h).v[:, 1])

    def turned_back(self, v: np.ndarray) -> np.ndarray:
        """Velocities after a step in the axes before it: free bodies turned by h ω with it."""
        v = v.copy()
        for joint in self.model.independent_joints:
            if joint.kind.floating:
                start = joint.v.start
                linear, angular = v[:, start : start + 3], v[:, start + 3 : start + 6]
                v[:, start : start + 3] = turned(angular * self.h, linear)
        return v

    @cached_property
    def slots(self) -> list[tuple[CollisionShape, CollisionShape | None, Points, float]]:
        """Of each pair: shapes, contact points, friction. Shapes and the ground first, as they are recorded."""
        shapes, n = {shape.name: shape for shape in self.model.shapes}, len(self.q)
        found = []
        for a in self.model.shapes:
            if ground_touch_count(a.shape):
                points = ground_touches(placed(self.model, self.q, a), fw.contact.Plane().height)
                found.append((a, None, arrays(points, n), a.friction if a.friction is not None else MU))
        for one, other in self.pairs:
            a, b = shapes[one], shapes[other]
            points = touches(placed(self.model, self.q, a), placed(self.model, self.q, b))
            both = [MU if s.friction is None else s.friction for s in (a, b)]
            found.append((a, b, arrays(points, n), float(np.sqrt(both[0] * both[1]))))
        return found

    @cached_property
    def gap(self) -> np.ndarray:
        return np.concatenate([points.gap for _, _, points, _ in self.slots], axis=1)

    @cached_property
    def normal(self) -> np.ndarray:
        return np.concatenate([points.normal for _, _, points, _ in self.slots], axis=1)

    @cached_property
    def friction(self) -> np.ndarray:
        return np.concatenate([np.full(points.gap.shape[1], mu) for _, _, points, mu in self.slots])

    @cached_property
    def J(self) -> np.ndarray:
        """(n, k, 3, nv): the velocity of the first shape at a contact point, less that of the second, in the world."""
        rows = []
        whole = {
            name: (fw.jacobian(self.model, self.q, name, "world_aligned"), fw.frame_pose(self.model, self.q, name))
            for name in self.model.names[1:]
        }
        for a, b, points, _ in self.slots:
            total: np.ndarray = np.zeros((*points.gap.shape, 3, self.model.nv))
            for shape, sign in ((a, 1.0), (b, -1.0)):
                if shape is not None and shape.body:
                    jacobian, pose = whole[self.model.names[shape.body]]
                    arm = points.point - pose.position[:, None]
                    turning = -np.cross(arm[..., None], jacobian[:, None, 3:], axis=2)
                    total = total + sign * (jacobian[:, None, :3] + turning)
            rows.append(total)
        return np.concatenate(rows, axis=1)

    @cached_property
    def M(self) -> np.ndarray:
        return fw.mass_matrix(self.model, self.q)

    @cached_property
    def impulse(self) -> np.ndarray:
        """(n, k, 3): of contact points with rows of their own, and of those that found a slot."""
        if not self.run.slots.size:
            return self.h * self.run.pair_force[:, 0]
        found = np.zeros((*self.gap.shape, 3))
        own = self.run.pair_force.shape[2]
        found[:, :own] = self.run.pair_force[:, 0]
        kinds = {a.name: a.shape.kind for a in self.model.shapes}
        points = [points.gap.shape[1] for _, b, points, _ in self.slots if b is not None]
        starts = own + np.cumsum([0, *points[:-1]])
        # contact points are numbered by kinds of shapes, in the order in which these appear
        order: dict[tuple[str, str], list[int]] = {}
        for k, (a, b) in enumerate(self.pairs):
            order.setdefault((kinds[a], kinds[b]), []).extend(range(starts[k], starts[k] + points[k]))
        column = np.array([k for group in order.values() for k in group])
        for lane, slots in enumerate(self.run.slots[:, 0]):
            for number, *force in slots:
                if number >= 0:
                    found[lane, column[int(number)]] = force
        return self.h * found

    @cached_property
    def after(self) -> np.ndarray:
        """v⁻ + M⁻¹ Jᵀ λ."""
        pushed = np.einsum("bpkn,bpk->bn", self.J, self.impulse)
        return self.free + np.linalg.solve(self.M, pushed[..., None])[..., 0]

    def u(self, v: np.ndarray) -> np.ndarray:
        return np.einsum("bpkn,bn->bpk", self.J, v)

    @cached_property
    def used(self) -> np.ndarray:
        return self.run.status == fw.Status.OK

    @cached_property
    def acts(self) -> np.ndarray:
        """Where an impulse is."""
        return np.linalg.norm(self.impulse, axis=-1) > 0

    def violations(self) -> dict[str, np.ndarray]:
        """By how much each world misses each law, (n,): velocities [m/s], impulses as the velocities they cause."""
        normal = np.einsum("bpk,bpk->bp", self.impulse, self.normal)
        along = self.impulse - normal[..., None] * self.normal
        u = self.u(self.after)
        u_n = np.einsum("bpk,bpk->bp", u, self.normal)
        u_t = u - u_n[..., None] * self.normal
        wanted = np.where(self.gap > 0, -self.gap / self.h, 0.0)
        w = u_n - wanted
        inverse = np.linalg.inv(self.M)
        row = np.einsum("bpkn,bpk->bpn", self.J, self.normal)
        mobility = np.einsum("bpn,bnm,bpm->bp", row, inverse, row)
        touching = self.acts | (self.gap <= 0)
        slip = np.linalg.norm(u_t, axis=-1)
        size = np.linalg.norm(along, axis=-1)
        against = along + (self.friction * normal / np.maximum(slip, 1e-300))[..., None] * u_t
        slides = touching & (slip > 0)
        coulomb = np.minimum(np.linalg.norm(against, axis=-1) * mobility, slip) * slides
        before = self.u(self.free)
        work = 0.5 * np.einsum("bpk,bpk->b", self.impulse, before + u)
        scale = np.abs(np.einsum("bpk,bpk->bp", self.impulse, before)).sum(axis=1)
        given = np.abs(self.turned_back(self.run.v[:, 1]) - self.after).max(axis=1)
        return {
            "dynamics": given / (1 + np.abs(self.after).max(axis=1)),
            "pulls": np.maximum(-normal * mobility, 0.0).max(axis=1),
            "approach": np.where(touching, np.maximum(-w, 0.0), 0.0).max(axis=1),
            "complementarity": np.minimum(np.abs(w), np.abs(normal) * mobility).max(axis=1),
            "cone": np.maximum((size - self.friction * normal) * mobility, 0.0).max(axis=1),
            "coulomb": coulomb.max(axis=1),
            "work": np.maximum(work, 0.0) / np.maximum(scale, 1e-30),
            "missed": np.where(~touching, np.maximum(-w, 0.0), 0.0).max(axis=1),
        }


def turned(turn: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Rodrigues' formula: x turned by a rotation vector."""
    angle = np.linalg.norm(turn, axis=1, keepdims=True)
    axis = turn / np.maximum(angle, 1e-300)
    along = (axis * x).sum(axis=1, keepdims=True) * axis
    return along + np.cos(angle) * (x - along) + np.sin(angle) * np.cross(axis, x)
