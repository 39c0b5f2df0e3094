"""Run by bench.py in a new process: seconds to import featherweight and for its first call."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

start = time.perf_counter()
import featherweight as fw  # noqa: E402

imported = time.perf_counter()

import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))


def main() -> None:
    what = sys.argv[1]
    if what.startswith("chain"):
        model = fw.robots.chain(int(what.removeprefix("chain")))
    else:
        from peers.pinocchio_adapter import robot

        model = robot(what, "free")
    q, v = model.neutral(), np.zeros(model.nv)
    begin = time.perf_counter()
    fw.forward_dynamics(model, q, v, v)
    print(json.dumps({"import_s": imported - start, "first_call_s": time.perf_counter() - begin}))


main()
