"""The newest numbers of `measure.py` as a report with plots: docs/explanation/variational-experiments.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
PAGE = ROOT / "docs" / "explanation" / "variational-experiments.md"
COLORS = {"variational": "#00798c", "semi_implicit": "#d1495b", "rk4": "#edae49"}
NAMES = {"variational": "variational", "semi_implicit": "semi-implicit Euler", "rk4": "Runge-Kutta 4"}


def newest() -> dict[str, Any]:
    return json.loads(max((ROOT / "benchmarks" / "results").glob("*-variational.json")).read_text())


def save(name: str) -> None:
    plt.tight_layout()
    plt.savefig(PICTURES / f"variational-{name}.svg", metadata={"Date": None})
    plt.close()


def plot_energy(data: dict[str, Any]) -> None:
    plt.figure(figsize=(7, 3.2))
    for method in ("semi_implicit", "rk4", "variational"):
        error = [max(abs(x), 1e-12) for x in data[method]["error"]]
        plt.semilogy(data[method]["t"][1:], error[1:], ",", color=COLORS[method])
        plt.plot([], [], "s", color=COLORS[method], label=NAMES[method])
    plt.xlabel("time [s], a million steps of 1 ms")
    plt.ylabel("|E - E₀| / energy scale")
    plt.legend(loc="lower center", ncol=3, fontsize=8)
    save("energy")


def plot_search(data: dict[str, Any]) -> None:
    plt.figure(figsize=(6, 3.2))
    for name, color in (("riqn", "#00798c"), ("newton", "#d1495b"), ("broyden", "#edae49")):
        for guess, style in (("velocity", "-"), ("rest", "--")):
            errors = data[f"{name}, {guess}"]
            label = f"{name}, from {'h v' if guess == 'velocity' else 'rest'}"
            plt.semilogy(errors, style, marker=".", color=color, label=label)
    plt.xlabel("iteration")
    plt.ylabel("|e| [N m s]")
    plt.legend(fontsize=7)
    save("search")


def plot_lengths(data: dict[str, Any]) -> None:
    plt.figure(figsize=(6, 3.4))
    rows = data["rows"]
    plt.loglog(
        [r["links"] for r in rows], [r["semi_implicit_us"] for r in rows], ".-", color="#888", label="semi-implicit"
    )
    for name, color in (("default", "#00798c"), ("newton", "#d1495b")):
        plt.loglog(
            [r["links"] for r in rows], [r[name]["us"] for r in rows], ".-", color=color, label=f"variational, {name}"
        )
    plt.xlabel("links")
    plt.ylabel("time a step [µs]")
    plt.legend(fontsize=8)
    save("lengths")


def plot_precision(data: dict[str, Any]) -> None:
    plt.figure(figsize=(6, 3.4))
    for method, color in COLORS.items():
        rows = data[method]
        plt.loglog([r["ms"] for r in rows], [r["q"] for r in rows], ".-", color=color, label=NAMES[method])
    plt.xlabel("time spent [ms]")
    plt.ylabel("error of q after 1 s [rad]")
    plt.legend(fontsize=8)
    save("precision")


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def page(d: dict[str, Any]) -> str:
    energy, lengths, dense, robots = d["energy"], d["lengths"], d["dense"], d["robots"]
    methods = ("variational", "semi_implicit", "rk4")
    energies = table(
        ["method", "largest error", "trend over the run", "mean of the second half less the first"],
        [[NAMES[m], *(f"{energy[m][k]:.1e}" for k in ("largest", "trend", "second_half_less_first"))] for m in methods],
    )
    random = table(
        ["step [ms]", "steps", "trend: median size", "largest", "below 1e-6", "largest error, median"],
        [
            [
                f"{1e3 * r['dt']:g}", f"{r['steps']:.0e}", f"{r['median_trend']:.1e}", f"{r['largest_trend']:.1e}",
                f"{r['below_1e-6']} of 64", f"{r['median_swing']:.1e}",
            ]
            for r in d["states"]["rows"]
        ],
    )  # fmt: skip
    solved = table(
        ["links", "steps", "RIQN, iterations", "Newton, iterations", "default, iterations", "semi-implicit [µs]",
         "Newton [µs]", "default [µs]"],
        [
            [
                str(r["links"]), str(r["steps"]),
                *(f"{r[k]['iterations']:.1f}" if k in r else "–" for k in ("riqn", "newton", "default")),
                f"{r['semi_implicit_us']:.2f}", f"{r['newton']['us']:.2f}", f"{r['default']['us']:.2f}",
            ]
            for r in lengths["rows"]
        ],
    )  # fmt: skip
    failed = [
        f"{name} with {r['links']} links at step {r[name]['failed_step']}"
        for r in lengths["rows"]
        for name in ("riqn", "newton", "default")
        if name in r and r[name]["failed_step"] >= 0
    ]
    evaluated = table(
        ["links", "recursion [µs]", "coordinate by coordinate [µs]"],
        [[str(r["links"]), f"{r['drnea_us']:.3f}", f"{r['direct_us']:.3f}"] for r in d["evaluation"]["rows"]],
    )
    compared = table(
        ["robot", "semi-implicit [µs]", "variational [µs]", "ratio", "batch, semi-implicit [µs]",
         "batch, variational [µs]", "ratio", "one / batch, semi-implicit", "one / batch, variational", "iterations",
         "of a pack", "of the peak, one", "batch"],
        [
            [
                name, f"{r['semi_implicit']['one_us']:.2f}", f"{r['variational']['one_us']:.2f}", f"{r['ratio']:.2f}",
                f"{r['semi_implicit']['batch_us']:.3f}", f"{r['variational']['batch_us']:.3f}",
                f"{r['batch_ratio']:.2f}", *(f"{r[m]['batch_gain']:.1f}" for m in ("semi_implicit", "variational")),
                f"{r['iterations']:.2f}", f"{r['iterations_of_a_pack']:.2f}",
                *(f"{100 * r[f'{way}_of_peak']:.0f} %" for way in ("one", "batch")),
            ]
            for name, r in robots.items()
        ],
    )  # fmt: skip
    peaks = sum(r["peaks"] for r in robots.values()) / len(robots)
    ratios = ", ".join(f"{r['ratio']:.0f} at {r['ms']:.2f} ms" for r in d["precision"]["energy_ratio_at_equal_time"])
    slope, calm, short = lengths["slope"], d["linear"]["calm"], d["linear"]["short"]
    slopes = table(
        ["motion", "step [ms]", "default", "Newton", "semi-implicit"],
        [
            ["random rates at the joints", "1", f"{slope['default']:.2f}", f"{slope['newton']:.2f}", "–"],
            *(
                [name, f"{1e3 * r['dt']:g}", *(f"{r['slope'][k]:.2f}" for k in ("default", "newton", "semi_implicit"))]
                for name, r in (("the same", short), ("random rates against the world", calm))
            ),
        ],
    )
    few, many = (r["default"]["iterations"] for r in (calm["rows"][0], calm["rows"][-1]))
    kept = table(
        ["robot", "steps", "linear", "angular", "with a tolerance of 1e-7", "with Newton steps"],
        [
            [
                r["robot"], f"{r['steps']:.0e}", *(f"{r['default'][k]:.1e}" for k in ("linear", "angular")),
                *(", ".join(f"{r[way][k]:.1e}" for k in ("linear", "angular")) for way in ("1e-7", "newton")),
            ]
            for r in d["momentum"]["rows"]
        ],
    )  # fmt: skip
    flown = table(
        ["method", "mean square [J²]", "largest [J]", "time a step [µs]"],
        [
            [name, f"{r['mean_square_J2']:.1e}", f"{r['largest_J']:.1e}", f"{r['us']:.2f}"]
            for name, r in d["flight"]["rows"].items()
        ],
    )
    return f"""# Experiments with the variational integrator

Made by `make experiments`; measured on {d["date"]} on {d["machine"]}. Raw numbers are in `benchmarks/results/`.
The chain is that of the paper: links of 1.5 m and 1 kg, random angles and velocities of up to π/2.

## Energy over a million steps of 1 ms, ten links
As parts of {energy["scale_J"]:.0f} J, the potential energy of the upright chain.

{energies}

A pendulum released at the horizontal, as parts of m g L: at most {energy["pendulum"]["largest"]:.2e}, trend
{energy["pendulum"]["trend"]:.1e}.

![Energy](../pictures/variational-energy.svg)

The same from 64 random states, by the slope of a line through the error. It gets smaller the shorter the steps, as the
swing does, and the longer the run, where a drift would grow: a small sample of a swing, it seems.

{random}

## Momentum of robots that float
At most so much is lost of it, as a part of what there was at the beginning: of a floating body with a chain of six
balls, no gravity; and of quadrupeds that fall limply, less what their weight gave them. Angular momentum is that about
the centre of mass. In steps of 1 ms.

{kept}

## A quadruped in the air
ANYmal, 18 degrees of freedom, is pushed up with twice its weight for a second, its legs limp, and left to itself for
two, with {d["flight"]["rows"]["RK4"]["energy_J"]:.0f} J. The error of its energy from then on, in steps of 1 ms, by our
methods and those of MuJoCo {d["flight"]["mujoco"]}, all computed by the same function; and the time of a step of one
robot in native loops.

{flown}

## Residual against iteration, 50 links
![Residual](../pictures/variational-search.svg)

## Iterations and time against the number of links
Without gravity. RIQN (guess: dynamics) and Newton (guess: h v) at the paper's tolerance, 1e-9 N m s a link, but for
1000 links, where that is what rounding leaves and the tolerance is relative, 1e-12; "default" is relative throughout.
The time of a step includes its iterations, and grows with a power of the number of links, from 10 links on. In this
table the motion grows with the chain, too: 10 links hardly iterate, and those of 200 and more pull at each other so
that waves run along them, for which 1 ms is long. Steps of {1e3 * short["dt"]:g} ms are short for all of them (Newton
steps, which cannot use what is remembered, are one for 10 and 20 links and two for longer ones there). And with links
whose angles and rates against the world are in ±π/2, motion does not grow with the chain.

{slopes}

With these links and 1 ms, the default makes {few:.1f} iterations a step with 10 links and {many:.1f} with 1000.
{"Failed, and reported as such: " + "; ".join(failed) + "." if failed else "No step failed."}

{solved}

![Time a step](../pictures/variational-lengths.svg)

## The equations by recursion, and coordinate by coordinate
One of 4096 states in a call, on one core.

{evaluated}

## Against Newton steps with a dense Jacobian, 50 links
{dense["dense_newton_us"]:.0f} µs a step with the whole Jacobian ({dense["dense_newton_iterations"]:.1f} iterations;
compiled kernels, LAPACK, a loop in Python), {dense["riqn_us"]:.1f} µs by default ({dense["riqn_iterations"]:.1f}
iterations): {dense["dense_newton_us"] / dense["riqn_us"]:.0f} times as fast. The trajectories differ by
{dense["largest_difference"]:.0e}.

## Against semi-implicit Euler at the same step
The native loop alone, on one core: four robots one after the other, and 256 in a batch. A pack of robots
iterates as long as its slowest one, and what it needs with 50 links and more does not fit the first-level cache.
The last columns are operations a second, but for sines and cosines, over the most fused multiply-adds that one lane or
a pack can do; on this processor, a pack can do {peaks:.1f} times as many as one lane.

{compared}

## Work and precision, ten links, 1 s
At equal time spent, the energy error of semi-implicit Euler is larger by: {ratios}.

![Work and precision](../pictures/variational-precision.svg)

A method of fourth order is the better choice where motion is smooth; a variational one for long steps, and where energy
and momentum must not drift in very long runs: [which integrator](which-integrator.md)?
"""


def main() -> None:
    data = newest()
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    plot_energy(data["energy"])
    plot_search(data["search"])
    plot_lengths(data["lengths"])
    plot_precision(data["precision"])
    PAGE.write_text(page(data), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)} and pictures in {PICTURES.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
