"""A sweep on a Dask cluster: workers run a study's text and a traced step, and die of nothing but themselves."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import featherweight as fw
from campaigns import falling
from featherweight.campaigns import manifest as manifests
from featherweight.campaigns import on_cluster, worker

distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask's own


@pytest.fixture(scope="module")
def cluster():
    """Two processes; one death is enough to suspect a chunk."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
    ):
        yield cluster


def test_a_cluster_gives_the_bits_of_threads(cluster, tmp_path, capsys):
    expected = fw.sweep(falling.model, tmp_path / "threads.zarr", **falling.study())
    address = cluster.scheduler_address
    found = fw.sweep(falling.model, tmp_path / "a.zarr", **falling.study(scheduler=address, progress=True))
    assert found.complete
    assert all(np.array_equal(found[name], expected[name]) for name in expected.names)
    assert f"scheduler {address}" in capsys.readouterr().err
    with distributed.Client(cluster) as client:  # what one process began goes on elsewhere
        half = fw.sweep(falling.model, tmp_path / "b.zarr", **falling.study(part=(0, 2)))
        assert not half.complete
        assert fw.sweep(falling.model, half.path, **falling.study(scheduler=client)).complete
    assert all(np.array_equal(half[name], expected[name]) for name in expected.names)


def test_a_chunk_that_kills_its_worker_is_named_and_the_rest_goes_on(cluster, tmp_path, monkeypatch):
    text = Path(falling.__file__).read_text()
    deadly = text.replace("def reduce(run):\n", "def reduce(run):\n    if len(run.q) == 6:\n        os._exit(9)\n")
    (tmp_path / "deadly.py").write_text(f"import os\n{deadly}")
    monkeypatch.syspath_prepend(tmp_path)
    import deadly

    found = fw.sweep(deadly.model, tmp_path / "a.zarr", **deadly.study(scheduler=cluster.scheduler_address))
    assert found.aside == {4: "it kills its worker: 1 have died of it"}
    assert found.summary()["chunks_done"] == 4


def test_a_scheduler_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(on_cluster, "CONNECTING", 0.5)
    with pytest.raises(RuntimeError, match=r"scheduler: none answers at tcp://127.0.0.1:9"):
        fw.sweep(falling.model, tmp_path / "a.zarr", **falling.study(scheduler="tcp://127.0.0.1:9"))
    with pytest.raises(TypeError, match="scheduler: expected an address or a Dask client, got int"):
        fw.sweep(falling.model, tmp_path / "a.zarr", **falling.study(scheduler=3))


# ---- what a worker does, in this process


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """A sweep of which one part of four is done."""
    monkeypatch.setattr(worker, "_known", {})
    return fw.sweep(falling.model, tmp_path / "begun.zarr", **falling.study(part=(0, 4)))


def test_a_worker_traces_nothing_and_sends_counts_alone(begun, monkeypatch):
    from featherweight.simulation import step

    monkeypatch.setattr(step, "one_step", None)
    assert worker.prepare(str(begun.path), begun.digest) == ""
    with fw.threads(3):
        (row,) = worker.run(str(begun.path), begun.digest, [1])
        assert fw.thread_count() == 3  # as before, for whoever shares the process
    assert row[:3] == (1, 16, 0)
    assert all(isinstance(x, (int, float, str)) for x in row)
    assert begun.summary()["chunks_done"] == 3  # chunks 0 and 4 were the part's


def stopped(begun):
    (row,) = worker.run(str(begun.path), begun.digest, [1, 2])
    outcome = worker.Outcome(*row)
    assert outcome.stops
    assert outcome.error.startswith("worker on ")
    return outcome.error


def test_a_worker_with_another_version_refuses(begun, monkeypatch):
    monkeypatch.setattr(manifests, "library", lambda: {"featherweight": "9.9", "numpy": "2.0", "text": "abc"})
    assert "OtherLibrary: the sweep began with featherweight" in stopped(begun)


def test_a_worker_that_does_not_see_the_folder_says_so(begun):
    begun.path = begun.path.with_name("elsewhere.zarr")
    assert "must be on a file system that all workers share" in stopped(begun)


def test_numbers_that_the_text_does_not_have_are_noticed_by_workers(tmp_path, monkeypatch):
    monkeypatch.setattr(falling, "WIDTH", 0.9)
    begun = fw.sweep(falling.model, tmp_path / "begun.zarr", **falling.study(part=(0, 4)))
    assert "sample, reduce: are not the same here as where the sweep began" in stopped(begun)
    with pytest.raises(ValueError, match="sample, reduce: are not the same here"):
        fw.Sweep(begun.path).lane(0)


def test_threads_of_a_worker_may_open_sweeps_at_once(monkeypatch):
    class Emptied(dict):
        """Another thread empties it after it was counted."""

        def __len__(self):
            return worker.MOST_KEPT

    monkeypatch.setattr(worker, "_known", Emptied())
    monkeypatch.setattr(worker, "read", lambda path: SimpleNamespace(digest=path), raising=False)
    for k in range(9):
        worker.opened(str(k), str(k))
    assert [*worker._known.keys()] == [(str(k), str(k)) for k in range(9)[-worker.MOST_KEPT :]]


def test_a_study_whose_file_starts_sweeps_when_it_is_read_is_told_so():
    from featherweight.campaigns.study import loaded

    text = "import featherweight as fw\nfw.sweep(None, 'a', lanes=1, seed=1, steps=1, dt=1, sample=None)\n"
    with pytest.raises(RuntimeError, match="put it under `if __name__ == '__main__':`"):
        loaded(text)
