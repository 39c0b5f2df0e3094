"""The object cache: private, whole, never stale, never in the way."""

import errno
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import featherweight as fw
from featherweight.compiler.native import cache
from featherweight.compiler.runtime import code
from featherweight.dynamics.functions import FORWARD_DYNAMICS, INVERSE_DYNAMICS

Q, V, TAU = np.array([0.3, -0.7]), np.array([1.0, 2.0]), np.array([0.5, -0.5])
posix = pytest.mark.skipif(os.name == "nt", reason="owners and modes are POSIX")

# computes, then prints whether the code came from the cache, and the result's bits
SCRIPT = """
import numpy as np
import featherweight as fw
from featherweight.dynamics.functions import FORWARD_DYNAMICS
model = fw.robots.chain(2)
a = fw.forward_dynamics(model, np.array([0.3, -0.7]), np.array([1.0, 2.0]), np.array([0.5, -0.5]))
print(FORWARD_DYNAMICS.kernel(model).code(1).from_cache, a.tobytes().hex())
"""


def use(monkeypatch, directory):
    monkeypatch.setenv("FEATHERWEIGHT_CACHE", str(directory))
    return directory


def compute(model=None):
    """Acceleration by a kernel that is made as in a new process, and whether its code came from the cache."""
    code._recent.clear()
    code._loaded.clear()
    kernel = FORWARD_DYNAMICS._make(model or fw.robots.chain(2), ())
    (a,) = kernel(Q, V, TAU)
    return a.tobytes(), kernel.code(1).from_cache


RIGHT = fw.forward_dynamics(fw.robots.chain(2), Q, V, TAU).tobytes()
fw.forward_dynamics(fw.robots.chain(2), [Q, Q], V, TAU)  # what packs share is loaded too before entries are counted


def process(directory, script=SCRIPT, **environment):
    """A Python process with this cache, started."""
    environment = {**os.environ, "FEATHERWEIGHT_CACHE": str(directory), **environment}
    return subprocess.Popen(
        [sys.executable, "-c", script], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def output(started):
    out, error = started.communicate(timeout=60)
    assert started.returncode == 0, error
    return out.split()


def contents(directory):
    return {path.name: path.read_bytes() for path in Path(directory).iterdir()}


def entries(directory):
    """The two of a kernel: machine code, and the numbers that are bound to it."""
    return sorted(Path(directory).iterdir(), key=lambda path: not has_code(path))


def has_code(path):
    return bool(cache.read(path.name)[1])


@posix
def test_the_directory_and_its_entries_are_private(tmp_path, monkeypatch):
    directory = use(monkeypatch, tmp_path / "deep" / "cache")
    before = os.umask(0)
    try:
        compute()
    finally:
        os.umask(before)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert [stat.S_IMODE(entry.stat().st_mode) for entry in entries(directory)] == [0o600] * 2


def test_the_second_kernel_is_loaded_and_gives_the_same_bits(tmp_path, monkeypatch):
    use(monkeypatch, tmp_path / "cache")
    assert compute() == (RIGHT, False)
    assert compute() == (RIGHT, True)


def test_a_hit_needs_no_tracing(tmp_path, monkeypatch):
    use(monkeypatch, tmp_path / "cache")
    compute()
    monkeypatch.setattr("featherweight.compiler.runtime.kernel.Graph", None)
    assert compute() == (RIGHT, True)


def test_a_second_process_loads_what_the_first_compiled(tmp_path):
    assert output(process(tmp_path / "cache")) == ["False", RIGHT.hex()]
    assert output(process(tmp_path / "cache")) == ["True", RIGHT.hex()]


def test_two_processes_write_the_same_names_and_bytes(tmp_path):
    """No address and no random order of a process may stand in an entry."""
    runs = [process(tmp_path / seed, PYTHONHASHSEED=seed) for seed in ("1", "2")]
    for run in runs:
        output(run)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    assert len(contents(tmp_path / "1")) == 4  # code and numbers of the kernel, the support module, the entry point


def test_four_processes_at_once_leave_only_whole_entries(tmp_path, monkeypatch):
    runs = [process(tmp_path / "cache") for _ in range(4)]
    assert [output(run)[1] for run in runs] == [RIGHT.hex()] * 4
    use(monkeypatch, tmp_path / "cache")
    names = list(contents(tmp_path / "cache"))
    assert len(names) == 4  # code and numbers of the kernel, the support module, the entry point
    assert None not in map(cache.read, names)
    assert compute() == (RIGHT, True)


@pytest.mark.parametrize("setting", ["off", "OFF", "none", "0", ""])
def test_the_cache_can_be_switched_off(setting, tmp_path, monkeypatch):
    for variable in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    use(monkeypatch, setting)
    assert compute() == compute() == (RIGHT, False)
    assert contents(tmp_path) == {}


def refused(directory, monkeypatch, caplog):
    """The directory is not used, a warning says why, and the result is right all the same."""
    before = contents(directory)
    use(monkeypatch, directory)
    assert compute() == compute() == (RIGHT, False)
    assert contents(directory) == before
    assert "0700" in caplog.text
    assert str(directory) in caplog.text
    return True


@posix
def test_a_link_is_refused(tmp_path, monkeypatch, caplog):
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert refused(tmp_path / "link", monkeypatch, caplog)


@posix
@pytest.mark.parametrize("mode", [0o770, 0o720, 0o702, 0o777, 0o755])
def test_a_directory_open_to_others_is_refused(mode, tmp_path, monkeypatch, caplog):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(mode)
    assert refused(tmp_path / "open", monkeypatch, caplog)


@posix
def test_a_directory_of_somebody_else_is_refused(tmp_path, monkeypatch, caplog):
    (tmp_path / "foreign").mkdir(mode=0o700)
    other = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: other)
    assert refused(tmp_path / "foreign", monkeypatch, caplog)


@posix
def test_a_file_in_the_directorys_place_is_no_problem(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("not a directory")
    use(monkeypatch, tmp_path / "file")
    assert compute() == (RIGHT, False)
    assert "no object cache" in caplog.text
    assert (tmp_path / "file").read_text() == "not a directory"


def damages(data):
    """Cut entries, entries with one wrong bit in each part, and other things."""
    yield from (data[:n] for n in (0, 1, len(cache.MAGIC), len(cache.MAGIC) + 32, len(data) // 2, len(data) - 1))
    for place in (0, len(cache.MAGIC) + 5, len(cache.MAGIC) + 40, len(data) // 2, len(data) - 1):
        yield data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
    yield data + b"\0"
    yield b"\0" * len(data)
    yield b"something else\n"


def test_damaged_entries_are_compiled_anew_and_replaced(tmp_path, monkeypatch):
    directory = use(monkeypatch, tmp_path / "cache")
    compute()
    for entry in entries(directory):
        whole = entry.read_bytes()
        found = not has_code(entry)  # numbers are traced anew, and find their code
        for damaged in damages(whole):
            entry.write_bytes(damaged)
            assert compute() == (RIGHT, found)
            assert entry.read_bytes() == whole
            monkeypatch.setattr("featherweight.compiler.runtime.kernel.Graph", None)
            assert compute() == (RIGHT, True)
            monkeypatch.undo()
            use(monkeypatch, directory)


def test_code_that_is_gone_is_compiled_anew_for_its_numbers(tmp_path, monkeypatch):
    directory = use(monkeypatch, tmp_path / "cache")
    compute()
    whole = contents(directory)
    for entry in entries(directory):
        found = not has_code(entry)
        entry.unlink()
        assert compute() == (RIGHT, found)
        assert contents(directory) == whole


def test_damaged_or_missing_shared_modules_are_compiled_anew_and_replaced(tmp_path, monkeypatch):
    """Kernels need them, the support module and the entry point: what stands in the cache must not decide whether they
    run."""
    directory = use(monkeypatch, tmp_path / "cache")
    compute()
    kernel = set(entries(directory))
    assert output(process(directory)) == ["True", RIGHT.hex()]
    shared = set(directory.iterdir()) - kernel
    assert len(shared) == 2
    whole = contents(directory)
    for damage in (lambda data: b"", lambda data: data[:-100], lambda data: data[:-100] + bytes(100)):
        for path in shared:
            path.write_bytes(damage(whole[path.name]))
        assert output(process(directory)) == ["True", RIGHT.hex()]
        assert contents(directory) == whole
    for path in shared:
        path.unlink()
    assert output(process(directory)) == ["True", RIGHT.hex()]
    assert contents(directory) == whole


@posix
def test_entries_that_are_links_or_open_to_others_are_not_loaded(tmp_path, monkeypatch):
    directory = use(monkeypatch, tmp_path / "cache")
    compute()
    for entry, found in zip(entries(directory), (False, True), strict=True):
        entry.chmod(0o660)
        assert compute() == (RIGHT, found)
        assert stat.S_IMODE(entry.stat().st_mode) == 0o600
        entry.rename(tmp_path / "elsewhere")
        entry.symlink_to(tmp_path / "elsewhere")
        assert compute() == (RIGHT, found)
        assert not entry.is_symlink()
        assert compute() == (RIGHT, True)


@posix
def test_a_read_only_directory_does_not_break_computing(tmp_path, monkeypatch):
    directory = use(monkeypatch, tmp_path / "cache")
    directory.mkdir(mode=0o700)
    directory.chmod(0o500)  # root writes all the same: the error is made below
    compute()
    directory.chmod(0o700)

    def fails(*args, **options):
        raise OSError(errno.EROFS, "read-only file system")

    monkeypatch.setattr(cache.os, "replace", fails)
    assert compute(fw.robots.chain(2, mass=1.5))[1] is False


@posix
def test_a_full_disk_does_not_break_computing_and_leaves_nothing_behind(tmp_path):
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
    assert output(process(tmp_path / "cache", limit + SCRIPT)) == ["False", RIGHT.hex()]
    assert contents(tmp_path / "cache") == {}


def test_a_directory_that_vanishes_does_not_break_computing(tmp_path, monkeypatch):
    directory = use(monkeypatch, tmp_path / "cache")
    compute()
    shutil.rmtree(directory)
    assert compute() == (RIGHT, False)


def test_other_numbers_robots_quantities_and_widths_are_other_entries(tmp_path, monkeypatch):
    directory = use(monkeypatch, tmp_path / "cache")
    models = [
        fw.robots.chain(2),
        fw.robots.chain(2, mass=1.25),
        fw.robots.chain(2, mass=np.nextafter(1.25, 2)),
        fw.robots.chain(2, length=np.nextafter(1.5, 2)),
        fw.robots.double_pendulum(),
        fw.Builder(gravity=(0, 0, -1.62))
        .add_body("a", joint=fw.joints.Revolute("x"), inertia=fw.Inertia.point(1, (0, 0, 1)))
        .add_body("b", parent="a", joint=fw.joints.Revolute("x"), inertia=fw.Inertia.point(1, (0, 0, 1)))
        .build(),
    ]
    results = {compute(model)[0] for model in models}
    assert len(results) == len(models)

    def kinds():
        found = [has_code(path) for path in directory.iterdir()]
        return found.count(True), found.count(False)

    codes, numbers = kinds()
    assert numbers == len(models)
    assert codes == len(models) - 2  # two chains differ in mass alone, two in length
    INVERSE_DYNAMICS._make(models[0], ())(Q, V, TAU)
    FORWARD_DYNAMICS._make(models[0], ())([Q, Q], V, TAU)
    assert kinds() == (codes + 2, numbers + 2)


def test_a_joint_of_another_package_is_cached_by_what_was_traced(tmp_path, monkeypatch):
    """Its text is not in the key, so the trace must be."""

    def geared(ratio):
        class Geared(fw.joints.Revolute):
            def subspace(self, q):
                return tuple(s * ratio for s in super().subspace(q))

        bob = fw.Inertia.point(1, (0, 0, 1))
        return fw.Builder().add_body("a", joint=Geared("y"), inertia=bob).build()

    fw.forward_dynamics(fw.robots.chain(1), [0.3], [0.1], [0.2])  # has loaded all that kernels share
    directory = use(monkeypatch, tmp_path / "cache")
    assert geared(2.0).fingerprint is None
    found = [fw.forward_dynamics(geared(ratio), [0.3], [0.1], [0.2]) for ratio in (2.0, 3.0)]
    assert len(contents(directory)) == 2
    again = [fw.forward_dynamics(geared(ratio), [0.3], [0.1], [0.2]) for ratio in (2.0, 3.0)]
    assert len(contents(directory)) == 2
    with fw.interpret():
        right = [fw.forward_dynamics(geared(ratio), [0.3], [0.1], [0.2]) for ratio in (2.0, 3.0)]
    np.testing.assert_array_equal(found, again)
    np.testing.assert_allclose(found, right, rtol=1e-13)


def test_a_changed_source_is_never_served_old_code(tmp_path):
    """Also when it is edited while a process that has already imported it goes on to compile."""
    shutil.copytree(Path(fw.__file__).parent, tmp_path / "source" / "featherweight")
    environment = {"PYTHONPATH": str(tmp_path / "source"), "PYTHONDONTWRITEBYTECODE": "1"}
    script = """
import sys
import featherweight as fw
if sys.stdin.read(4) == "edit":
    from pathlib import Path
    path = Path(fw.__file__).parent / "algorithms" / "inverse_dynamics.py"
    path.write_text(path.read_text().replace("return tau, F", "return [2 * t for t in tau], F"))
print(fw.inverse_dynamics(fw.robots.pendulum(length=2.0), [0.0], [0.0], [1.0])[0])
"""
    results = []
    for line in ("same", "edit", "same"):
        run = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, **environment, "FEATHERWEIGHT_CACHE": str(tmp_path / "cache")},
            input=line,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        results.append(float(run.stdout))
    assert results == [4.0, 4.0, 8.0]


def test_old_entries_are_dropped_when_there_are_too_many(tmp_path, monkeypatch):
    directory = use(monkeypatch, tmp_path / "cache")
    monkeypatch.setattr(cache, "MOST_ENTRIES", 8)
    monkeypatch.setattr(cache, "SELDOM", 1)
    for k in range(20):
        cache.write(f"{k:064x}", {"number": k}, [b"co", b"de"])
        os.utime(directory / f"{k:064x}", (k, k))
    assert 4 <= len(contents(directory)) <= 8
    assert cache.read(f"{19:064x}") == ({"number": 19}, [b"co", b"de"])
    assert cache.read(f"{0:064x}") is None


def test_code_outlives_the_numbers_that_refer_to_it(tmp_path, monkeypatch):
    directory = use(monkeypatch, tmp_path / "cache")
    monkeypatch.setattr(cache, "MOST_ENTRIES", 8)
    monkeypatch.setattr(cache, "SELDOM", 1)
    for k in range(20):
        compute(fw.robots.chain(2, mass=2.0 + k))
        assert len([path for path in directory.iterdir() if has_code(path)]) == 1
    assert 4 <= len(contents(directory)) <= 8


def test_keys_do_not_depend_on_where_the_texts_are_cut():
    assert cache.key("ab", "c") != cache.key("a", "bc") != cache.key("abc")
    assert cache.key("ab", "c") == cache.key("ab", "c")


def test_old_entries_and_half_written_ones_are_dropped(tmp_path, monkeypatch):
    """Three quarters of what may be are left when there are too many; what a killed process left goes after an hour."""
    monkeypatch.setattr(cache, "MOST_ENTRIES", 10)
    now = time.time()
    for k in range(12):
        (tmp_path / f"entry{k:02}").write_bytes(b"x")
        os.utime(tmp_path / f"entry{k:02}", (now - 100 + k, now - 100 + k))
    for name, age in ((".new-dead", 7200), (".new-alive", 5)):
        (tmp_path / name).write_bytes(b"x")
        os.utime(tmp_path / name, (now - age, now - age))
    cache._prune(tmp_path, 1e9)
    left = sorted(p.name for p in tmp_path.iterdir())
    assert left == [".new-alive", *(f"entry{k:02}" for k in range(6, 12))]


def test_an_entry_under_another_name_is_compiled_anew(tmp_path):
    """Entries that are whole but swapped would be another robot's code: wrong numbers, or a dead process."""
    script = SCRIPT.replace("chain(2)", "chain(LINKS)").replace("np.array([", "np.resize([").replace("])", "], LINKS)")
    scripts = [script.replace("LINKS", links) for links in ("2", "3")]
    right = [output(process("off", script))[1] for script in scripts]
    directory = tmp_path / "cache"
    for script in scripts:
        output(process(directory, script))
    whole = contents(directory)
    names = sorted(whole)
    for name, other in zip(names, names[1:] + names[:1], strict=True):
        (directory / name).write_bytes(whole[other])
    assert [output(process(directory, script)) for script in scripts] == [["False", bits] for bits in right]
    assert contents(directory) == whole


@posix
def test_pipes_folders_and_devices_in_place_of_an_entry_neither_hang_nor_break(tmp_path):
    """Opening a pipe waits for a writer, and would wait forever."""
    directory = tmp_path / "cache"
    output(process(directory))
    whole = contents(directory)
    for name in whole:
        (directory / name).unlink()
        os.mkfifo(directory / name, 0o600)
    assert output(process(directory))[1] == RIGHT.hex()
    assert contents(directory) == whole
    for name in whole:
        (directory / name).unlink()
        (directory / name).mkdir(mode=0o700)
    assert output(process(directory))[1] == RIGHT.hex()


@pytest.mark.parametrize("text", ["", "[", "{}", "[[], []]", "[{}, 3]", "[{}, [1.5]]", "[{}]", "[" * 100_000, "\\xff"])
def test_an_entry_of_bad_json_is_none_even_with_its_digest(text, tmp_path, monkeypatch):
    directory = use(monkeypatch, tmp_path / "cache")
    name = cache.key(text)
    cache.write(name, {}, [])
    payload = text.encode("latin-1") + b"\ncode"
    (directory / name).write_bytes(cache.MAGIC + cache._digest(name, payload) + payload)
    assert cache.read(name) is None


def test_the_cache_is_bounded_in_bytes(tmp_path, monkeypatch, caplog):
    directory = use(monkeypatch, tmp_path / "cache")
    monkeypatch.setenv("FEATHERWEIGHT_CACHE_MB", "0.1")
    for k in range(100):
        name = f"{k:064x}"
        cache.write(name, {"number": k}, [bytes(6000)])
        if (directory / name).exists():
            os.utime(directory / name, (k, k))
        assert sum(map(len, contents(directory).values())) <= 0.1e6 + 2 * 6250
    assert cache.read(f"{99:064x}") == ({"number": 99}, [bytes(6000)])
    assert cache.read(f"{0:064x}") is None
    cache.write(f"{100:064x}", {}, [bytes(7000)])  # alone more than a sixteenth
    assert cache.read(f"{100:064x}") is None
    monkeypatch.setenv("FEATHERWEIGHT_CACHE_MB", "0")
    assert compute() == compute() == (RIGHT, False)
    monkeypatch.setenv("FEATHERWEIGHT_CACHE_MB", "much")
    assert (*compute(), *compute()) == (RIGHT, False, RIGHT, True)
    assert "expected a number of megabytes, got 'much'" in caplog.text


@posix
def test_an_entry_longer_than_the_cache_may_be_is_not_read(tmp_path, monkeypatch):
    directory = use(monkeypatch, tmp_path / "cache")
    name = cache.key("long")
    cache.write(name, {}, [b"code"])
    os.truncate(directory / name, 1 << 40)  # sparse: reading it would fill the memory
    assert cache.read(name) is None
