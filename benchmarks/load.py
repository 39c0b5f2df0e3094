"""How long real URDF files take to load: `make load`. The least of some runs for each file, and the median over files.

Files are those of example-robot-data, and the public ones beside the project if they are there (`../shared/data/urdf`).
Loading means parse, check and build; nothing is compiled, and no mesh is opened.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import importlib.util
import json
import os
import platform
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import featherweight as fw

HERE = Path(__file__).resolve().parent
PUBLIC = HERE.parents[1] / "shared" / "data" / "urdf"


def files() -> dict[str, list[Path]]:
    """By where they come from."""
    found = importlib.util.find_spec("pinocchio")
    example = Path(found.origin).parents[4] / "share" / "example-robot-data" / "robots" if found else Path("/nowhere")
    folders = {"public": PUBLIC, "example-robot-data": example}
    return {
        name: sorted(f for f in folder.rglob("*") if f.suffix.lower() == ".urdf") for name, folder in folders.items()
    }


def measured(path: Path, runs: int) -> dict[str, Any] | None:
    """Milliseconds of one file; None if it is no robot."""
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        try:
            model = fw.load(path)
        except fw.ModelError:
            return None
        best = min(best, time.perf_counter() - start)
    return {"kilobytes": path.stat().st_size / 1e3, "bodies": model.nb, "milliseconds": 1e3 * best}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15, help="of each file; the fastest counts")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    gc.collect()
    rows: dict[str, dict[str, Any]] = {}
    for where, paths in files().items():
        for path in paths:
            row = measured(path, arguments.runs)
            if row is not None:
                rows["/".join(path.parts[-3:])] = {"from": where, **row}
    medians = {
        where: statistics.median(row["milliseconds"] for row in rows.values() if where in (row["from"], "all"))
        for where in sorted({row["from"] for row in rows.values()} | {"all"})
    }
    today = datetime.datetime.now().astimezone()
    record = {
        "date": today.isoformat(timespec="seconds"), "version": fw.__version__, "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}", "load_average": os.getloadavg()[0],
        "runs": arguments.runs, "count": len(rows), "median_milliseconds": medians,
        "largest_milliseconds": max(row["milliseconds"] for row in rows.values()), "files": rows,
    }  # fmt: skip
    path = HERE / "results" / f"{record['date'][:10]}-load.json"
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    for where, median in medians.items():
        sys.stdout.write(f"{where}: median {median:.2f} ms\n")
    sys.stdout.write(f"{len(rows)} files, at most {record['largest_milliseconds']:.0f} ms; written to {path.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
