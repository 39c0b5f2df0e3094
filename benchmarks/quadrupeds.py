"""Quadrupeds of URDF files trot by the call the Mini Cheetah trots by: forward, over heights, pushed, 64 at random.

Part of `make motion`. The robots are those of example-robot-data. Efforts and limits of their joints act; legs do not
touch each other.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from typing import Any

import numpy as np

import featherweight as fw

ROBOTS: dict[str, Any] = {
    "go2": ("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
    "anymal_c_simple": True,
    "hyq": True,
}
GROUNDS, ROBOTS_ON_EACH = 8, 8
HEIGHTS = 0.04  # [m], up and down, on a grid of 0.2 m
PUSH = 0.2  # [s]


def loaded(name: str, **options: Any) -> fw.Model:
    """A robot that floats, with contact points at its feet."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fw.load(f"example-robot-data:{name}", base="free", contact=ROBOTS[name], **options)


def first_step(name: str) -> dict[str, float]:
    """How long it takes from the file to the first step of a trot, in a new process with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "FEATHERWEIGHT_CACHE": cache}
        done = subprocess.run([sys.executable, __file__, name], env=environment, capture_output=True, check=True)
    seconds: dict[str, float] = json.loads(done.stdout)
    return seconds


def tell_first_step(name: str) -> None:
    """What `first_step` runs."""
    begin, cpu = time.perf_counter(), time.process_time()
    scene = fw.scenes.trot(loaded(name), velocity=(0.5, 0.0, 0.0))
    fw.simulate(scene.model, scene.q, scene.v, duration=1e-3, **scene.means)
    print(json.dumps({"wall": time.perf_counter() - begin, "cpu": time.process_time() - cpu}))


def trot(model: fw.Model, ground: Any) -> dict[str, Any]:
    """Ten seconds at 0.5 m/s in steps of 1 ms."""
    scene = fw.scenes.trot(model, velocity=(0.5, 0.0, 0.0), ground=ground)
    fw.simulate(model, scene.q, scene.v, duration=0.01, **scene.means)
    begin = time.process_time()
    run = fw.simulate(model, scene.q, scene.v, duration=10.0, **scene.means)
    seconds = time.process_time() - begin
    late = run.t >= 3.0
    feet = [limb.frame for limb in scene.control.function.body.limbs]
    level = 1 - 2 * (run.q[:, 3] ** 2 + run.q[:, 4] ** 2)
    slips = [stance.slip for stance in fw.control.stances(run, feet) if stance.begin > 3.0]
    return {
        "real_time_factor_by_cpu_time": 10.0 / seconds,
        "speed_m_s": float(np.diff(run.q[late, 0][[0, -1]])[0] / 7.0),
        "aside_m": float(run.q[-1, 1]),
        "height_band_mm": float(1e3 * np.ptp(run.q[late, 2]) / 2),
        "tilt_deg": float(np.degrees(np.arccos(level.min()))),
        "share_of_effort": float((np.abs(run.tau[:, 6:]) / model.effort_limit[6:]).max()),
        "slip_per_stance_mm_median": 1e3 * float(np.median(slips)),
        "sweeps_mean": float(run.solver[:, 0].mean()),
    }


def upright(run: fw.Trajectory, q: np.ndarray, heights: float) -> np.ndarray:
    """Which robots (…) never fell over, and end level and high, whatever of the ground's heights [m] is below them."""
    where = np.nan_to_num(run.q)
    level = 1 - 2 * (where[..., 3] ** 2 + where[..., 4] ** 2)
    high = where[..., -1, 2] > 0.75 * q[2] - heights
    return (run.status == fw.Status.OK) & (level.min(axis=-1) > 0.5) & (level[..., -1] > 0.95) & high


def side_pushes(model: fw.Model, q: np.ndarray, means: dict[str, Any]) -> dict[str, float]:
    """The largest push to a side that a trot in place survives, from both sides at four moments of the gait."""
    weight = 9.81 * model.mass
    shares = 0.05 * np.arange(1, 31)
    force = weight * np.stack([shares, -shares])[..., None, None] * np.array([0.0, 1.0, 0.0])
    control = fw.control.trot(model, q)
    period = float(control.function.layout.read(control.parameters).period)
    times = 3.0 + period * np.arange(4) / 4
    control = fw.control.pushed(control, model, model.names[1], force=force, start=times, duration=PUSH)
    contact = fw.contact.Impulse(tolerance=1e-5)
    run = fw.rollout(model, q, steps=7000, record_every=50, contact=contact, control=control, **means)
    good = upright(run, q, 0.0).all(axis=(0, 2))
    share = float(shares[np.cumprod(good).astype(bool)].max(initial=0.0))
    return {"share_of_weight": share, "newton": share * weight, "metre_per_second": share * 9.81 * PUSH}


def different(model: fw.Model, q: np.ndarray, means: dict[str, Any], heights: float, share: float) -> dict[str, Any]:
    """64 robots for 10 s: heights, heading, speed of 0.2 to 0.5 m/s, friction of 0.4 to 1, and a push of up to a share
    of the weight from anywhere at any moment, all at random."""
    weight, survived, failed = 9.81 * model.mass, 0, 0
    for seed in range(GROUNDS):
        rng, n = np.random.default_rng(seed), ROBOTS_ON_EACH
        angle, size, yaw = rng.uniform(0, 2 * np.pi, n), rng.uniform(0, share * weight, n), rng.uniform(0, 2 * np.pi, n)
        begin = np.tile(q, (n, 1))
        begin[:, 5], begin[:, 6] = np.sin(yaw / 2), np.cos(yaw / 2)
        velocity = np.stack([rng.uniform(0.2, 0.5, n), 0 * yaw, 0 * yaw], axis=-1)
        force = np.stack([size * np.cos(angle), size * np.sin(angle), 0 * size], axis=-1)
        control = fw.control.trot(model, begin, velocity=velocity, friction=0.4)
        times = rng.uniform(2.0, 6.0, n)
        control = fw.control.pushed(control, model, model.names[1], force=force, start=times, duration=PUSH)
        contact = fw.contact.Impulse(ground=fw.scenes.rough_ground(roughness=heights, seed=seed), tolerance=1e-5)
        given = {"ground.friction": rng.uniform(0.4, 1.0, n)}
        run = fw.rollout(
            model, begin, steps=10_000, record_every=50, contact=contact, control=control, parameters=given, **means
        )
        survived, failed = (
            survived + int(upright(run, q, heights).sum()),
            failed + int((run.status != fw.Status.OK).sum()),
        )
    robots = GROUNDS * ROBOTS_ON_EACH
    return {"robots": robots, "upright": survived, "share_upright": survived / robots, "failed_to_solve": failed}


def figures() -> dict[str, Any]:
    """All of it, by robot."""
    results: dict[str, Any] = {}
    for name in ROBOTS:
        model, free = loaded(name), loaded(name, parameters=("ground.friction",))
        q = fw.scenes.crouched(model)
        means = {"v": np.zeros(model.nv), "dt": 1e-3, "actuators": fw.actuators.EffortLimits()}
        results[name] = {
            "mass_kg": model.mass,
            "body_height_m": float(q[2]),
            "contact_points": len(model.contact_points),
            "file_to_first_step_s": first_step(name),
            "forward 0.5 m/s": trot(model, None),
            f"forward 0.5 m/s over ± {1e2 * HEIGHTS:g} cm": trot(model, fw.scenes.rough_ground(roughness=HEIGHTS)),
            "side_push_0.2s": side_pushes(model, q, means),
            "different, to ± 4 cm, 0.5 weights": different(free, q, means, 0.04, 0.5),
            "different, to ± 8 cm, 1 weight": different(free, q, means, 0.08, 1.0),
        }
    return results


def picture() -> Any:
    """Go2 and ANYmal over ± 4 cm at 0.5 m/s: trotting, pushed to the side, and after it, as a Pillow image."""
    from PIL import Image

    width, height, moments = 300, 230, (1.2, 1.68, 2.8)
    whole = Image.new("RGB", (width * len(moments), 2 * height))
    for row, name in enumerate(("go2", "anymal_c_simple")):
        model, ground = loaded(name), fw.scenes.rough_ground(roughness=HEIGHTS)
        scene = fw.scenes.trot(model, velocity=(0.5, 0.0, 0.0), ground=ground)
        force = (0.0, 0.4 * 9.81 * model.mass, 0.0)
        control = fw.control.pushed(scene.control, model, model.names[1], force=force, start=1.5, duration=PUSH)
        run = fw.simulate(model, scene.q, scene.v, duration=3.0, **{**scene.means, "control": control})
        for column, moment in enumerate(moments):
            q = run.q[np.searchsorted(run.t, moment)]
            still = fw.plot.still(model, q, size=(width, height), ground=[ground])
            whole.paste(still, (column * width, row * height))
    return whole


if __name__ == "__main__":
    if len(sys.argv) > 1:
        tell_first_step(sys.argv[1])
    else:
        print(json.dumps(figures(), indent=1))
