"""42 public URDF files that lie beside the project, with a README that says what is special about each.

Those that Pinocchio does not load, with what it says; and those that only some bases can be let go with are found by
their mass matrices, not listed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "urdf"
FILES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.[uU][rR][dD][fF]"))
PINOCCHIO_REFUSES = {
    "drake/atlas/urdf/robotiq_tendons.urdf": "a limit without effort",
    "drake/pr2/pr2_description/urdf/pr2_simplified.urdf": "prismatic joints without limits",
    "oems/eveR3_halodi/eve_r3_description/urdf/eve_r3.urdf": "efforts of -1",
    "oems/xacro_generated/grippers_rethink_robotics/rethink_ee_description/urdf/pneumatic_gripper/"
    "rethink_pneumatic_gripper.urdf": "a parent link that is not there",
    "random/robot-assets/r2_description/robots/r2_left_gripper.urdf": "a link twice",
    "random/robot-assets/val_description/model/robots/imu_test.urdf": "no link, but for those that xacro would make",
}
# The last three are refused by us too: they are no trees.
NO_TREE = {path: PINOCCHIO_REFUSES[path] for path in list(PINOCCHIO_REFUSES)[3:]}
READ_BY_PINOCCHIO = [path for path in FILES if path not in PINOCCHIO_REFUSES]
TREES = [path for path in FILES if path not in NO_TREE]

needs_data = pytest.mark.skipif(not FILES, reason=f"the public URDF files are not in {FOLDER}")
