"""The paper's comparison, whole: figures for the pages, tables in them, and the numbers in benchmarks/results/.

make paper                                  all of it, ten minutes
python benchmarks/variational/paper.py energy    some of convergence, scaling, energy, accuracy
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: dense systems on one core, as all else

import datetime
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from featherweight.experiments import figures
from featherweight.experiments.accuracy import Accuracy, accuracy
from featherweight.experiments.convergence import convergence
from featherweight.experiments.energy import Energy, energy
from featherweight.experiments.scaling import Scaling, scaling

sys.path.insert(0, str(Path(__file__).parents[1]))
from report import table

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "explanation"
SHOWN = (2, 10, 50, 100)  # links in the table
EXPERIMENTS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (convergence, scaling, energy, accuracy)}


def scaling_table(result: Scaling) -> str:
    columns = [int(np.flatnonzero(result.links == n)[0]) for n in SHOWN]
    rows = [
        [
            {"scalable": "before", "drnea": "DRNEA"}[m.evaluation], m.solver.replace("riqn", "RIQN"), m.guess,
            *(f"{1e6 * result.seconds[k, c]:.2f} ({result.iterations[k, c]:.1f})" for c in columns),
        ]
        for k, m in enumerate(result.methods)
    ]  # fmt: skip
    rows.append(["", "featherweight's default", "", *(f"{1e6 * result.native[c]:.2f}" for c in columns)])
    return table(["evaluation", "solver", "guess", *(f"{n} links" for n in SHOWN)], rows)


def energy_table(result: Energy) -> str:
    rows = [[name, f"{result.largest[name]:.1e}", f"{result.trend[name]:.1e}"] for name in result.methods]
    return table(["method", "largest error, over 736 J", "trend"], rows)


def accuracy_table(result: Accuracy) -> str:
    names = [figures.NAMES[m] for m in result.methods]
    rows = [
        [f"{1e3 * dt:g}", *(f"{result.early[k, c]:.0e} … {result.late[k, c]:.0e}" for k in range(len(names)))]
        for c, dt in enumerate(result.dt)
    ]
    return table(
        ["step [ms]", *(f"{name}: in {result.duration / 10:g} … {result.duration:g} s" for name in names)], rows
    )


def put(page: str, mark: str, text: str) -> None:
    """Text between the marks of a page."""
    path = PAGES / page
    before, rest = path.read_text(encoding="utf-8").split(f"<!-- {mark}: begin -->")
    after = rest.split(f"<!-- {mark}: end -->")[1]
    path.write_text(f"{before}<!-- {mark}: begin -->\n{text}\n<!-- {mark}: end -->{after}", encoding="utf-8")


def plain(result: Any) -> dict[str, Any]:
    """What is said of a result, and its arrays, thinned out and with four digits."""
    kept: dict[str, Any] = {"claims": [vars(claim) for claim in result.claims]}
    for name, value in vars(result).items():
        if isinstance(value, np.ndarray):
            few = value[..., :: max(1, value.shape[-1] // 100)]
            value = np.array([float(f"{x:.4g}") for x in few.ravel()]).reshape(few.shape).tolist()
        kept[name] = [str(x) for x in value] if isinstance(value, tuple) else value
    return kept


def main() -> None:
    wanted = sys.argv[1:] or list(EXPERIMENTS)
    if unknown := set(wanted) - set(EXPERIMENTS):
        raise SystemExit(f"unknown experiment {', '.join(unknown)}; expected some of {', '.join(EXPERIMENTS)}")
    today = datetime.date.today().isoformat()
    path = ROOT / "benchmarks" / "results" / f"{today}-paper.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    for name in wanted:
        result = EXPERIMENTS[name](full=True)
        figure = getattr(figures, f"{name}_figure")(result)
        figure.savefig(ROOT / "docs" / "pictures" / f"paper-{name}.svg", metadata={"Date": None})
        if name == "scaling":
            put("drnea-riqn.md", "paper", scaling_table(result))
        if name == "energy":
            put("which-integrator.md", "energy", energy_table(result))
        if name == "accuracy":
            put("which-integrator.md", "paper", accuracy_table(result))
        kept[name] = plain(result)
        path.write_text(json.dumps(kept) + "\n")
        for claim in result.claims:
            print(f"{'holds' if claim.holds else 'does not hold'}: {claim.text}\n    {claim.measured}", flush=True)


if __name__ == "__main__":
    main()
