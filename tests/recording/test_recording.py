"""Recordings: bits go round, a file cut at any byte goes on, no flipped byte passes, the format is as documented."""

from __future__ import annotations

import json
import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from featherweight.recording import recording as module
from featherweight.recording.blocks import DTYPES
from featherweight.recording.recording import Recording, read, write

FACTS = {"robot": "arm", "dt": 1e-3, "names": ["a", "ü"], "none": None}
CHUNKS = [
    ({"step": 1}, {"q": np.array([[1.5, -0.0]]), "status": np.array([7], np.uint8)}),
    ({"step": 2}, {}),
    ({"step": 3}, {"q": np.arange(9.0).reshape(3, 3), "empty": np.empty((0, 4)), "scalar": np.array(5)}),
]


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda fd: None)


def grown(path, chunks=CHUNKS, facts=FACTS) -> bytes:
    """The bytes of a file made chunk by chunk."""
    with Recording.create(path, facts) as recording:
        for own, arrays in chunks:
            recording.append(own, arrays)
    return Path(path).read_bytes()


def put(path: Path, data: bytes) -> None:
    """A new file: emptying the old one would have the disk wait for us thousands of times."""
    path.unlink(missing_ok=True)
    path.write_bytes(data)


def blocks_of(data: bytes) -> list[bytes]:
    """A file, cut where its blocks begin."""
    found, start = [], 0
    while start < len(data):
        n, m = struct.unpack_from("<QQ", data, start + 40)
        found.append(data[start : start + 64 + n + m])
        start += 64 + n + m
    return found


def same(one, other) -> bool:
    """Chunks with the same facts and the same bits."""
    return len(one) == len(other) and all(
        a[0] == b[0]
        and list(a[1]) == list(b[1])
        and all(
            x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
            for x, y in zip(a[1].values(), b[1].values(), strict=True)
        )
        for a, b in zip(one, other, strict=True)
    )


def test_there_and_back(tmp_path) -> None:
    grown(tmp_path / "a")
    write(tmp_path / "b", FACTS, CHUNKS)
    for name in "ab":
        facts, chunks, ignored = read(tmp_path / name)
        assert facts == FACTS
        assert same(chunks, CHUNKS)
        assert ignored == 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 5), (2, 0, 3), (1, 2, 3, 4)])
def test_every_dtype_and_shape_keeps_its_bits(tmp_path, dtype, shape) -> None:
    """Random bytes: NaNs of every payload, infinities, subnormal numbers."""
    rng = np.random.default_rng(1)
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    array = np.frombuffer(rng.bytes(size), dtype).reshape(shape)
    turned = np.frombuffer(rng.bytes(size), dtype).reshape(shape[::-1]).T
    swapped = array.astype(array.dtype.newbyteorder(">"))
    chunks = [
        ({}, {"x": array, "turned": turned, "swapped": swapped, "every other": array[..., ::2] if shape else array})
    ]
    grown(tmp_path / "a", chunks)
    ((_, back),) = read(tmp_path / "a").chunks
    assert back["x"].tobytes() == back["swapped"].tobytes() == array.tobytes()
    assert back["x"].shape == back["swapped"].shape == shape
    assert back["swapped"].dtype == np.dtype(dtype)
    assert back["turned"].tobytes() == turned.tobytes("C")
    assert back["every other"].tobytes() == chunks[0][1]["every other"].tobytes("C")
    assert all(a.flags.writeable and a.flags.aligned for a in back.values())


def test_nan_payloads_survive(tmp_path) -> None:
    bits = np.array([0x7FF8000000000001, 0xFFF8DEADBEEF0000, 0x7FF0000000000001, 0x8000000000000000], np.uint64)
    grown(tmp_path / "a", [({}, {"x": bits.view(float)})])
    assert (read(tmp_path / "a").chunks[0][1]["x"].view(np.uint64) == bits).all()


def test_the_format_is_the_documented_one(tmp_path) -> None:
    """A reader of its own, from the table in blocks.py and nothing else."""
    data = grown(tmp_path / "a")
    found, start, before = [], 0, 0
    while start < len(data):
        head = data[start : start + 64]
        assert head[:28] == b"featherweight recording 1.0\n"
        checksum, k, n, m, seal_before, seal = struct.unpack("<IQQQII", head[28:])
        body = data[start + 64 : start + 64 + n + m]
        assert (k, seal_before) == (len(found), before)
        assert zlib.crc32(body) == checksum
        assert zlib.crc32(head[:60]) == seal
        document, place, arrays = json.loads(body[:n].decode("utf-8")), n, {}
        for entry in document["arrays"]:
            size = int(np.prod(entry["shape"])) * np.dtype(entry["dtype"]).itemsize
            arrays[entry["name"]] = np.frombuffer(body[place : place + size], entry["dtype"]).reshape(entry["shape"])
            place += (size + 63) // 64 * 64
        assert place == n + m
        found.append((document["facts"], arrays))
        start, before = start + 64 + n + m, seal
    assert found[0] == (FACTS, {})
    assert same(found[1:], CHUNKS)


def test_same_contents_same_bytes(tmp_path) -> None:
    assert grown(tmp_path / "a") == grown(tmp_path / "b", facts=dict(reversed(FACTS.items())))
    for name in "cd":
        write(tmp_path / name, FACTS, CHUNKS)
    assert (tmp_path / "c").read_bytes() == (tmp_path / "d").read_bytes()


# ---- cut


def test_cut_at_every_byte_and_resumed_it_is_the_same_file(tmp_path) -> None:
    whole = grown(tmp_path / "a")
    ends = np.cumsum([len(block) for block in blocks_of(whole)])
    path = tmp_path / "cut"
    for length in range(len(whole) + 1):
        put(path, whole[:length])
        count = int((ends <= length).sum()) - 1  # complete chunks
        if count < 0:
            with pytest.raises(ValueError, match="header"):
                read(path)
            with pytest.raises(ValueError, match="header"):
                Recording.resume(path)
            assert path.read_bytes() == whole[:length]  # never touched
            continue
        facts, chunks, ignored = read(path)
        assert facts == FACTS
        assert same(chunks, CHUNKS[:count])
        assert ignored == length - ends[count]
        with Recording.resume(path) as recording:
            assert (len(recording), recording.ignored, recording.facts) == (count, ignored, FACTS)
            last = recording.last()
            assert last is None if count == 0 else same([last], [CHUNKS[count - 1]])
            assert path.stat().st_size == ends[count]
            for own, arrays in CHUNKS[count:]:
                recording.append(own, arrays)
        assert path.read_bytes() == whole


def test_a_tail_of_zeros_or_rubbish_is_torn(tmp_path) -> None:
    """What a power cut may leave: the length is there, the bytes are not."""
    whole = grown(tmp_path / "a")
    last = len(blocks_of(whole)[-1])
    for rubbish in (bytes(last), bytes(3 * last), np.random.default_rng(0).bytes(last), b"x" * 63, b"x" * 64):
        (tmp_path / "a").write_bytes(whole[:-last] + rubbish)
        _, chunks, ignored = read(tmp_path / "a")
        assert same(chunks, CHUNKS[:-1])
        assert ignored == len(rubbish)
        with Recording.resume(tmp_path / "a") as recording:
            recording.append(*CHUNKS[-1])
        assert (tmp_path / "a").read_bytes() == whole


def test_a_file_that_was_written_whole_is_never_taken_for_a_shorter_one(tmp_path) -> None:
    path = tmp_path / "a"
    write(path, FACTS, CHUNKS)
    whole = path.read_bytes()
    for length in range(len(whole)):
        put(path, whole[:length])
        with pytest.raises(ValueError, match=r"a: header: expected"):
            read(path)
    put(path, whole + b"\0")
    with pytest.raises(ValueError, match="1 bytes more"):
        read(path)


# ---- damage


@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_no_flipped_byte_passes(tmp_path, flip) -> None:
    """An error, or the last chunk does not count; never other numbers."""
    path = tmp_path / "a"
    whole = grown(path)
    begin = len(whole) - len(blocks_of(whole)[-1])
    for place in range(len(whole)):
        data = bytearray(whole)
        data[place] ^= flip
        put(path, data)
        if place < begin:
            with pytest.raises(ValueError, match=r"a: (header|chunk \d)"):
                read(path)
        else:
            _, chunks, ignored = read(path)
            assert same(chunks, CHUNKS[:-1])
            assert ignored == len(whole) - begin


def test_no_flipped_byte_passes_in_a_file_written_whole(tmp_path) -> None:
    path = tmp_path / "a"
    write(path, FACTS, CHUNKS)
    whole = path.read_bytes()
    for place in range(len(whole)):
        data = bytearray(whole)
        data[place] ^= 0x10
        put(path, data)
        with pytest.raises(ValueError, match=r"a: (header|chunk \d)"):
            read(path)


def test_a_damaged_file_is_not_changed_by_resuming(tmp_path) -> None:
    """A flip in a head, before others, must not look like a tail to drop."""
    path = tmp_path / "a"
    whole = grown(path)
    blocks = blocks_of(whole)
    for place in range(len(blocks[0]), len(blocks[0]) + 64):
        data = bytearray(whole)
        data[place] ^= 4
        put(path, data)
        with pytest.raises(ValueError, match="chunk 1 "):
            Recording.resume(path)
        assert path.read_bytes() == data


def test_a_damaged_chunk_before_a_torn_one_is_damage(tmp_path) -> None:
    """It had been whole, or the next would not have begun: it must not be dropped with the tail."""
    path = tmp_path / "a"
    whole = grown(path)
    last = len(whole) - len(blocks_of(whole)[-1])
    for length in (last + 1, last + 64, len(whole) - 1):
        data = bytearray(whole[:length])
        data[last - 1] ^= 1
        put(path, data)
        for how in (read, Recording.resume):
            with pytest.raises(ValueError, match=r"chunk 2 .*another had begun"):
                how(path)
        assert path.read_bytes() == data


def test_the_error_says_which_chunk(tmp_path) -> None:
    path = tmp_path / "a"
    whole = grown(path)
    blocks = blocks_of(whole)
    data = bytearray(whole)
    data[len(blocks[0]) + len(blocks[1]) + 64] ^= 1
    put(path, data)
    with pytest.raises(ValueError, match=r"a: chunk 2 \(the first is 1\): its checksum is wrong"):
        read(path)
    with Recording.open(path) as recording:  # the others can be read one by one
        assert same([recording[0], recording[2]], [CHUNKS[0], CHUNKS[2]])


def test_swapped_repeated_dropped_and_foreign_chunks_are_noticed(tmp_path) -> None:
    path = tmp_path / "a"
    chunks = [({"step": 1}, {"q": np.full(4, float(k))}) for k in range(3)]  # of one size
    h, a, b, c = blocks_of(grown(path, chunks))
    other = [({"step": 1}, {"q": np.full(4, 9.0)}), *chunks[1:]]
    h2, a2, b2, c2 = blocks_of(grown(tmp_path / "b", other))
    h3, a3, *_ = blocks_of(grown(tmp_path / "c", chunks, {"robot": "leg"}))
    assert h2 == h
    orders = {
        "swapped": [h, b, a, c], "swapped at the end": [h, a, c, b], "repeated": [h, a, a, b, c],
        "repeated at the end": [h, a, b, c, c], "dropped": [h, a, c], "dropped first": [h, b, c],
        "foreign, same facts": [h, a, b2, c], "foreign last": [h, a, b, c2], "foreign header": [h3, a, b, c],
        "foreign first": [h, a3, b, c], "two headers": [h, h, a, b], "two files": [h, a, b, c, h2, a2],
    }  # fmt: skip
    for name, order in orders.items():
        path.write_bytes(b"".join(order))
        with pytest.raises(ValueError, match=r"a: chunk \d .*(swapped|damaged)"):
            read(path)
        with pytest.raises(ValueError, match=r"a: chunk \d"):
            Recording.resume(path)
        assert path.read_bytes() == b"".join(order), name
    # bodies swapped under good heads
    path.write_bytes(h + a[:64] + b[64:] + b[:64] + a[64:] + c)
    with pytest.raises(ValueError, match=r"chunk 1 .*checksum"):
        read(path)


# ---- using it


def test_only_the_last_chunk_is_read_by_last(tmp_path, monkeypatch) -> None:
    grown(tmp_path / "a", [({"k": k}, {"x": np.full(1000, float(k))}) for k in range(50)])
    with Recording.resume(tmp_path / "a") as recording:
        taken = []
        fill = module.fill
        monkeypatch.setattr(module, "fill", lambda file, data: taken.append(len(data)) or fill(file, data))
        facts, arrays = recording.last()
        assert facts == {"k": 49}
        assert (arrays["x"] == 49).all()
        assert taken == [8000]
        assert [own["k"] for own, _ in recording] == list(range(50))
        with pytest.raises(IndexError):
            recording[50]


def test_reading_while_another_appends(tmp_path) -> None:
    with Recording.create(tmp_path / "a", FACTS) as writer:
        assert read(tmp_path / "a").chunks == []
        assert writer.last() is None
        with Recording.open(tmp_path / "a") as early:
            for k, chunk in enumerate(CHUNKS, 1):
                writer.append(*chunk)
                assert same(read(tmp_path / "a").chunks, CHUNKS[:k])
            assert len(early) == 0  # what was there when it was opened
            with pytest.raises(ValueError, match="not open for appending"):
                early.append({}, {})
    with pytest.raises(ValueError, match="not open for appending"):
        writer.append({}, {})
    writer.close()  # twice is fine


def test_facts_come_back_as_json_reads_them(tmp_path) -> None:
    with Recording.create(tmp_path / "a", {"shape": (1, 2), "text": "\ud800 \0 ü", "big": 10**300}) as recording:
        assert recording.facts == {"shape": [1, 2], "text": "\ud800 \0 ü", "big": 10**300}


@pytest.mark.parametrize(
    ("facts", "error"),
    [
        ({"x": float("nan")}, ValueError),
        ({"x": [float("-inf")]}, ValueError),
        ({"x": 10**500}, ValueError),
        ({"x": "y" * (1 << 20)}, ValueError),
        ({"x": object()}, TypeError),
        ({"x": b"bytes"}, TypeError),
        ({"x": np.arange(3)}, TypeError),
        ({"x": 1, 2: 3}, TypeError),
    ],
)
def test_facts_that_cannot_be_are_refused_and_change_nothing(tmp_path, facts, error) -> None:
    with pytest.raises(error, match="facts: expected"):
        Recording.create(tmp_path / "a", facts)
    with pytest.raises(error, match="facts: expected"):
        write(tmp_path / "a", {}, [({}, {}), (facts, {})])
    assert list(tmp_path.iterdir()) == []
    with Recording.create(tmp_path / "a", FACTS) as recording:
        before = (tmp_path / "a").read_bytes()
        with pytest.raises(error, match="facts: expected"):
            recording.append(facts, {})
        assert (tmp_path / "a").read_bytes() == before


@pytest.mark.parametrize(
    ("arrays", "error"),
    [
        ({"x": np.array([None])}, TypeError),
        ({"x": np.array(["text"])}, TypeError),
        ({"x": np.array([1j])}, TypeError),
        ({"x": np.array([True])}, TypeError),
        ({"x": np.zeros(2, "f8,i4")}, TypeError),
        ({"x": np.zeros(2, "M8[s]")}, TypeError),
        ({3: np.zeros(2)}, TypeError),
        ({"x": np.zeros((1,) * 17)}, ValueError),
        ({str(k): np.zeros(1) for k in range(257)}, ValueError),
    ],
)
def test_arrays_that_cannot_be_are_refused_and_change_nothing(tmp_path, arrays, error) -> None:
    with Recording.create(tmp_path / "a", FACTS) as recording:
        recording.append(*CHUNKS[0])
        before = (tmp_path / "a").read_bytes()
        with pytest.raises(error, match=r"arrays: .*expected"):
            recording.append({}, arrays)
        assert (tmp_path / "a").read_bytes() == before
        recording.append(*CHUNKS[1])
    assert same(read(tmp_path / "a").chunks, CHUNKS[:2])


def test_a_file_written_whole_is_finished(tmp_path) -> None:
    write(tmp_path / "a", FACTS, CHUNKS)
    before = (tmp_path / "a").read_bytes()
    with pytest.raises(ValueError, match="was written whole"):
        Recording.resume(tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == before
    write(tmp_path / "a", FACTS, CHUNKS[:1])
    assert same(read(tmp_path / "a").chunks, CHUNKS[:1])
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
