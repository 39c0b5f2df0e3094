"""Trotting over friction and payload: which part of the robots is up after three seconds.

Friction is one number for all lanes of a sweep, so each row is a sweep of its own; nothing is compiled twice.
`python examples/trot_sweep.py [LANES]`, for example 512; the functions are those of `featherweight sweep payload`.
"""

import itertools
import sys
import tempfile

import numpy as np

import featherweight as fw
from featherweight.campaigns.studies import payload

FRICTIONS, MASSES = (0.2, 0.4, 0.6, 0.8), (1.0, 2.0, 4.0, 6.0, 8.0)  # masses in those of the robot's body


def main():
    lanes = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    body = payload.model.parameters["body.mass"].default
    print("up", *(f"{a:g} to {b:g} times its mass" for a, b in itertools.pairwise(MASSES)), sep="  ")
    with tempfile.TemporaryDirectory() as folder:
        for friction in FRICTIONS:
            found = fw.sweep(
                payload.model, f"{folder}/{friction}.zarr", lanes=lanes, seed=0, steps=payload.steps, dt=payload.dt,
                sample=payload.sample, control=payload.control, actuators=payload.actuators, reduce=payload.reduce,
                contact=fw.contact.Impulse(friction=friction), progress=False,
            )  # fmt: skip
            bins = np.digitize(found["body.mass"] / body, MASSES)
            up = [found["up"][bins == k].mean() if (bins == k).any() else np.nan for k in range(1, len(MASSES))]
            print(f"friction {friction:g}", *(f"{x:.0%}" for x in up), sep="  ", flush=True)


if __name__ == "__main__":
    main()
