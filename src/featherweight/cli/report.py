"""What the command line tells of a model, as plain data."""

from __future__ import annotations

import math
import time
from functools import partial
from typing import Any

import numpy as np

import featherweight as fw
from featherweight.model import Model

BATCH = 4096


def as_dict(model: Model) -> dict[str, Any]:
    """A model for JSON: sizes, bodies, joints, what was merged, notes."""
    bodies = [
        {
            "name": model.names[i],
            "parent": model.names[model.parent[i]],
            "joint": model.joints[i - 1].name,
            "mass": float(model.inertias[i].m),
        }
        for i in range(1, model.nb + 1)
    ]
    merged = [
        f"{part.link} -> {model.names[part.body]}"
        for part in model.parts
        if part.joint and part.link not in model.names
    ]
    summary = (
        f"{model.nb} bodies, nq {model.nq}, nv {model.nv}, {model.mass:.6g} kg, "
        f"{len(model.contact_points)} contact points, {len(model.geometry)} shapes"
    )
    return {
        "name": model.name,
        "summary": summary,
        "nq": model.nq,
        "nv": model.nv,
        "nb": model.nb,
        "mass": model.mass,
        "bodies": bodies,
        "joints": [_joint(j) for j in model.joints],
        "contact_points": [p.name for p in model.contact_points],
        "merged": merged,
        "notes": list(model.notes),
    }


def _joint(joint: Any) -> dict[str, Any]:
    def numbers(values: Any) -> list[float | None]:
        return [x if math.isfinite(x) else None for x in values]

    limits = joint.limits
    return {
        "name": joint.name,
        "kind": type(joint.kind).__name__,
        "q": [joint.q.start, joint.q.stop],
        "v": [joint.v.start, joint.v.stop],
        "lower": numbers(limits.lower),
        "upper": numbers(limits.upper),
        "velocity": numbers(limits.velocity),
        "effort": numbers(limits.effort),
        "armature": list(joint.armature),
        "damping": list(joint.damping),
        "friction": list(joint.friction),
    }


def body_line(model: Model, i: int) -> str:
    """A body in the tree."""
    joint = model.joints[i - 1]
    return f"{model.names[i]}  {float(model.inertias[i].m):.4g} kg  ({joint.name}: {type(joint.kind).__name__})"


def joint_rows(model: Model) -> list[list[str]]:
    """Joints as rows of text."""
    rows = []
    for joint in model.joints:
        limits = joint.limits
        columns = (limits.lower, limits.upper, limits.velocity, limits.effort, joint.damping, joint.friction)
        rows.append([joint.name, type(joint.kind).__name__, _span(joint.q), _span(joint.v), *map(_numbers, columns)])
    return rows


def _span(s: slice) -> str:
    return str(s.start) if s.stop - s.start == 1 else f"{s.start}…{s.stop - 1}"


def _numbers(values: Any) -> str:
    texts = ["–" if math.isinf(x) else f"{x:.4g}" for x in values]
    return texts[0] if len(set(texts)) == 1 else " ".join(texts)


def timings(model: Model) -> list[dict[str, Any]]:
    """Seconds a state of the main functions: one state, a batch on one core, a batch on all."""
    rng = np.random.default_rng(0)
    q = np.array([model.random(rng) for _ in range(BATCH)])
    v, x = rng.normal(size=(2, BATCH, model.nv))
    rows = []
    for function, arrays in (
        (fw.forward_kinematics, (q,)),
        (fw.inverse_dynamics, (q, v, x)),
        (fw.mass_matrix, (q,)),
        (fw.forward_dynamics, (q, v, x)),
    ):
        one = [a[0].copy() for a in arrays]
        row: dict[str, Any] = {
            "function": function.__name__,
            "single_s": _best(partial(function, model, *one), 300),
        }
        batch = partial(function, model, *arrays)
        with fw.threads(1):
            row["batch_s"] = _best(batch, 3) / BATCH
        row["threads_s"] = _best(batch, 3) / BATCH
        rows.append(row)
    return rows


def _best(f: Any, calls: int) -> float:
    f()
    best = math.inf
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(calls):
            f()
        best = min(best, (time.perf_counter() - start) / calls)
    return best


def seconds(t: float) -> str:
    """A time in a fitting unit."""
    return f"{1e9 * t:.0f} ns" if t < 1e-6 else f"{1e6 * t:.2f} us"
