"""The same bits as before: every public function, integrator and contact model, on many robots.

    make digests                    compare with benchmarks/results/digests.json
    python benchmarks/digests.py --record    write that file anew, or with --only what is chosen

A rebuilding of the inside must not change a result. Of each result a digest of its bytes is kept, and four projections
on fixed random vectors: where bits differ, these tell by how much. Runs are three steps from states that are drawn
here; longer ones would only amplify rounding.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests")]

import featherweight as fw  # noqa: E402
from featherweight.contact import Box, Heightfield, Impulse, Plane, Sphere, SpringDamper  # noqa: E402
from featherweight.integrators import Variational  # noqa: E402
from peers.pinocchio_adapter import ROBOTS, robots_folder  # noqa: E402

FILE = HERE / "results" / "digests.json"
BATCHES = ((), (11,))  # one state; a pack and a part of one
CLOSE = 1e-13  # relative, where bits differ
Result = dict[str, Any]


def menagerie(*, mimic: bool, declared: tuple[str, ...] = ()) -> fw.Model:
    """A tree with a joint of every kind, rotors, springs, brakes, limits, frames and contact points."""
    build = fw.Builder("menagerie", parameters=declared)
    kinds: dict[str, fw.joints.Joint] = {
        "free": fw.joints.Free(),
        "hinge": fw.joints.Revolute((0.3, 0.4, 0.5)),
        "endless": fw.joints.Continuous("x"),
        "slide": fw.joints.Prismatic((0.0, 0.6, 0.8)),
        "screw": fw.joints.Helical("z", 0.05),
        "tube": fw.joints.Cylindrical("y"),
        "cross": fw.joints.Universal("x", "y"),
        "plane": fw.joints.Planar(),
        "ball": fw.joints.Spherical(),
    }
    if mimic:
        kinds["follower"] = fw.joints.Mimic(fw.joints.Revolute("y"), "hinge_joint", -1.5, 0.2)
    parents = ["world", "free", "hinge", "hinge", "slide", "free", "tube", "cross", "free", "endless"]
    for k, (name, kind) in enumerate(kinds.items()):
        one = kind.nv == 1
        build.add_body(
            name, parent=parents[k], joint=kind,
            placement=fw.Placement((0.1 * k, 0.05, -0.2), rpy=(0.1 * k, 0.2, -0.3)),
            inertia=fw.Inertia.box(0.5 + 0.2 * k, (0.1, 0.2, 0.3), (0.02, -0.03, 0.05)),
            rotor=fw.Rotor(6.0, fw.Inertia.sphere(0.05, 0.02)) if name == "hinge" else None,
            armature=0.01 if name in ("slide", "hinge") else 0.0, damping=0.05 * k if one else 0.0,
            friction=0.03 if name == "screw" else 0.0, stiffness=2.0 if name in ("endless", "screw") else 0.0,
            limits=fw.Limits(-0.9, 0.9, 10.0, 5.0) if name in ("hinge", "slide") else None,
        )  # fmt: skip
    build.add_frame("tool", parent="ball", placement=fw.Placement((0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6)))
    build.add_contact_point("toe", parent="ball", position=(0.0, 0.1, -0.2), radius=0.03)
    build.add_contact_point("heel", parent="screw", position=(0.1, 0.0, -0.1))
    return build.build()


def robots() -> dict[str, fw.Model]:
    """Textbook mechanisms, trees of all kinds, our own robots and real ones."""
    real = {
        name: fw.load(robots_folder() / ROBOTS[name], base=base, policy="warn", contact="all")
        for name, base in (("go2", "free"), ("panda", "fixed"), ("simple_humanoid", "free"), ("talos", "free"))
    }
    return {
        "pendulum": fw.robots.pendulum(),
        "cartpole": fw.robots.cartpole(),
        "chain": fw.robots.chain(7),
        "menagerie": menagerie(mimic=False),
        "mimic": menagerie(mimic=True),
        "parameters": menagerie(mimic=False, declared=("hinge.mass", "gravity")),
        "mini_cheetah": fw.robots.mini_cheetah(),
        "humanoid": fw.robots.humanoid(),
        **real,
    }


def state(model: fw.Model, rng: np.random.Generator, batch: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """q (…, nq) and v (…, nv), drawn here and nowhere else."""
    q, v = rng.uniform(-0.8, 0.8, (*batch, model.nq)), rng.normal(size=(*batch, model.nv))
    for joint in model.joints:
        if joint.kind.orientation is not None and joint.independent:
            part = np.arange(joint.q.start, joint.q.stop)[joint.kind.orientation]
            q[..., part] /= np.linalg.norm(q[..., part], axis=-1, keepdims=True)
    return q, v


def functions(model: fw.Model, batch: tuple[int, ...]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every public function of a state, ready to be called."""
    rng = np.random.default_rng(len(batch))
    (q, v), (q1, a) = state(model, rng, batch), state(model, rng, batch)
    f = rng.normal(size=(*batch, model.nb + 1, 6))
    frame, joint = list(model.frames)[-1], model.joint_names[-1]
    body = model.names[model.nb]
    xyz = (0.1, 0.2, 0.3)
    for name in (
        "forward_kinematics", "mass_matrix", "mass_matrix_inverse", "gravity_force", "potential_energy",
        "center_of_mass", "com_jacobian", "centroidal_momentum_matrix",
    ):  # fmt: skip
        yield name, lambda name=name: getattr(fw, name)(model, q)
    for name in (
        "bias_force", "coriolis_matrix", "kinetic_energy", "momentum", "centroidal_bias", "passive_force",
        "solve_mass_matrix",
    ):  # fmt: skip
        yield name, lambda name=name: getattr(fw, name)(model, q, v)
    for name in ("inverse_dynamics", "forward_dynamics", "joint_wrenches"):
        yield name, lambda name=name: getattr(fw, name)(model, q, v, a)
        yield f"{name} f_ext", lambda name=name: getattr(fw, name)(model, q, v, a, f)
    yield "integrate", lambda: fw.integrate(model, q, v, 0.1)
    yield "difference", lambda: fw.difference(model, q, q1)
    yield "hybrid_dynamics", lambda: fw.hybrid_dynamics(model, q, v, a, a, [joint])
    yield "frame_pose", lambda: fw.frame_pose(model, q, frame)
    for in_ in ("body", "world", "world_aligned"):
        yield f"jacobian {in_}", lambda in_=in_: fw.jacobian(model, q, frame, in_)
        yield f"jacobian_dot {in_}", lambda in_=in_: fw.jacobian_dot(model, q, v, frame, in_)
        yield f"body_velocity {in_}", lambda in_=in_: fw.body_velocity(model, q, v, frame, in_)
        yield f"body_acceleration {in_}", lambda in_=in_: fw.body_acceleration(model, q, v, a, frame, in_)
        yield f"wrench_on {in_}", lambda in_=in_: fw.wrench_on(model, q, frame, f[..., 0, :], in_)
    yield "delassus", lambda: fw.delassus(model, q, [(body, xyz), (body, (0.0, 0.0, 0.0))])
    yield "contact_inertia", lambda: fw.contact_inertia(model, q, (body, xyz), [0.0, 0.6, 0.8])
    yield "unit_force_response", lambda: fw.unit_force_response(model, q, (body, xyz), [0.0, 0.6, 0.8])


HILLS = Heightfield(0.05 * np.sin(np.arange(36.0)).reshape(6, 6), 0.5, (-1.2, -1.2))
CONTACTS = {
    "springs": SpringDamper(law="linear", stiffness=2e4, damping=2e2),
    "hertz": SpringDamper(),
    "impulses": Impulse(),
    "impulses bounce": Impulse([Plane(restitution=0.4), Sphere((0.0, 0.3, -0.4), 0.5)], friction=0.5),
    "impulses on hills": Impulse([HILLS, Box((0.5, 0.5, 0.1), fw.Placement((0.2, 0.0, -0.05)))]),
    "impulses, rows": Impulse(dry_friction="rows"),
}
TOUCHING = ("menagerie", "mini_cheetah")  # robots whose contact is tried: each model of it takes seconds to compile
METHODS: dict[str, Any] = {
    "semi_implicit": "semi_implicit", "rk4": "rk4", "variational": "variational",
    "newton": Variational(solver="newton"), "broyden": Variational(solver="broyden", guess="velocity"),
}  # fmt: skip


def hold(t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
    """A compiled controller with a state: forces against velocity, and a count."""
    return -p[0] * v, x + p[1]


def steps(model: fw.Model, batch: tuple[int, ...]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Three steps in a row by every method, and contact model that goes with it."""
    rng = np.random.default_rng(7 + len(batch))
    q, v = state(model, rng, batch)
    v *= 0.3
    lowest = 0.0
    if model.contact_points:  # some points are in the ground, some above
        heights = np.stack([fw.frame_pose(model, q, p.name).position[..., 2] for p in model.contact_points])
        lowest = float(np.median(heights))
    for method, integrator in METHODS.items():
        for contact, kind in {"none": None, **CONTACTS}.items():
            if kind is not None and (not model.contact_points or (isinstance(kind, Impulse) and method == "rk4")):
                continue
            if contact == "impulses, rows" and method != "semi_implicit":
                continue
            if kind is not None and (method in ("newton", "broyden") or model.name not in TOUCHING):
                continue
            moved = None if kind is None else _raised(kind, lowest)
            for limits in (False, True) if kind is None else (True,):
                yield (
                    f"{method} {contact}{' limits' if limits else ''}",
                    lambda integrator=integrator, moved=moved, limits=limits: _run(
                        model, q, v, steps=3, dt=1e-3, integrator=integrator, contact=moved, limits=limits
                    ),
                )
    control = fw.compiled(hold, state=[1.0], parameters=[0.2, 0.5])
    yield "4 controlled", lambda: _run(model, q, v, steps=4, dt=1e-3, control=control)
    yield (
        "4 by effort limits",
        lambda: _run(model, q, v, steps=4, dt=1e-3, control=control, actuators=fw.actuators.EffortLimits()),
    )
    tau = rng.normal(size=(*batch, 4, model.nv))
    yield "4 with given forces", lambda: _run(model, q, v, steps=4, dt=1e-3, tau=tau)


def _raised(kind: Any, z: float) -> Any:
    """The same contact model on ground at another height: everything in it is moved up by z."""
    from dataclasses import replace

    moved = []
    for surface in kind.surfaces:
        if isinstance(surface, Plane):
            surface = replace(surface, point=(0.0, 0.0, z))
        elif isinstance(surface, Sphere):
            surface = replace(surface, center=(*surface.center[:2], surface.center[2] + z))
        elif isinstance(surface, Box):
            x, y, own = surface.placement.position
            surface = replace(surface, placement=fw.Placement((x, y, own + z)))
        else:
            surface = replace(surface, heights=surface.heights + z)
        moved.append(surface)
    return replace(kind, ground=tuple(moved))


def _run(model: fw.Model, q: np.ndarray, v: np.ndarray, **options: Any) -> tuple[np.ndarray, ...]:
    run = fw.rollout(model, q, v, **options)
    return run.q, run.v, run.tau, run.contact_force, run.status


def digest(result: Any) -> Result:
    """Of one or several arrays."""
    arrays = [np.ascontiguousarray(x) for x in (result if isinstance(result, tuple) else (result,))]
    numbers = np.concatenate([np.ravel(x).astype(float) for x in arrays])
    finite = np.where(np.isfinite(numbers), numbers, 0.0)
    vectors = np.random.default_rng(numbers.size).normal(size=(4, numbers.size))
    return {
        "digest": hashlib.sha256(b"".join(x.tobytes() for x in arrays)).hexdigest()[:16],
        "norm": float(np.linalg.norm(finite)),
        "projections": (vectors @ finite).tolist(),
    }


def distance(one: Result, other: Result) -> float:
    """How far two results are from each other, over their norm."""
    difference = np.abs(np.subtract(one["projections"], other["projections"])).max()
    return float(difference / max(one["norm"], other["norm"], 1e-300))


def results(only: str) -> Iterator[tuple[str, Result]]:
    for name, model in robots().items():
        for batch in BATCHES:
            for cases in (functions, steps):
                if cases is steps and name in ("talos", "humanoid", "parameters") and batch:
                    continue  # long to compile, and no other code than alone but for its width
                for what, call in cases(model, batch):
                    key = f"{name} | {what} | {len(batch) and batch[0]}"
                    if only in key:
                        yield key, digest(call())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write the digests of now")
    parser.add_argument("--only", default="", help="cases whose name contains this text")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # states here begin beyond limits, and steps are long for springs
    anew = arguments.record and not arguments.only
    before: dict[str, Result] = {} if anew else json.loads(FILE.read_text())
    found: dict[str, Result] = {}
    same, near, far = 0, [], []
    for key, result in results(arguments.only):
        found[key] = result
        if arguments.record:
            continue
        if key not in before:
            print(f"new: {key}", flush=True)
        elif before[key]["digest"] == result["digest"]:
            same += 1
        else:
            away = distance(before[key], result)
            (near if away <= CLOSE else far).append((away, key))
            print(f"{'differs' if away <= CLOSE else 'WRONG'}: {key}: {away:.1e}", flush=True)
    if arguments.record:
        rows = (f'"{k}": {json.dumps(r)}' for k, r in {**before, **found}.items())
        FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")
        print(f"{len(found)} results recorded in {FILE.name}")
        return
    lost = [key for key in before if arguments.only in key and key not in found]
    print(f"{same} results with the same bits, {len(near)} within {CLOSE:g}, {len(far)} further, {len(lost)} missing")
    sys.exit(bool(far or lost))


if __name__ == "__main__":
    main()
