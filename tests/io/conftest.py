"""The tables are imported by their names: a folder called io cannot be a package beside Python's own."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))
