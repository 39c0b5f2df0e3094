"""Springs and dampers beside impulses: the Mini Cheetah with 16 points, standing, dropped from 0.5 m, pushed, trotting.

Foot slip and bounce of both, as numbers in benchmarks/results/ and as a picture in docs/pictures/contact.svg; the trot
in place by `featherweight.experiments.trot`, with what its source says of it.
"""

from __future__ import annotations

import datetime
import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

import featherweight as fw
from featherweight.experiments.trot import TrotExperiment, trot

ROOT = Path(__file__).parents[1]
SECONDS = 2.0
STANCE = np.tile([0.0, -0.8, 1.6], 4)
MODELS = {  # with the step: at 1 ms such springs are not stable, as the warning says; a quarter of it is
    "springs, 1 ms": (fw.contact.SpringDamper(), 1e-3),
    "springs, 0.25 ms": (fw.contact.SpringDamper(), 2.5e-4),
    "impulses, 1 ms": (fw.contact.Impulse(), 1e-3),
}
COLORS = dict(zip(MODELS, ("#d1495b", "#edae49", "#00798c"), strict=True))


def stand(t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
    """PD on the joints; a push on the body to the left from 0.5 s on, for 0.1 s, of p[0] newtons."""
    pushed = fw.scalar.where((t >= 0.5) & (t < 0.6), p[0], 0.0)
    return np.concatenate([[0.0, pushed, 0.0, 0.0, 0.0, 0.0], 40.0 * (STANCE - q[7:]) - 1.0 * v[6:]]), x


def run(case: str, contact: Any, dt: float) -> dict[str, Any]:
    """One case: slip of the feet [mm], how often a foot leaves the ground, tremor of the normal force [N]."""
    model = fw.robots.mini_cheetah()
    q = model.neutral()
    q[7:] = STANCE
    q[2] = (0.5 if case == "drop" else 0.0) - fw.frame_pose(model, q, "FR_foot").position[2]
    control = fw.compiled(stand, parameters=[60.0 if case == "push" else 0.0])
    trajectory = fw.simulate(model, q, np.zeros(model.nv), duration=SECONDS, dt=dt, control=control, contact=contact)
    feet = [k for k, point in enumerate(model.contact_points) if point.name.endswith("foot")]
    normal = trajectory.contact_force[:, feet, 2]
    slip = np.cumsum(np.where(normal > 0, trajectory.contact_slip[:, feet], 0.0), axis=0) * dt
    touching = normal > 0
    first = int(np.argmax(touching.all(axis=1)))
    late = normal[int(1.5 / dt) :]
    return {
        "slip_mm": float(1e3 * slip[-1].max()),
        "lift_offs": int((touching[first:-1] & ~touching[first + 1 :]).sum()),
        "tremor_N": float(late.std(axis=0).max()),
        "deepest_mm": float(1e3 * trajectory.penetration[:, feet].max()),
        "curve": (1e3 * slip.max(axis=1)).tolist(),
    }


def length(mm: float) -> str:
    """A length in words."""
    for unit, size in (("m", 1e3), ("mm", 1.0), ("µm", 1e-3)):
        if mm >= 0.1 * size:
            return f"{mm / size:.2g} {unit}"
    return f"{mm * 1e6:.2g} nm"


def picture(results: dict[str, dict[str, Any]]) -> str:
    """Slip of the worst foot over time, one panel a case."""
    width, height, left, gap = 300, 190, 50, 30

    def level(mm: float) -> float:
        """Where a slip stands between 1 nm and 10 m."""
        return (np.log10(max(mm, 1e-6)) + 6) / 10

    parts = []
    for k, (case, models) in enumerate(results.items()):
        x0 = left + k * (width + gap + left)
        parts.append(f'<text x="{x0}" y="24" font-weight="bold">{case}</text>')
        parts.append(f'<rect x="{x0}" y="40" width="{width}" height="{height}" fill="none" stroke="#bbb"/>')
        for power in (-6, -3, 0, 3):
            y = 40 + height * (1 - level(10.0**power))
            parts.append(
                f'<text x="{x0 - 6}" y="{y + 4:.0f}" text-anchor="end" fill="#666">{length(10.0**power)}</text>'
            )
        for share in (0.0, 0.5, 1.0):
            x = x0 + share * width
            parts.append(
                f'<text x="{x:.0f}" y="{height + 58}" text-anchor="middle" fill="#666">{share * SECONDS:g} s</text>'
            )
        for j, (name, r) in enumerate(models.items()):
            curve = r["curve"][:: max(1, len(r["curve"]) // 300)]
            points = " ".join(
                f"{x0 + width * i / (len(curve) - 1):.1f},{40 + height * (1 - level(y)):.1f}"
                for i, y in enumerate(curve)
            )
            parts.append(f'<polyline points="{points}" fill="none" stroke="{COLORS[name]}" stroke-width="2"/>')
            text = f"{name}: {length(r['slip_mm'])}, {r['lift_offs']} lift-offs"
            parts.append(f'<text x="{x0}" y="{height + 80 + 18 * j}" fill="{COLORS[name]}">{text}</text>')
    total = left + len(results) * (width + gap + left)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {height + 130}" font-family="sans-serif" '
        f'font-size="13"><rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>\n'
    )


def figures(result: TrotExperiment) -> dict[str, Any]:
    """A trot in numbers, and its source sentence by sentence."""
    names = ("slip", "landing_slip", "cone_slip", "turning", "peak_force", "jolts")
    grounds = [getattr(result, field.name) for field in fields(result)]
    return {
        "grounds": {one.label: {name: getattr(one, name) for name in names} for one in grounds},
        "statements": [asdict(statement) for statement in result.statements],
    }


def main() -> None:
    results = {case: {name: run(case, *how) for name, how in MODELS.items()} for case in ("stand", "drop", "push")}
    (ROOT / "docs/pictures/contact.svg").write_text(picture(results))
    for models in results.values():
        for r in models.values():
            del r["curve"]
    trotted = figures(trot())
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    path = ROOT / "benchmarks/results" / f"{date[:10]}-side-by-side.json"
    found = {"date": date, "seconds": SECONDS, "cases": results, "trot": trotted}
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    for case, models in {**results, "trot": trotted["grounds"]}.items():
        for name, r in models.items():
            print(f"{case:6} {name:20} " + ", ".join(f"{k} {v:.3g}" for k, v in r.items()))
    for one in trotted["statements"]:
        says = "holds" if one["holds"] else "DOES NOT HOLD"
        print(f"{says}: {one['text']}: {one['springs']:.2g} and {one['impulses']:.2g} {one['unit']}")


if __name__ == "__main__":
    main()
