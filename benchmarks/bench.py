"""Speed of featherweight and of Pinocchio, in one run on one machine: `make bench`.

Honest settings: the public functions with all their checks, row-major arrays, a fresh result every
call, one core unless said. Peers and ours take turns, and the best of several rounds counts, because
clocks change under us. Everything measured goes to benchmarks/results/ as JSON; the table in the
README is made from that file.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import mujoco
import mujoco.batch
import numpy as np
import pinocchio as pin

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

import report  # noqa: E402
from peak import Peak, fill_bytes_per_second, two_cores, two_fills  # noqa: E402
from threads import Pairs  # noqa: E402

import featherweight as fw  # noqa: E402
from contact import measure_contact  # noqa: E402
from peers.mujoco_adapter import joint_order, to_mujoco  # noqa: E402
from peers.pinocchio_adapter import pinocchio_model, random_states, robot  # noqa: E402

BATCH = 4096
ROBOTS = ("go2", "simple_humanoid", "talos")
STEPS, DT = 5000, 1e-3  # of a simulation
PEERS = 256  # simulations in a batch of MuJoCo's
CHAINS = (10, 30, 100, 300, 1000)


def best(functions: list[Callable[[], Any]], calls: list[int], rounds: int) -> list[float]:
    """Seconds a call, the best of several rounds; the functions take turns."""
    times = [float("inf")] * len(functions)
    for _ in range(rounds):
        for k, (f, n) in enumerate(zip(functions, calls, strict=True)):
            start = time.perf_counter()
            for _ in range(n):
                f()
            times[k] = min(times[k], (time.perf_counter() - start) / n)
    return times


@dataclass(frozen=True)
class Case:
    """A function of ours for one state and for a batch, and Pinocchio's: its batch function, if it has one."""

    function: str
    options: tuple[Any, ...]  # of our kernel
    one_state: Callable[[], Any]
    all_states: Callable[[], Any]
    peer: Callable[[], Any]
    peer_batch: Callable[[], Any] | None = None


def dynamics_cases(model: pin.Model, ours: fw.Model, q: np.ndarray, v: np.ndarray, x: np.ndarray) -> list[Case]:
    """The three great algorithms."""
    data, pool = model.createData(), pin.ModelPool(model, 1)
    columns = [np.asfortranarray(a.T) for a in (q, v, x)]  # Pinocchio takes one state a column
    q1, v1, x1 = q[0].copy(), v[0].copy(), x[0].copy()
    return [
        Case(
            "forward_dynamics",
            (),
            lambda: fw.forward_dynamics(ours, q1, v1, x1),
            lambda: fw.forward_dynamics(ours, q, v, x),
            lambda: pin.aba(model, data, q1, v1, x1),
            lambda: pin.abaInParallel(1, pool, *columns),
        ),
        Case(
            "inverse_dynamics",
            (),
            lambda: fw.inverse_dynamics(ours, q1, v1, x1),
            lambda: fw.inverse_dynamics(ours, q, v, x),
            lambda: pin.rnea(model, data, q1, v1, x1),
            lambda: pin.rneaInParallel(1, pool, *columns),
        ),
        Case(
            "mass_matrix",
            (),
            lambda: fw.mass_matrix(ours, q1),
            lambda: fw.mass_matrix(ours, q),
            lambda: pin.crba(model, data, q1),
        ),
    ]


def more_cases(model: pin.Model, ours: fw.Model, q: np.ndarray, v: np.ndarray) -> list[Case]:
    """Matrices that controllers and contact solvers need; Pinocchio has no batches of them."""
    data = model.createData()
    q1, v1 = q[0].copy(), v[0].copy()
    last = ours.nb
    frame = ours.names[last]
    tips = [i for i in range(1, ours.nb + 1) if not ours.children(i)][-4:]  # up to four limbs
    points = tuple(ours.names[i] for i in tips)
    places = tuple((i, (0.0, 0.0, 0.0)) for i in tips)
    identity = pin.SE3.Identity()
    contacts = pin.StdVec_RigidConstraintModel()
    for i in tips:
        point = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, i, identity, pin.LOCAL_WORLD_ALIGNED)
        contacts.append(point)
    contact_data = pin.StdVec_RigidConstraintData()
    for contact in contacts:
        contact_data.append(contact.createData())
    return [
        Case(
            "jacobian",
            (frame, "body"),
            lambda: fw.jacobian(ours, q1, frame),
            lambda: fw.jacobian(ours, q, frame),
            lambda: pin.computeJointJacobian(model, data, q1, last),
        ),
        Case(
            "mass_matrix_inverse",
            (),
            lambda: fw.mass_matrix_inverse(ours, q1),
            lambda: fw.mass_matrix_inverse(ours, q),
            lambda: pin.computeMinverse(model, data, q1),
        ),
        Case(
            "coriolis_matrix",
            (),
            lambda: fw.coriolis_matrix(ours, q1, v1),
            lambda: fw.coriolis_matrix(ours, q, v),
            lambda: pin.computeCoriolisMatrix(model, data, q1, v1),
        ),
        Case(
            "centroidal_momentum_matrix",
            (),
            lambda: fw.centroidal_momentum_matrix(ours, q1),
            lambda: fw.centroidal_momentum_matrix(ours, q),
            lambda: pin.computeCentroidalMap(model, data, q1),
        ),
        Case(
            "delassus",
            (places,),
            lambda: fw.delassus(ours, q1, points),
            lambda: fw.delassus(ours, q, points),
            lambda: pin.computeDelassusMatrix(model, data, q1, contacts, contact_data),
        ),
    ]


def measure_robot(name: str, peak: Peak, rounds: int, pairs: Pairs) -> list[dict[str, Any]]:
    """One row for each function."""
    model, ours = pinocchio_model(name, "free"), robot(name, "free")
    q, v, x = random_states(model, BATCH)
    rows = []
    for case in (*dynamics_cases(model, ours, q, v, x), *more_cases(model, ours, q, v)):
        row = {"robot": name, **measure_case(case, ours, peak, rounds)}
        pairs.add(row, "two_threads", case.all_states, max(3, int(0.02 / (1e-9 * BATCH * row["batch_ns"]))))
        if case.peer_batch is not None:
            large = partial(getattr(fw, case.function), ours, *(np.tile(a, (16, 1)) for a in (q, v, x)))
            pairs.add(row, "two_threads_large", large, 1)
        rows.append(row)
        print(report.line(row), flush=True)
    return rows


def measure_case(case: Case, ours: fw.Model, peak: Peak, rounds: int) -> dict[str, Any]:
    """Times of ours and Pinocchio's, and their ratios."""
    case.one_state()
    shape = case.all_states().shape
    single, peer_single = best([case.one_state, case.peer], [2000, 1000], rounds)
    with fw.threads(1):
        functions = [case.all_states, *([case.peer_batch] if case.peer_batch else [])]
        batch, *peer_batches = best(functions, [10, 1][: len(functions)], rounds)
        fma = peak.fma_per_second()
        fill = fill_bytes_per_second(shape)
    operations = ours.cache.kernels[case.function, case.options, ()].plan.operations
    row = {
        "function": case.function,
        "operations": operations,
        "single_us": 1e6 * single,
        "pinocchio_single_us": 1e6 * peer_single,
        "single_ratio": peer_single / single,
        "batch_ns": 1e9 * batch / BATCH,
        "pinocchio_batch_ns": 1e9 * (peer_batches[0] / BATCH if peer_batches else peer_single),
        "fma_peak_fraction": operations * BATCH / batch / fma,
        "fill_fraction": 8 * np.prod(shape) / batch / fill,
    }
    row["batch_ratio"] = row["pinocchio_batch_ns"] / row["batch_ns"]
    return row


def measure_chain(n: int, rounds: int) -> dict[str, Any]:
    """Cost a link: flat if the algorithms are linear in n."""
    model = fw.robots.chain(n)
    rng = np.random.default_rng(0)
    q, v, tau = rng.uniform(-1, 1, (3, 256, n))
    row: dict[str, Any] = {"robot": f"chain{n}", "links": n}
    for function in (fw.forward_dynamics, fw.inverse_dynamics):
        states = [a[0].copy() for a in (q, v, tau)]
        function(model, *states)
        with fw.threads(1):
            function(model, q, v, tau)
            single, batch = best(
                [lambda: function(model, *states), lambda: function(model, q, v, tau)],  # noqa: B023
                [max(5, 2000 // n), 2],
                rounds,
            )
        row[f"{function.__name__}_single_ns_a_link"] = 1e9 * single / n
        row[f"{function.__name__}_batch_ns_a_link"] = 1e9 * batch / 256 / n
    print(report.line(row), flush=True)
    return row


def measure_simulation(name: str, rounds: int, pairs: Pairs) -> list[dict[str, Any]]:
    """Steps of semi-implicit Euler without contact: ours in a native loop, MuJoCo's `mj_step` in its own; a batch of
    ours against `mujoco.batch`, on one core; and what a Python controller costs a step beside its own time."""
    ours = robot(name, "free")
    theirs = to_mujoco(ours)
    theirs.opt.timestep, theirs.opt.disableflags = DT, mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(theirs)
    rng = np.random.default_rng(0)
    q = np.array([ours.random(rng) for _ in range(BATCH)])
    v = 0.1 * rng.normal(size=(BATCH, ours.nv))
    gains = fw.compiled(hold, parameters=[20.0, 0.5])
    order = joint_order(ours)
    peers = mujoco.batch.Batch(theirs, PEERS, 1, persistent=True)
    begin = fw.convert.to_mujoco(ours, q[:PEERS], v[:PEERS], order)

    def peer() -> None:
        data.qpos[:], data.qvel[:] = begin[0][0], begin[1][0]
        mujoco.mj_step(theirs, data, nstep=STEPS)

    def peer_batch() -> None:
        peers.qpos[:], peers.qvel[:] = begin
        peers.step(nstep=100)

    rows = []
    for control in (None, gains):

        def one(control: Any = control) -> None:
            fw.rollout(ours, q[0], v[0], steps=STEPS, dt=DT, control=control, record_every=STEPS)

        def many(control: Any = control) -> None:
            fw.rollout(ours, q, v, steps=100, dt=DT, control=control, record_every=100)

        one(), many()
        single, mujoco_single = best([one, peer], [1, 1], rounds)
        with fw.threads(1):
            batch, theirs_batch = best([many, peer_batch], [1, 1], rounds)
        row = {
            "robot": name,
            "control": "compiled PD" if control is not None else "none",
            "single_us": 1e6 * single / STEPS,
            "mujoco_single_us": 1e6 * mujoco_single / STEPS,
            "batch_ns": 1e9 * batch / BATCH / 100,
            "mujoco_batch_us": 1e6 * theirs_batch / PEERS / 100,
        }
        pairs.add(row, "two_threads", many, 1)
        row["single_ratio"] = row["mujoco_single_us"] / row["single_us"]
        row["batch_ratio"] = 1e3 * row["mujoco_batch_us"] / row["batch_ns"]
        if control is None:
            row["python_controller_us"] = 1e6 * python_overhead(ours, q[0], v[0], single, rounds)
        rows.append(row)
        print(report.line(row), flush=True)
    return rows


def python_overhead(model: fw.Model, q: np.ndarray, v: np.ndarray, native: float, rounds: int) -> float:
    """Seconds a step that a Python controller costs beside its own time; `native` is that of STEPS steps without."""
    forces = np.zeros(model.nv)

    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return forces

    def run() -> None:
        fw.rollout(model, q, v, steps=STEPS, dt=DT, control=control, record_every=1)

    def own() -> None:
        for _ in range(STEPS):
            control(0.0, q, v)

    run()
    with_python, of_its_own = best([run, own], [1, 1], rounds)
    return (with_python - of_its_own - native) / STEPS


def measure_depth(n: int, rounds: int) -> dict[str, Any]:
    """The Delassus matrix of one contact point at the end of a chain of n links: time over depth."""
    model = fw.robots.chain(n)
    rng = np.random.default_rng(0)
    q = np.array([model.random(rng) for _ in range(256)])
    contacts = [(model.names[-1], (0.0, 0.0, 0.0))]
    fw.delassus(model, q[0], contacts)
    with fw.threads(1):
        fw.delassus(model, q, contacts)
        single, batch = best(
            [lambda: fw.delassus(model, q[0], contacts), lambda: fw.delassus(model, q, contacts)],
            [max(5, 2000 // n), 2],
            rounds,
        )
    row = {"depth": n, "delassus_single_ns_a_link": 1e9 * single / n, "delassus_batch_ns_a_link": 1e9 * batch / 256 / n}
    print(report.line(row), flush=True)
    return row


def measure_load(links: int) -> dict[str, Any]:
    """Reading and checking a URDF text of so many links in a chain, with shapes and limits."""
    solid = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>'
    shape = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    text = "".join(f'<link name="link{k}">{solid}{shape}</link>\n' for k in range(links + 1))
    for k in range(links):
        text += (
            f'<joint name="joint{k}" type="revolute"><parent link="link{k}"/><child link="link{k + 1}"/>'
            '<origin xyz="0 0 1" rpy="0.1 0.2 0.3"/><axis xyz="0 1 0"/>'
            '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>\n'
        )
    (seconds,) = best([lambda: fw.loads(f'<robot name="chain">{text}</robot>')], [1], 9)
    row = {"links": links, "load_s": seconds}
    print(report.line(row), flush=True)
    return row


def hold(t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
    """A PD controller on all joints but the base."""
    return np.concatenate([np.zeros(6), p[0] * (0.3 - q[7:]) - p[1] * v[6:]]), x


def measure_start(what: str, cache: str) -> dict[str, Any]:
    """A new process: import, then the first forward_dynamics of one state."""
    environment = {**os.environ, "FEATHERWEIGHT_CACHE": cache}
    command = [sys.executable, str(HERE / "first_call.py"), what]
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    return json.loads(output)


def measure_starts() -> list[dict[str, Any]]:
    rows = []
    for what in (*ROBOTS, "chain100", "chain1000"):
        with tempfile.TemporaryDirectory() as cache:
            cold = measure_start(what, cache)
            warm = min((measure_start(what, cache) for _ in range(3)), key=lambda r: r["first_call_s"])
        row = {
            "robot": what,
            "cold_s": cold["first_call_s"],
            "cached_s": warm["first_call_s"],
            "import_s": warm["import_s"],
        }
        rows.append(row)
        print(report.line(row), flush=True)
    return rows


def machine() -> dict[str, Any]:
    name = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.exists():
        name = next(
            (line.split(":")[1].strip() for line in info.read_text().splitlines() if "model name" in line), name
        )
    from featherweight.compiler.native.target import host, llvm_version

    return {
        "cpu": f"{name} ({host().cpu})",
        "lanes": host().width,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "llvm": llvm_version(),
        "pinocchio": pin.__version__,
        "mujoco": mujoco.__version__,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="rounds that the best is taken of")
    rounds = parser.parse_args().rounds
    peak = Peak()
    result: dict[str, Any] = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": machine(),
        "featherweight": fw.__version__,
        "batch": BATCH,
        "fma_per_second": peak.fma_per_second(),
    }
    pairs = Pairs()
    result["starts"] = measure_starts()
    result["robots"] = [row for name in ROBOTS for row in measure_robot(name, peak, rounds, pairs)]
    result["simulation"] = measure_simulation("go2", rounds, pairs)
    result["contact"] = [measure_contact(points, max(5, rounds // 2)) for points in ("feet", "all")]
    print(*map(report.line, result["contact"]), sep="\n", flush=True)
    result["loading"] = [measure_load(links) for links in (100, 200, 400)]
    result["chains"] = [measure_chain(n, max(5, rounds // 2)) for n in CHAINS]
    result["depths"] = [measure_depth(n, max(5, rounds // 2)) for n in CHAINS[:-1]]
    result["two_cores"], result["two_fills"] = max(two_cores() for _ in range(3)), max(two_fills() for _ in range(3))
    pairs.measure()
    path = HERE / "results" / f"{result['date'][:10]}-dynamics.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n")
    print()
    print(report.tables(result))
    print(f"\nraw data: {path.relative_to(HERE.parent)}; `make tables` puts it into the README and docs/benchmarks.md")


if __name__ == "__main__":
    main()
