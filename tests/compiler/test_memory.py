"""Memory of large results: used again when nobody has it, never while somebody does."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import featherweight as fw
from featherweight.compiler.runtime import memory

SHAPE = (1 << 20, 5)  # 40 MB


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_small_arrays_are_plain() -> None:
    assert memory.empty((3, 4)).flags.owndata


def test_memory_is_used_again_when_the_last_view_is_gone() -> None:
    first = memory.empty(SHAPE)
    place = address(first)
    part = first[7:9, 1:]
    part[...] = 3.0
    del first
    gc.collect()
    other = memory.empty(SHAPE)
    assert address(other) != place  # a part is still in use
    other[...] = 0.0
    assert (part == 3.0).all()
    del part
    again = memory.empty(SHAPE)
    assert address(again) == place


def test_not_more_than_a_little_is_kept() -> None:
    arrays = [memory.empty(SHAPE) for _ in range(12)]
    arrays.clear()
    assert sum(block.nbytes for block in memory._store._blocks.values()) <= memory.MOST


FORKS = """
import os, signal, sys, threading
from featherweight.compiler.runtime import memory
sys.setswitchinterval(1e-5)
stop = False

def busy():
    while not stop:
        memory.empty((1 << 22, 1))

others = [threading.Thread(target=busy) for _ in range(3)]
for other in others:
    other.start()
codes = set()
for _ in range(60):
    child = os.fork()
    if child == 0:
        signal.alarm(5)  # one that hangs is ended
        memory.empty((1 << 22, 1))
        os._exit(0)
    codes.add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop = True
for other in others:
    other.join()
print(codes)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_has_large_arrays_whatever_other_threads_did_at_the_fork() -> None:
    done = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "{0}\n"


def test_results_of_calls_side_by_side_do_not_share_memory() -> None:
    model = fw.robots.chain(40)
    q = np.zeros((3000, model.nq))
    q[:, 0] = np.arange(3000)
    right = fw.mass_matrix(model, q[:100])
    wrong: list[int] = []

    def work() -> None:
        kept = None
        for _ in range(6):
            result = fw.mass_matrix(model, q)
            if not np.array_equal(result[:100], right) or (kept is not None and not np.array_equal(kept[:100], right)):
                wrong.append(1)
            kept, result = result, None

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
