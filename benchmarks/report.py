"""Tables from measured rows: for the terminal, and, run as a program, for the README."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def line(row: dict[str, Any]) -> str:
    """One measurement as it is made."""
    return "  ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items())


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def tables(result: dict[str, Any]) -> str:
    """Markdown: single calls, batches, start-up, chains."""
    single, batch = [], []
    for r in result["robots"]:
        name = [r["robot"], f"`{r['function']}`"]
        single.append(
            [*name, f"{r['single_us']:.2f} us", f"{r['pinocchio_single_us']:.2f} us", f"**{r['single_ratio']:.1f}×**"]
        )
        batch.append(
            [
                *name,
                f"{r['batch_ns']:.0f} ns",
                f"{r['pinocchio_batch_ns']:.0f} ns",
                f"**{r['batch_ratio']:.0f}×**",
                f"{r['two_threads']:.2f}×",
                f"{r['two_threads_large']:.2f}×" if "two_threads_large" in r else "–",
                f"{100 * r['fma_peak_fraction']:.0f} %"
                + (f" ({100 * r['fill_fraction']:.0f} % of fill)" if r["fill_fraction"] > 0.3 else ""),
            ]
        )
    starts = [
        [r["robot"], f"{r['cold_s']:.2f} s", f"{1e3 * r['cached_s']:.0f} ms", f"{1e3 * r['import_s']:.0f} ms"]
        for r in result["starts"]
    ]
    keys = [f"{f}_{k}_ns_a_link" for f in ("forward_dynamics", "inverse_dynamics") for k in ("single", "batch")]
    chains = [[str(r["links"]), *(f"{r[k]:.1f} ns" for k in keys)] for r in result["chains"]]
    simulation = [
        [
            r["robot"],
            r["control"],
            f"{r['single_us']:.2f} us",
            f"{r['mujoco_single_us']:.2f} us",
            f"**{r['single_ratio']:.1f}×**",
            f"{r['batch_ns']:.0f} ns",
            f"{r['mujoco_batch_us']:.2f} us",
            f"**{r['batch_ratio']:.0f}×**",
            f"{r['two_threads']:.2f}×",
        ]
        for r in result["simulation"]
    ]
    contact = [
        [
            r["points"],
            f"{r['single_us']:.2f} us",
            f"{r['mujoco_single_us']:.2f} us",
            f"**{r['single_ratio']:.1f}×**",
            f"{r['batch_ns']:.0f} ns",
            f"{r['mujoco_batch_us']:.2f} us",
            f"**{r['batch_ratio']:.0f}×**",
            f"{r['mean_sweeps']:.1f}",
            str(r["lanes_failed"]),
            f"{r['flying_ns']:.0f} ns",
            f"{r['without_contact_ns']:.0f} ns",
        ]
        for r in result["contact"]
    ]
    depths = [
        [str(r["depth"]), f"{r['delassus_single_ns_a_link']:.0f} ns", f"{r['delassus_batch_ns_a_link']:.1f} ns"]
        for r in result["depths"]
    ]
    return "\n\n".join(
        [
            "One state, called from Python:",
            table(["robot", "function", "featherweight", "Pinocchio", "ratio"], single),
            f"{result['batch']} states a call, per state on one core (Pinocchio: `abaInParallel` and `rneaInParallel` "
            "with one thread; the others in a loop). Two cores kept busy with nothing but arithmetic do "
            f"{result['two_cores']:.2f} times the work of one on this machine, and fill memory "
            f"{result['two_fills']:.2f} times as fast. The last column is operations a second over one core's peak of "
            "fused multiply-adds, and where results are large, bytes a second over those of filling a new array:",
            table(
                [
                    "robot",
                    "function",
                    "featherweight",
                    "Pinocchio",
                    "ratio",
                    "two threads",
                    "… 65 536 states",
                    "of the peak",
                ],
                batch,
            ),
            "Simulation without contact, semi-implicit Euler, time a step: one robot for 5000 steps, ours against "
            f"MuJoCo's `mj_step` with `nstep`, both in native loops; and {result['batch']} robots in one call, "
            "per robot on one core, against `mujoco.batch` on one thread. A Python controller costs "
            f"{result['simulation'][0]['python_controller_us']:.1f} us a step beside its own time:",
            table(
                [
                    "robot",
                    "control",
                    "one robot",
                    "MuJoCo",
                    "ratio",
                    "in a batch",
                    "`mujoco.batch`",
                    "ratio",
                    "two threads",
                ],
                simulation,
            ),
            "The Mini Cheetah on the ground with PD, 1 ms a step, impulses solved to 1e-6 m/s, ours against MuJoCo "
            "with spheres at the same points (`mj_step` in a native loop; `mujoco.batch` on one thread): standing on "
            "four feet; and with all 16 points, robots of a batch dropped and settling. The last two columns: a batch "
            "high in the air, where no point touches, with contact and without. One robot runs 5 000 steps a call:",
            table(
                [
                    *("points", "one robot", "MuJoCo", "ratio", "in a batch", "`mujoco.batch`", "ratio", "sweeps"),
                    *("failed", "in the air", "without contact"),
                ],
                contact,
            ),
            "First `forward_dynamics` in a new process (tracing and compiling, or found in the cache):",
            table(["robot", "cold", "cached", "import"], starts),
            "Reading and checking a URDF text: "
            + ", ".join(f"{r['links']} links in {1e3 * r['load_s']:.0f} ms" for r in result.get("loading", []))
            + ".",
            "Chains, time per link: linear in the number of links.",
            table(["links", "forward, one state", "forward, batch", "inverse, one state", "inverse, batch"], chains),
            "`delassus` of a point at the end of a chain, time per link of depth:",
            table(["depth", "one state", "batch"], depths),
        ]
    )


def in_few_words(result: dict[str, Any]) -> str:
    """Markdown: the table of the README."""
    forward = [r for r in result["robots"] if r["function"] == "forward_dynamics"]
    feet = next(r for r in result["contact"] if r["points"] == "feet")
    rows = [
        [f"`forward_dynamics`, {r['robot']}", f"{r['single_us']:.2f} us", f"{r['single_ratio']:.1f}×",
         f"{r['batch_ns']:.0f} ns", f"{r['batch_ratio']:.0f}×", "Pinocchio"]
        for r in forward
    ]  # fmt: skip
    rows.append(
        ["a step of the Mini Cheetah on its feet", f"{feet['single_us']:.2f} us", f"{feet['single_ratio']:.1f}×",
         f"{feet['batch_ns']:.0f} ns", f"{feet['batch_ratio']:.0f}×", "MuJoCo"]
    )  # fmt: skip
    return table(["", "one call", "ratio", "in a batch, per core", "ratio", "against"], rows)


def worlds(result: dict[str, Any]) -> str:
    """Markdown: scenes in which things touch each other, what was asked and what was found."""

    def figure(x: Any) -> str:
        return "–" if x is None else f"{x:.3g}" if isinstance(x, float) else str(x)

    verdicts = {True: "holds", False: "**does not hold**", None: ""}
    rows = [
        [r["name"], r["asked"] or "–", figure(r["got"]), figure(r["mujoco"]), verdicts[r["holds"]]]
        for r in result["rows"]
    ]
    return table(["scene", "asked", "featherweight", "MuJoCo", ""], rows)


def write_between_marks(path: Path, text: str, begin: str = BEGIN, end: str = END) -> None:
    """Put generated text between the marks of a page."""
    page = path.read_text(encoding="utf-8")
    before, after = page[: page.index(begin) + len(begin)], page[page.index(end) :]
    path.write_text(f"{before}\n{text}\n{after}", encoding="utf-8")


def main() -> None:
    """Write the newest measurements into the README, its chart, and the pages about speed and reliability."""
    import chart
    import reliability

    here = Path(__file__).parent
    newest = max((here / "results").glob("*-dynamics.json"))
    result = json.loads(newest.read_text(encoding="utf-8"))
    m = result["machine"]
    where = f"Measured {result['date'][:10]} on {m['cpu']}, {m['lanes']} lanes, {m['cores']} cores"
    versions = (
        f"Python {m['python']}, NumPy {m['numpy']}, {m['llvm']}, Pinocchio {m['pinocchio']}, MuJoCo {m['mujoco']}. "
        f"Repeat with `make bench`; raw data in `benchmarks/results/{newest.name}`."
    )
    write_between_marks(here.parent / "README.md", f"{in_few_words(result)}\n\n{where}.")
    write_between_marks(here.parent / "docs" / "benchmarks.md", f"{where}; {versions}\n\n{tables(result)}")
    if found := sorted((here / "results").glob("*-worlds.json")):
        other = json.loads(found[-1].read_text(encoding="utf-8"))
        told = f"Measured {other['date'][:10]}, MuJoCo {other['mujoco']}; `make worlds`, `{found[-1].name}`."
        marks = "<!-- worlds: begin -->", "<!-- worlds: end -->"
        write_between_marks(here.parent / "docs" / "benchmarks.md", f"{told}\n\n{worlds(other)}", *marks)
    chart.write(here.parent / "docs" / "pictures" / "speed.svg", result)
    reliability.write()
    print(f"README.md, docs/benchmarks.md: from {newest.name}; {reliability.PAGE.name}: from the newest of each kind")


if __name__ == "__main__":
    main()
