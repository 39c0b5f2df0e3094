"""Energy error over step size and chain length: a sweep for each, as the step and the robot are fixed in one.

`python examples/energy_sweep.py [LANES]`: medians over random states, half a second each.
"""

import sys
import tempfile

import numpy as np

import featherweight as fw

LINKS, STEPS = (1, 2, 4, 8), (1e-3, 2e-3, 4e-3, 8e-3)  # of a chain; [s]
DURATION, SAMPLES = 0.512, 16


def sample(rng, n, links):
    """Chains that stand anyhow, at rest."""
    return rng.uniform(-1.0, 1.0, (n, int(links))), np.zeros(int(links))


def reduce(run):
    """The largest error of the energy, as a part of what it could change by."""
    energy, potential = run.energy(), run.energies()[1]
    return {"error": np.abs(energy - energy[:, :1]).max(axis=1) / np.ptp(potential, axis=1)}


def main():
    lanes = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    print("median energy error", *(f"dt = {dt:g} s" for dt in STEPS), sep="  ")
    with tempfile.TemporaryDirectory() as folder:
        for links in LINKS:
            errors = []
            for dt in STEPS:
                steps = round(DURATION / dt)
                found = fw.sweep(
                    fw.robots.chain(links), f"{folder}/{links}-{dt}.zarr", lanes=lanes, seed=0, steps=steps, dt=dt,
                    sample=sample, given={"links": links}, reduce=reduce, record_every=steps // SAMPLES, progress=False,
                )  # fmt: skip
                errors.append(np.nanmedian(found["error"]))
            print(f"{links} links", *(f"{error:.2e}" for error in errors), sep="  ")


if __name__ == "__main__":
    main()
