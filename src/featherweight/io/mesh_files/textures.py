"""Textures: each triangle gets the colour that the picture on it has at its middle."""

from __future__ import annotations

import importlib
import io

import numpy as np

ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".tga", ".tif", ".tiff")
SIDE = 128  # pixels that a picture is reduced to: each is the mean of a piece
MOST_PIXELS = 50_000_000


def texture(data: bytes | None) -> np.ndarray | None:
    """Pixels (height, width, 3) of a picture, from 0 to 1, reduced; None if it cannot be read, or without Pillow."""
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
    """Colours (m, 3) of triangles by their texture coordinates (m, 3, 2), from the lower left corner of the picture.

    Coordinates beyond 0 to 1 repeat it.
    """
    height, width = image.shape[:2]
    middle = np.nan_to_num(places.mean(axis=1))
    column = np.floor(middle[:, 0] % 1.0 * width).astype(int).clip(0, width - 1)
    row = np.floor((1.0 - middle[:, 1]) % 1.0 * height).astype(int).clip(0, height - 1)
    return image[row, column]
