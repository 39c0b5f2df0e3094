"""The record of a simulation."""

from __future__ import annotations

import enum
import json
import os
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from featherweight.dynamics import kinetic_energy, potential_energy
from featherweight.model import Model

FORMAT = "featherweight trajectory"


class Status(enum.IntEnum):
    """How a lane of a simulation ended."""

    OK = 0
    NOT_CONVERGED = 1
    DIVERGED = 2
    BAD_CONTROL = 3
    BAD_INPUT = 4


@dataclass(frozen=True, eq=False)
class Trajectory:
    """K + 1 states and the K intervals between them; batch axes first.

    `t` (K+1,) [s]; `q` (…, K+1, nq); `v` (…, K+1, nv); `tau` (…, K, nv), the forces at the beginning of each interval;
    `contact_force` (…, K, nc, 3) [N] in world axes; `status` and `failed_step` (…): where a lane failed, its rows from
    that step on are NaN, and `failed_step` is -1 where it did not.
    """

    model: Model | None
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    contact_force: np.ndarray
    status: np.ndarray
    failed_step: np.ndarray
    complete: bool = True  # False if the run was interrupted

    def energy(self) -> np.ndarray:
        """Kinetic and potential energy [J] of every state, shape (…, K+1); NaN where a lane had failed."""
        if self.model is None:
            raise ValueError("energy: this trajectory was loaded without its model; Trajectory.load(path, model=…)")
        good = np.isfinite(self.q).all(axis=-1) & np.isfinite(self.v).all(axis=-1)
        energy = np.full(good.shape, np.nan)
        q, v = self.q[good], self.v[good]
        energy[good] = kinetic_energy(self.model, q, v) + potential_energy(self.model, q)
        return energy

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a file (NumPy's npz, no pickle), whole or not at all."""
        target = Path(path)
        temporary = target.with_name(f".{target.name}.{os.getpid()}.npz")
        facts = json.dumps(
            {"format": "featherweight trajectory", "version": 1, "model": getattr(self.model, "name", "")}
        )
        try:
            arrays: dict[str, Any] = {"facts": np.frombuffer(facts.encode(), dtype=np.uint8), **self._arrays()}
            np.savez(temporary, **arrays)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)

    def _arrays(self) -> dict[str, np.ndarray]:
        names = ("t", "q", "v", "tau", "contact_force", "status", "failed_step")
        return {name: getattr(self, name) for name in names}

    @staticmethod
    def load(path: str | os.PathLike[str], *, model: Model | None = None) -> Trajectory:
        """Read what `save` wrote; with the model, `energy` works too."""
        try:
            with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
                facts = json.loads(bytes(file["facts"]).decode())
                arrays: dict[str, Any] = {name: file[name] for name in file.files if name != "facts"}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise ValueError(f"{path}: not a trajectory of featherweight ({error})") from None
        if facts.get("format") != FORMAT or facts.get("version") != 1:
            raise ValueError(f"{path}: expected a trajectory of version 1, got {facts}")
        return Trajectory(model, **arrays)

    def __repr__(self) -> str:
        bad = int(np.count_nonzero(self.status))
        lanes = f"{self.status.size} lanes, {bad} failed, " if self.status.ndim else ""
        return f"<Trajectory: {lanes}{len(self.t)} states, {self.t[-1]:g} s>"
