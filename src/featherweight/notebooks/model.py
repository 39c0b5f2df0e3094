"""A model in a notebook: a still picture, its tree, its joints with their limits."""

from __future__ import annotations

import os
import warnings

import numpy as np

from featherweight.compiler import interpret
from featherweight.model import Model
from featherweight.notebooks.markup import folded, picture, table, text
from featherweight.plot import still

SIZE = (320, 240)  # of the picture [pixels]
MOST_BYTES = 16_000_000  # of mesh files that are read for it
MOST_BODIES = 120  # of the tree


def model_html(model: Model) -> str:
    """One page of HTML; nothing is compiled for it, and large meshes are not read."""
    points, shapes = len(model.contact_points), len(model.geometry)
    facts = f"{model.nb} bodies, nq {model.nq}, nv {model.nv}"
    facts += "" if model.symbols else f", {model.mass:.4g} kg"
    facts += f", {points} contact points" * bool(points) + f", {shapes} shapes" * bool(shapes)
    parts = [f"<div><b>{text(model.name)}</b>: {text(facts)}</div>", _picture(model), folded("tree", _tree(model))]
    parts.append(folded("joints", _joints(model)))
    if model.notes:
        notes = "".join(f"<li>{text(note)}</li>" for note in model.notes[:MOST_BODIES])
        parts.append(folded(f"notes ({len(model.notes)})", f"<ul>{notes}</ul>"))
    return f"<div>{''.join(parts)}</div>"


def _picture(model: Model) -> str:
    """A still of the neutral configuration, if it can be had quickly."""
    if model.symbols or not model.nb:
        return ""
    meshes = {g.path for g in model.geometry if g.path is not None}
    if sum(os.path.getsize(path) for path in meshes if os.path.isfile(path)) > MOST_BYTES:
        return "<div><i>Its meshes are large: <code>fw.plot.still(model)</code> draws them.</i></div>"
    try:
        with interpret(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return f"<div>{picture(still(model, size=SIZE), model.name)}</div>"
    except ModuleNotFoundError as error:
        return f"<div><i>{text(error)}</i></div>"


def _tree(model: Model) -> str:
    """Bodies with mass and joint, each in a list of those it carries."""
    shown = set(range(1, min(model.nb, MOST_BODIES) + 1))
    lists: dict[int, list[str]] = {}
    for i in sorted(shown, reverse=True):  # leaves first
        joint = model.joints[i - 1]
        mass = "" if model.symbols else f", {float(model.inertias[i].m):.4g} kg"
        inside = f"<ul>{''.join(reversed(lists.pop(i)))}</ul>" if i in lists else ""
        carried = f"{joint.name}, {type(joint.kind).__name__}"
        item = f"<li><b>{text(model.names[i])}</b>{mass} – {text(carried)}{inside}</li>"
        lists.setdefault(model.parent[i], []).append(item)
    more = f"<div>… {model.nb - MOST_BODIES} more</div>" if model.nb > MOST_BODIES else ""
    return f"<ul>{''.join(reversed(lists.get(0, [])))}</ul>{more}"


def _joints(model: Model) -> str:
    rows = []
    for joint in model.joints[:MOST_BODIES]:
        limits = joint.limits
        free = np.isinf(limits.lower).all() and np.isinf(limits.upper).all()
        span = "–" if free else f"{_numbers(limits.lower)} … {_numbers(limits.upper)}"
        rows.append(
            (joint.name, type(joint.kind).__name__, _places(joint.q), _places(joint.v), span, _numbers(limits.effort))
        )
    return table(rows, ("joint", "kind", "q", "v", "limits [rad or m]", "effort [N m or N]"))


def _places(s: slice) -> str:
    return str(s.start) if s.stop - s.start == 1 else f"{s.start} … {s.stop - 1}"


def _numbers(values: object) -> str:
    """One number if they are all the same; – where there is no limit."""
    texts = dict.fromkeys("–" if np.isinf(x) else f"{x:.4g}" for x in np.ravel(np.asarray(values, dtype=float)))
    return " ".join(texts)
