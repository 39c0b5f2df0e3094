"""Curves on a page: they are zoomed, switched on and off, and read, without a server or a network."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from featherweight.texts import printable
from featherweight.visuals.packed import PackedArrays, unpacker
from featherweight.visuals.panels import MOST_NAMES, Lane, Panel, most_moving, panels_of

ASSETS = Path(__file__).with_name("assets")
STYLE = """
  :root { color-scheme: light dark; --ink: #24292f; --paper: #fff; --line: #e4e6e9 }
  @media (prefers-color-scheme: dark) { :root { --ink: #dfe3e8; --paper: #1b1f24; --line: #343a42 } }
  body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 76rem;
    margin: 1.5rem auto; padding: 0 1rem }
  h1 { font-size: 1.6rem; line-height: 1.2 }
"""


def page_of(title: str, own: Lane, panels: Sequence[str] | None = None) -> str:
    """A whole page with the curves of one robot."""
    told = f"<p>{html.escape(printable(own.failure))}</p>" if own.failure else ""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(printable(title))}</title><style>{STYLE}{style()}</style>"
        f"<h1>{html.escape(printable(title))}</h1>{told}{plots(own, panels)}<script>{script()}</script></html>\n"
    )


def style() -> str:
    """What a page with plots needs as CSS,"""
    return (ASSETS / "plots.css").read_text("utf-8")


def script() -> str:
    """and as JavaScript, after all plots."""
    return unpacker() + (ASSETS / "plots.js").read_text("utf-8")


def plots(own: Lane, panels: Sequence[str] | None = None) -> str:
    """Panels of one robot as HTML, for a page that ends with the script."""
    numbers = PackedArrays()
    packed = numbers.packed([_panel(panel, own, numbers) for panel in panels_of(own, panels)])
    return f'<div class="plots" data-packed="{packed}"></div>'


def _panel(panel: Panel, own: Lane, numbers: PackedArrays) -> dict[str, Any]:
    shown, over_time = most_moving(panel, MOST_NAMES), panel.x_title.startswith("t")
    curves = [
        {
            "name": printable(curve.name),
            "y": numbers.add(curve.y),
            "off": k not in shown,
            **({} if over_time else {"x": numbers.add(curve.x)}),
        }
        for k, curve in enumerate(panel.curves)
    ]
    end = float(own.t[-1]) if len(own.t) > 1 else 1.0
    return {
        "title": panel.title,
        "x_title": panel.x_title,
        "over_time": over_time,
        "range": [float(own.t[0]), end],
        "scale": panel.scale,
        "linear_below": panel.linear_below,
        "x": numbers.add(panel.curves[0].x if panel.curves else np.zeros(0)),
        "curves": curves,
    }
