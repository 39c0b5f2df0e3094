"""One lane of many in the viewer, in a real Chromium without a window. Skipped, with a word, where there is none."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import featherweight as fw

pytest.importorskip("viser")
Image = pytest.importorskip("PIL.Image")
from viewer.chromium import Page, found  # noqa: E402

model = fw.robots.double_pendulum()
LANES, CHUNK, STEPS, DT, LANE = 200_000, 1000, 300, 4e-3, 123_456
SLIDER = "document.querySelector('[role=slider]')"


def sample(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.uniform(-3.0, 3.0, (n, 2)), np.zeros(2)


def orange(page: Page) -> np.ndarray:
    """Where the second link is in the picture."""
    with Image.open(io.BytesIO(page.picture())) as picture:
        scene = np.asarray(picture.convert("RGB")).astype(int)
    return (scene[..., 0] - scene[..., 2] > 60) & (scene[..., 0] > 120)


def moved_to(page: Page, key: str, before: np.ndarray | None = None) -> np.ndarray:
    """The second link after the slider went to one of its ends, away from where it was."""
    page.value(f"{SLIDER}.focus()")
    page.press(key)
    for _ in range(100):
        mark = orange(page)
        if mark.sum() > 50 and (before is None or (mark & before).sum() < mark.sum() / 2):
            return mark
        page.value("new Promise(done => setTimeout(done, 100))")
    raise TimeoutError("the second link is not to be seen elsewhere")


@pytest.mark.skipif(found() is None, reason="there is no Chromium on this machine")
def test_one_lane_of_two_hundred_thousand_is_computed_again_and_shown(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"lanes": LANES, "chunk": CHUNK, "seed": 1, "steps": STEPS, "dt": DT, "sample": sample}
    part = (LANE // CHUNK, LANES // CHUNK)  # the chunk of this lane, and no other
    swept = fw.sweep(model, tmp_path / "a.zarr", **arguments, part=part, progress=False)
    run = swept.lane(LANE)
    assert len(run.q) == STEPS + 1
    assert np.array_equal(run.q[[0, -1]], swept["q"][LANE]), "to the bits it had among the others"
    with swept.show(LANE, block=False, browser=False) as viewer:
        viewer.content._pause(True)
        with Page(viewer.url, (620, 417)) as page:
            page.until(f"{SLIDER} != null", 60)
            first = moved_to(page, "Home")
            moved_to(page, "End", first)
            page.until(f"{SLIDER}.getAttribute('aria-valuenow') > {0.99 * STEPS * DT}")
            assert f"lane {LANE}" in page.value("document.body.innerText")
            assert not page.complaints
