"""Random robots for the laws: branching trees of all joint kinds, with motors, friction and springs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

import featherweight as fw

ONE_DOF = ("revolute y", "revolute any", "continuous any", "prismatic z", "prismatic any", "helical any")
OFFSETS = np.array([0.0, 0.3, -0.2])
KINDS = (*ONE_DOF, "cylindrical any", "universal any", "planar", "planar x", "spherical", "free")


@dataclass(frozen=True)
class Body:
    """What `add_body` takes, kept so that laws can build the same tree in another way."""

    name: str
    parent: str
    joint: fw.joints.Joint
    placement: fw.Placement
    inertia: fw.Inertia
    rotor: fw.Rotor | None = None
    armature: Any = 0.0
    damping: Any = 0.0
    friction: Any = 0.0
    stiffness: Any = 0.0
    rest: Any = None


def build(bodies: Sequence[Body], **options: Any) -> fw.Model:
    """The model of these bodies; `options` are the builder's."""
    builder = fw.Builder("tree", **options)
    for body in bodies:
        builder.add_body(**vars(body))
    return builder.build()


def joint(kind: str, rng: np.random.Generator) -> fw.joints.Joint:
    name, _, axis = kind.partition(" ")
    direction = axis if axis in ("x", "y", "z") else rng.normal(size=3)
    if name == "helical":
        return fw.joints.Helical(direction, rng.uniform(-0.5, 0.5))
    if name == "universal":
        return fw.joints.Universal(direction, rng.normal(size=3))
    joint_kind = getattr(fw.joints, name.capitalize())
    return joint_kind(direction) if axis else joint_kind()


def inertia(rng: np.random.Generator) -> fw.Inertia:
    """Three random rods make a body that can exist."""
    points = rng.normal(size=(6, 3)) * 0.2
    mass = rng.uniform(0.5, 2.0)
    com = points.mean(axis=0)
    off = points - com
    return fw.Inertia(mass, com, mass / 6 * ((off * off).sum() * np.eye(3) - off.T @ off))


def placement(rng: np.random.Generator) -> fw.Placement:
    quarter = rng.integers(0, 4, size=3) * (np.pi / 2)  # structure to fold
    rpy = (np.zeros(3), quarter, rng.uniform(-np.pi, np.pi, 3))[rng.integers(3)]
    return fw.Placement(OFFSETS[rng.integers(3, size=3)], rpy=rpy)


def rotor(axis: Any, rng: np.random.Generator) -> fw.Rotor:
    """A wheel that is round about the axis, somewhere along it in its own frame."""
    a = np.array(axis, dtype=float)
    across, J = rng.uniform(0.01, 0.02, size=2)
    moment = across * np.eye(3) + (J - across) * np.outer(a, a)
    wheel = fw.Inertia(rng.uniform(0.1, 0.5), rng.uniform(-0.2, 0.2) * a, moment)
    return fw.Rotor(rng.choice([-6.0, 1.0, 9.33]), wheel, placement(rng))


def with_properties(body: Body, rng: np.random.Generator) -> Body:
    """The body with a random motor, friction and spring at its joint; each of them may be missing."""
    kind = body.joint
    if rng.random() < 0.5:
        body = replace(body, armature=rng.uniform(0.0, 0.5, kind.nv))
    if hasattr(kind, "axis") and kind.nv == 1 and rng.random() < 0.5:
        body = replace(body, rotor=rotor(kind.axis, rng))
    if rng.random() < 0.5:
        body = replace(body, damping=rng.uniform(0.0, 0.5, kind.nv), friction=rng.uniform(0.0, 0.5, kind.nv))
    if rng.random() < 0.5:
        rest = kind.random(rng) if kind.leader is None else rng.uniform(-1.0, 1.0)
        body = replace(body, stiffness=rng.uniform(0.0, 5.0), rest=rest)
    return body


def mimic(leaders: Sequence[Body], rng: np.random.Generator) -> fw.joints.Joint:
    """A joint that follows an earlier one; a revolute joint where there is none to follow."""
    own = joint(str(rng.choice(ONE_DOF)), rng)
    if not leaders:
        return own
    leader = leaders[rng.integers(len(leaders))]
    return fw.joints.Mimic(own, f"{leader.name}_joint", rng.choice([-1.5, 0.5, 2.0]), rng.uniform(-0.5, 0.5))


def bodies(parents: Sequence[int], kinds: Sequence[str], seed: int, properties: bool = False) -> list[Body]:
    """Body i on body parents[i - 1], 0 for the world, by a joint of kind kinds[i - 1]."""
    rng = np.random.default_rng(seed)
    made: list[Body] = []
    for i, (parent, kind) in enumerate(zip(parents, kinds, strict=True), start=1):
        leaders = [b for b in made if b.joint.nv == 1]
        made.append(
            Body(
                f"body{i}",
                "world" if parent == 0 else f"body{parent}",
                mimic(leaders, rng) if kind == "mimic" else joint(kind, rng),
                placement(rng),
                inertia(rng),
            )
        )
    return [with_properties(body, rng) for body in made] if properties else made


def tree(parents: Sequence[int], kinds: Sequence[str], seed: int, properties: bool = False) -> fw.Model:
    return build(bodies(parents, kinds, seed, properties))


@st.composite
def recipes(
    draw: st.DrawFn, most: int = 8, mimic: bool = False, properties: bool = True, kinds: Sequence[str] = KINDS
) -> list[Body]:
    """Up to `most` bodies; hypothesis shrinks them to the smallest tree that breaks a law."""
    n, seed = draw(st.integers(1, most)), draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    parents = [max(0, i - int(rng.integers(0, 4))) for i in range(most)]  # long branches before broad ones
    chosen = rng.choice((*kinds, "mimic", "mimic") if mimic else kinds, most)
    return bodies(parents[:n], chosen[:n], seed, properties)


def trees(**options: Any) -> st.SearchStrategy[fw.Model]:
    """Models of such bodies; with `mimic=True` some joints follow others."""
    return recipes(**options).map(build)


def floating(made: Sequence[Body]) -> list[Body]:
    """The same bodies on one that floats."""
    base = Body("base", "world", fw.joints.Free(), fw.Placement(), fw.Inertia.box(2.0, (0.3, 0.2, 0.1), (0.1, 0, 0)))
    return [base, *(replace(body, parent="base") if body.parent == "world" else body for body in made)]


def states(model: fw.Model, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = np.array([model.random(rng) for _ in range(count)])
    return q, rng.normal(size=(count, model.nv)), rng.normal(size=(count, model.nv))


def state(model: fw.Model, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q, v, a = states(model, 1, seed)
    return q[0], v[0], a[0]
