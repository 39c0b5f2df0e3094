"""Rasterisation with a depth buffer, in NumPy: rows of triangles, pixels of rows, the nearest of each pixel."""

from __future__ import annotations

import numpy as np

AT_ONCE = 2_000_000  # pixels of triangles: bounds the memory
Plane = tuple[np.ndarray, np.ndarray, np.ndarray]  # c, sx, sy of c + sx x + sy y, for each triangle


class DepthBuffer:
    """A picture that triangles are painted into, whatever their order: `nearness` (height, width) is 1 / distance."""

    def __init__(self, picture: np.ndarray) -> None:
        """`picture` (height, width, 3), from 0 to 255, is painted over."""
        self.picture = picture
        self.nearness: np.ndarray = np.zeros(picture.shape[:2])

    def paint(self, corners: np.ndarray, depth: np.ndarray, colors: np.ndarray, light: np.ndarray) -> None:
        """Triangles with corners (n, 3, 2) at these pixels and distances (n, 3), one colour each (n, 3), which the
        light (n, 3) at their corners is multiplied with."""
        height, width = self.nearness.shape
        top = np.clip(np.ceil(corners[..., 1].min(axis=1) - 0.5), 0, height).astype(int)
        bottom = np.clip(np.ceil(corners[..., 1].max(axis=1) - 0.5), 0, height).astype(int)
        use = np.flatnonzero((bottom > top) & (depth.min(axis=1) > 0))
        across = np.ptp(corners[use, :, 0], axis=1).clip(1, width)
        parts = np.cumsum((bottom - top)[use] * across) // AT_ONCE
        for part in np.unique(parts):
            self._paint(*(array[use[parts == part]] for array in (corners, depth, colors, light, top, bottom)))

    def _paint(
        self,
        corners: np.ndarray,
        depth: np.ndarray,
        colors: np.ndarray,
        light: np.ndarray,
        top: np.ndarray,
        bottom: np.ndarray,
    ) -> None:
        # rows of each triangle, and where on them it begins and ends
        triangle, y = _counted(top, bottom - top)
        a, b, c = np.swapaxes(corners, 0, 1)
        turn = np.sign(_cross(b - a, c - a))
        left, right = np.zeros(len(y)), np.full(len(y), float(self.nearness.shape[1]))
        for p, q in ((a, b), (b, c), (c, a)):
            run, rise = (q - p).T
            slope = run / np.where(rise == 0, np.inf, rise)
            x = (p[:, 0] - p[:, 1] * slope)[triangle] + (y + 0.5) * slope[triangle]
            np.copyto(left, np.maximum(left, x), where=(turn * rise < 0)[triangle])
            np.copyto(right, np.minimum(right, x), where=(turn * rise > 0)[triangle])
        begin, end = np.ceil(left - 0.5).astype(int), np.ceil(right - 0.5).astype(int)
        row, x = _counted(begin, np.maximum(end - begin, 0))
        place = (y * self.nearness.shape[1])[row] + x

        # what is linear over a triangle, along its rows
        near = _along(_plane(corners, 1.0 / depth), triangle, y, row, x)
        nearness = self.nearness.reshape(-1)
        np.maximum.at(nearness, place, near)
        seen = np.flatnonzero(near == nearness[place])
        row, x = row[seen], x[seen]
        shade = _along(_plane(corners, 255 * light), triangle, y, row, x)
        painted = np.clip(shade[:, None] * colors[triangle[row]], 0, 255)
        self.picture.reshape(-1, 3)[place[seen]] = painted.astype(np.uint8)


def _along(
    plane: tuple[np.ndarray, np.ndarray, np.ndarray],
    triangle: np.ndarray,
    y: np.ndarray,
    row: np.ndarray,
    x: np.ndarray,
) -> np.ndarray:
    """Values of planes of triangles at pixels x of rows, which are at y."""
    c, sx, sy = plane
    return (c[triangle] + sy[triangle] * (y + 0.5) + 0.5 * sx[triangle])[row] + sx[triangle][row] * x


def _counted(start: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each i as often as `count` says: i, and start, start + 1, …"""
    owner = np.repeat(np.arange(len(count)), count)
    before = np.cumsum(count) - count
    return owner, np.arange(len(owner)) - before[owner] + start[owner]


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def _plane(corners: np.ndarray, values: np.ndarray) -> Plane:
    """Through values (n, 3) at the corners (n, 3, 2)."""
    a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    u, v = values[:, 1] - values[:, 0], values[:, 2] - values[:, 0]
    area = _cross(a, b)
    area = np.where(area == 0, np.inf, area)
    sx, sy = (u * b[:, 1] - v * a[:, 1]) / area, (v * a[:, 0] - u * b[:, 0]) / area
    return values[:, 0] - sx * corners[:, 0, 0] - sy * corners[:, 0, 1], sx, sy
