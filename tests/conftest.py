"""Tests keep their compiled code in a folder of their own: they neither read nor fill the user's cache.

Nor do they wait for what is the same again and again: processes that they start find the bytecode of this package,
Python looks for garbage now and then and not in all the modules that were imported, memory is not handed back to the
system between two small arrays, and no threads of BLAS spin at the start of each process. Files that take long begin
first.
"""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import tempfile
from collections.abc import Generator

import pytest

# Files that take four seconds and more, the longest first: with `--no-loadscope-reorder` workers take files in the
# order of this list, and none begins a long one when all others are done. A file that is not here is run all the same,
# later.
LONG = (
    "tests/docs/test_readme.py",
    "tests/peers/test_all_robots.py",
    "tests/contact/test_pairs_laws.py",
    "tests/viewer/test_interactive_browser.py",
    "tests/variational/test_variational_motion.py",
    "tests/simulation/test_linearize.py",
    "tests/peers/test_joint_kinds.py",
    "tests/variational/test_variational_search.py",
    "tests/viewer/test_browser.py",
    "tests/dynamics/test_keys.py",
    "tests/control/test_ragdoll.py",
    "tests/peers/test_pinocchio.py",
    "tests/contact/test_pairs_closed_forms.py",
    "tests/cli/test_runs.py",
    "tests/guards/test_pickling.py",
    "tests/simulation/test_stepper.py",
    "tests/laws/test_ways_to_compute.py",
    "tests/control/test_numbers_are_inputs.py",
    "tests/compiler/test_parts.py",
    "tests/collision/test_pairs.py",
    "tests/experiments/test_worlds_experiments.py",
    "tests/guards/test_hostile_names.py",
    "tests/simulation/test_gyroscopic.py",
    "tests/simulation/test_rollout_gradient.py",
    "tests/dynamics/test_derivatives.py",
    "tests/equations/test_derivations.py",
    "tests/notebooks/test_example_notebooks.py",
    "tests/control/test_trot.py",
    "tests/compiler/test_cache.py",
    "tests/cli/test_second_file.py",
    "tests/campaigns/test_kills.py",
    "tests/contact/test_dry_friction.py",
    "tests/contact/test_limits.py",
    "tests/campaigns/test_show_lane.py",
    "tests/variational/test_variational_forces.py",
    "tests/io/test_fuzz.py",
    "tests/simulation/test_interrupt.py",
    "tests/simulation/test_prepared.py",
    "tests/guards/test_systems.py",
    "tests/compiler/test_cross_emission.py",
    "tests/contact/test_laws.py",
    "tests/functions/test_derivative_misuse.py",
    "tests/control/test_balance.py",
    "tests/contact/test_search.py",
    "tests/compiler/test_same_bits.py",
    "tests/simulation/test_linearize_options.py",
    "tests/contact/test_mimic.py",
    "tests/recording/test_recording_faults.py",
    "tests/compiler/test_threads.py",
    "tests/spatial/test_groups.py",
    "tests/control/test_quadrupeds_of_files.py",
)

if "PYTEST_XDIST_WORKER" not in os.environ:  # workers share the folder of the process that started them
    _folder = tempfile.mkdtemp(prefix="featherweight-tests-")
    os.environ["FEATHERWEIGHT_CACHE"] = _folder
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)
    # read when a process starts: by the workers, and by the processes that tests start
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no array here is large enough for more
    os.environ.setdefault("MALLOC_TRIM_THRESHOLD_", str(1 << 30))
    os.environ.setdefault("MALLOC_MMAP_THRESHOLD_", str(1 << 25))  # the most that is allowed
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
gc.set_threshold(50_000, 20, 1000)  # until all is collected: modules that are imported are no garbage


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """`-n auto`: one more than there are cores. Some tests wait for a browser, a clock, the end of a process; meanwhile
    others go on."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return 1 + (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {path: place for place, path in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.nodeid.split("::")[0], len(LONG)))


def pytest_collection_finish() -> None:
    gc.set_threshold(50_000, 20, 20)
    set_aside()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """What the tests of a file leave behind is set aside when the last of them is done."""
    result = yield
    if nextitem is not None and nextitem.path != item.path:
        set_aside()
    return result


def set_aside() -> None:
    """No later collection looks at what there is now: modules, items, models of the files that are done. Tests that
    collect garbage themselves would wait half a second each time."""
    gc.collect()
    gc.freeze()
