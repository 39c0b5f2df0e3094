"""Pushes that a humanoid survives: the study that comes with featherweight, timed, and its map for the pages.

`make pushes` runs all 100 000 lanes; ended at any time, it goes on.
"""

from __future__ import annotations

import argparse
import datetime
import json
import time
from pathlib import Path

import numpy as np

import featherweight as fw
from featherweight.campaigns.studies import pushes

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanes", type=int, default=pushes.lanes)
    parser.add_argument("--out", type=Path, default=Path("pushes.zarr"))
    parser.add_argument("--picture", type=Path, default=HERE.parent / "docs" / "pictures" / "pushes.png")
    options = parser.parse_args()
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    begin = time.perf_counter()
    found = fw.sweep(
        pushes.model, options.out, lanes=options.lanes, seed=pushes.seed, steps=pushes.steps, dt=pushes.dt,
        sample=pushes.sample, reduce=pushes.reduce, control=pushes.control, contact=pushes.contact,
        actuators=pushes.actuators,
    )  # fmt: skip
    seconds = time.perf_counter() - begin
    direction, impulse = pushes.push(found["control_parameters"])
    figure = found.plot_map(
        direction, impulse, "stands", bins=36 if found.lanes > 50_000 else 18, polar=True,
        labels=("direction", "impulse [N s]", "part that stands after 2 s"),
    )  # fmt: skip
    figure.savefig(options.picture, dpi=120)
    stands = found["stands"]
    half = {
        name: float(np.median(impulse[around & stands])) if (around & stands).any() else None
        for name, around in (
            ("forwards", np.abs(direction) < 0.3),
            ("backwards", np.abs(direction) > np.pi - 0.3),
            ("sideways", np.abs(np.abs(direction) - np.pi / 2) < 0.3),
        )
    }
    facts = found.summary()
    record = {
        "date": date, "lanes": found.lanes, "steps": pushes.steps, "seconds_of_this_call": round(seconds, 1),
        "core_seconds": facts["core_seconds"], "threads": fw.thread_count(), "stand": float(stands.mean()),
        "failed": facts["lanes_failed"], "median_impulse_of_those_that_stand": half, "processors": facts["processors"],
    }  # fmt: skip
    (HERE / "results" / f"{date[:10]}-pushes.json").write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
