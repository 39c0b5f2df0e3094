"""Where the panels of a figure stand when it is written: found from the lengths of their labels.

Matplotlib's own layouts draw everything once to measure it and once more to write it: half of the time of a report.
"""

from __future__ import annotations

import os
import re
from typing import IO, Any

from featherweight.extras import needed

POINT = 1 / 72  # [inch]
TICK = 7 * POINT  # a tick and the room between it and its label
PAD = 4 * POINT
LETTER = 0.66  # width of a letter in a legend, in its height


def save(figure: Any, path: str | os.PathLike[str] | IO[bytes], *, dpi: int, **options: Any) -> None:
    """Write a figure of panels; whoever goes on with it has matplotlib's layout, which makes room for what is added."""
    matplotlib = needed("matplotlib", "plot", "plots need")
    with matplotlib.rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)  # none but what these say
    _arrange(figure, matplotlib.rcParams["font.size"] * POINT)
    figure.savefig(path, dpi=dpi, **options)
    figure.set_layout_engine("constrained")


def _arrange(figure: Any, letter: float) -> None:
    """Equal panels with room for titles and labels, for letters of this height [inch]."""
    width, height = figure.get_size_inches()
    rows, columns = figure.axes[0].get_subplotspec().get_gridspec().get_geometry()
    left = TICK + PAD + 0.65 * letter * max(_longest(axes.yaxis) for axes in figure.axes)
    half_label = 0.65 * letter * max(_longest(axes.xaxis) for axes in figure.axes) / 2
    right = PAD + max(half_label, *(_beside(axes) for axes in figure.axes))
    powers = [bool(axes.yaxis.get_major_formatter().get_offset()) for axes in figure.axes]  # of ten, under the titles
    above, below = (3.3 if any(powers) else 1.9) * letter, TICK + PAD + 2.35 * letter
    tall = height / rows - above - below
    figure.subplots_adjust(top=1 - above / height, bottom=below / height, hspace=(above + below) / tall)
    wide = width / columns - left - right
    figure.subplots_adjust(left=left / width, right=1 - right / width, wspace=(left + right) / wide)
    for axes, power in zip(figure.axes, powers, strict=True):  # as matplotlib would place them, without measuring
        axes.xaxis.set_label_coords(0.5, -(TICK + PAD + letter) / tall)
        axes.yaxis.set_label_coords(-left / wide, 0.5)
        if not power:
            axes.set_title(axes.get_title(loc="left"), loc="left", fontsize=10, y=1.0)


def _beside(axes: Any) -> float:
    """Width of the legend on the right of a panel [inch]."""
    texts = [] if axes.get_legend() is None else axes.get_legend().get_texts()
    return max((LETTER * text.get_fontsize() * POINT * (len(text.get_text()) + 4) for text in texts), default=0.0)


def _longest(axis: Any) -> int:
    """Letters of an axis' longest label."""
    labels = axis.get_major_formatter().format_ticks(axis.get_majorticklocs())
    return max((len(re.sub(r"\\mathdefault|[${}^]", "", label)) for label in labels), default=0)
