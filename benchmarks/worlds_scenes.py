"""The worlds of `worlds.py`, ours and MuJoCo's: free bodies, a gripper, a ball and a quadruped, ragdolls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

import featherweight as fw
from featherweight.contact import Impulse, Plane
from peers.mujoco_adapter import mjcf, to_mujoco

CUBE = 0.2


def boxes(count: int, sizes: Sequence[float] = (0.2, 0.3, 0.1), masses: Sequence[float] | None = None) -> fw.Model:
    """Boxes b0, b1, …, of 1 kg if no masses are given."""
    builder = fw.Builder(f"{count} boxes")
    for k in range(count):
        mass = 1.0 if masses is None else masses[k]
        builder.add_body(f"b{k}", joint=fw.joints.Free(), inertia=fw.Inertia.box(mass, sizes))
        builder.add_geometry(f"b{k}", fw.shapes.Box(sizes))
    return builder.build()


def geom(shape: fw.shapes.Shape, more: str = "") -> str:
    """A shape in MuJoCo's words."""
    sizes = {
        "sphere": lambda s: (s.radius,),
        "box": lambda s: tuple(0.5 * x for x in s.sizes),
        "capsule": lambda s: (s.radius, 0.5 * s.length),
        "cylinder": lambda s: (s.radius, 0.5 * s.length),
    }[shape.kind](shape)
    return f'<geom type="{shape.kind}" size="{" ".join(map(repr, sizes))}" {more}/>'


def peer(
    model: fw.Model, q: np.ndarray, dt: float, friction: float, *, pairs: bool, option: str = 'cone="elliptic"'
) -> mujoco.MjModel:
    """Free bodies with a shape each on a plane; `pairs`: they touch each other too."""
    masks = ("3", "3") if pairs else ("2", "1")
    bodies = []
    for k, shape in enumerate(model.shapes):
        place = " ".join(map(repr, q[7 * k : 7 * k + 3].tolist()))
        mass = float(fw.mass_matrix(model, q)[6 * k, 6 * k])
        more = f'mass="{mass!r}" friction="{friction} 0 0" contype="{masks[0]}" conaffinity="{masks[1]}"'
        bodies.append(f'<body pos="{place}"><freejoint/>{geom(shape.shape, more)}</body>')
    text = (
        f'<mujoco><option timestep="{dt}" {option}/><worldbody><geom type="plane" size="100 100 1" contype="1" '
        f'conaffinity="2" friction="{friction} 0 0"/>{"".join(bodies)}</worldbody></mujoco>'
    )
    return mujoco.MjModel.from_xml_string(text)


def coordinates(q: np.ndarray) -> np.ndarray:
    """Of free bodies: quaternions w x y z, as MuJoCo has them."""
    out = q.copy()
    for k in range(q.shape[-1] // 7):
        out[..., 7 * k + 3 : 7 * k + 7] = q[..., 7 * k + 3 : 7 * k + 7][..., [3, 0, 1, 2]]
    return out


# rolling: 25 balls on a box that is pushed (SimBenchmark)
FORCE, WAY = 150.0, np.array([0.5, 0.866025403784439, 0.0])


def rolling() -> tuple[fw.Model, np.ndarray, Impulse]:
    n = 5
    builder = fw.Builder("rolling")
    builder.add_body("box", joint=fw.joints.Free(), inertia=fw.Inertia.box(10.0, (20, 20, 1)))
    builder.add_geometry("box", fw.shapes.Box((20, 20, 1)), friction=0.8)
    for i in range(n * n):
        builder.add_body(f"ball{i}", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.5))
        builder.add_geometry(f"ball{i}", fw.shapes.Sphere(0.5), friction=0.8)
    model = builder.build()
    contact = Impulse(ground=Plane(friction=0.4), pairs=[("box", f"ball{i}") for i in range(n * n)])
    q = model.neutral()
    q[2] = 0.5
    for i in range(n * n):
        q[7 * (i + 1) : 7 * (i + 1) + 3] = (2.0 * (i // n) - (n - 1), 2.0 * (i % n) - (n - 1), 1.5)
    return model, q, contact


def rolling_peer(q: np.ndarray, dt: float, impratio: float) -> mujoco.MjModel:
    balls = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><geom type="sphere" size="0.5" mass="1" friction="0.8 0 0" '
        'priority="2"/></body>'
        for x, y, z in q.reshape(-1, 7)[1:, :3]
    )
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{dt}" cone="elliptic" impratio="{impratio}"/><worldbody><geom type="plane" '
        'size="100 100 1" friction="0.4 0 0"/><body pos="0 0 0.5"><freejoint/><geom type="box" size="10 10 0.5" '
        f'mass="10" friction="0.4 0 0" priority="1"/></body>{balls}</worldbody></mujoco>'
    )


# a gripper: two fingers on slides press a box with 20 N, lift it by 0.1 m and hold it
MASS, SQUEEZE, MU = 0.5, 20.0, 0.6


def gripper() -> tuple[fw.Model, np.ndarray, Impulse, Any]:
    builder = fw.Builder("gripper")
    lift = fw.Inertia.box(1.0, (0.1, 0.1, 0.1))
    builder.add_body("lift", placement=fw.Placement((0, 0, 0.03)), joint=fw.joints.Prismatic("z"), inertia=lift)
    for name in ("right", "left"):
        finger = fw.Inertia.box(0.1, (0.02, 0.04, 0.04))
        builder.add_body(name, parent="lift", joint=fw.joints.Prismatic("x"), inertia=finger)
        builder.add_geometry(name, fw.shapes.Box((0.02, 0.04, 0.04)), friction=MU)
    builder.add_body("box", joint=fw.joints.Free(), inertia=fw.Inertia.box(MASS, (0.06, 0.06, 0.06)))
    builder.add_geometry("box", fw.shapes.Box((0.06, 0.06, 0.06)), friction=MU)
    model = builder.build()
    q = model.neutral()
    q[1], q[2], q[5] = 0.045, -0.045, 0.03
    contact = Impulse(friction=0.8, pairs=[("right", "box"), ("left", "box")])

    def drive(t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
        held = fw.scalar.where(t > 0.3, 1.0, 0.0)
        target = 0.1 * fw.scalar.minimum(fw.scalar.maximum(t - 0.3, 0.0) / 0.5, 1.0)
        up = 2000.0 * (target - q[0]) - 80.0 * v[0] + 9.81 * (1.2 + MASS * held)
        return np.array([up, -SQUEEZE - 20.0 * v[1], SQUEEZE - 20.0 * v[2], 0, 0, 0, 0, 0, 0], dtype=object), x

    return model, q, contact, fw.compiled(drive)


def gripper_peer(dt: float, impratio: float) -> mujoco.MjModel:
    def finger(name: str, x: float) -> str:
        return (
            f'<body name="{name}" pos="{x} 0 0"><joint type="slide" axis="1 0 0" damping="20"/><geom type="box" '
            f'size=".01 .02 .02" mass=".1" friction="{MU} 0 0" priority="1"/></body>'
        )

    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{dt}" cone="elliptic" impratio="{impratio}"/><worldbody><geom type="plane" '
        'size="1 1 1" friction=".8 0 0" contype="2" conaffinity="2"/><body name="lift" pos="0 0 .03"><joint '
        'type="slide" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/>'
        f'{finger("right", 0.045)}{finger("left", -0.045)}</body><body name="box" pos="0 0 .03"><freejoint/><geom '
        f'type="box" size=".03 .03 .03" mass="{MASS}" contype="3" conaffinity="3" friction=".5 0 0"/></body>'
        "</worldbody></mujoco>"
    )


# a ball hits a floating quadruped
def quadruped() -> tuple[fw.Model, np.ndarray, np.ndarray, Impulse]:
    builder = fw.Builder("quadruped", gravity=(0, 0, 0))
    builder.add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(10.0, 0.2))
    builder.add_geometry("ball", fw.shapes.Sphere(0.2), friction=0.0)
    builder.add_body("trunk", joint=fw.joints.Free(), inertia=fw.Inertia.box(7.0, (0.4, 0.2, 0.1)))
    builder.add_geometry("trunk", fw.shapes.Box((0.4, 0.2, 0.1)), friction=0.0)
    for k in range(4):
        parent = "trunk"
        for link, axis in enumerate("xyy"):
            place = (0.2 * (1 if k & 1 else -1), 0.1 * (1 if k & 2 else -1), 0) if link == 0 else (0, 0, -0.2)
            name = f"leg{k}_{link}"
            builder.add_body(
                name, parent=parent, joint=fw.joints.Revolute(axis), placement=fw.Placement(place),
                inertia=fw.Inertia(1.1, (0.01, 0.02, -0.1), (0.02, 0.021, 0.01)),
            )  # fmt: skip
            parent = name
    model = builder.build()
    q, v = model.neutral(), np.zeros(model.nv)
    q[:3], q[14:], v[1] = (0.05, -2.0, 0.03), np.tile([0.1, -0.8, 1.6], 4), 5.0
    contact = Impulse(Plane(point=(0, 0, -1e3)), friction=0.0, pairs=[("ball", "trunk")], tolerance=1e-10)
    return model, q, v, contact


def quadruped_peer(model: fw.Model) -> mujoco.MjModel:
    """The same with MuJoCo's contact, by the text of the adapter."""
    import peers.mujoco_adapter as adapter

    text = mjcf(model)
    for name, shape, masks in (
        ("trunk", fw.shapes.Box((0.4, 0.2, 0.1)), 'contype="1" conaffinity="2"'),
        ("ball", fw.shapes.Sphere(0.2), 'contype="2" conaffinity="1"'),
    ):
        own = geom(shape, f'mass="0" friction="0 0 0" {masks}')
        text = re.sub(rf'(<body name="{name}"[^>]*>)', rf"\1{own}", text)
    kept, adapter.mjcf = adapter.mjcf, lambda *a, **k: text
    try:
        return to_mujoco(model)
    finally:
        adapter.mjcf = kept


# a humanoid whose segments touch each other, on stairs
def ragdoll() -> fw.Model:
    """The limp humanoid, without armature; the capsules that it is drawn with touch each other, its contact points
    touch the ground."""
    return fw.robots.humanoid(collision=True)


Means = dict[str, Any]


def standing(count: int) -> tuple[fw.Model, np.ndarray, Means]:
    """Humanoids with motors on slightly bent legs, their arms a little away from the body; joint control holds them."""
    model = fw.robots.humanoid(collision=True, armature=0.05)
    q = np.tile(model.neutral(), (count, 1))
    q[:, 7:] += 0.02 * np.random.default_rng(1).normal(size=(count, model.nq - 7))
    bent = {"knee": 0.4, "hip_pitch": -0.2, "ankle_pitch": -0.2, "elbow": -0.5}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for name, angle in {**bent, "shoulder_roll": 0.4 * sign, "hip_roll": 0.08 * sign}.items():
            q[:, model.joint(f"{side}_{name}").q] = angle
    q[:, 2] -= fw.scenes.lowest(model, q)
    control = fw.control.joint_pd(model, q[0], stiffness=300.0, damping=10.0, gravity=False)
    return model, q, {"control": control}


def lying(count: int) -> tuple[fw.Model, np.ndarray, Means]:
    """Limp humanoids in random postures just above the ground."""
    model, rng = ragdoll(), np.random.default_rng(0)
    q = np.array([model.random(rng) for _ in range(count)])
    q[:, :3], q[:, 7:] = 0.0, 0.6 * q[:, 7:]
    q[:, 2] = 0.02 - fw.scenes.lowest(model, q)
    return model, q, {}


def stairs(steps: int = 6) -> tuple[Any, ...]:
    """Steps of 0.16 m that go down along x, and the ground."""
    treads = [
        fw.contact.Box((0.35, 4.0, 0.16 * (steps - k)), fw.Placement((0.35 * k, 0.0, 0.08 * (steps - k))))
        for k in range(steps)
    ]
    return Plane(), *treads


def on_stairs(model: fw.Model, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Random poses above the upper stairs, and velocities."""
    rng = np.random.default_rng(0)
    q = np.array([model.random(rng) for _ in range(count)])
    q[:, :3] = 0.0
    q[:, 7:] *= 0.6
    q[:, 2] = 1.2 - fw.scenes.lowest(model, q)
    v = 0.5 * rng.normal(size=(count, model.nv))
    return q, v
