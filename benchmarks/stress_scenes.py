"""Scenes that broke earlier versions, and what becomes of them now: a sentence with numbers each (`make scenes`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import featherweight as fw
from featherweight.contact import Heightfield, Impulse, Plane

POINT = 1.0 / 12.0


def free(shape: fw.shapes.Shape, inertia: fw.Inertia, *posts: tuple[fw.shapes.Shape, fw.Placement]) -> fw.Model:
    """A free body with a shape, and shapes that stand in the world."""
    builder = fw.Builder("scene").add_body("body", joint=fw.joints.Free(), inertia=inertia)
    builder.add_geometry("body", shape)
    for k, (post, place) in enumerate(posts):
        builder.add_geometry("world", post, place, name=f"post{k}")
    return builder.build()


def box(sizes: tuple[float, float, float], *posts: tuple[fw.shapes.Shape, fw.Placement]) -> fw.Model:
    return free(fw.shapes.Box(sizes), fw.Inertia.box(1.0, sizes), *posts)


def turn(axis: tuple[float, float, float], angle: float) -> list[float]:
    unit = np.array(axis) / np.linalg.norm(axis)
    return [*(np.sin(angle / 2) * unit), np.cos(angle / 2)]


def simulated(model: fw.Model, q: np.ndarray, contact: Impulse, v: Any = None, T: float = 1.0, dt: float = 1e-3) -> Any:
    return fw.rollout(model, q, np.zeros(model.nv) if v is None else v, steps=round(T / dt), dt=dt, contact=contact)


def ended(run: fw.Trajectory) -> str:
    """How a run, or each of several, ended."""
    failed, turns = int(np.count_nonzero(run.status)), float(np.nanmax(run.solver[..., 0]))
    return f"{failed} of {np.size(run.status)} fail, at most {turns:.0f} turns"


# break1: what only shapes can see
def plank() -> str:
    posts = [(fw.shapes.Box((0.1, 0.3, 0.5)), fw.Placement((x, 0.0, 0.25))) for x in (-0.6, 0.6)]
    model = box((2.0, 0.2, 0.05), *posts)
    q = model.neutral()
    q[2] = 0.53
    run = simulated(model, q, Impulse(friction=0.8, pairs=[("body", "post0"), ("body", "post1")]))
    return f"height {run.q[-1, 2]:.6f} m, true 0.525; {ended(run)}"


def plate_on_a_corner() -> str:
    place = fw.Placement((0, 0, 0.5), rpy=(np.pi / 4, np.arctan(np.sqrt(0.5)), 0))
    model = box((1.0, 1.0, 0.1), (fw.shapes.Box((0.5, 0.5, 0.5)), place))
    q = model.neutral()
    q[2] = np.sqrt(3) * 0.25 + 0.5 + 0.06
    run = simulated(model, q, Impulse(friction=0.8, pairs=[("body", "post0")]), T=0.5)
    return f"height after 0.5 s {run.q[-1, 2]:.4f} m, {q[2] - 0.01:.4f} where it balances; {ended(run)}"


def wheel() -> str:
    model = free(fw.shapes.Cylinder(0.1, 0.05), fw.Inertia(1.0, (0, 0, 0), (0.003, 0.003, 0.005)))
    q, v = model.neutral(), np.zeros(6)
    q[2], q[3:] = 0.1, turn((1, 0, 0), -np.pi / 2)
    v[0], v[5] = 1.0, 10.0
    run = simulated(model, q, Impulse(friction=0.8), v, T=2.0)
    low, high = run.q[:, 2].min(), run.q[:, 2].max()
    return f"rolls {run.q[-1, 0]:.4f} m in 2 s, true 2; height {low:.6f} to {high:.6f} m, true 0.1; {ended(run)}"


def step_of_a_height_field() -> str:
    model = free(fw.shapes.Sphere(0.1), fw.Inertia.sphere(1.0, 0.1))
    q, v, found = model.neutral(), np.zeros(6), []
    q[:3], v[0] = (0.5, 0.15, 0.1), 2.0
    for spacing in (0.1, 0.05):
        heights = np.zeros((int(4 / spacing), 10))
        heights[int(2 / spacing) :] = 0.3
        run = simulated(model, q, Impulse(Heightfield(heights, spacing), friction=0.0), v, T=1.5)
        foot, edge = (int(2 / spacing) - 1) * spacing, np.array([spacing, 0.3])
        way = run.q[:, [0, 2]] - [foot, 0.0]
        along = np.clip(way @ edge / (edge @ edge), 0, 1)
        least = np.linalg.norm(way - along[:, None] * edge, axis=1).min()
        found.append(f"spacing {spacing}: centre comes to {least:.4f} m of the slope, true 0.1, {ended(run)}")
    return "; ".join(found)


def thin_plate() -> str:
    model = free(
        fw.shapes.Sphere(0.02), fw.Inertia.sphere(1.0, 0.02), (fw.shapes.Box((1, 1, 0.05)), fw.Placement((0, 0, 0)))
    )
    q = np.tile(model.neutral(), (4, 1))
    q[:, 2], v = 0.5, np.zeros((4, 6))
    v[:, 2] = -np.array([5, 20, 50, 100])
    run = simulated(model, q, Impulse(Plane(point=(0, 0, -10)), pairs=[("body", "post0")]), v, T=0.2)
    return f"at 5, 20, 50, 100 m/s it stops at {np.round(run.q[:, -1, 2], 6).tolist()} m, true 0.045; {ended(run)}"


# break2: the solver under stress
def load_on_a_light_foot() -> str:
    found = []
    for ratio in (1e2, 1e4, 1e6, 1e8):
        builder = fw.Builder("hopper").add_body(
            "foot", joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (0.1, 0.1, 0.1))
        )
        builder.add_geometry("foot", fw.shapes.Box((0.1, 0.1, 0.1)))
        load = fw.Inertia(ratio, (0, 0, -0.02), (ratio * 0.01,) * 3)
        place = fw.Placement((0, 0, 0.05))
        builder.add_body("load", parent="foot", joint=fw.joints.Revolute("y"), placement=place, inertia=load)
        model = builder.build()
        q = model.neutral()
        q[2] = 0.06
        run = simulated(model, q, Impulse(friction=0.8))
        force = run.pair_force[-1].sum(axis=0)[2] / ((1 + ratio) * 9.81) if run.status == 0 else np.nan
        found.append(f"{ratio:.0e}: force over weight {force:.9f}, {ended(run)}")
    return "; ".join(found)


def narrow_gap() -> str:
    model, found = box((0.2, 0.2, 0.2)), []
    for gap in (0.25, 0.2, 0.199, 0.15):
        walls = [Plane((1, 0, 0), (-gap / 2, 0, 0)), Plane((-1, 0, 0), (gap / 2, 0, 0)), Plane()]
        q = model.neutral()
        q[2] = 0.15
        run = simulated(model, q, Impulse(walls, friction=0.8))
        found.append(f"{gap} m: height {run.q[-1, 2]:.4f} m, speed {np.abs(run.v[-1]).max():.1e}, {ended(run)}")
    return "; ".join(found)


def groove() -> str:
    model, found = box((0.2, 0.2, 0.2)), []
    for mu in (0.1, 0.5, 1.5):
        q = model.neutral()
        q[:3], q[3:] = (0.02, 0, 0.5), turn((1, 2, 3), 0.7)
        run = simulated(model, q, Impulse([Plane((1, 0, 1)), Plane((-1, 0, 1))], friction=mu), T=2.0)
        found.append(f"μ {mu}: speed at the end {np.abs(run.v[-1]).max():.1e}, {ended(run)}")
    return "; ".join(found)


def rod_on_its_tip() -> str:
    """Painlevé: with μ above 4/3 the rigid problem has no solution or several."""
    builder = fw.Builder("rod").add_body(
        "rod", joint=fw.joints.Free(), inertia=fw.Inertia(1.0, (0, 0, 0), (POINT, POINT, 1e-4))
    )
    model = builder.add_geometry("rod", fw.shapes.Sphere(1e-3), fw.Placement((0, 0, -0.5))).build()
    q, v = np.tile(model.neutral(), (100, 1)), np.zeros((100, 6))
    angle, speed = np.repeat(np.linspace(-1.2, 1.2, 25), 4), np.tile([-3.0, -1.0, 1.0, 3.0], 25)
    q[:, 3:] = [turn((0, 1, 0), a) for a in angle]
    q[:, 2], v[:, 0], v[:, 2] = 0.5 * np.cos(angle) + 1e-3, speed * np.cos(angle), speed * np.sin(angle)
    found = []
    for mu in (0.5, 1.0, 1.5, 2.0, 3.0):
        run = simulated(model, q, Impulse(friction=mu), v, T=0.3)
        energy = run.energy()
        found.append(f"μ {mu}: {ended(run)}, E rises by {np.nanmax(energy - energy[:, :1]):.1e} J of 9")
    return "; ".join(found)


def thrown(sizes: tuple[float, float, float], friction: tuple[float, ...], dts: tuple[float, ...]) -> str:
    model, found = box(sizes), []
    rng = np.random.default_rng(0)
    q = np.array([model.random(rng) for _ in range(256)])
    q[:, :2], q[:, 2], v = 0.0, rng.uniform(0.3, 1.0, 256), 2 * rng.normal(size=(256, 6))
    for mu in friction:
        for dt in dts:
            run = simulated(model, q, Impulse(friction=mu), v, T=2.0, dt=dt)
            found.append(
                f"μ {mu}, {1e3 * dt:g} ms: {ended(run)}, spins up to {np.nanmax(np.abs(run.v[..., 3:])):.0f} /s"
            )
    return "; ".join(found)


def coin() -> str:
    model = free(fw.shapes.Cylinder(0.1, 0.005), fw.Inertia(1.0, (0, 0, 0), (0.0025, 0.0025, 0.005)))
    q, v = model.neutral(), np.zeros(6)
    q[3:], q[2] = turn((1, 0, 0), 1.2), 0.1 * np.sin(1.2) + 2e-3
    v[4], v[5] = 15 * np.sin(1.2), 15 * np.cos(1.2)
    run = simulated(model, q, Impulse(friction=0.8), v, T=3.0)
    return f"height after 3 s {run.q[-1, 2]:.4f} m, flat 0.0025; {ended(run)}"


def cube_of_points() -> str:
    """Points on the faces of a cube instead of a shape: far more than it takes to hold it."""
    found, rng = [], np.random.default_rng(0)
    for side in (2, 3, 4):
        grid = np.linspace(-0.1, 0.1, side)
        builder = fw.Builder("cube").add_body(
            "cube", joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (0.2, 0.2, 0.2))
        )
        places = [(x, y, z) for x in grid for y in grid for z in grid if max(abs(x), abs(y), abs(z)) > 0.0999]
        for k, place in enumerate(places):
            builder.add_contact_point(f"p{k}", parent="cube", position=place)
        model = builder.build()
        q = np.array([model.random(rng) for _ in range(128)])
        q[:, :2], q[:, 2], v = 0.0, rng.uniform(0.3, 1.0, 128), 2 * rng.normal(size=(128, 6))
        run = simulated(model, q, Impulse(friction=0.8), v)
        found.append(f"{len(places)} points: {ended(run)}, {1e3 * np.nanmax(run.penetration):.3f} mm deep at most")
    return "; ".join(found)


# rods: spin without contact
def rod_in_flight() -> str:
    """A rod of 1 m × 1 cm that spins about its own axis and a little across: how far its energy leaves the first."""
    builder = fw.Builder("rod", gravity=(0, 0, 0))
    model = builder.add_body("rod", joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (1.0, 0.01, 0.01))).build()
    found = []
    for spin in ((300, 5, 5), (1000, 5, 5), (3000, 5, 5), (10, 20, 20), (0, 60, 60)):
        for gyroscopic in ("midpoint", "explicit"):
            integrator = fw.integrators.SemiImplicit(gyroscopic=gyroscopic)
            run = fw.rollout(model, model.neutral(), [0, 0, 0, *spin], steps=5000, dt=1e-3, integrator=integrator)
            good = np.isfinite(run.v).all(axis=1)
            energy = fw.kinetic_energy(model, run.q[good], run.v[good])
            end = "" if run.status == 0 else f", ends at step {run.failed_step}"
            found.append(f"{spin} /s, {gyroscopic}: E/E₀ - 1 up to {np.abs(energy / energy[0] - 1).max():.0e}{end}")
    return "; ".join(found)


# stack: cubes and mass ratios
def cubes() -> str:
    found = []
    for masses in ([1.0, 1.0], [1.0, 100.0], [1.0, 1e4], [1.0, 1.0, 1.0]):
        builder = fw.Builder("stack")
        for k, mass in enumerate(masses):
            builder.add_body(f"b{k}", joint=fw.joints.Free(), inertia=fw.Inertia.box(mass, (0.2, 0.2, 0.2)))
            builder.add_geometry(f"b{k}", fw.shapes.Box((0.2, 0.2, 0.2)))
        model, n = builder.build(), len(masses)
        q = model.neutral()
        for k in range(n):
            q[7 * k : 7 * k + 3] = 0.01 * (-1) ** k, 0.005 * (k % 2), 0.1 + 0.2 * k + 1e-4 * (k + 1)
        run = simulated(model, q, Impulse(friction=0.8, pairs=[(f"b{k}", f"b{k + 1}") for k in range(n - 1)]), T=2.0)
        top = slice(7 * (n - 1), 7 * (n - 1) + 2)
        low, drift = run.q[-1, top.stop] - (0.2 * n - 0.1), np.hypot(*(run.q[-1, top] - q[top]))
        names = ", ".join(f"{mass:g}" for mass in masses)
        found.append(f"{names} kg: top off by {low:.1e} m, drifts {drift:.1e} m, {ended(run)}")
    return "; ".join(found)


SCENES: dict[str, Callable[[], str]] = {
    "a plank across two posts": plank,
    "a plate on the corner of a box": plate_on_a_corner,
    "a wheel rolls": wheel,
    "a ball against a step of a height field": step_of_a_height_field,
    "a ball of 2 cm against a plate of 5 cm": thin_plate,
    "a load on a light foot": load_on_a_light_foot,
    "a cube of 0.2 m in a gap": narrow_gap,
    "a cube in a groove": groove,
    "a rod slides on its tip": rod_on_its_tip,
    "cubes thrown": partial(thrown, (0.2, 0.2, 0.2), (0.0, 0.8, 5.0), (1e-3,)),
    "plates thrown": partial(thrown, (0.5, 0.5, 0.01), (0.0, 0.8, 5.0), (1e-3,)),
    "rods of 1 m × 1 cm thrown": partial(thrown, (1.0, 0.01, 0.01), (0.0, 0.8, 5.0), (1e-3,)),
    "rods of 1 m × 1 mm thrown": partial(thrown, (1.0, 1e-3, 1e-3), (0.0, 0.8, 5.0), (1e-3,)),
    "needles of 1 m × 0.1 mm thrown": partial(thrown, (1.0, 1e-4, 1e-4), (0.0, 0.8, 5.0), (1e-3,)),
    "boxes thrown in longer steps": partial(thrown, (0.2, 0.3, 0.1), (0.8,), (5e-3, 1e-2, 2e-2, 5e-2)),
    "a cube of points thrown": cube_of_points,
    "a coin spun on its edge": coin,
    "a rod spins in flight": rod_in_flight,
    "cubes on each other": cubes,
}
