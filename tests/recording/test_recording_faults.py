"""Recordings when things go wrong: kill -9, full disks, folders one may not write to, two writers, hostile files."""

from __future__ import annotations

import contextlib
import errno
import inspect
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from featherweight.recording import files
from featherweight.recording import recording as module
from featherweight.recording.blocks import MARK
from featherweight.recording.recording import Recording, read, write

posix = pytest.mark.skipif(os.name != "posix", reason="signals, limits and permissions of POSIX")


def chunk(k: int, size: int = 50_000):
    """The k-th chunk of a run, from nothing but k."""
    return {"k": k}, {"x": np.arange(size) + size * float(k), "k": np.array([k])}


def command(code: str, *arguments: object) -> list[str]:
    """For a fresh interpreter that has imported the module and knows `chunk`."""
    prelude = (
        "import os, sys, numpy as np\n"
        "from featherweight.recording.recording import Recording, read, write\n" + inspect.getsource(chunk)
    )
    return [sys.executable, "-c", prelude + code, *map(str, arguments)]


def fresh(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(command(code, *arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def answer(code: str, *arguments: object) -> str:
    with fresh(code, *arguments) as process:
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        return out.strip()


# ---- kill -9

FORKS = """
SIZE = 200_000
path, log = sys.argv[1:]
for line in sys.stdin:  # each line: a new process that resumes and appends until it is killed
    pid = os.fork()
    if pid == 0:
        out = os.open(log, os.O_WRONLY | os.O_APPEND)
        recording = Recording.resume(path) if os.path.exists(path) else Recording.create(path, {"seed": 1})
        while True:
            k = len(recording)
            recording.append(*chunk(k, SIZE))
            os.write(out, f"{k}\\n".encode())
    print(pid, flush=True)
    os.waitpid(pid, 0)
"""


@posix
def test_fifty_kills_lose_at_most_the_chunk_being_written(tmp_path) -> None:
    """After each kill every chunk whose append returned is there; the last file is as if nobody had been killed."""
    path, log, rng = tmp_path / "a", tmp_path / "log", np.random.default_rng(int(time.time()))
    log.touch()
    torn = 0
    with fresh(FORKS, path, log) as parent:
        for turn in range(50):
            parent.stdin.write("go\n")
            parent.stdin.flush()
            pid = int(parent.stdout.readline())
            if turn % 2:  # at any moment after a chunk, or at any moment after it was born
                before, patience = log.stat().st_size, time.monotonic() + 10
                while log.stat().st_size == before and time.monotonic() < patience:
                    time.sleep(0.0005)
            time.sleep(rng.uniform(0, 0.015))
            os.kill(pid, signal.SIGKILL)
            while _lives(pid):
                time.sleep(0.0005)
            if path.exists():
                done = len(log.read_text().split())
                with Recording.open(path) as recording:
                    assert done <= len(recording) <= done + 1
                    torn += recording.ignored > 0
                    log.write_text("".join(f"{k}\n" for k in range(len(recording))))
        parent.stdin.close()
    with Recording.resume(path) as recording:
        recording.append(*chunk(len(recording), 200_000))
        count = len(recording)
    assert count > 20
    with Recording.create(tmp_path / "b", {"seed": 1}) as recording:
        for k in range(count):
            recording.append(*chunk(k, 200_000))
    assert path.read_bytes() == (tmp_path / "b").read_bytes()
    print(f"{count} chunks, {torn} torn tails")


def _lives(pid: int) -> bool:
    """Whether a process is there; its parent sees to it that it goes."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# ---- full disks


def test_a_system_that_takes_few_bytes_at_a_time() -> None:
    """Which it may: signals, limits, two gigabytes at once."""

    class Stingy:
        def __init__(self, data: bytes = b"") -> None:
            self.data = data

        def write(self, piece) -> int:
            self.data += bytes(piece[:7])
            return min(7, len(piece))

        def readinto(self, room) -> int:
            count = min(7, len(room), len(self.data))
            room[:count], self.data = self.data[:count], self.data[count:]
            return count

    file = Stingy()
    files.write_all(file, [memoryview(b"0123456789" * 10), memoryview(b""), memoryview(b"end")])
    assert file.data == b"0123456789" * 10 + b"end"
    data = np.empty(103, np.uint8)
    assert files.fill(file, data)
    assert data.tobytes() == b"0123456789" * 10 + b"end"
    assert not files.fill(Stingy(b"short"), data)


@posix
def test_a_limit_on_file_size(tmp_path) -> None:
    code = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
with Recording.create(sys.argv[1], {}) as recording:
    try:
        while True: recording.append(*chunk(len(recording)))
    except OSError as error: print(len(recording), os.path.getsize(sys.argv[1]), read(sys.argv[1]).ignored, error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    recording.append(*chunk(len(recording)))
"""
    count, size, ignored, text = answer(code, tmp_path / "a").split(maxsplit=3)
    assert (int(count), int(ignored)) == (2, 0)
    assert int(size) < 1_000_000
    assert "cannot append chunk 3 (those before are safe)" in text
    assert str(tmp_path / "a") in text
    contents = read(tmp_path / "a")
    assert [own["k"] for own, _ in contents.chunks] == [0, 1, 2]
    assert (contents.chunks[2][1]["x"] == chunk(2)[1]["x"]).all()


@posix
def test_a_disk_that_is_really_full(tmp_path) -> None:
    """A file system of one megabyte, in a namespace of its own."""
    code = """
import shutil
path = sys.argv[1] + "/a"
recording = Recording.create(path, {})
try:
    while True: recording.append(*chunk(len(recording)))
except OSError as error: print(error.errno, error)
good = read(path)
print(len(good.chunks), good.ignored)
try: write(sys.argv[1] + "/b", {}, [chunk(k) for k in range(9)])
except OSError as error: print(error)
print(os.listdir(sys.argv[1]))
recording.append({"small": True}, {})
print(len(read(path).chunks), len(recording))
"""
    prefix = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=1m none "$0" && exec "$@"', str(tmp_path)]
    with contextlib.suppress(FileNotFoundError):
        if subprocess.run([*prefix, "true"], capture_output=True).returncode == 0:
            out = subprocess.run([*prefix, *command(code, tmp_path)], capture_output=True, text=True, timeout=60)
            assert out.returncode == 0, out.stderr
            first, good, whole, names, after = out.stdout.splitlines()
            assert first.startswith(str(errno.ENOSPC))
            assert "No space left on device; free some space" in first
            assert f"{tmp_path}/a" in first
            assert good == "2 0"
            assert "cannot write: No space left" in whole
            assert names == "['a']"
            assert after == "3 3"
            return
    pytest.skip("no namespaces here")


@pytest.mark.parametrize("wrong", ["no space", "Ctrl-C", "fsync", "no space, and no truncating"])
def test_an_append_that_fails_in_the_middle_leaves_the_record_good(tmp_path, monkeypatch, wrong) -> None:
    path = tmp_path / "a"

    def half(file, pieces):
        data = b"".join(pieces)
        file.write(data[: len(data) // 2])
        if wrong == "Ctrl-C":
            raise KeyboardInterrupt
        if Path("/dev/full").exists():
            with open("/dev/full", "wb", buffering=0) as full:
                full.write(data)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def failing(fd):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with Recording.create(path, {}) as recording:
        for k in range(2):
            recording.append(*chunk(k))
        good = path.read_bytes()
        with monkeypatch.context() as patch:
            if wrong == "fsync":
                patch.setattr(os, "fsync", failing)
            else:
                patch.setattr(module, "write_all", half)
            if "truncating" in wrong:
                patch.setattr(recording, "_file", Stubborn(recording._file))
            with pytest.raises(KeyboardInterrupt if wrong == "Ctrl-C" else OSError) as caught:
                recording.append(*chunk(2))
        if wrong != "Ctrl-C":
            assert "cannot append chunk 3 (those before are safe)" in str(caught.value)
            assert str(path) in str(caught.value)
        contents = read(path)
        assert (len(contents.chunks), len(recording)) == (2, 2)
        if "truncating" not in wrong:
            assert path.read_bytes() == good
        recording.append({"shorter": 1}, {})  # goes on, also over what could not be truncated
        assert read(path).ignored == 0
        recording.append(*chunk(2))
    contents = read(path)
    assert contents.ignored == 0
    assert [own for own, _ in contents.chunks] == [{"k": 0}, {"k": 1}, {"shorter": 1}, {"k": 2}]


class Stubborn:
    """A file that does not get shorter."""

    def __init__(self, file):
        self._file = file

    def __getattr__(self, name):
        return getattr(self._file, name)

    def truncate(self, size):
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_whole_file_that_fails_leaves_the_old_one(tmp_path, monkeypatch) -> None:
    path = tmp_path / "a"
    write(path, {"old": 1}, [chunk(0)])
    before = path.read_bytes()

    def fails(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for owner, name in ((files, "write_all"), (os, "fsync"), (os, "replace")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, fails)
            with pytest.raises(OSError, match=r"cannot write: No space left on device; free some space: '.*a'"):
                write(path, {"new": 1}, [chunk(1)])
        assert path.read_bytes() == before
        assert os.listdir(tmp_path) == ["a"]


# ---- places


@pytest.mark.parametrize("how", [read, Recording.open, Recording.resume])
def test_places_that_cannot_be_read(tmp_path, how) -> None:
    with pytest.raises(FileNotFoundError, match=r"cannot open: .*check the name.*nowhere"):
        how(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError, match="got a folder"):
        how(tmp_path)
    (tmp_path / "empty").touch()
    with pytest.raises(ValueError, match=r"empty: header: expected a whole 'featherweight recording 1.0'"):
        how(tmp_path / "empty")
    (tmp_path / "robot.urdf").write_text("<robot/>" * 100)
    with pytest.raises(ValueError, match=r"another kind of file"):
        how(tmp_path / "robot.urdf")
    assert (tmp_path / "robot.urdf").read_text() == "<robot/>" * 100
    if os.name == "posix":
        os.mkfifo(tmp_path / "pipe")
        for place in (tmp_path / "pipe", "/dev/zero", "/dev/full"):  # must not wait, must not read for ever
            with pytest.raises(OSError, match="expected an ordinary file"):
                how(place)


@pytest.mark.parametrize("how", [lambda path: Recording.create(path, {}), lambda path: write(path, {}, [])])
def test_places_that_cannot_be_written(tmp_path, how) -> None:
    with pytest.raises(FileNotFoundError, match=r"No such file or directory; .*folders are not made.*nowhere.a'"):
        how(tmp_path / "nowhere" / "a")
    with pytest.raises(IsADirectoryError, match="name a file in it"):
        how(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="cannot"):
        how(tmp_path / "file" / "a")
    if os.name == "posix":
        with pytest.raises(OSError, match="expected an ordinary file"):
            how("/dev/full")
    with pytest.raises(OSError, match="cannot"):
        how(tmp_path / ("long" * 100))
    with pytest.raises(TypeError):
        how(3)


def test_a_file_that_exists_is_not_created_again(tmp_path) -> None:
    (tmp_path / "a").write_text("mine")
    with pytest.raises(FileExistsError, match=r"Recording.resume goes on with it.*a'"):
        Recording.create(tmp_path / "a", {})
    assert (tmp_path / "a").read_text() == "mine"
    assert os.listdir(tmp_path) == ["a"]


def test_where_there_are_no_hard_links(tmp_path, monkeypatch) -> None:
    def none(*_):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", none)
    with Recording.create(tmp_path / "a", {"x": 1}) as recording:
        recording.append(*chunk(0))
    with pytest.raises(FileExistsError, match=r"Recording.resume"):
        Recording.create(tmp_path / "a", {})
    assert len(read(tmp_path / "a").chunks) == 1
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_a_read_only_place(tmp_path, monkeypatch, code) -> None:
    """As the system reports it, whoever runs the test."""
    real = open

    def opening(path, mode="r", *rest, **more):
        if mode != "rb" and str(path).startswith(str(tmp_path)):
            raise OSError(code, os.strerror(code), path)
        return real(path, mode, *rest, **more)

    write(tmp_path / "a", {"x": 1}, [])
    monkeypatch.setattr("builtins.open", opening)
    for what in (
        lambda: Recording.create(tmp_path / "b", {}), lambda: write(tmp_path / "b", {}, []),
        lambda: Recording.resume(tmp_path / "a"), lambda: write(tmp_path / "a", {}, []),
    ):  # fmt: skip
        with pytest.raises(OSError, match=r"cannot \w+: .*; (choose|check) .*[ab]'"):
            what()
    assert read(tmp_path / "a").facts == {"x": 1}
    assert os.listdir(tmp_path) == ["a"]


@posix
def test_permission_bits() -> None:
    """With real bits; root, whom they do not bind, becomes nobody first."""
    code = """
folder, = sys.argv[1:]
os.chdir(folder)
if os.getuid() == 0: os.setgid(65534); os.setuid(65534)
for what in (lambda: Recording.create("b", {}), lambda: write("b", {}, []), lambda: Recording.resume("a"),
             lambda: write("a", {}, []), lambda: read("secret")):
    try: what()
    except PermissionError as error: print(error)
print(read("a").facts)
"""
    with tempfile.TemporaryDirectory() as place:  # not pytest's, whose folders are closed to others
        folder = Path(place)
        Recording.create(folder / "a", {"x": 1}).close()
        write(folder / "secret", {}, [])
        (folder / "a").chmod(0o444)
        (folder / "secret").chmod(0o000)
        folder.chmod(0o555)
        try:
            lines = answer(code, folder).splitlines()
        finally:
            folder.chmod(0o755)
    assert len(lines) == 6
    for line, name in zip(lines, ("b", "b", "a", "a", "secret"), strict=False):
        assert "Permission denied; check the permissions" in line
        assert line.endswith(f"/{name}'")
    assert lines[-1] == "{'x': 1}"


@posix
def test_a_file_that_vanishes_or_changes_under_the_writer(tmp_path) -> None:
    path = tmp_path / "a"
    with Recording.create(path, {}) as recording:
        recording.append(*chunk(0))
        good = path.read_bytes()
        path.rename(tmp_path / "b")
        with pytest.raises(FileNotFoundError, match=r"moved or deleted meanwhile: '.*a'"):
            recording.append(*chunk(1))
        path.write_text("another file")
        with pytest.raises(FileNotFoundError, match="moved or deleted"):
            recording.append(*chunk(1))
        assert path.read_text() == "another file"
        (tmp_path / "b").replace(path)
        recording.append(*chunk(1))
        os.truncate(path, len(good) - 1)
        with pytest.raises(OSError, match="another program has cut the file"):
            recording.append(*chunk(2))
        with pytest.raises(ValueError, match="chunk 2"):
            recording.last()
        path.unlink()
        with pytest.raises(FileNotFoundError, match="moved or deleted"):
            recording.append(*chunk(2))


@posix
@pytest.mark.parametrize("left", [1, 100, 399_000, 399_999])
def test_a_file_that_gets_shorter_under_a_reader(tmp_path, left) -> None:
    write(tmp_path / "a", {}, [({}, {"x": np.zeros(50_000)})])
    begin = (tmp_path / "a").stat().st_size - 50_000 * 8
    with Recording.open(tmp_path / "a") as recording:
        os.truncate(tmp_path / "a", begin + left)
        with pytest.raises(ValueError, match=r"chunk 1 .*checksum is wrong"):
            recording[0]


def test_a_link_is_followed(tmp_path) -> None:
    write(tmp_path / "a", {"old": 1}, [])
    (tmp_path / "link").symlink_to(tmp_path / "a")
    write(tmp_path / "link", {"new": 1}, [])
    assert (tmp_path / "link").is_symlink()
    assert read(tmp_path / "a").facts == {"new": 1}


# ---- two writers


def test_two_writers_in_one_process(tmp_path) -> None:
    path = tmp_path / "a"
    with Recording.create(path, {}) as recording:
        for what in (Recording.resume, lambda path: write(path, {}, [])):
            with pytest.raises(BlockingIOError, match=r"is being written by another process, or by this one: '.*a'"):
                what(path)
        recording.append(*chunk(0))
    with Recording.resume(path) as recording:
        recording.append(*chunk(1))
    assert len(read(path).chunks) == 2


def test_two_writers_in_two_processes(tmp_path) -> None:
    path = tmp_path / "a"
    code = """
recording = Recording.create(sys.argv[1], {})
recording.append(*chunk(0))
print("ready", flush=True)
sys.stdin.read()
"""
    with fresh(code, path) as other:
        assert other.stdout.readline() == "ready\n"
        with pytest.raises(BlockingIOError, match="being written by another process"):
            Recording.resume(path)
        with pytest.raises(BlockingIOError, match="being written by another process"):
            write(path, {}, [])
        with pytest.raises(FileExistsError):
            Recording.create(path, {})
        assert len(read(path).chunks) == 1
        other.kill()
        other.wait()
    with Recording.resume(path) as recording:  # the lock died with its holder
        assert len(recording) == 1


@posix
def test_a_forked_child_cannot_append(tmp_path) -> None:
    code = """
recording = Recording.create(sys.argv[1], {})
if os.fork() == 0:
    try: recording.append(*chunk(0))
    except ValueError as error: print(error, flush=True)
    os._exit(0)
os.wait()
recording.append(*chunk(0))
"""
    assert "not open for appending in this process" in answer(code, tmp_path / "a")
    assert len(read(tmp_path / "a").chunks) == 1


def test_threads_may_share_a_recording(tmp_path) -> None:
    with Recording.create(tmp_path / "a", {}) as recording:

        def work(k: int) -> None:
            for j in range(5):
                recording.append(*chunk(10 * k + j, 20_000))
                recording.last()

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    chunks = read(tmp_path / "a").chunks
    assert sorted(own["k"] for own, _ in chunks) == [10 * k + j for k in range(4) for j in range(5)]
    assert all((arrays["x"] == chunk(own["k"], 20_000)[1]["x"]).all() for own, arrays in chunks)


def test_threads_may_read_at_once(tmp_path) -> None:
    wrong = []
    with Recording.create(tmp_path / "a", {}) as recording:
        for k in range(8):
            recording.append(*chunk(k, 5_000))

        def work(k: int) -> None:
            try:
                for _ in range(300):
                    assert recording[k][0] == {"k": k}
            except Exception as error:
                wrong.append(error)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_a_reader_beside_a_writer_sees_whole_chunks(tmp_path) -> None:
    done = threading.Event()
    with Recording.create(tmp_path / "a", {}) as recording:

        def work() -> None:
            for k in range(30):
                recording.append(*chunk(k))
            done.set()

        thread = threading.Thread(target=work)
        thread.start()
        while not done.is_set():
            for own, arrays in read(tmp_path / "a").chunks[-2:]:
                assert (arrays["x"] == chunk(own["k"])[1]["x"]).all()
        thread.join()
    assert len(read(tmp_path / "a").chunks) == 30


# ---- hostile files


def forged(
    number: int, before: int, text: bytes, data: bytes = b"", n: int | None = None, m: int | None = None, mark=MARK
):
    """A block with good checksums around anything, and its seal."""
    text += b" " * (-len(text) % 64)
    lengths = (len(text) if n is None else n, len(data) if m is None else m)
    head = struct.pack("<28sIQQQI", mark, zlib.crc32(text + data), number, *lengths, before)
    seal = zlib.crc32(head)
    return head + struct.pack("<I", seal) + text + data, seal


HEADER, SEAL = forged(0, 0, b'{"arrays":[],"chunks":null,"facts":{}}')
WHOLE, WHOLE_SEAL = forged(0, 0, b'{"arrays":[],"chunks":1,"facts":{}}')


def described(*arrays: object) -> bytes:
    return json.dumps({"arrays": arrays, "facts": {}}).encode()


HOSTILE = {
    "huge shape": described({"name": "x", "dtype": "<f8", "shape": [10**15]}),
    "overflowing shape": described({"name": "x", "dtype": "<f8", "shape": [2**61, 8]}),
    "huge beside nothing": described({"name": "x", "dtype": "<f8", "shape": [0, 2**47, 2**47]}),
    "negative": described({"name": "x", "dtype": "<f8", "shape": [-1]}),
    "negative twice": described({"name": "x", "dtype": "<f8", "shape": [-2, -4]}),
    "a fraction": described({"name": "x", "dtype": "<f8", "shape": [8.0]}),
    "true": described({"name": "x", "dtype": "<f8", "shape": [True]}),
    "objects": described({"name": "x", "dtype": "|O", "shape": [8]}),
    "big-endian": described({"name": "x", "dtype": ">f8", "shape": [8]}),
    "records": described({"name": "x", "dtype": "f8,f8", "shape": [4]}),
    "dtype is no text": described({"name": "x", "dtype": ["<f8"], "shape": [8]}),
    "name is no text": described({"name": 1, "dtype": "<f8", "shape": [8]}),
    "one name twice": described(*({"name": "x", "dtype": "<f8", "shape": [k]} for k in (0, 8))),
    "many axes": described({"name": "x", "dtype": "<f8", "shape": [8] + [1] * 20}),
    "many arrays": described(*[{"name": str(k), "dtype": "<f8", "shape": [0]} for k in range(1000)]),
    "too short": described({"name": "x", "dtype": "<f8", "shape": [9]}),
    "too long": described(),
    "no facts": b'{"arrays": []}',
    "facts are a list": b'{"arrays": [], "facts": []}',
    "a list": b"[]",
    "nothing": b" ",
    "no JSON": b"\xff\xfe rubbish",
    "UTF-16": '{"arrays": [{"name": "x", "dtype": "<f8", "shape": [8]}], "facts": {}}'.ljust(96).encode("utf-16-le"),
    "deep": b"[" * 500_000,
    "deep facts": b'{"arrays":[],"facts":' + b'{"a":' * 150_000 + b"1" + b"}" * 150_000 + b"}",
    "long number": b'{"arrays":[],"facts":{"x":' + b"9" * 900_000 + b"}}",
    "NaN": b'{"arrays":[],"facts":{"x":NaN}}',
    "infinity": b'{"arrays":[],"facts":{"x":-Infinity}}',
    "1e999": b'{"arrays":[],"facts":{"x":1e999}}',
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("before", [(HEADER, SEAL), (WHOLE, WHOLE_SEAL)])
def test_hostile_descriptions(tmp_path, name, before) -> None:
    path = tmp_path / "a"
    block, _ = forged(1, before[1], HOSTILE[name], bytes(64))
    path.write_bytes(before[0] + block)
    tracemalloc.start()
    start = time.perf_counter()
    try:
        with pytest.raises(ValueError, match=r"a: chunk 1 \(the first is 1\): ") as caught:
            read(path)
        if before[0] == HEADER:
            with Recording.resume(path) as recording, pytest.raises(ValueError, match="chunk 1 "):
                recording.last()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10e6
    assert time.perf_counter() - start < 5
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_headers(tmp_path, name) -> None:
    if name == "too long":
        pytest.skip("a header without data is what it should be")
    (tmp_path / "a").write_bytes(forged(0, 0, HOSTILE[name])[0])
    for how in (read, Recording.resume):
        with pytest.raises(ValueError, match="a: header: "):
            how(tmp_path / "a")


@pytest.mark.parametrize("chunks", ["-1", "1.0", "true", '"3"', "[]", "99999999999999999999", "2"])
def test_hostile_counts(tmp_path, chunks) -> None:
    (tmp_path / "a").write_bytes(forged(0, 0, f'{{"arrays":[],"chunks":{chunks},"facts":{{}}}}'.encode())[0])
    with pytest.raises(ValueError, match="a: header: expected"):
        read(tmp_path / "a")


@pytest.mark.parametrize(("n", "m"), [(2**63, 64), (2**40, 0), (0, 0), (65, 0), (64, 65), (64, 2**64 - 1)])
def test_hostile_lengths(tmp_path, n, m) -> None:
    good = described({"name": "x", "dtype": "<f8", "shape": [8]})
    (tmp_path / "a").write_bytes(HEADER + forged(1, SEAL, good, bytes(64), n, m)[0])
    with pytest.raises(ValueError, match=r"chunk 1 .*impossible lengths"):
        read(tmp_path / "a")


@pytest.mark.parametrize("count", ["true", "1.0", '"1"'])
def test_a_count_is_a_whole_number(tmp_path, count) -> None:
    header, seal = forged(0, 0, f'{{"arrays":[],"chunks":{count},"facts":{{}}}}'.encode())
    (tmp_path / "a").write_bytes(header + forged(1, seal, described())[0])
    with pytest.raises(ValueError, match="a: header: expected"):
        read(tmp_path / "a")


def test_a_number_that_is_wrong_under_a_good_seal(tmp_path) -> None:
    (tmp_path / "a").write_bytes(HEADER + forged(2, SEAL, described())[0])
    with pytest.raises(ValueError, match=r"chunk 1 .*: chunk 2 is here"):
        read(tmp_path / "a")


def test_another_version_is_refused(tmp_path) -> None:
    newer = b"featherweight recording 2.0\n"
    (tmp_path / "a").write_bytes(forged(0, 0, b'{"arrays":[],"chunks":null,"facts":{}}', mark=newer)[0])
    with pytest.raises(ValueError, match=r"a: header: expected a whole 'featherweight recording 1.0'"):
        read(tmp_path / "a")


def test_a_tail_with_heads_that_cannot_follow_is_torn(tmp_path) -> None:
    """Out of step with the blocks, or of a chunk that has been: old bytes of the disk."""
    first, seal = forged(1, SEAL, described())
    later, _ = forged(3, seal, described())
    for rubbish in (b"x" * 70 + later, b"x" * 64 + first, b"x" * 64 + HEADER):
        (tmp_path / "a").write_bytes(HEADER + first + rubbish)
        assert read(tmp_path / "a").ignored == len(rubbish)
    (tmp_path / "a").write_bytes(HEADER + first + b"x" * 64 + later)  # this one is a chunk that follows
    with pytest.raises(ValueError, match=r"chunk 2 .*good chunks follow"):
        read(tmp_path / "a")


def test_a_length_beyond_the_end_takes_no_memory(tmp_path) -> None:
    good = described({"name": "x", "dtype": "<f8", "shape": [2**56]})
    (tmp_path / "a").write_bytes(HEADER + forged(1, SEAL, good, bytes(64), None, 2**59)[0])
    tracemalloc.start()
    assert read(tmp_path / "a").chunks == []
    assert tracemalloc.get_traced_memory()[1] < 3e6
    tracemalloc.stop()


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)
ENTRY = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["q", "v", "", "x" * 100]) | JSON,
        "dtype": st.sampled_from(["<f8", "|u1", "<i4", "|O", "<U8", "|V64", "<c16", "x"]) | JSON,
        "shape": st.lists(st.integers(-1, 9) | st.sampled_from([2**31, 2**63, 10**30]), max_size=4) | JSON,
    }
)
DOCUMENT = st.fixed_dictionaries({"arrays": st.lists(ENTRY | JSON, max_size=3) | JSON, "facts": JSON}) | JSON
QUIET = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUIET
@given(document=DOCUMENT, header=DOCUMENT, size=st.integers(0, 5), plain=st.booleans())
def test_any_description_gives_arrays_or_value_error(tmp_path, document, header, size, plain) -> None:
    first, seal = (HEADER, SEAL) if plain else forged(0, 0, json.dumps(header).encode())
    block, _ = forged(1, seal, json.dumps(document).encode(), bytes(64 * size))
    (tmp_path / "a").write_bytes(first + block)
    with contextlib.suppress(ValueError):
        contents = read(tmp_path / "a")
        for own, arrays in contents.chunks:
            assert isinstance(own, dict)
            assert sum(a.nbytes for a in arrays.values()) <= 64 * size


@QUIET
@given(data=st.binary(max_size=600), keep=st.integers(0, 2000), aligned=st.booleans())
def test_any_bytes_give_chunks_or_value_error(tmp_path, data, keep, aligned) -> None:
    block, _ = forged(1, SEAL, described({"name": "x", "dtype": "<f8", "shape": [8]}), bytes(64))
    good = (HEADER + block)[: keep // 64 * 64 if aligned else keep]
    (tmp_path / "a").write_bytes(good + data)
    with contextlib.suppress(ValueError):
        contents = read(tmp_path / "a")
        assert [list(arrays) for _, arrays in contents.chunks] == [["x"]] * len(contents.chunks)
        assert len(contents.chunks) <= 1


def test_marks_inside_of_arrays_do_no_harm(tmp_path) -> None:
    """A recording kept inside of a recording, and torn."""
    inner = np.frombuffer((HEADER + forged(5, SEAL, described())[0]) * 3, np.uint8)
    with Recording.create(tmp_path / "a", {}) as recording:
        recording.append({}, {"inner": inner})
        end = (tmp_path / "a").stat().st_size
        recording.append({}, {"inner": inner})
    whole = (tmp_path / "a").read_bytes()
    for length in reversed(range(end, len(whole))):
        os.truncate(tmp_path / "a", length)
        ((_, arrays),) = read(tmp_path / "a").chunks
        assert (arrays["inner"] == inner).all()
