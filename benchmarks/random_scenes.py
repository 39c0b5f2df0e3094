"""Random scenes of shapes that touch, by the thousand: how many fail, and which laws are missed (`make scenes`).

Stacks of boxes, worlds of 2 to 8 bodies in steps of 0.1 to 20 ms, limp humanoids on stairs. The seed is fixed, work is
cut into chunks that share one structure, and each chunk is written to benchmarks/results/<day>-scenes.json as soon as
it is done: a run that was stopped goes on there (`--fresh` begins anew). `--only NAME …` runs some, `--share 0.1` a
tenth of the chunks.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests"), str(HERE.parent / "tests/contact")]

import stress_scenes  # noqa: E402
import worlds_scenes as scenes  # noqa: E402
from pair_laws import MU, Step, pairs_of, scattered, world  # noqa: E402

import featherweight as fw  # noqa: E402
from featherweight.contact import Impulse  # noqa: E402

Counts = dict[str, Any]  # what one chunk found: numbers that are added up, and `worst …` of which the largest counts
STEPS = (1e-4, 1e-3, 5e-3, 2e-2)  # [s]
LIMITS = {
    "dynamics": 1e-10, "pulls": 0.0, "approach": 1e-6, "complementarity": 1e-6, "cone": 1e-11, "coulomb": 1e-4,
    "work": 1e-12,
}  # fmt: skip


def stacks(chunk: int, lanes: int = 100, steps: int = 1000) -> Counts:
    """Five boxes of random sizes and masses on each other, put down with random offsets, 1 s."""
    rng = np.random.default_rng(chunk)
    sizes, masses = rng.uniform(0.1, 0.3, (5, 3)), 10 ** rng.uniform(-1, 1, 5)
    builder = fw.Builder("stack")
    for k in range(5):
        builder.add_body(f"b{k}", joint=fw.joints.Free(), inertia=fw.Inertia.box(masses[k], sizes[k]))
        builder.add_geometry(f"b{k}", fw.shapes.Box(sizes[k]))
    model = builder.build()
    q, height = np.tile(model.neutral(), (lanes, 1)), np.zeros(lanes)
    for k in range(5):
        q[:, 7 * k : 7 * k + 2] = rng.uniform(-0.06, 0.06, (lanes, 2))
        angle = rng.uniform(-0.5, 0.5, lanes)
        q[:, 7 * k + 5], q[:, 7 * k + 6] = np.sin(angle), np.cos(angle)
        q[:, 7 * k + 2] = height + sizes[k, 2] / 2 + rng.uniform(0, 1e-3, lanes)
        height = q[:, 7 * k + 2] + sizes[k, 2] / 2
    contact = Impulse(friction=0.8, pairs=[(f"b{i}", f"b{j}") for j in range(5) for i in range(j)])
    run = fw.rollout(model, q, np.zeros(model.nv), steps=steps, dt=1e-3, contact=contact)
    good = run.status == 0
    fallen = int((run.q[good, -1, 30] < 0.5 * q[good, 30]).sum())
    return {**_solver(run), "fallen": fallen}


def worlds(chunk: int, lanes: int = 250) -> Counts:
    """One step of random worlds, thrown together or as they lie after 0.3 s, and the laws by dense algebra; the same
    with restitution, of which impacts must not add energy; what recovery from depth lifts."""
    rng = np.random.default_rng(1000 + chunk)
    count = 2 + chunk % 7
    model = world(rng, count, jointed=chunk % 3 == 2)
    pairs = pairs_of(model)
    q, v = scattered(model, rng, lanes)
    found: Counts = {"bodies": count * lanes}
    if chunk % 2:
        settled = fw.rollout(
            model, q, v, steps=300, dt=1e-3, record_every=300, contact=Impulse(pairs=pairs, friction=MU)
        )
        found |= {f"falling {name}": x for name, x in _solver(settled).items()}
        q, v = settled.q[settled.status == 0, -1], settled.v[settled.status == 0, -1]
    bounce = 0.8 if count <= 4 else 0.0
    for part, h in zip(np.array_split(np.arange(len(q)), 4), STEPS, strict=True):
        plain = Step(model, q[part], v[part], h, Impulse(pairs=pairs, friction=MU, recovery=0.0), pairs)
        _add(found, _laws(plain, tuple(LIMITS)))
        recovering = fw.rollout(model, q[part], v[part], steps=1, dt=h, contact=Impulse(pairs=pairs, friction=MU))
        both = plain.used & (recovering.status == 0)
        lifted = fw.potential_energy(model, recovering.q[both, 1]) - fw.potential_energy(model, plain.run.q[both, 1])
        _add(found, {"worst work of recovery [J]": float(lifted.max(initial=0.0))})
        if bounce:
            contact = Impulse(pairs=pairs, friction=MU, recovery=0.0, restitution=bounce)
            bouncing = _laws(Step(model, q[part], v[part], h, contact, pairs), ("dynamics", "pulls", "cone", "work"))
            _add(found, {f"bouncing {name}": x for name, x in bouncing.items()})
    return found


def ragdolls(chunk: int, lanes: int = 100, steps: int = 300) -> Counts:
    """Limp humanoids with self-collision, without armature, fall onto stairs: 5 s in steps of 1/60 s.

    Hands that spin at 225 rad/s turn by 3.7 rad in such a step: gyroscopic terms at the beginning of it blow one of 700
    up (decision 18), so that they are taken in two stages.
    """
    model = scenes.ragdoll()
    q, v = (x[chunk * lanes :] for x in scenes.on_stairs(model, (chunk + 1) * lanes))
    contact = Impulse(scenes.stairs(), friction=0.6, pairs="auto")
    integrator = fw.integrators.SemiImplicit(gyroscopic="two_stage")
    return _solver(fw.rollout(model, q, v, steps=steps, dt=1 / 60, contact=contact, integrator=integrator))


def _solver(run: fw.Trajectory) -> Counts:
    """How lanes ended, and how hard their steps were."""
    turns, residual = run.solver[..., 0], run.solver[..., 1]
    good = run.status == 0
    return {
        "lanes": len(run.status), "steps": int(np.isfinite(turns).sum()),
        "not converged": int((run.status == fw.Status.NOT_CONVERGED).sum()),
        "crashed": int((~np.isin(run.status, (fw.Status.OK, fw.Status.NOT_CONVERGED))).sum()),
        "turns": float(np.nansum(turns)), "worst turns": float(np.nanmax(turns)),
        "worst residual": float(np.nanmax(residual[good], initial=0.0)),
    }  # fmt: skip


def _laws(step: Step, names: tuple[str, ...]) -> Counts:
    used, violations = step.used, step.violations()
    finite = np.isfinite(step.run.v[used]).all(axis=(1, 2))
    found: Counts = {
        "lanes": len(used), "not converged": int((~used).sum()), "crashed": int((~finite).sum()),
        "contacts": int(step.acts.sum()),
    }  # fmt: skip
    for name in names:
        values = violations[name][used]
        found[f"worst {name}"] = float(values.max(initial=0.0))
        found[f"violations of {name}"] = int((values > LIMITS[name]).sum())
    missed = violations["missed"][used]
    return {**found, "worst missed": float(missed.max(initial=0.0)), "lanes with missed": int((missed > 1e-6).sum())}


def _add(total: Counts, more: Counts) -> None:
    """Add counts up; of what is called worst, keep the largest."""
    for name, value in more.items():
        before = total.get(name, 0)
        total[name] = max(before, value) if "worst" in name else before + value


def stressed(chunk: int) -> Counts:
    """What becomes of scenes that broke earlier versions, in words."""
    name, scene = list(stress_scenes.SCENES.items())[chunk]
    return {name: scene()}


CHUNKS: dict[str, tuple[Callable[[int], Counts], int]] = {
    "stacks": (stacks, 10), "ragdolls": (ragdolls, 10), "worlds": (worlds, 40),
    "stressed": (stressed, len(stress_scenes.SCENES)),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=list(CHUNKS), default=list(CHUNKS))
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--fresh", action="store_true")
    given = parser.parse_args()
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    path = HERE / "results" / f"{date[:10]}-scenes.json"
    record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"chunks": {}}
    for name in given.only:
        make, count = CHUNKS[name]
        done = record["chunks"][name] = {} if given.fresh else record["chunks"].get(name, {})
        total: Counts = {}
        for chunk in range(max(1, round(count * given.share))):
            if str(chunk) not in done:
                begin = time.process_time()
                done[str(chunk)] = {**make(chunk), "seconds": time.process_time() - begin}
                path.write_text(json.dumps({**record, "date": date}, indent=1, ensure_ascii=False) + "\n", "utf-8")
            print(name, chunk, {k: v for k, v in done[str(chunk)].items() if v}, flush=True)
        for counts in done.values():
            _add(total, {k: v for k, v in counts.items() if not isinstance(v, str)})
        record.setdefault("totals", {})[name] = total
        print("==", name, json.dumps(total, indent=1), flush=True)
    path.write_text(json.dumps({**record, "date": date}, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(path)


if __name__ == "__main__":
    main()
