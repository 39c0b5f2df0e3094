"""Motions along one coordinate are known by their structure."""

from __future__ import annotations

import numpy as np
import pytest

from featherweight.spatial import Motion, Vector


@pytest.mark.parametrize("k", range(6))
@pytest.mark.parametrize("size", [1, -1.0, 0.3])
def test_a_motion_along_one_coordinate_knows_which(k: int, size: float) -> None:
    entries = [0, 0.0, 0, 0, 0.0, 0]
    entries[k] = size
    assert Motion(Vector(*entries[:3]), Vector(*entries[3:])).coordinate == k
    entries[(k + 2) % 6] = 1.0
    assert Motion(Vector(*entries[:3]), Vector(*entries[3:])).coordinate is None


def test_a_motion_of_unknown_numbers_or_none_is_along_no_coordinate() -> None:
    assert Motion.zero().coordinate is None
    assert Motion(Vector(np.ones(2), 0, 0), Vector(0, 0, 0)).coordinate is None
