"""Several robots in one world, each with a controller of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.dynamics.checks import checked_model
from featherweight.errors import unknown_name
from featherweight.model import Model
from featherweight.simulation import Compiled, compiled


@dataclass(frozen=True, eq=False)
class Part:
    """A robot of a world: the function of its controller, where its numbers stand in q, v and tau, and how many
    numbers its state and its parameters are."""

    function: Callable[..., Any]
    q: tuple[int, ...]
    v: tuple[int, ...]
    state: int
    parameters: int


@dataclass(frozen=True, eq=False)
class PartsController:
    """A controller f(t, q, v, x, p) of a world: each part's own on its coordinates, no force elsewhere."""

    nv: int
    parts: tuple[Part, ...]

    def __call__(self, t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
        tau: list[Any] = [0.0] * self.nv
        after: list[Any] = []
        for part in self.parts:
            own_x, x = x[: part.state], x[part.state :]
            own_p, p = p[: part.parameters], p[part.parameters :]
            forces, state, _ = compiled(part.function)(t, q[list(part.q)], v[list(part.v)], own_x, own_p)
            if len(forces) != len(part.v):
                raise ValueError(
                    f"tau: expected {len(part.v)} numbers from the controller of a part, got {len(forces)}"
                )
            for d, force in zip(part.v, forces, strict=True):
                tau[d] = force
            after += state
        return np.array(tau, dtype=object), np.array(after, dtype=object)


def parts(world: Model, controls: Mapping[str, tuple[Model, Compiled]]) -> Compiled:
    """One controller for a world: robots that were added to it, each driven by a controller of its own.

    Each controller sees q and v of its robot alone, as if it were alone in the world; a robot that was placed somewhere
    by `Builder.add_model(…, placement=…)` counts from there. Nothing drives the joints of no part. States and
    parameters stand one after another in those of the result.

    Args:
        world: where the robots are.
        controls: by the prefix that a robot was added with: the robot, as it was added, and its controller.

    >>> import featherweight as fw
    >>> arm = fw.robots.double_pendulum()
    >>> world = fw.Builder("two").add_model(arm, "left_").add_model(arm, "right_").build()
    >>> hold = fw.control.joint_pd(arm, [0.5, 0.0], stiffness=50.0, damping=5.0)
    >>> both = fw.control.parts(world, {"left_": (arm, hold), "right_": (arm, hold)})
    >>> run = fw.simulate(world, world.neutral(), [0.0] * 4, duration=2.0, dt=1e-3, control=both)
    >>> bool(np.array_equal(run.q[:, :2], run.q[:, 2:]))
    True
    """
    checked_model(world)
    if not isinstance(controls, Mapping) or not controls:
        raise TypeError(f"controls: expected {{prefix: (robot, controller)}}, got {controls!r}")
    found: list[Part] = []
    taken: dict[int, str] = {}
    for prefix, pair in controls.items():
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[1], Compiled):
            raise TypeError(
                f"controls: {prefix!r}: expected a robot and its compiled controller, got {pair!r}; see fw.compiled"
            )
        part = _part(world, prefix, *pair)
        for d in part.v:
            if d in taken:
                raise ValueError(f"controls: {prefix!r} and {taken[d]!r} drive the same joints")
            taken[d] = prefix
        found.append(part)
    own = [control for _, control in controls.values()]
    every = {control.every for control in own}
    if len(every) > 1:
        raise ValueError(f"controls: expected controllers that are asked equally often, got every={sorted(every)}")
    state, parameters = (_joined([getattr(c, name) for c in own]) for name in ("state", "parameters"))
    return compiled(PartsController(world.nv, tuple(found)), state=state, parameters=parameters, every=every.pop())


def _joined(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Rows (…, n) one after another, those of one robot repeated for a batch."""
    batch = np.broadcast_shapes(*(row.shape[:-1] for row in rows))
    return np.concatenate([np.broadcast_to(row, (*batch, row.shape[-1])) for row in rows], axis=-1)


def _part(world: Model, prefix: str, robot: Model, control: Compiled) -> Part:
    """Where a robot's coordinates are in the world's."""
    checked_model(robot)
    if control.sees or control.outputs:
        raise ValueError(
            f"controls: the controller of {prefix!r} sees {', '.join(control.sees) or 'nothing'} and has outputs "
            f"{', '.join(control.outputs) or 'none'}; parts are for controllers of t, q, v, x and p alone"
        )
    q: list[int] = []
    v: list[int] = []
    for joint in robot.independent_joints:
        name = f"{prefix}{joint.name}"
        if name not in world.joint_names:
            raise unknown_name("joint of the world", name, world.joint_names)
        own = world.joint(name)
        if own.kind.nq != joint.kind.nq or own.kind.nv != joint.kind.nv:
            raise ValueError(f"controls: joint {name!r} of the world is another than {joint.name!r} of {robot.name!r}")
        q += range(own.q.start, own.q.stop)
        v += range(own.v.start, own.v.stop)
    return Part(control.function, tuple(q), tuple(v), control.state.shape[-1], control.parameters.shape[-1])
