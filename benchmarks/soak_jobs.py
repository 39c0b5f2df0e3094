"""What `soak.py` calls: 200 models by number, and calls on them. Number, name and seed give the same bits anywhere."""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import featherweight as fw

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from laws.random_trees import KINDS, bodies

MODELS = 200
BUILT_IN: list[Callable[[], fw.Model]] = [
    fw.robots.pendulum,
    fw.robots.double_pendulum,
    fw.robots.cartpole,
    lambda: fw.robots.chain(8),
    fw.robots.mini_cheetah,
    fw.robots.humanoid,
]
FILES, TREES = 4, 10  # structures of URDF texts, and of random trees: code for shapes of arguments is kept for good
FIRST_TREE = len(BUILT_IN) + 10 * FILES
LARGE = 2_200_000  # rows of three numbers: 53 MB, whose memory is kept


def model_of(number: int) -> fw.Model:
    """Built-in robots, then URDF texts, then random trees of all kinds of joints with motors, springs and friction."""
    if number < len(BUILT_IN):
        return BUILT_IN[number]()
    if number < FIRST_TREE:
        structure = (number - len(BUILT_IN)) % FILES
        return fw.loads(urdf(structure, np.random.default_rng(number)), base=("fixed", "free")[structure % 2])
    structure = (number - FIRST_TREE) % TREES
    rng = np.random.default_rng(structure)
    n = 2 + structure // 2
    parents = [max(0, i - int(rng.integers(0, 4))) for i in range(n)]
    kinds = rng.choice((*KINDS, "mimic"), n).tolist()
    builder = fw.Builder("tree", parameters=("body1.mass", "gravity") if structure == 7 else ())
    for body in bodies(parents, kinds, number, properties=True):
        builder.add_body(**vars(body))
    if structure % 3 == 0:
        builder.add_contact_point("tip", parent=f"body{n}", position=(0.1, 0.0, 0.2), radius=0.05)
    return builder.build()


def structures() -> list[int]:
    """A model of each structure."""
    files = range(len(BUILT_IN), len(BUILT_IN) + FILES)
    return [*range(len(BUILT_IN)), *files, *range(FIRST_TREE, FIRST_TREE + TREES)]


def urdf(structure: int, rng: np.random.Generator) -> str:
    """A tree of hinges and slides as a file says it."""
    shape = np.random.default_rng(structure)
    parts = ['<robot name="file"><link name="l0"><inertial><mass value="2"/><inertia ixx="0.02" iyy="0.03" izz="0.04" '
             'ixy="0" ixz="0" iyz="0"/></inertial></link>']  # fmt: skip
    for k in range(1, 3 + structure):
        kind, parent = shape.choice(["revolute", "continuous", "prismatic", "fixed"]), shape.integers(0, k)
        xyz, rpy, axis = rng.uniform(-0.3, 0.3, 3), rng.uniform(-3, 3, 3), rng.normal(size=3)
        m, i = float(rng.uniform(0.2, 2.0)), rng.uniform(0.01, 0.02, 3).tolist()
        text = [" ".join(map(repr, map(float, numbers))) for numbers in (xyz, rpy, axis)]
        parts.append(
            f'<joint name="j{k}" type="{kind}"><parent link="l{parent}"/><child link="l{k}"/>'
            f'<origin xyz="{text[0]}" rpy="{text[1]}"/><axis xyz="{text[2]}"/>'
            f'<limit lower="-2" upper="2" effort="5" velocity="9"/></joint><link name="l{k}"><inertial><mass '
            f'value="{m!r}"/><origin xyz="{text[0]}"/><inertia ixx="{i[0]!r}" iyy="{i[1]!r}" izz="{i[2]!r}" ixy="0" '
            f'ixz="0" iyz="0"/></inertial></link>'
        )
    return "".join(parts) + "</robot>"


Rng = np.random.Generator
CALLS: dict[str, Callable[[fw.Model, Rng], Any]] = {}


def call(function: Callable[[fw.Model, Rng], Any]) -> Callable[[fw.Model, Rng], Any]:
    CALLS[function.__name__] = function
    return function


def state(model: fw.Model, rng: Rng, rows: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if rows is None:
        return model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    q = np.array([model.random(rng) for _ in range(rows)]).reshape(rows, model.nq)
    return q, rng.normal(size=(rows, model.nv)), rng.normal(size=(rows, model.nv))


def frame(model: fw.Model, rng: Rng) -> str:
    return str(rng.choice(sorted(model.frames)))


@call
def forward(model: fw.Model, rng: Rng) -> Any:
    return fw.forward_dynamics(model, *state(model, rng))


@call
def forward_batch(model: fw.Model, rng: Rng) -> Any:
    return fw.forward_dynamics(model, *state(model, rng, int(rng.integers(1, 70))))


@call
def forward_threads(model: fw.Model, rng: Rng) -> Any:
    q, v, tau = (np.tile(x, (200, 1)) for x in state(model, rng, 10))
    out = np.empty_like(v)
    return fw.forward_dynamics(model, q, v, tau, out=out)


@call
def inverse(model: fw.Model, rng: Rng) -> Any:
    return fw.inverse_dynamics(model, *state(model, rng, int(rng.integers(1, 20))))


@call
def inertia(model: fw.Model, rng: Rng) -> Any:
    q = state(model, rng, 5)[0]
    return (
        fw.mass_matrix(model, q),
        fw.mass_matrix_inverse(model, q[0]),
        fw.solve_mass_matrix(model, q, np.ones(model.nv)),
    )


@call
def kinematics(model: fw.Model, rng: Rng) -> Any:
    q, v, _ = state(model, rng, 3)
    name = frame(model, rng)
    pose = fw.frame_pose(model, q, name)
    return pose.position, pose.rotation, fw.jacobian(model, q, name), fw.body_velocity(model, q[0], v[0], name)


@call
def momentum(model: fw.Model, rng: Rng) -> Any:
    q, v, _ = state(model, rng, 4)
    return (
        fw.momentum(model, q, v),
        fw.center_of_mass(model, q),
        fw.kinetic_energy(model, q, v),
        fw.bias_force(model, q, v),
    )


@call
def configuration(model: fw.Model, rng: Rng) -> Any:
    q, v, _ = state(model, rng, 4)
    return fw.integrate(model, q, v, 0.1), fw.difference(model, q[0], q[1])


@call
def delassus(model: fw.Model, rng: Rng) -> Any:
    return fw.delassus(model, state(model, rng)[0], [frame(model, rng), frame(model, rng)])


@call
def parameters(model: fw.Model, rng: Rng) -> Any:
    given = {name: p.default * rng.uniform(0.9, 1.1, (6, *[1] * len(p.shape))) for name, p in model.parameters.items()}
    return fw.forward_dynamics(model, *state(model, rng, 6), parameters=given)


def run_of(run: fw.Trajectory) -> Any:
    return run.q, run.v, run.tau, run.contact_force, run.status, run.failed_step


@call
def rollout(model: fw.Model, rng: Rng) -> Any:
    q, v, _ = state(model, rng, int(rng.integers(1, 20)))
    tau = rng.normal(size=(20, model.nv))
    return run_of(fw.rollout(model, q, 0.1 * v, steps=20, dt=1e-3, tau=tau, record_every=5))


@call
def rollout_rk4(model: fw.Model, rng: Rng) -> Any:
    q, v, _ = state(model, rng, 9)
    return run_of(fw.rollout(model, q, 0.1 * v, steps=5, dt=1e-3, integrator="rk4"))


@call
def rollout_variational(model: fw.Model, rng: Rng) -> Any:
    q, v, _ = state(model, rng, 3)
    return run_of(fw.rollout(model, q, 0.1 * v, steps=5, dt=1e-3, integrator="variational"))


@call
def rollout_contact(model: fw.Model, rng: Rng) -> Any:
    q, v, _ = state(model, rng, 5)
    kind = fw.contact.Impulse() if rng.random() < 0.5 else fw.contact.SpringDamper()
    return run_of(fw.rollout(model, q, 0.1 * v, steps=10, dt=2e-4, contact=kind))


@call
def python_control(model: fw.Model, rng: Rng) -> Any:
    q, v, _ = state(model, rng)
    run = fw.rollout(model, q, 0.1 * v, steps=10, dt=1e-3, control=lambda t, q, v: -0.1 * v)
    return run_of(run)


def damped(t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
    return -p[0] * v, x + 1.0


@call
def compiled_control(model: fw.Model, rng: Rng) -> Any:
    q, v, _ = state(model, rng, 8)
    control = fw.compiled(damped, state=[0.0], parameters=rng.uniform(0, 1, (8, 1)))
    return run_of(fw.rollout(model, q, 0.1 * v, steps=10, dt=1e-3, control=control))


@call
def copied(model: fw.Model, rng: Rng) -> Any:
    return fw.forward_dynamics(pickle.loads(pickle.dumps(model)), *state(model, rng))


@call
def refused(model: fw.Model, rng: Rng) -> Any:
    """Calls that must fail, and leave everything as it was."""
    q, v, tau = state(model, rng)
    bad = [q[:-1], np.append(q, 0.0), q * np.nan, q.astype(complex), "q", None][int(rng.integers(6))]
    try:
        fw.forward_dynamics(model, bad, v, tau)
    except (TypeError, ValueError) as error:
        return str(error)
    return "taken"


@call
def large(model: fw.Model, rng: Rng) -> Any:
    """A result whose memory is kept and used again: of the pendulum, whatever the model is."""
    many = fw.robots.pendulum()
    q = np.broadcast_to(rng.normal(size=(1, 1)), (LARGE, 1))
    return fw.center_of_mass(many, q)[:: LARGE // 7]


def fill_kept_memory() -> None:
    """As many large results at once as their memory is kept of: from then on it is no longer more."""
    many, q = fw.robots.pendulum(), np.zeros((LARGE, 1))
    results = [fw.center_of_mass(many, q) for _ in range(6)]
    del results


def load_another() -> None:
    """A small kernel. Code whose model is gone stays until the next is loaded (`compiler/native/owners.py`): it does
    not add up, but which models were there last would decide over several megabytes."""
    fw.forward_dynamics(fw.robots.pendulum(), *np.zeros((3, 1)))


def digest(value: Any) -> str:
    """Of arrays and texts, all their bits."""
    sha = hashlib.sha256()
    for part in value if isinstance(value, tuple) else (value,):
        sha.update(part.encode() if isinstance(part, str) else np.ascontiguousarray(part).tobytes())
    return sha.hexdigest()[:16]


def job(model: fw.Model, name: str, seed: int) -> str:
    """The digest of a call; a model may refuse it, in words that are always the same."""
    try:
        return digest(CALLS[name](model, np.random.default_rng(seed)))
    except (ValueError, TypeError, fw.SimulationError) as error:
        return digest(f"{type(error).__name__}: {error}")
