"""Robots in motion: quadrupeds trot, a thousand different ones do, a humanoid balances, ragdolls fall.

Figures in benchmarks/results/, the forces of a trot on both contact models in docs/pictures/trot.svg, robots of files
that trot in docs/pictures/trot-files.png.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np
import quadrupeds

import featherweight as fw
from featherweight.compiler.native.target import host

ROOT = Path(__file__).parents[1]
FEET = ("FR_foot", "FL_foot", "HR_foot", "HL_foot")
COLORS = {"impulse": "#00798c", "spring": "#d1495b"}
ROBOTS, DROPS = 1000, 200


def simulated(scene: Any, duration: float) -> tuple[Any, float]:
    """A run and how many times faster than real time it was, compiled before."""
    fw.simulate(scene.model, scene.q, scene.v, duration=10 * scene.dt, **scene.means)
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        run = fw.simulate(scene.model, scene.q, scene.v, duration=duration, **scene.means)
        seconds.append(time.perf_counter() - begin)
    return run, duration / min(seconds)


def trots() -> tuple[dict[str, Any], dict[str, Any]]:
    """Figures of trots, and the runs in place."""
    cases = {
        "in place, impulse": fw.scenes.trot(),
        "in place, spring": fw.scenes.trot(contact="spring"),
        "forward 0.5 m/s": fw.scenes.trot(velocity=(0.5, 0.0, 0.0)),
        "rough ground, 0.3 m/s": fw.scenes.trot(velocity=(0.3, 0.0, 0.0), ground=fw.scenes.rough_ground()),
    }
    figures, runs = {}, {}
    for name, scene in cases.items():
        run, factor = simulated(scene, 10.0)
        runs[name] = run
        late = run.t >= 2.0
        height = run.q[late, 2]
        slips = [s.slip for s in fw.control.stances(run, FEET) if s.begin > 2.0]
        worst = np.abs(run.tau[:, 6:]).reshape(-1, 4, 3).max(axis=(0, 1))
        figures[name] = {
            "real_time_factor": factor,
            "height_mean_m": float(height.mean()),
            "height_band_mm": float(1e3 * np.abs(height - height.mean()).max()),
            "speed_m_s": float((run.q[-1, 0] - run.q[late, 0][0]) / (10.0 - 2.0)),
            "torque_abad_hip_knee_Nm": worst.tolist(),
            "stances": len(slips),
            "slip_per_stance_mm_worst": 1e3 * max(slips),
            "slip_per_stance_mm_median": 1e3 * float(np.median(slips)),
            "sweeps_mean": float(run.solver[:, 0].mean()),
        }
    return figures, runs


def pushes() -> dict[str, float]:
    """The largest side push of 0.2 s [N] that a trot in place survives, by tens, and in which it is within 5 cm of its
    height at the end."""
    scene = fw.scenes.trot()
    force = np.arange(10.0, 130.0, 10.0)
    sides = np.concatenate([force, -force])
    pushed = fw.control.pushed(
        scene.control, scene.model, "body", force=np.stack([0 * sides, sides, 0 * sides], axis=-1), start=3.05
    )
    run = fw.rollout(
        scene.model, scene.q, scene.v, steps=8000, record_every=100, **{**scene.means, "control": pushed}
    )  # fmt: skip
    good = upright(run).reshape(2, -1).all(axis=0)
    return {"side_push_N_0.2s": float(force[np.cumprod(good).astype(bool)].max(initial=0.0))}


def upright(run: Any) -> np.ndarray:
    """Which robots end on their feet: not failed, as high as they began, the body level."""
    q = np.nan_to_num(run.q[:, -1])
    level = 1 - 2 * (q[:, 3] ** 2 + q[:, 4] ** 2)
    return (run.status == fw.Status.OK) & (q[:, 2] > 0.22) & (level > 0.9)


def randomised(dry_friction: float) -> dict[str, Any]:
    """A thousand robots: mass ± 20 %, friction of the ground 0.4 to 1, pushes up to 30 N for 0.2 s from anywhere,
    speeds to 0.3 m/s; dry friction of the joints [N m] the same for all."""
    rng = np.random.default_rng(0)
    robot = fw.robots.mini_cheetah(friction=dry_friction, parameters=("body.mass", "ground.friction"))
    q = fw.scenes.crouched(robot)
    velocity = np.stack([rng.uniform(-0.3, 0.3, ROBOTS), np.zeros(ROBOTS), np.zeros(ROBOTS)], axis=-1)
    angle, size = rng.uniform(0, 2 * np.pi, ROBOTS), rng.uniform(0, 30, ROBOTS)
    force = np.stack([size * np.cos(angle), size * np.sin(angle), 0 * size], axis=-1)
    control = fw.control.trot(robot, q, velocity=velocity, friction=0.4)
    control = fw.control.pushed(control, robot, "body", force=force, start=rng.uniform(2, 6, ROBOTS), duration=0.2)
    whole = float(fw.mass_matrix(robot, q)[0, 0])
    parameters = {
        "body.mass": 3.3 + whole * rng.uniform(-0.2, 0.2, ROBOTS),
        "ground.friction": rng.uniform(0.4, 1.0, ROBOTS),
    }
    contact = fw.contact.Impulse(tolerance=1e-5)
    means = {"dt": 1e-3, "contact": contact, "actuators": fw.actuators.EffortLimits(), "control": control}
    fw.rollout(robot, q, np.zeros(robot.nv), steps=1, parameters=parameters, **means)
    begin = time.perf_counter()
    run = fw.rollout(robot, q, np.zeros(robot.nv), steps=10_000, record_every=100, parameters=parameters, **means)
    seconds = time.perf_counter() - begin
    return {
        "robots": ROBOTS,
        "survival_rate": float(upright(run).mean()),
        "not_converged": int((run.status == fw.Status.NOT_CONVERGED).sum()),
        "seconds": seconds,
        "robot_seconds_per_second": ROBOTS * 10.0 / seconds,
        "us_per_step": 1e6 * seconds / (ROBOTS * 10_000),
    }


def balance() -> dict[str, Any]:
    """The humanoid for 10 s, and impulses [N s] at the chest, of 0.1 s, that it survives in eight directions."""
    scene = fw.scenes.balance()
    run, factor = simulated(scene, 10.0)
    limits = np.array([np.ravel(j.limits.effort)[0] for j in scene.model.joints[1:]])
    model, q = scene.model, scene.q
    angle = np.arange(8) * np.pi / 4
    sizes = np.arange(5.0, 45.0, 5.0)
    force = 10.0 * sizes[:, None, None] * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
    control = fw.control.pushed(fw.control.balance(model, q), model, "chest", force=force, start=1.0, duration=0.1)
    pushed = fw.rollout(
        model, q, scene.v, steps=5000, record_every=100, **{**scene.means, "control": control}
    )  # fmt: skip
    good = (pushed.status == fw.Status.OK) & (np.nan_to_num(pushed.q[..., -1, 2]) > 0.8)
    return {
        "real_time_factor": factor,
        "height_band_mm": float(1e3 * np.ptp(run.q[:, 2])),
        "root_torque_Nm": float(np.abs(run.tau[:, :6]).max()),
        "torque_share_of_limit": float((np.abs(run.tau[:, 6:]) / limits).max()),
        "push_N_s_survived_in_all_directions": float(sizes[np.cumprod(good.all(axis=1)).astype(bool)].max(initial=0.0)),
    }


def ragdolls() -> dict[str, Any]:
    """Drops on boxes."""
    scene = fw.scenes.ragdoll(count=DROPS)
    begin = time.perf_counter()
    run = fw.rollout(scene.model, scene.q, scene.v, steps=10_000, record_every=10, **scene.means)
    seconds = time.perf_counter() - begin
    model = scene.model
    lower, upper = (
        np.array([np.ravel(getattr(j.limits, end))[0] for j in model.joints[1:]]) for end in ("lower", "upper")
    )
    beyond = np.maximum(lower - run.q[..., 7:], run.q[..., 7:] - upper)
    energy = run.energy()
    return {
        "drops": DROPS,
        "failed": int((run.status != fw.Status.OK).sum()),
        "seconds_with_compilation": seconds,
        "beyond_limits_rad": float(np.nanmax(beyond)),
        "kinetic_energy_at_10s_J_worst": float(fw.kinetic_energy(model, run.q[:, -1], run.v[:, -1]).max()),
        "kinetic_energy_at_10s_J_median": float(np.median(fw.kinetic_energy(model, run.q[:, -1], run.v[:, -1]))),
        "energy_rise_in_10ms_J_worst": float(np.nanmax(np.diff(energy, axis=1))),
        "deepest_mm": float(1e3 * np.nanmax(run.penetration)),
    }


def picture(runs: dict[str, Any]) -> str:
    """Normal forces of the feet in one second of a trot in place, one panel a foot."""
    width, height, left = 250, 150, 44
    parts = []
    for k, foot in enumerate(FEET):
        x0, y0 = left + (k % 2) * (width + left), 30 + (k // 2) * (height + 50)
        parts.append(f'<text x="{x0}" y="{y0 - 8}" font-weight="bold">{foot}</text>')
        parts.append(f'<rect x="{x0}" y="{y0}" width="{width}" height="{height}" fill="none" stroke="#bbb"/>')
        for newton in (0, 40, 80):
            y = y0 + height * (1 - newton / 100)
            parts.append(f'<text x="{x0 - 6}" y="{y + 4:.0f}" text-anchor="end" fill="#666">{newton} N</text>')
        for name, color in COLORS.items():
            run = runs[f"in place, {name}"]
            place = [p.name for p in run.model.contact_points].index(foot)
            second = (run.t[:-1] >= 4.0) & (run.t[:-1] < 5.0)
            force = run.contact_force[second, place, 2]
            force = force.reshape(-1, len(force) // 500).mean(axis=1)
            points = " ".join(
                f"{x0 + width * i / len(force):.1f},{y0 + height * (1 - min(f, 100) / 100):.1f}"
                for i, f in enumerate(force)
            )
            parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.5"/>')
    for k, (name, color) in enumerate(COLORS.items()):
        parts.append(f'<text x="{left + 90 * k}" y="{2 * height + 105}" fill="{color}">{name}</text>')
    text = "normal force, from 4 to 5 s"
    parts.append(f'<text x="{left + 200}" y="{2 * height + 105}" fill="#666">{text}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * (width + left) + 10} {2 * height + 120}" '
        'font-family="sans-serif" font-size="13"><rect width="100%" height="100%" fill="white"/>'
        f"{''.join(parts)}</svg>\n"
    )


def main() -> None:
    figures, runs = trots()
    (ROOT / "docs/pictures/trot.svg").write_text(picture(runs))
    quadrupeds.picture().save(ROOT / "docs/pictures/trot-files.png", optimize=True)
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    here = {"cpu": host().cpu, "lanes": host().width, "threads": fw.thread_count(), "python": platform.python_version()}
    here["load"] = os.getloadavg()[0]  # times are worth something below 1
    results: dict[str, Any] = {"date": date, "machine": here}
    results["trot"] = {**figures, **pushes()}
    results["randomised"] = {f"dry friction {f:g} N m": randomised(f) for f in (0.2, 0.0)}
    results["quadrupeds of files"] = quadrupeds.figures()
    results["balance"], results["ragdoll"] = balance(), ragdolls()
    path = ROOT / "benchmarks/results" / f"{date[:10]}-motion.json"
    path.write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
