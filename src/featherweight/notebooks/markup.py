"""Small pieces of HTML. Names come from files of others: they are text, whatever is in them."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable, Sequence
from typing import Any

from featherweight.texts import printable

CELL = "padding:1px 12px 1px 0;text-align:left;vertical-align:top"


def text(words: Any) -> str:
    """Words as HTML."""
    return html.escape(printable(str(words)))


def table(rows: Iterable[Sequence[Any]], head: Sequence[str] = ()) -> str:
    """Rows of words."""
    lines = [_row("th", head)] if head else []
    lines += [_row("td", row) for row in rows]
    return f'<table style="border-collapse:collapse;margin:4px 0">{"".join(lines)}</table>'


def _row(kind: str, words: Sequence[Any]) -> str:
    cells = [f'<{kind} style="{CELL}">{text(word)}</{kind}>' for word in words]
    return f"<tr>{''.join(cells)}</tr>"


def folded(title: str, inside: str) -> str:
    """What opens by a click."""
    return f"<details><summary>{text(title)}</summary>{inside}</details>"


def picture(image: Any, alternative: str) -> str:
    """A Pillow image inside of the page."""
    data = io.BytesIO()
    image.save(data, format="PNG")
    return png(data.getvalue(), image.width, alternative)


def png(data: bytes, width: int, alternative: str) -> str:
    """A PNG inside of the page, so wide [pixels] or as wide as there is room."""
    encoded = base64.b64encode(data).decode()
    style = f"width:{width}px;max-width:100%"
    return f'<img alt="{text(alternative)}" style="{style}" src="data:image/png;base64,{encoded}">'
