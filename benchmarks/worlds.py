"""Things that touch each other, beside MuJoCo: the same scenes in one run (`make worlds`).

Each row has what was asked and what was found; raw data in benchmarks/results/. Times are of the process, the best of
several rounds in turns. `--only NAME …` runs some, `--quick` with small counts, to try them. Random scenes by the
thousand are in `random_scenes.py`.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import mujoco.batch
import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests"), str(HERE.parent / "tests/contact")]

import worlds_scenes as scenes  # noqa: E402

import featherweight as fw  # noqa: E402
from featherweight.contact import Impulse  # noqa: E402
from peers.mujoco_adapter import joint_order  # noqa: E402

Rows = list[dict[str, Any]]
DT = 1e-3


def row(
    name: str, got: Any, asked: str = "", holds: bool | None = None, mujoco: Any = None, **more: Any
) -> dict[str, Any]:
    """A line of the table: what was measured, what was asked, whether it is so, and the same of MuJoCo."""
    verdict = None if holds is None else bool(holds)
    found = {"name": name, "got": got, "asked": asked, "holds": verdict, "mujoco": mujoco, **more}
    print("  ".join(f"{k}={v:.3g}" if isinstance(v, float) else f"{k}={v}" for k, v in found.items()), flush=True)
    return found


def best_of(calls: list[Callable[[], Any]], rounds: int) -> list[float]:
    """The shortest process time of each, taken in turns."""
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for k, call in enumerate(calls):
            start = time.process_time()
            call()
            best[k] = min(best[k], time.process_time() - start)
    return best


def first_call(model: fw.Model, q: np.ndarray, **means: Any) -> float:
    """Seconds of the process for a first step: tracing and compiling, or reading what was compiled before."""
    start = time.process_time()
    fw.rollout(model, q, np.zeros((*q.shape[:-1], model.nv)), steps=1, **means)
    return time.process_time() - start


def world_velocity(run: fw.Trajectory, k: int) -> np.ndarray:
    """Of the k-th free body, in the world's axes."""
    x, y, z, w = np.moveaxis(run.q[..., 7 * k + 3 : 7 * k + 7], -1, 0)
    u, V = np.stack([x, y, z], -1), run.v[..., 6 * k : 6 * k + 3]
    return V + 2 * np.cross(u, np.cross(u, V) + w[..., None] * V)


def rolling(quick: bool) -> Rows:
    model, q, contact = scenes.rolling()
    steps = 500 if quick else 4000
    force = np.zeros(model.nv)
    force[:3] = scenes.FORCE * scenes.WAY
    tau = np.tile(force, (steps, 1))
    a = (scenes.FORCE - 0.4 * 35 * 9.81) / (10 + 25 * 2 / 7)
    t = DT * np.arange(steps + 1)[:, None]
    means: dict[str, Any] = {"dt": DT, "contact": contact}
    first = first_call(model, q, tau=tau[:1], **means)
    kept: dict[str, fw.Trajectory] = {}

    def ours() -> None:
        kept["run"] = fw.rollout(model, q, np.zeros(model.nv), steps=steps, tau=tau, record_every=1, **means)

    theirs = scenes.rolling_peer(q, DT, 1.0)
    data = mujoco.MjData(theirs)

    def peer() -> None:
        mujoco.mj_resetData(theirs, data)
        data.xfrc_applied[1, :3] = scenes.FORCE * scenes.WAY
        mujoco.mj_step(theirs, data, nstep=steps)

    one, other = best_of([ours, peer], 1 if quick else 3)
    run = kept["run"]
    error = sum(
        ((world_velocity(run, k) - share * a * t * scenes.WAY) ** 2).sum(-1) for k, share in ((0, 1), (1, 2 / 7))
    )
    mujoco.mj_resetData(theirs, data)
    data.xfrc_applied[1, :3] = scenes.FORCE * scenes.WAY
    errors = []
    for k in range(steps):
        e = data.qvel[:3] - a * k * DT * scenes.WAY, data.qvel[6:9] - 2 / 7 * a * k * DT * scenes.WAY
        errors.append(sum(float(x @ x) for x in e))
        mujoco.mj_step(theirs, data)
    found, theirs_error = float(np.mean(error)), float(np.mean(errors))
    return [
        row("rolling, mean squared velocity error [m²/s²]", found, "≤ 1e-14", found <= 1e-14, theirs_error),
        row(
            "rolling, µs a step", 1e6 * one / steps, "≥ 2× MuJoCo", other >= 2 * one, 1e6 * other / steps, first_s=first
        ),
    ]


def gripped(quick: bool) -> Rows:
    model, q, contact, control = scenes.gripper()
    steps, late = (1200, 1000) if quick else (2800, 800)
    run = fw.rollout(model, q, np.zeros(model.nv), steps=steps, dt=DT, contact=contact, control=control)
    slip = run.q[:, 5] - run.q[:, 0]
    ours = float(abs(slip[-1] - slip[late])) if run.status == 0 else float("nan")
    theirs = {}
    for impratio in (1.0, 100.0):
        model_ = scenes.gripper_peer(DT, impratio)
        data, way = mujoco.MjData(model_), []
        for k in range(steps):
            t = k * DT
            target = 0.1 * min(max(t - 0.3, 0) / 0.5, 1)
            up = 2000 * (target - data.qpos[0]) - 80 * data.qvel[0] + 9.81 * (1.2 + scenes.MASS * (t > 0.3))
            data.qfrc_applied[:3] = up, -scenes.SQUEEZE, scenes.SQUEEZE
            mujoco.mj_step(model_, data)
            way.append(data.qpos[5] - data.qpos[0])
        theirs[impratio] = float(abs(way[-1] - way[late]))
    return [
        row(
            "gripped box, slip in 2 s [m]", ours, "≤ 1e-9", ours <= 1e-9, theirs[1.0], mujoco_best=theirs[100.0],
            status=int(run.status), lifted=float(run.q[-1, 5]),
        )
    ]  # fmt: skip


def stack_off(masses: list[float], offset: float, steps: int) -> dict[str, Any]:
    """How far boxes of a stack are from where they were put [m], ours and MuJoCo's."""
    n, side = len(masses), scenes.CUBE
    model = scenes.boxes(n, (side,) * 3, masses)
    q = model.neutral()
    q[2::7], q[::7] = side / 2 + side * np.arange(n), offset * (-1.0) ** np.arange(n)
    contact = Impulse(friction=0.8, pairs=[(f"b{k}", f"b{k + 1}") for k in range(n - 1)])
    first = first_call(model, q, dt=DT, contact=contact)
    start = time.process_time()
    run = fw.rollout(model, q, np.zeros(model.nv), steps=steps, dt=DT, contact=contact)
    seconds = time.process_time() - start
    theirs = scenes.peer(model, q, DT, 0.8, pairs=True)
    data = mujoco.MjData(theirs)
    begin = time.process_time()
    mujoco.mj_step(theirs, data, nstep=steps)
    peer = time.process_time() - begin

    def off(end: np.ndarray) -> float:
        return float(np.abs(end - q).reshape(n, 7)[:, :3].max())

    return {
        "off": off(run.q[-1]), "mujoco_off": off(data.qpos), "us": 1e6 * seconds / steps, "status": int(run.status),
        "mujoco_us": 1e6 * peer / steps, "first_s": first, "turns": float(np.nanmax(run.solver[:, 0])),
    }  # fmt: skip


def stacks(quick: bool) -> Rows:
    found = []
    steps = 300 if quick else 2000
    for name, masses in (("ten equal boxes", [1.0] * (4 if quick else 10)), ("mass ratio 1e4", [1.0, 1e4])):
        r = stack_off(masses, 0.01, steps)
        off, other = r.pop("off"), r.pop("mujoco_off")
        found.append(row(f"stack, {name}, off [m]", off, "≤ 1e-5", off <= 1e-5, other, **r))
    return found


def momentum(quick: bool) -> Rows:
    model, q, v, contact = scenes.quadruped()
    theirs, order, found = scenes.quadruped_peer(model), joint_order(model), []
    for dt in (1e-3, 1e-2):
        steps = round((0.6 if quick else 2.0) / dt)
        run = fw.rollout(model, q, v, steps=steps, dt=dt, contact=contact, integrator="variational")
        h = fw.momentum(model, run.q, run.v)[:, :3]
        error = float(np.mean(((h - h[0]) ** 2).sum(1)))
        theirs.opt.timestep, theirs.opt.integrator = dt, mujoco.mjtIntegrator.mjINT_RK4
        data = mujoco.MjData(theirs)
        data.qpos[:], data.qvel[:] = fw.convert.to_mujoco(model, q, v, order)
        h = []
        for _ in range(steps + 1):
            h.append(fw.momentum(model, *fw.convert.from_mujoco(model, data.qpos.copy(), data.qvel.copy(), order))[:3])
            mujoco.mj_step(theirs, data)
        other = float(np.mean(((np.array(h) - h[0]) ** 2).sum(1)))
        hit = bool(np.abs(run.pair_force).max() > 0)
        found.append(
            row(
                f"ball hits quadruped, {1e3 * dt:g} ms, squared momentum error",
                error,
                "≤ 1e-22",
                error <= 1e-22 and hit,
                other,
                status=int(run.status),
                hit=hit,
            )
        )
    return found


def bouncing(quick: bool) -> Rows:
    """A ball of 10 kg falls 5 m onto the ground, and another one onto a heavy body, e = 1."""
    builder = fw.Builder("bounce").add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(10.0, 0.1))
    model = builder.add_geometry("ball", fw.shapes.Sphere(0.1), restitution=1.0).build()
    q = model.neutral()
    q[2] = 5.0
    steps, found = 2500 if quick else 20000, []
    for integrator in ("variational", "semi_implicit"):
        contact = Impulse(friction=0.0, restitution=1.0)
        run = fw.rollout(model, q, np.zeros(6), steps=steps, dt=DT, contact=contact, integrator=integrator)
        energy = run.energy()
        error = float(np.abs(energy / energy[0] - 1).max())
        asked = "≤ 1e-6" if integrator == "variational" else ""
        found.append(row(f"bouncing e = 1, {integrator}, energy off", error, asked, error <= 1e-6 if asked else None))
    return found


def many_boxes(quick: bool) -> Rows:
    """k boxes that may touch the ground alone: us a step at rest, and tumbling in a batch; over k times one."""
    found, one = [], {}
    lanes, steps, rounds = (64, 100, 2) if quick else (256, 300, 7)
    for k in (1, 2, 4) if quick else (1, 2, 4, 8, 16, 32):
        figures = boxes_cost(k, "ground", lanes, steps, rounds)
        for kind in ("single", "batch"):
            us, other = figures[f"{kind}_us"], figures[f"mujoco_{kind}_us"]
            one.setdefault(kind, us)
            share = us / (k * one[kind])
            found.append(
                row(
                    f"{k} boxes on the ground, {kind}, µs a step",
                    us,
                    "≤ 1.1 k times one, ≥ 3× MuJoCo",
                    share <= 1.1 and other >= 3 * us,
                    other,
                    of_k_times_one=share,
                    first_s=figures["first_s"],
                    failed=figures["failed"],
                )
            )
    return found


def all_pairs(quick: bool) -> Rows:
    k = 3 if quick else 8
    figures = boxes_cost(k, "auto", 64, 300, 2 if quick else 5)
    return [
        row(f"{k} boxes, all pairs, {kind}, µs a step", figures[f"{kind}_us"], "", None, figures[f"mujoco_{kind}_us"],
            first_s=figures["first_s"], failed=figures["failed"])
        for kind in ("single", "batch")
    ]  # fmt: skip


def boxes_cost(k: int, pairs: str, lanes: int, steps: int, rounds: int) -> dict[str, Any]:
    model = scenes.boxes(k)
    spread = 1.0 if pairs == "ground" else 0.35
    q = model.neutral()
    q[::7], q[2::7] = spread * np.arange(k), 0.05
    means: dict[str, Any] = {"dt": DT, "contact": Impulse(tolerance=1e-6, friction=0.8, pairs=pairs)}
    first = first_call(model, q, **means)
    rng = np.random.default_rng(0)
    Q, V = np.tile(q, (lanes, 1)), rng.normal(size=(lanes, model.nv))
    Q[:, 2::7] += rng.uniform(0.0, 0.3, (lanes, k))
    settled = fw.rollout(model, q, np.zeros(model.nv), steps=300, **means)
    q0, v0 = settled.q[-1], settled.v[-1]
    theirs = scenes.peer(model, q, DT, 0.8, pairs=pairs != "ground", option="")
    data = mujoco.MjData(theirs)
    mujoco.mj_step(theirs, data, nstep=300)
    batch = mujoco.batch.Batch(theirs, lanes, 1, persistent=True)
    start, kept = scenes.coordinates(Q), {}

    def tumble() -> None:
        with fw.threads(1):
            kept["run"] = fw.rollout(model, Q, V, steps=steps, record_every=steps, **means)

    def tumble_peer() -> None:
        batch.qpos[:], batch.qvel[:] = start, V
        batch.step(nstep=steps)

    tumble()
    single, peer, many, peers = best_of(
        [
            lambda: fw.rollout(model, q0, v0, steps=1000, record_every=1000, **means),
            lambda: mujoco.mj_step(theirs, data, nstep=1000),
            tumble,
            tumble_peer,
        ],
        rounds,
    )
    return {
        "single_us": 1e3 * single, "mujoco_single_us": 1e3 * peer, "batch_us": 1e6 * many / lanes / steps,
        "mujoco_batch_us": 1e6 * peers / lanes / steps, "first_s": first,
        "failed": int((kept["run"].status != 0).sum()),
    }  # fmt: skip


def thrown(quick: bool) -> Rows:
    """Thrown boxes with e = 0.9, μ = 0.8, and a thin rod in flight at 300 rad/s: energy over that of the beginning."""
    found = []
    model = scenes.boxes(1, (0.2, 0.3, 0.1))
    rng = np.random.default_rng(0)
    n = 32 if quick else 256
    q = np.array([model.random(rng) for _ in range(n)])
    q[:, :2], q[:, 2] = 0.0, rng.uniform(0.3, 1.0, n)
    run = fw.rollout(
        model, q, 2 * rng.normal(size=(n, 6)), steps=2000, dt=DT, record_every=5,
        contact=Impulse(friction=0.8, restitution=0.9),
    )  # fmt: skip
    energy = run.energy()
    gain = float(np.nanmax(energy / energy[:, :1]))
    found.append(row("thrown boxes, e = 0.9, μ = 0.8, most E / E₀", gain, "≤ 1.01", gain <= 1.01, of=n,
                     failed=int((run.status != 0).sum())))  # fmt: skip
    rod = fw.Builder("rod", gravity=(0, 0, 0)).add_body(
        "rod", joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (1.0, 0.01, 0.01))
    )
    flight = fw.rollout(rod.build(), rod.build().neutral(), [0, 0, 0, 300.0, 5.0, 5.0], steps=5000, dt=DT)
    energy = flight.energy()
    ratio = float(np.nanmax(energy) / energy[0])
    found.append(row("rod in flight at 300 rad/s, most E / E₀", ratio, "≤ 1.01", ratio <= 1.01 and flight.status == 0,
                     status=int(flight.status)))  # fmt: skip
    return found


def humanoid(quick: bool) -> Rows:
    """The humanoid with pairs of capsules that may touch, 97 of them and all 207, against none: standing, held by
    joint control, where none touch; and limp, falling to the ground in random postures, where some do."""
    lanes, steps = (8, 20) if quick else (64, 300)
    found: Rows = []
    for state, make in (("standing", scenes.standing), ("lying", scenes.lying)):
        model, q, means = make(lanes)
        used = [(pair.a, pair.b) for pair in model.collision_pairs() if pair.used]
        some = model.without_collisions(used[97:])
        kinds = {"ground": (model, "ground"), "97 pairs": (some, "auto"), f"{len(used)} pairs": (model, "auto")}
        each = {kind: (robot, Impulse(pairs=pairs, friction=0.6)) for kind, (robot, pairs) in kinds.items()}
        first = {kind: first_call(robot, q, dt=DT, contact=own, **means) for kind, (robot, own) in each.items()}
        for name, states in (("single", q[0]), ("batch", q)):
            found += pairs_cost(f"humanoid {state}, {name}", states, each, steps, quick, means)
        for kind in list(kinds)[1:]:
            calls = first[kind] / first["ground"]
            title = f"humanoid {state}, {kind}, first call over that without"
            found.append(row(title, calls, "≤ 2", calls <= 2, first_s=first[kind]))
    return found


def pairs_cost(
    name: str, q: np.ndarray, each: dict[str, tuple[fw.Model, Impulse]], steps: int, quick: bool, means: dict[str, Any]
) -> Rows:  # fmt: skip
    """The step with pairs over that without; how many steps had contacts between capsules, and whether the states
    have the same bits where none had."""
    kept: dict[str, fw.Trajectory] = {}

    def run(kind: str) -> Callable[[], None]:
        model, contact = each[kind]
        v = np.zeros((*q.shape[:-1], model.nv))

        def call() -> None:
            with fw.threads(1):
                kept[kind] = fw.rollout(model, q, v, steps=steps, dt=DT, contact=contact, **means)

        return call

    times = dict(zip(each, best_of([run(kind) for kind in each], 2 if quick else 7), strict=True))
    rows, lanes = [], q.size // q.shape[-1]
    for kind in list(each)[1:]:
        own, share = kept[kind], times[kind] / times["ground"]
        touching = np.abs(own.slots[..., 1:]).sum(axis=(-1, -2)) > 0
        alike = bool(np.array_equal(own.q, kept["ground"].q)) if not touching.any() else None
        rows.append(row(
            f"{name}, {kind}, step over that without", share, "≤ 1.5", share <= 1.5, same_bits=alike,
            us=1e6 * times[kind] / lanes / steps, steps_with_contacts=float(touching.mean()),
            missed=int(np.nanmax(own.missed, initial=0)), failed=int((own.status != 0).sum()),
            failed_without=int((kept["ground"].status != 0).sum()),
        ))  # fmt: skip
    return rows


SCENES: dict[str, Callable[[bool], Rows]] = {
    "rolling": rolling, "gripped": gripped, "stacks": stacks, "momentum": momentum,
    "bouncing": bouncing, "many_boxes": many_boxes, "all_pairs": all_pairs, "thrown": thrown,
    "humanoid": humanoid,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=list(SCENES), default=list(SCENES))
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    rows, broken = [], {}
    for name in given.only:
        print(f"== {name}", flush=True)
        try:
            rows += [{"scene": name, **found} for found in SCENES[name](given.quick)]
        except Exception:  # one scene that breaks is told, and the others are measured
            broken[name] = traceback.format_exc()
            print(broken[name], flush=True)
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    record = {"date": date, "machine": platform.processor() or platform.machine(), "mujoco": mujoco.__version__}
    if not given.quick:  # scenes that were not run now keep what the file of this day has of them
        path = HERE / "results" / f"{date[:10]}-worlds.json"
        before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"rows": [], "broken": {}}
        kept = [row for row in before["rows"] if row["scene"] not in given.only]
        others = {name: text for name, text in before["broken"].items() if name not in given.only}
        record |= {"quick": False, "rows": kept + rows, "broken": others | broken}
        path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
