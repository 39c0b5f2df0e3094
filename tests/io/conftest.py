"""The tables and the fuzzer are imported by their names: a folder called io cannot be a package beside Python's own."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parents[1] / "benchmarks")]
