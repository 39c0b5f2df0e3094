"""A page about a run, or several that are compared: numbers, a moving picture, curves to be zoomed. One HTML file."""

from __future__ import annotations

import base64
import html
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from featherweight.endings import PAGE, check_ending
from featherweight.plot import movie
from featherweight.plot.zoomable import STYLE, plots, script, style
from featherweight.report.summary import Line, summary
from featherweight.simulation import Trajectory
from featherweight.visuals.panels import Lane

OWN_STYLE = """
  table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto }
  td, th { padding: .3rem .9rem .3rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line) }
  img { max-width: 100%; border-radius: 6px } h2 { font-size: 1.2rem; margin-top: 2rem }
  footer { opacity: .7; margin-top: 3rem }
"""
MOST_SAMPLES = 2000  # of a curve on the page


def write_report(
    runs: Mapping[str, Trajectory],
    path: str | os.PathLike[str],
    *,
    title: str,
    seconds: Mapping[str, float | None] | None = None,
    notes: Sequence[str] = (),
    links: Mapping[str, str] | None = None,
    speed: float = 1.0,
    rate: float = 20.0,
) -> None:
    """Write a page about runs, by name; those of one page are shown side by side.

    Args:
        runs: trajectories of one robot each, by the names that stand above them.
        path: the HTML file, a name that ends in .html.
        title: of the page.
        seconds: how long each took to compute.
        notes: paragraphs under the title.
        links: further pages, by what to call them.
        speed: of the moving picture; 0.3 is slow motion.
        rate: its pictures a second.
    """
    check_ending("path", path, PAGE)
    for to in (links or {}).values():
        if urlsplit(to).scheme not in ("", "file", "http", "https"):
            raise ValueError(f"links: expected a file or an address, got {to!r}")
    told = {name: summary(run, seconds=(seconds or {}).get(name)) for name, run in runs.items()}
    parts = [f"<h1>{html.escape(title)}</h1>", *(f"<p>{html.escape(note)}</p>" for note in notes)]
    parts.append(_image(_gif(runs, speed, rate), "gif", "the robot in motion"))
    parts += [f'<p><a href="{html.escape(to)}">{html.escape(name)}</a></p>' for name, to in (links or {}).items()]
    parts.append(_table(told))
    for name, run in runs.items():
        parts += [f"<h2>{html.escape(name)}</h2>", plots(Lane(run, 0, MOST_SAMPLES))]
    parts.append("<footer>Written by featherweight.</footer>")
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{STYLE}{OWN_STYLE}{style()}</style>"
    )
    Path(path).write_text(f"{page}{''.join(parts)}<script>{script()}</script></html>\n", encoding="utf-8")


def _table(told: Mapping[str, list[Line]]) -> str:
    """Numbers in rows, runs in columns."""
    titles = list(dict.fromkeys(line.title for lines in told.values() for line in lines if line.title))
    texts = {name: {line.title: line.text for line in lines if line.title} for name, lines in told.items()}
    head = "".join(f"<th>{html.escape(name)}</th>" for name in told)
    rows = "".join(
        f"<tr><td>{html.escape(title)}</td>"
        + "".join(f"<td>{html.escape(text.get(title, '–'))}</td>" for text in texts.values())
        + "</tr>"
        for title in titles
    )
    return f"<table><tr><th></th>{head}</tr>{rows}</table>"


def _gif(runs: Mapping[str, Trajectory], speed: float, rate: float) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "motion.gif"
        movie(list(runs.values()), path, labels=list(runs), speed=speed, rate=rate, size=(440, 330))
        return path.read_bytes()


def _image(data: bytes, kind: str, text: str) -> str:
    return f'<img alt="{html.escape(text)}" src="data:image/{kind};base64,{base64.b64encode(data).decode()}">'
