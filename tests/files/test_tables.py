"""Runs as tables of other programs: what NumPy, the csv module, pandas and pyarrow read is what the run has."""

from __future__ import annotations

import csv
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import featherweight as fw
from featherweight.files import table_of

pandas = pytest.importorskip("pandas")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def run() -> fw.Trajectory:
    """A robot that floats, touches, and is controlled: all kinds of columns."""
    model = fw.robots.mini_cheetah(points="feet")
    q = model.neutral()
    q[2], q[7:] = 0.28, np.tile([0.0, -0.8, 1.6], 4)

    def control(t, q, v, x, p):
        return np.concatenate([np.zeros(6), 0.1 * v[6:]]), x + 1.0

    return fw.simulate(
        model, q, np.zeros(18), duration=0.02, dt=1e-3, contact=fw.contact.Impulse(),
        control=fw.compiled(control, state=[0.0]),
    )  # fmt: skip


@pytest.fixture(scope="module")
def batch() -> fw.Trajectory:
    model = fw.robots.double_pendulum()
    q = np.random.default_rng(0).normal(size=(2, 3, 2))
    return fw.rollout(model, q, 0 * q, steps=4, dt=1e-3)


def test_every_number_of_a_state_has_a_column_named_after_its_joint(run: fw.Trajectory) -> None:
    columns = table_of(run).columns
    (base,) = [joint for joint in run.model.joints if joint.kind.floating]
    names = [f"q.{base.name}.{axis}" for axis in ("x", "y", "z", "qx", "qy", "qz", "qw")]
    names += [f"q.{joint.name}" for joint in run.model.joints if joint is not base]
    assert [name for name in columns if name.startswith("q.")] == names
    np.testing.assert_array_equal(np.column_stack([columns[name] for name in names]), run.q)
    twist = np.column_stack([columns[f"v.{base.name}.{axis}"] for axis in ("vx", "vy", "vz", "wx", "wy", "wz")])
    np.testing.assert_array_equal(twist, run.v[:, base.v])


def test_forces_stand_at_the_state_that_their_interval_begins_with(run: fw.Trajectory) -> None:
    columns = table_of(run).columns
    joint = run.model.joints[3]
    np.testing.assert_array_equal(columns[f"tau.{joint.name}"][:-1], run.tau[:, joint.v.start])
    point = run.model.contact_points[2].name
    force = np.column_stack([columns[f"force.{point}.{axis}"] for axis in "xyz"])
    assert np.abs(run.contact_force).max() > 0
    np.testing.assert_array_equal(force[:-1], run.contact_force[:, 2])
    np.testing.assert_array_equal(columns[f"slip.{point}"][:-1], run.contact_slip[:, 2])
    np.testing.assert_array_equal(columns[f"penetration.{point}"][:-1], run.penetration[:, 2])
    assert np.isnan(force[-1]).all()
    np.testing.assert_array_equal(columns["x.0"], np.arange(21.0))


def test_robots_of_a_batch_follow_each_other(batch: fw.Trajectory) -> None:
    frame = batch.to_frame()
    assert frame["lane"].tolist() == [lane for lane in range(6) for _ in range(5)]
    one = frame[frame["lane"] == 4]
    np.testing.assert_array_equal(one["q.elbow"], batch.q[1, 1, :, 1])
    np.testing.assert_array_equal(one["t"], batch.t)


def test_numpy_reads_what_was_saved_without_pickle(run: fw.Trajectory, tmp_path: Path) -> None:
    run.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz", allow_pickle=False) as found:
        for name in ("t", "q", "v", "tau", "contact_force", "contact_slip", "penetration", "solver", "x", "status"):
            np.testing.assert_array_equal(found[name], getattr(run, name))
        assert len(found["q_names"]) == 19
        assert found["v_names"][6:].tolist() == list(run.model.joint_names[1:])
        assert found["contact_points"].tolist() == [point.name for point in run.model.contact_points]
        assert str(found["model"]) == run.model.name


def test_csv_is_read_back_to_the_bit(run: fw.Trajectory, batch: fw.Trajectory, tmp_path: Path) -> None:
    for one in (run, batch):
        one.save(tmp_path / "run.csv")
        with open(tmp_path / "run.csv", newline="", encoding="utf-8") as file:
            names, *rows = csv.reader(file)
        columns = table_of(one).columns
        assert names == list(columns)
        read = np.array([[float(field or "nan") for field in row] for row in rows])
        np.testing.assert_array_equal(read, np.column_stack(list(columns.values())))
        frame = pandas.read_csv(tmp_path / "run.csv")
        np.testing.assert_allclose(frame.to_numpy(dtype=float), read, rtol=1e-15)


def test_parquet_is_read_back_to_the_bit(batch: fw.Trajectory, tmp_path: Path) -> None:
    batch.save(tmp_path / "run.parquet")
    found = parquet.read_table(tmp_path / "run.parquet")
    columns = table_of(batch).columns
    assert found.column_names == list(columns)
    for name, values in columns.items():
        np.testing.assert_array_equal(found[name].to_numpy(), values)
    pandas.testing.assert_frame_equal(pandas.read_parquet(tmp_path / "run.parquet"), batch.to_frame())


def test_a_run_without_a_robot_has_numbered_columns(batch: fw.Trajectory, tmp_path: Path) -> None:
    bare = fw.Trajectory(
        None, batch.t, batch.q, batch.v, batch.tau, batch.contact_force, batch.status, batch.failed_step
    )
    assert {"q.0", "q.1", "v.0", "tau.1"} <= set(table_of(bare).columns)
    bare.save(tmp_path / "bare.npz")
    with np.load(tmp_path / "bare.npz") as found:
        assert "q_names" not in found


def test_outputs_of_a_controller_are_columns(run: fw.Trajectory) -> None:
    more = replace(run, outputs={"speed": run.v[:-1, 0], "pair": run.v[:-1, :2]})
    columns = table_of(more).columns
    np.testing.assert_array_equal(columns["output.speed"][:-1], run.v[:-1, 0])
    np.testing.assert_array_equal(columns["output.pair.1"][:-1], run.v[:-1, 1])


def test_hostile_names_break_no_table(tmp_path: Path) -> None:
    names = ['=cmd|"/c calc"!A1', "a,b\n\"c'", "../../up", "base.x", "base"]
    builder = fw.Builder("odd")
    for name in names:
        joint = fw.joints.Free() if name == "base" else fw.joints.Revolute("y")
        inertia = fw.Inertia.box(1.0, (0.1, 0.1, 0.1))
        builder = builder.add_body(f"body {name}", joint=joint, joint_name=name, inertia=inertia)
    model = builder.build()
    run = fw.rollout(model, model.neutral(), np.zeros(model.nv), steps=2, dt=1e-3)
    run.save(tmp_path / "odd.csv")
    with open(tmp_path / "odd.csv", newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert len(rows) == 3
    assert len(set(head)) == len(head) == 1 + model.nq + 2 * model.nv
    assert all(name[0] not in "=+-@" and "\n" not in name for name in head)
    assert {"q.base.x", "q.base.x'"} <= set(head)
    replace(run, outputs={"../up": run.t[:-1]}).save(tmp_path / "odd.npz")
    with np.load(tmp_path / "odd.npz") as found:
        np.testing.assert_array_equal(found["output..._up"], run.t[:-1])
        assert not [name for name in found if "/" in name]


@pytest.mark.parametrize(
    ("module", "call", "text"),
    [
        ("pandas", lambda run, folder: run.to_frame(), "to_frame needs pandas"),
        ("pyarrow", lambda run, folder: run.save(folder / "x.parquet"), "files that end in .parquet need pyarrow"),
    ],
)
def test_what_is_missing_is_named_with_what_installs_it(
    module: str, call, text: str, batch: fw.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=rf'{text}: pip install "featherweight\[tables\]"'):
        call(batch, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_table_that_cannot_be_written_leaves_the_old_one(batch: fw.Trajectory, tmp_path: Path, monkeypatch) -> None:
    batch.save(tmp_path / "run.csv")
    before = (tmp_path / "run.csv").read_bytes()
    import featherweight.files.csv as ours

    def fails(number: float) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ours, "_field", fails)
    with pytest.raises(OSError, match="cannot write: No space left on device; free some space"):
        batch.save(tmp_path / "run.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["run.csv"]
    assert (tmp_path / "run.csv").read_bytes() == before
