"""Evolution strategy over a sweep: gains that bring a two-link arm upright, by the returns of random neighbours.

Each generation is a sweep: its lanes are perturbed gains, in mirrored pairs, and the gradient of their mean return is
estimated from how they end (Salimans et al., "Evolution strategies as a scalable alternative to reinforcement
learning", 2017). `python examples/evolution.py [tcp://…]`: on threads, or on a Dask cluster.
"""

import sys
import tempfile

import numpy as np

import featherweight as fw

model = fw.robots.chain(2)
WIDTH, RATE, GENERATIONS, LANES = 0.5, 1.0, 15, 512


def pull(t, q, v, x, p):
    """PD whose gains are exp(p), and a cost that adds up in x."""
    tau = -np.exp(p[:2]) * q - np.exp(p[2:]) * v
    return tau, x + 1e-3 * (q @ q + 1e-5 * tau @ tau)


control = fw.compiled(pull, state=[0.0], parameters=np.zeros(4))


def sample(rng, n, mean, width):
    """Gains around the mean, mirrored; arms that hang a little to the side."""
    noise = rng.normal(size=(n // 2, 4))
    q = np.repeat(rng.uniform(-0.3, 0.3, (n // 2, 2)), 2, axis=0)
    return q, np.zeros(2), None, mean + width * np.stack([noise, -noise], axis=1).reshape(n, 4)


def reduce(run):
    """The cost of each lane, and what it would be if it had failed."""
    return {"cost": np.where(run.status == 0, run.x[:, -1, 0], 100.0)}


def main():
    scheduler, mean = (sys.argv[1:] or [None])[0], np.full(4, 1.0)
    with tempfile.TemporaryDirectory() as folder:
        for generation in range(GENERATIONS):
            found = fw.sweep(
                model, f"{folder}/{generation}.zarr", lanes=LANES, chunk=128, seed=generation, steps=1000, dt=1e-3,
                sample=sample, given={"mean": mean, "width": WIDTH}, control=control, reduce=reduce, progress=False,
                scheduler=scheduler,
            )  # fmt: skip
            cost, gains = found["cost"], found["control_parameters"]
            rank = np.argsort(np.argsort(-cost)) / (LANES - 1) - 0.5  # ranks: robust against arms that fell
            mean = mean + RATE / WIDTH * 12 / LANES * rank @ (gains - mean)
            print(f"generation {generation:2}: median cost {np.median(cost):.4f}", flush=True)
    print("gains", np.exp(mean).round(2))


if __name__ == "__main__":
    main()
