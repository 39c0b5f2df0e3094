"""Reading the results of a sweep: what is damaged is named, what lies beside them is passed over."""

import numpy as np
import pytest

import featherweight as fw
from campaigns import falling
from featherweight.campaigns import store as stores
from featherweight.campaigns.parts import part_of


@pytest.fixture
def found(tmp_path):
    return fw.sweep(falling.model, tmp_path / "a.zarr", **falling.study())


@pytest.mark.parametrize("damage", ["flip", "cut", "remove"])
def test_damaged_chunks_are_not_read(found, damage):
    file = found.path / "speed" / "2.0"
    data = bytearray(file.read_bytes())
    data[17] ^= 4
    file.write_bytes(data if damage == "flip" else data[:30])
    if damage == "remove":
        file.unlink()
    again = fw.Sweep(found.path)
    assert again["last"].shape == (70, 2)
    with pytest.raises(ValueError, match=r"chunk 2: .*speed.2\.0 is damaged.*run the sweep again"):
        again["speed"]
    fw.sweep(falling.model, found.path, **falling.study())
    assert np.isfinite(again["speed"]).all()


def test_a_chunk_is_checked_once(found, monkeypatch):
    again = fw.Sweep(found.path)
    first = again["speed"]
    monkeypatch.setattr(stores.hashlib, "sha256", None)
    assert np.array_equal(again["speed"], first)


def test_a_chunk_with_a_damaged_record_is_not_there(found):
    (found.path / stores.OWN / "chunks" / "0" / "2.json").write_text("{}")
    again = fw.Sweep(found.path)
    assert not again.complete
    assert np.array_equal(np.flatnonzero(again.status == 255), np.arange(32, 48))


def test_files_of_others_among_the_records_are_passed_over(found):
    folder = found.path / stores.OWN / "chunks"
    (folder / ".DS_Store").write_text("x")
    for name in ("note.json", "-3.json", "7.json", "02.json", "1.txt", ".DS_Store", "\u0663.json"):
        (folder / "0" / name).write_text("{}")
    again = fw.sweep(falling.model, found.path, **falling.study())
    assert again.complete
    assert again.check() == []
    assert again.summary()["chunks_done"] == 5
    assert "5 of 5 chunks" in repr(again)


# ---- what is kept


def test_reduce_may_write_to_what_it_is_given(tmp_path):
    def reduce(run):
        for array in (run.status, run.failed_step, run.parameters["fore.mass"]):
            if array.flags.writeable:
                array.fill(9)
        return {"last": run.q[:, -1]}

    found = fw.sweep(falling.model, tmp_path / "b.zarr", **falling.study(reduce=reduce))
    assert not found.status.any()
    assert (found.failed_step == -1).all()
    assert (found["fore.mass"] < 2.0).all()


@pytest.mark.parametrize(
    ("reduce", "error", "match"),
    [
        (lambda run: {"a": np.full(len(run.q), 2**63, np.uint64)}, ValueError, "reduce: a: expected whole numbers up"),
        (lambda run: {"a": np.ma.masked_array(run.q[:, -1, 0], run.q[:, -1, 0] > 0)}, TypeError, "without a mask"),
        (lambda run: {"zarr.json": run.q}, ValueError, "reduce: expected names without"),
        (lambda run: {"n" * 201: run.q}, ValueError, "reduce: expected names of at most 200 characters"),
    ],
)
def test_what_cannot_be_kept_is_named(tmp_path, reduce, error, match):
    with pytest.raises(error, match=match):
        fw.sweep(falling.model, tmp_path / "b.zarr", **falling.study(reduce=reduce))
    assert not (tmp_path / "b.zarr").exists()


def test_parts_may_be_numbers_of_numpy():
    part = part_of((np.int64(0), np.int32(2)), None)
    assert part == (0, 2)
    assert type(part.number) is int
