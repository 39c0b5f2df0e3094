"""A sweep on the threads of one machine: the same bits however it is cut, nothing lost, nothing computed twice."""

import errno
import hashlib
import json
import os
import signal

import numpy as np
import pytest

import featherweight as fw
from campaigns import falling
from featherweight.campaigns import manifest as manifests
from featherweight.campaigns import store as stores
from featherweight.campaigns import worker as workers
from featherweight.campaigns.chunks import drawn
from featherweight.campaigns.parts import part_of
from featherweight.campaigns.progress import SweepProgress
from featherweight.campaigns.study import functions_of
from featherweight.campaigns.worker import Outcome


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An undisturbed sweep."""
    return fw.sweep(falling.model, tmp_path_factory.mktemp("sweep") / "whole.zarr", **falling.study())


def same(a, b):
    """Equal to the bit."""
    return a.names == b.names and all(a[name].tobytes() == b[name].tobytes() for name in a.names)


def files(path, *, ending):
    return sorted(p for p in path.rglob("*") if p.is_file() and p.name.endswith(ending))


# ---- what it computes


def test_a_chunk_is_a_rollout_of_what_the_documented_generator_draws(whole):
    """Literal: Philox under the first 16 bytes of the digest, its counter's last word the number of the chunk."""
    key = np.frombuffer(bytes.fromhex(whole.digest)[:16], dtype="<u8")
    for number, n in ((0, 16), (4, 6)):
        rng = np.random.Generator(np.random.Philox(key=key, counter=[0, 0, 0, number]))
        q, v, parameters, p = falling.sample(rng, n)
        run = fw.rollout(
            falling.model, q, v, steps=40, dt=1e-3, record_every=20, parameters=parameters,
            control=falling.control.with_parameters(p),
        )  # fmt: skip
        own = slice(16 * number, 16 * number + n)
        assert np.array_equal(whole["last"][own], run.q[:, -1])
        assert np.array_equal(whole["speed"][own], np.abs(run.v).max(axis=2))
        assert np.array_equal(whole.parameters["fore.mass"][own], parameters["fore.mass"])
        assert np.array_equal(whole.parameters["control_parameters"][own], p)
    assert whole.complete
    assert not whole.status.any()
    assert list(whole.outcomes) == ["last", "speed", "still"]


def test_any_number_of_threads_and_any_order_give_the_same_bits(whole, tmp_path):
    with fw.threads(1):
        assert same(fw.sweep(falling.model, tmp_path / "one.zarr", **falling.study()), whole)
    for k in (2, 0, 1):
        part = fw.sweep(falling.model, tmp_path / "parts.zarr", **falling.study(part=(k, 3)))
        assert part.complete == (k == 1)
    assert same(part, whole)


def test_states_are_kept_where_nothing_reduces_them(tmp_path):
    arguments = falling.study(reduce=None, record_every=None)
    found = fw.sweep(falling.model, tmp_path / "states.zarr", **arguments)
    assert found["q"].shape == (70, 2, 2)
    assert np.array_equal(found.t, [0.0, 0.04])


def test_a_lane_is_computed_again_to_its_bits(whole):
    alone = fw.Sweep(whole.path)  # from its folder: the study's text is run
    for number in (0, 33, 69):
        run = alone.lane(number)
        assert len(run.t) == 41
        assert np.array_equal(run.q[-1], whole["last"][number])
        assert np.array_equal(run.parameters["fore.mass"], whole["fore.mass"][number])
    with pytest.raises(ValueError, match="lane: expected a number from 0 to 69"):
        alone.lane(70)


def test_given_arrays_are_arguments_of_sample_and_a_part_of_the_sweep(tmp_path):
    def around(rng, n, mean):
        return mean + rng.normal(size=(n, 2)), np.zeros(2)

    def sweep(mean):
        return fw.sweep(falling.model, tmp_path / "a.zarr", **falling.study(sample=around, given={"mean": mean}))

    first = sweep([0.1, 0.2])
    key = np.frombuffer(bytes.fromhex(first.digest)[:16], dtype="<u8")
    rng = np.random.Generator(np.random.Philox(key=key, counter=[0, 0, 0, 1]))
    assert np.array_equal(first.lane(20).q[0], np.array([0.1, 0.2]) + rng.normal(size=(16, 2))[4])
    assert np.array_equal(manifests.read(first.path, functions_of(around, None)).given["mean"], [0.1, 0.2])
    with pytest.raises(ValueError, match="what moves it, or what is given differ"):
        sweep([0.1, 0.3])
    with pytest.raises(TypeError, match="given: expected a dictionary of arrays"):
        fw.sweep(falling.model, tmp_path / "b.zarr", **falling.study(given=3))


def test_lanes_that_fail_are_marked_and_counted(tmp_path):
    def some_are_not_states(rng, n):
        q = rng.uniform(-1, 1, (n, 2))
        q[::5] = np.nan
        return q, np.zeros(2)

    found = fw.sweep(falling.model, tmp_path / "bad.zarr", **falling.study(sample=some_are_not_states))
    bad = np.concatenate([np.arange(n) % 5 == 0 for n in (16, 16, 16, 16, 6)])
    assert np.array_equal(found.status == fw.Status.BAD_INPUT, bad)
    assert found.summary()["lanes_failed"] == bad.sum()


def test_the_folder_opens_with_zarr_and_xarray(whole):
    zarr, xarray = pytest.importorskip("zarr"), pytest.importorskip("xarray")
    group = zarr.open_group(whole.path, mode="r")
    assert sorted(group.array_keys()) == sorted([*whole.names, "t"])
    with xarray.open_zarr(whole.path) as data:
        assert data["speed"].dims == ("lane", "sample")
        for name in whole.names:
            assert np.array_equal(group[name][...], whole[name])
            assert np.array_equal(data[name].values, whole[name])


# ---- going on


def test_what_is_there_is_not_computed_again(whole, tmp_path):
    drawn = []

    def counting(rng, n):
        drawn.append(n)
        return falling.sample(rng, n)

    arguments = falling.study(sample=counting)
    first = fw.sweep(falling.model, tmp_path / "again.zarr", **arguments)
    times = {file: file.stat().st_mtime_ns for file in files(first.path, ending="")}
    drawn.clear()
    fw.sweep(falling.model, tmp_path / "again.zarr", **arguments)
    assert len(drawn) <= 2  # the first chunk's, to see that they are drawn alike
    assert all(file.stat().st_mtime_ns == t for file, t in times.items() if not file.name.startswith(("zarr", "0")))


@pytest.mark.parametrize("damage", ["flip", "cut", "remove", "record", "forge"])
def test_damaged_results_are_found_and_computed_again(whole, tmp_path, damage):
    path = tmp_path / "damaged.zarr"
    found = fw.sweep(falling.model, path, **falling.study())
    target = path / "speed" / "2.0" if damage != "record" else path / stores.OWN / "chunks" / "0" / "2.json"
    data = bytearray(target.read_bytes())
    if damage == "flip":
        data[17] ^= 4
    elif damage == "forge":  # the record says it is right
        data[17] ^= 4
        record = path / stores.OWN / "chunks" / "0" / "2.json"
        said = json.loads(record.read_text())
        said["arrays"]["speed"] = hashlib.sha256(data).hexdigest()
        record.write_text(json.dumps(said))
    target.write_bytes(data if damage in ("flip", "forge") else data[:30])
    if damage == "remove":
        target.unlink()
    assert found.check() == [2]
    assert same(fw.sweep(falling.model, path, **falling.study()), whole)
    assert not found.check()


def test_a_full_disk_ends_it_and_the_same_call_goes_on(whole, tmp_path, monkeypatch):
    path, real, written = tmp_path / "full.zarr", stores.put, []

    def full(target, pieces, publish):
        written.append(target)
        if len(written) > 25:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(target, pieces, publish)

    with monkeypatch.context() as patched:
        patched.setattr(stores, "put", full)
        with pytest.raises(RuntimeError, match=r"free some space.*the same call goes on"):
            fw.sweep(falling.model, path, **falling.study())
    assert not fw.Sweep(path).complete
    assert same(fw.sweep(falling.model, path, **falling.study()), whole)


def test_a_chunk_that_cannot_be_computed_is_set_aside_and_tried_again(whole, tmp_path, monkeypatch):
    path, real = tmp_path / "aside.zarr", workers.kept
    third = manifests.read(whole.path)
    unlucky = drawn(third, 3).q[0, 0]

    def kept(manifest, draw):
        if draw.q[0, 0] == unlucky:
            raise ZeroDivisionError("no such luck")
        return real(manifest, draw)

    with monkeypatch.context() as patched:
        patched.setattr(workers, "kept", kept)
        found = fw.sweep(falling.model, path, **falling.study())
    ((number, reason),) = found.aside.items()
    assert number == 3
    assert "ZeroDivisionError" in reason
    assert "no such luck" in reason
    assert not found.complete
    assert np.array_equal(np.flatnonzero(found.status == 255), np.arange(48, 64))
    assert np.isnan(found["last"][48:64]).all()
    assert same(fw.sweep(falling.model, path, **falling.study()), whole)
    assert not found.aside


def test_where_every_chunk_fails_it_ends(tmp_path, monkeypatch):
    def kept(manifest, draw):
        raise ZeroDivisionError("never")

    monkeypatch.setattr(workers, "kept", kept)
    with pytest.raises(RuntimeError, match=r"8 chunks, and none could be computed, the last: ZeroDivisionError.*never"):
        fw.sweep(falling.model, tmp_path / "never.zarr", **falling.study(chunk=4))


def test_ctrl_c_ends_it_and_the_same_call_goes_on(whole, tmp_path, monkeypatch):
    path = tmp_path / "interrupted.zarr"
    with monkeypatch.context() as patched, fw.threads(2):  # with more, all five chunks would be begun at once
        patched.setattr(SweepProgress, "show", lambda self, outcome: signal.raise_signal(signal.SIGINT))
        found = fw.sweep(falling.model, path, **falling.study())
    assert not found.complete
    assert found.summary()["chunks_done"] > 0
    assert same(fw.sweep(falling.model, path, **falling.study()), whole)


# ---- what is refused


@pytest.mark.parametrize(
    ("others", "match"),
    [
        ({"seed": 4}, "seed is 4 here and 3 there"),
        ({"lanes": 71}, "lanes is 71 here and 70 there"),
        ({"dt": 2e-3}, "dt is 0.002 here and 0.001 there"),
        (
            {"control": None, "sample": lambda rng, n: falling.sample(rng, n)[:3]},
            "the robot, what moves it, or what is given differ",
        ),
        ({"reduce": lambda run: {"last": run.q[:, -1]}}, "the text of sample and reduce, or numbers they refer to"),
    ],
)
def test_another_sweep_does_not_go_on_in_the_same_folder(whole, others, match):
    with pytest.raises(ValueError, match=match):
        fw.sweep(falling.model, whole.path, **falling.study(**others))


def test_numbers_of_closures_and_globals_are_a_part_of_the_study(whole, tmp_path, monkeypatch):
    def study(factor):
        return falling.study(reduce=lambda run: {"last": factor * run.q[:, -1]})

    fw.sweep(falling.model, tmp_path / "a.zarr", **study(1.0))
    fw.sweep(falling.model, tmp_path / "a.zarr", **study(1.0))
    with pytest.raises(ValueError, match="the text of sample and reduce, or numbers"):
        fw.sweep(falling.model, tmp_path / "a.zarr", **study(2.0))
    monkeypatch.setattr(falling, "WIDTH", 0.9)
    with pytest.raises(ValueError, match="the text of sample and reduce, or numbers"):
        fw.sweep(falling.model, whole.path, **falling.study())


def test_another_version_of_the_library_is_refused(whole, monkeypatch):
    monkeypatch.setattr(manifests, "library", lambda: {"featherweight": "9.9", "numpy": "2.0", "text": "abc"})
    with pytest.raises(manifests.OtherLibrary, match=r"began with featherweight .* here is 9\.9"):
        fw.sweep(falling.model, whole.path, **falling.study())
    with pytest.raises(manifests.OtherLibrary):
        fw.Sweep(whole.path).lane(0)
    assert fw.Sweep(whole.path)["last"].shape == (70, 2)  # what is there can be read


def test_a_sample_of_anything_but_its_generator_is_refused(tmp_path):
    own = np.random.default_rng(0)
    arguments = falling.study(sample=lambda rng, n: (own.normal(size=(n, 2)), np.zeros(2)))
    with pytest.raises(ValueError, match="sample: gives other numbers the second time"):
        fw.sweep(falling.model, tmp_path / "a.zarr", **arguments)


@pytest.mark.parametrize(
    ("others", "error", "match"),
    [
        ({"sample": 3}, TypeError, "sample: expected a function of"),
        ({"sample": lambda rng, n: 3}, TypeError, "sample: expected it to return q, v, parameters"),
        ({"sample": lambda rng, n: (np.zeros((3, 2)), np.zeros(2))}, ValueError, r"q: expected shape \(2,\) or"),
        ({"sample": lambda rng, n: (np.zeros(2), np.zeros(3))}, ValueError, "sample: v"),
        ({"sample": lambda rng, n: (np.zeros(2), np.zeros(2), 3)}, TypeError, "parameters: expected a dictionary"),
        ({"sample": lambda rng, n: (np.zeros(2), np.zeros(2), {"x": 3})}, ValueError, "parameters"),
        ({"control": lambda t, q, v: q}, TypeError, "control: expected a compiled controller"),
        ({"reduce": lambda run: 3}, TypeError, "reduce: expected a dictionary of arrays"),
        ({"reduce": lambda run: {"a": 3.0}}, ValueError, "reduce: a: expected one value a lane"),
        ({"reduce": lambda run: {"../a": run.q}}, ValueError, "reduce: expected names without /"),
        ({"reduce": lambda run: {"status": run.q}}, ValueError, "reduce: expected names"),
        ({"reduce": lambda run: {"a": np.array(["x"] * len(run.q))}}, TypeError, "reduce: a: expected numbers"),
        ({"lanes": 0}, ValueError, "lanes: expected a whole number from 1"),
        ({"seed": -1}, ValueError, "seed: expected a whole number of 0 or more"),
        ({"record_every": 7}, ValueError, "record_every: expected a divisor"),
        ({"part": (3, 3)}, ValueError, r"part: expected \(k, n\)"),
        ({"part": (0, 2), "scheduler": "tcp://127.0.0.1:1"}, ValueError, "part, scheduler: expected one of them"),
        ({"sample": lambda rng, n: 3, "scheduler": "tcp://127.0.0.1:1"}, ValueError, "expected a function of a file"),
    ],
)  # fmt: skip
def test_mistakes_are_named_before_anything_is_written(tmp_path, others, error, match):
    path = tmp_path / "a.zarr"
    with pytest.raises(error, match=match):
        fw.sweep(falling.model, path, **falling.study(**others))
    assert not path.exists()


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="is there, and is no sweep"):
        fw.sweep(falling.model, tmp_path, **falling.study())
    with pytest.raises(FileNotFoundError, match="expected the folder of a sweep"):
        fw.Sweep(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


def test_chunks_that_change_their_arrays_are_set_aside(tmp_path):
    def reduce(run):
        return {"last": run.q[:, -1] if len(run.q) > 6 else run.q[:, -1, :1]}

    found = fw.sweep(falling.model, tmp_path / "a.zarr", **falling.study(reduce=reduce))
    assert list(found.aside) == [4]
    assert "the same names, types and shapes in all chunks" in found.aside[4]


# ---- around it


def test_a_job_array_of_slurm_shares_the_chunks(monkeypatch):
    for name, value in (("ID", "7"), ("MIN", "3"), ("COUNT", "4"), ("STEP", "2")):
        monkeypatch.setenv(f"SLURM_ARRAY_TASK_{name}", value)
    assert part_of(None, None) == (2, 4)
    assert list(part_of(None, None).numbers(11)) == [2, 6, 10]
    assert part_of((0, 2), None) == (0, 2)
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "99")
    with pytest.raises(ValueError, match="SLURM_ARRAY_TASK_ID=99"):
        part_of(None, None)
    monkeypatch.delenv("SLURM_ARRAY_TASK_ID")
    assert part_of(None, None) == (0, 1)


def test_it_tells_what_it_will_take_and_how_far_it_is(tmp_path, capsys):
    fw.sweep(falling.model, tmp_path / "a.zarr", **falling.study(progress=True))
    said = capsys.readouterr().err
    assert "70 lanes, about" in said
    assert "on disk in" in said
    assert "70 of 70 lanes" in said
    bar = SweepProgress(100, 20, 1, shown=False)
    bar.show(Outcome(0, lanes=30, failed=2))
    bar.show(Outcome(1, error="bad"))
    text = bar.text(bar._begin + 10.0)
    assert text == "50 of 100 lanes, 3 a second, 3 failed, 1 chunks set aside, 16.7 s left"


def test_chunks_have_about_a_second_of_work_if_nothing_is_said(tmp_path):
    found = fw.sweep(falling.model, tmp_path / "a.zarr", **falling.study(chunk=None))
    assert manifests.head(found.path)["settings"]["chunk"] == 70  # all of them take less


def test_pictures_are_drawn_of_what_is_there(whole):
    figure = whole.plot_map("fore.mass", ("control_parameters", 0), "still", bins=3)
    assert figure.axes[0].get_xlabel() == "fore.mass"
    counts = np.histogram2d(whole["fore.mass"], whole["control_parameters"][:, 0], 3)[0]
    sums = np.histogram2d(whole["fore.mass"], whole["control_parameters"][:, 0], 3, weights=whole["still"])[0]
    drawn_there = np.ma.filled(figure.axes[0].collections[0].get_array(), np.nan).reshape(3, 3)
    with np.errstate(invalid="ignore"):
        assert np.array_equal(drawn_there, (sums / counts).T, equal_nan=True)
    figure = whole.plot_quantiles("speed", quantiles=(0.5,))
    assert np.allclose(figure.axes[0].lines[0].get_ydata(), np.median(whole["speed"], axis=0))
    with pytest.raises(ValueError, match="outcome: expected an array of shape"):
        whole.plot_quantiles("still")
    import matplotlib.pyplot as plt

    plt.close("all")


def test_pictures_are_written_where_a_path_says(whole, tmp_path):
    import matplotlib.pyplot as plt

    figure = whole.plot_map("fore.mass", ("control_parameters", 0), "still", bins=3, path=tmp_path / "map.png")
    assert len(figure.axes) == 2  # the map and its colours
    whole.plot_quantiles("speed", path=str(tmp_path / "speed.svg"))
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "speed.svg").read_text()
    with pytest.raises(ValueError, match=r"path: expected a name that ends in .*, got '.*speed\.csv'"):
        whole.plot_quantiles("speed", path=tmp_path / "speed.csv")
    plt.close("all")
