"""Built-in controllers, each with numbers that may change and structure that may: what tests of both need."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import featherweight as fw
from featherweight.cli.controllers import hold
from featherweight.control import BalanceGains, ForceSolver, Gains, QuadrupedGains
from featherweight.simulation import Compiled

DT = 2e-3


@dataclass(frozen=True)
class Case:
    """A controller: how it is made for a new robot, its numbers, others for each of them, and another structure."""

    robot: Callable[[], tuple[fw.Model, np.ndarray]]
    make: Callable[..., Compiled]
    numbers: dict[str, Any] = field(default_factory=dict)
    others: dict[str, Any] = field(default_factory=dict)
    structure: dict[str, Any] = field(default_factory=dict)
    steps: int = 40
    unused: tuple[str, ...] = ()  # parameters that are there for others

    def changes(self) -> list[dict[str, Any]]:
        """One number changed at a time; those without a name are changed by `make` itself."""
        return [{**self.numbers, name: value} for name, value in self.others.items()]


def arm() -> tuple[fw.Model, np.ndarray]:
    """Three weak joints and a tool that moves in all directions."""
    builder = fw.Builder("arm")
    for k, (axis, effort) in enumerate(zip("zyy", (2.0, 5.0, 2.0), strict=True)):
        builder.add_body(
            f"link{k}", parent=f"link{k - 1}" if k else "world", joint=fw.joints.Revolute(axis),
            placement=fw.Placement((0, 0, 0.4 if k else 0.0)), limits=fw.Limits(effort=effort),
            inertia=fw.Inertia.box(1.0, (0.1, 0.1, 0.4), (0, 0, 0.2)),
        )  # fmt: skip
    builder.add_frame("tool", parent="link2", placement=fw.Placement((0.05, 0.02, 0.4)))
    return builder.build(), np.array([0.3, -0.5, 0.9])


def cheetah() -> tuple[fw.Model, np.ndarray]:
    model = fw.robots.mini_cheetah()
    return model, fw.scenes.crouched(model)


def humanoid() -> tuple[fw.Model, np.ndarray]:
    model = fw.robots.humanoid()
    return model, fw.scenes.standing(model)


def joint_pd(model: fw.Model, q: np.ndarray, *, target: float = 0.1, **options: Any) -> Compiled:
    return fw.control.joint_pd(model, q + target, **options)


def operational_space(model: fw.Model, q: np.ndarray, *, frame: str = "tool", **options: Any) -> Compiled:
    given = {"place": (0.1, 0.2, 0.5), "posture": q, **options}
    return fw.control.operational_space(model, frame, **given)


def pushed(model: fw.Model, q: np.ndarray, *, stiffness: float = 50.0, frame: str = "tool", **push: Any) -> Compiled:
    control = fw.control.joint_pd(model, q, stiffness=stiffness)
    return fw.control.pushed(control, model, frame, **{"force": (0.5, 2.0, 1.0), **push})


def held(model: fw.Model, q: np.ndarray, *, target: float) -> Any:
    return hold(model, q + target)


CASES = {
    "joint_pd": Case(
        arm, joint_pd, {}, {"target": 0.2, "stiffness": 60.0, "damping": [2.0, 2.5, 2.0]}, {"gravity": False}
    ),
    "operational_space": Case(
        arm, operational_space, {"softness": 1e-2},
        {
            "place": (0.1, 0.2, 0.6), "posture": [0.1, 0.2, 0.3], "stiffness": 80.0, "damping": 25.0,
            "posture_stiffness": 20.0, "posture_damping": 11.0, "softness": 2e-2,
        },
        {"frame": "link2"},
    ),
    "pushed": Case(
        arm, pushed, {"start": 0.02, "duration": 0.02},
        {"force": (0.0, 3.0, 1.0), "start": 0.01, "duration": 0.03, "stiffness": 60.0}, {"frame": "link2"},
    ),
    "hold": Case(arm, held, {"target": 0.3}, {"target": 0.2}, steps=160),
    "stand": Case(
        cheetah, fw.control.stand, {"friction": 0.3},
        {"friction": 0.2, "gains": QuadrupedGains(height=Gains(140.0, 25.0)), "solver": ForceSolver(1e-1)},
        {"iterations": 20},
        unused=(
            "places", "period", "duty", "start", "step_height", "gains.swing.stiffness", "gains.swing.damping",
            "gains.ramp", "gains.press", "gains.command_rate",  # there is no command
        ),
    ),
    "trot": Case(
        cheetah, fw.control.trot,
        {"velocity": (0.4, 0.1, 0.2), "start": 0.01, "period": 0.05, "friction": 0.3, "most": 60.0},
        {
            "velocity": (0.3, 0.1, 0.2), "period": 0.06, "duty": 0.7, "step_height": 0.08, "start": 0.0,
            "friction": 0.2, "most": 50.0, "gains": QuadrupedGains(swing=Gains(800.0, 60.0)),
            "solver": ForceSolver(rho=0.2),
        },
        {"iterations": 20, "feet": ("FL_foot", "FR_foot", "HL_foot", "HR_foot")},
    ),
    "balance": Case(
        humanoid, fw.control.balance, {"friction": 0.3},
        {"friction": 0.2, "gains": BalanceGains(com=Gains(50.0, 12.0)), "solver": ForceSolver(tolerance=1e-3)},
        {"iterations": 20, "feet": ("right_foot", "left_foot")},
    ),
}  # fmt: skip


def moved(model: fw.Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A state near q that moves."""
    rng = np.random.default_rng(3)
    return fw.integrate(model, q, 0.05 * rng.normal(size=model.nv), 1.0), 0.3 * rng.normal(size=model.nv)


def run(model: fw.Model, q: np.ndarray, control: Compiled, steps: int = 40) -> fw.Trajectory:
    """A few steps in the air."""
    q, v = moved(model, q)
    return fw.rollout(model, q, v, steps=steps, dt=DT, control=control)


def all_changed(case: Case) -> dict[str, Any]:
    return {**case.numbers, **case.others}


def main() -> None:
    """Bits of a run with all numbers changed, of each case that is named."""
    for name in sys.argv[1:]:
        model, q = CASES[name].robot()
        print(name, run(model, q, CASES[name].make(model, q, **all_changed(CASES[name]))).tau.tobytes().hex())


if __name__ == "__main__":
    main()
