"""Colours that a picture, laid over a surface, gives to its triangles."""

from __future__ import annotations

import importlib
import io

import numpy as np

ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".tga", ".tif", ".tiff")
SIDE = 128  # pixels that a picture is reduced to: one of them is the mean of a piece
MOST_PIXELS = 50_000_000


def picture(data: bytes | None) -> np.ndarray | None:
    """A picture (height, width, 3), from 0 to 1, reduced; None if it cannot be read, or Pillow is not installed."""
    if data is None:
        return None
    try:
        with importlib.import_module("PIL.Image").open(io.BytesIO(data)) as image:
            if image.width * image.height > MOST_PIXELS:
                return None
            image.thumbnail((SIDE, SIDE))
            return np.asarray(image.convert("RGB"), dtype=float) / 255.0
    except Exception:  # no Pillow, or a reader of many formats with as many ways to fail
        return None


def colors_at(image: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Colours (m, 3) of triangles whose corners are at places (m, 3, 2) of a picture, from its lower left corner.

    Places beyond 0 to 1 repeat the picture.
    """
    height, width = image.shape[:2]
    middle = np.nan_to_num(places.mean(axis=1))
    column = np.floor(middle[:, 0] % 1.0 * width).astype(int).clip(0, width - 1)
    row = np.floor((1.0 - middle[:, 1]) % 1.0 * height).astype(int).clip(0, height - 1)
    return image[row, column]
