"""The chart of the README: how many times as fast as the peers, as an SVG file of a few kilobytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WIDTH, BAR, GAP, LEFT, RIGHT = 790, 18, 30, 360, 60
COLORS = {"Pinocchio": "#3b6fb6", "MuJoCo": "#c26d3a"}


def rows_of(result: dict[str, Any]) -> list[tuple[str, str, float]]:
    """What is shown: a label, the peer, and the ratio."""
    forward = {r["robot"]: r for r in result["robots"] if r["function"] == "forward_dynamics"}
    feet = next(r for r in result["contact"] if r["points"] == "feet")
    return [
        *((f"forward dynamics, {robot}, one call", "Pinocchio", r["single_ratio"]) for robot, r in forward.items()),
        *((f"forward dynamics, {robot}, batch, a core", "Pinocchio", r["batch_ratio"]) for robot, r in forward.items()),
        ("step on four feet, one robot", "MuJoCo", feet["single_ratio"]),
        ("step on four feet, batch, a core", "MuJoCo", feet["batch_ratio"]),
    ]


def draw(rows: list[tuple[str, str, float]]) -> str:
    """Bars from 1, the peer's own speed."""
    scale = (WIDTH - LEFT - RIGHT) / max(ratio for *_, ratio in rows)
    height = GAP * len(rows) + 46
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="13" role="img">',
        "<title>Times as fast as Pinocchio and MuJoCo</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    x = LEFT
    for peer, color in COLORS.items():
        lines += [
            f'<rect x="{x}" y="10" width="12" height="12" fill="{color}"/>',
            f'<text x="{x + 18}" y="21" fill="#333333">times as fast as {peer}</text>',
        ]
        x += 190
    for k, (label, peer, ratio) in enumerate(rows):
        y = 36 + GAP * k
        lines += [
            f'<text x="{LEFT - 10}" y="{y + 14}" text-anchor="end" fill="#333333">{label}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{scale * ratio:.1f}" height="{BAR}" rx="2" fill="{COLORS[peer]}"/>',
            f'<text x="{LEFT + scale * ratio + 6:.1f}" y="{y + 14}" fill="#333333">{ratio:.1f}×</text>',
        ]
    lines.append(f'<line x1="{LEFT}" y1="30" x2="{LEFT}" y2="{height - 10}" stroke="#999999"/>')
    return "\n".join([*lines, "</svg>\n"])


def write(path: Path, result: dict[str, Any]) -> None:
    path.write_text(draw(rows_of(result)), encoding="utf-8")
