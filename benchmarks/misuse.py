"""Bad vectors and a long chain, given to us, Pinocchio and MuJoCo: `make misuse`.

Each call of forward dynamics is made in a process of its own with a time limit, the way the library's documentation
says: `fw.forward_dynamics(model, q, v, tau)`, `pin.aba(model, data, q, v, tau)`, and `data.qpos[:] = q`, …,
`mujoco.mj_forward(model, data)`. What comes out is

    right            the acceleration of what was given, as the library itself computes it from clean float64 arrays
    refused          an exception
    warned           a warning, and numbers that are not the answer
    not finite       NaN or inf, and nobody is told
    wrong            finite numbers that are not the answer, and nobody is told
    crashed, hung    no answer
"""

from __future__ import annotations

import argparse
import collections
import datetime
import importlib.metadata
import json
import math
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
SECONDS = 30.0  # for one vector
CHAIN, CHAIN_SECONDS = 5000, 600.0
LIBRARIES = {"featherweight": "featherweight", "Pinocchio": "pin", "MuJoCo": "mujoco"}
OUTCOMES = ("right", "refused", "warned", "not finite", "wrong", "crashed", "hung")
BAD = ("not finite", "wrong", "crashed", "hung")

URDF = """
<robot name="hopper">
  <link name="body"><inertial><origin xyz="0.01 0.02 0.03"/><mass value="5"/>
    <inertia ixx="0.05" iyy="0.06" izz="0.07" ixy="0.001" ixz="0.002" iyz="0.003"/></inertial></link>
  <link name="thigh"><inertial><origin xyz="0 0.01 -0.1"/><mass value="1"/>
    <inertia ixx="0.004" iyy="0.004" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="shank"><inertial><origin xyz="0 0 -0.1"/><mass value="0.5"/>
    <inertia ixx="0.002" iyy="0.002" izz="0.0005" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hip" type="revolute"><parent link="body"/><child link="thigh"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
  <joint name="knee" type="revolute"><parent link="thigh"/><child link="shank"/><origin xyz="0 0 -0.2"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
</robot>"""

# ---- bad vectors: what is given, and clean arrays with the same meaning, or None if there is no right answer

Arrays = tuple[Any, Any, Any]
Case = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[Arrays, Arrays | None]]
CASES: dict[str, Case] = {}


def case(name: str) -> Callable[[Case], Case]:
    def add(function: Case) -> Case:
        CASES[name] = function
        return function

    return add


def one(name: str, change: Callable[[np.ndarray], Any], *, right: bool = False, argument: int = 0) -> None:
    """A case in which one of q, v, tau is changed; `right`: to the same numbers."""

    def function(*arrays: Any) -> tuple[Arrays, Arrays | None]:
        given = [*arrays]
        given[argument] = change(arrays[argument])
        return (given[0], given[1], given[2]), (arrays[0], arrays[1], arrays[2]) if right else None

    CASES[name] = function


def _with(position: int, value: Any) -> Callable[[np.ndarray], np.ndarray]:
    def change(x: np.ndarray) -> np.ndarray:
        y = x.copy()
        y[position] = value
        return y

    return change


def _read_only(x: np.ndarray) -> np.ndarray:
    y = x.copy()
    y.flags.writeable = False
    return y


def _complex(x: np.ndarray) -> np.ndarray:
    return x + 0.5j


one("one too short", lambda x: x[:-1].copy())
one("one too long", lambda x: np.append(x, 0.1))
one("empty", lambda x: np.zeros(0))
one("a number", lambda x: np.float64(0.5))
one("a row (1, n)", lambda x: x[None, :], right=True)  # a batch of one is an answer, too
one("a column (n, 1)", lambda x: x[:, None], right=True)
one("states as columns (n, 3)", lambda x: np.stack([x] * 3, axis=1), argument=1)
one("NaN in q", _with(-1, np.nan))
one("NaN in tau", _with(-1, np.nan), argument=2)
one("inf in v", _with(-1, np.inf), argument=1)
one("1e308 in v", _with(-1, 1e308), argument=1)
one("complex", _complex)
one("text", lambda x: np.array([repr(float(a)) for a in x]), right=True)
one("objects", lambda x: x.astype(object), right=True)
one("every second of a longer array", lambda x: np.repeat(x, 2)[::2], right=True)
one("backwards in memory", lambda x: x[::-1].copy()[::-1], right=True)
one("read-only", _read_only, right=True)
one("big-endian", lambda x: x.astype(">f8"), right=True)
one("a masked entry", lambda x: np.ma.array(x, mask=np.arange(len(x)) == len(x) - 1))
one("a quaternion of zeros", lambda x: np.concatenate([x[:3], np.zeros(4), x[7:]]))


@case("1e308 in q")
def _(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[Arrays, Arrays | None]:
    """The angle of the last joint. It has a right answer: that of 1e308 rad less whole turns."""
    import mpmath

    with mpmath.workdps(400):
        angle = float(mpmath.fmod(mpmath.mpf(1e308), 2 * mpmath.pi))
    return (_with(-1, 1e308)(q), v, tau), (_with(-1, angle)(q), v, tau)


@case("float32")
def _(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[Arrays, Arrays | None]:
    given = v.astype(np.float32)
    return (q, given, tau), (q, given.astype(float), tau)


@case("whole numbers")
def _(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[Arrays, Arrays | None]:
    given = np.arange(len(v))
    return (q, given, tau), (q, given.astype(float), tau)


@case("denormals")
def _(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[Arrays, Arrays | None]:
    return (q, np.full(len(v), 5e-324), tau), (q, np.zeros(len(v)), tau)


@case("a quaternion of length 2")
def _(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[Arrays, Arrays | None]:
    """The rotation of the unit quaternion in its direction, if one is to be meant."""
    return (np.concatenate([q[:3], 2 * q[3:7], q[7:]]), v, tau), (q, v, tau)


# ---- libraries: (clean q, v, tau), and forward dynamics


def featherweight() -> tuple[Arrays, Callable[..., Any]]:
    import featherweight as fw

    model = fw.loads(URDF, base="free")
    return _state(model), lambda q, v, tau: fw.forward_dynamics(model, q, v, tau)


def _state(model: Any) -> Arrays:
    rng = np.random.default_rng(0)
    return model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)


def pinocchio() -> tuple[Arrays, Callable[..., Any]]:
    import pinocchio as pin

    import featherweight as fw

    model = pin.buildModelFromXML(URDF, pin.JointModelFreeFlyer())
    data = model.createData()
    state = _state(fw.loads(URDF, base="free"))  # of the same layout
    return state, lambda q, v, tau: pin.aba(model, data, q, v, tau)


def mujoco() -> tuple[Arrays, Callable[..., Any]]:
    import mujoco

    import featherweight as fw

    sys.path.insert(0, str(HERE.parent / "tests"))
    from peers.mujoco_adapter import joint_order, to_mujoco

    ours = fw.loads(URDF, base="free")
    q, v, tau = _state(ours)
    model = to_mujoco(ours)
    data = mujoco.MjData(model)
    qpos, qvel = fw.convert.to_mujoco(ours, q, v, joint_order(ours))

    def forward(q: Any, v: Any, tau: Any) -> np.ndarray:
        data.qpos[:] = q
        data.qvel[:] = v
        data.qfrc_applied[:] = tau
        mujoco.mj_forward(model, data)
        return data.qacc.copy()

    return (qpos, qvel, tau), forward


CALLS = {"featherweight": featherweight, "Pinocchio": pinocchio, "MuJoCo": mujoco}


def vector(library: str, name: str) -> dict[str, Any]:
    """What becomes of one case, in this process."""
    clean, forward = CALLS[library]()
    given, meaning = CASES[name](*clean)
    expected = None if meaning is None else np.array(forward(*meaning))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            a = np.array(forward(*given), dtype=float)
        except Exception as error:
            return {"outcome": "refused", "said": f"{type(error).__name__}: {error}"[:300]}
    if expected is not None and a.size == expected.size and np.allclose(a.ravel(), expected, rtol=1e-8, atol=0):
        return {"outcome": "right"}
    if told:
        return {"outcome": "warned", "said": str(told[0].message)[:300]}
    if not np.isfinite(a).all():
        return {"outcome": "not finite"}
    return {"outcome": "wrong", "said": f"{a.ravel()[:3].tolist()} …"}


# ---- a long chain


def chain_urdf(links: int) -> str:
    parts = ['<robot name="chain"><link name="l0"/>']
    for k in range(1, links + 1):
        parts.append(
            f'<link name="l{k}"><inertial><origin xyz="0 0 -0.05"/><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" '
            f'izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j{k}" type="continuous"><parent '
            f'link="l{k - 1}"/><child link="l{k}"/><origin xyz="0 0 {-0.1 if k > 1 else 0}"/>'
            f'<axis xyz="{k % 2} {1 - k % 2} 0"/></joint>'
        )
    return "".join(parts) + "</robot>"


def chain(library: str) -> dict[str, Any]:
    """A robot from a URDF text, and its forward dynamics at rest."""
    text, n = chain_urdf(CHAIN), CHAIN
    if library == "featherweight":
        import featherweight as fw

        model = fw.loads(text)
        a = fw.forward_dynamics(model, np.full(n, 1e-3), np.zeros(n), np.zeros(n))
    elif library == "Pinocchio":
        import pinocchio as pin

        model = pin.buildModelFromXML(text)
        q = np.tile([math.cos(1e-3), math.sin(1e-3)], n)
        a = pin.aba(model, model.createData(), q, np.zeros(n), np.zeros(n))
    else:
        import mujoco

        with tempfile.NamedTemporaryFile("w", suffix=".urdf", delete=False) as file:
            file.write(text)
        try:
            model = mujoco.MjModel.from_xml_path(file.name)
        finally:
            os.unlink(file.name)
        data = mujoco.MjData(model)
        data.qpos[:] = 1e-3
        mujoco.mj_forward(model, data)
        a = data.qacc
    finite = len(a) == n and bool(np.isfinite(a).all())
    outcome = "right" if finite else "not finite"
    return {
        "outcome": outcome,
        "first": float(a[0]),
        "last": float(a[-1]),
        "cpu_seconds": round(time.process_time(), 1),
    }


# ---- in processes of their own


def child(arguments: Sequence[str], seconds: float) -> dict[str, Any]:
    """What this program says about one case, as a process with a time limit."""
    command = [sys.executable, str(HERE / "misuse.py"), "--child", *arguments]
    begin = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return {"outcome": "hung", "said": f"no answer after {seconds:g} s"}
    lines = done.stdout.strip().splitlines()
    if done.returncode == 0 and lines:
        return {**json.loads(lines[-1]), "seconds": round(time.perf_counter() - begin, 1)}
    if done.returncode < 0:
        return {"outcome": "crashed", "said": signal.Signals(-done.returncode).name}
    error = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    return {"outcome": "refused", "said": error[:300]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--child", nargs=2, metavar=("LIBRARY", "CASE"), help="one case, in this process")
    parser.add_argument("--no-chain", action="store_true", help="vectors alone")
    options = parser.parse_args()
    if options.child:
        library, name = options.child
        sys.stdout.write(json.dumps(chain(library) if name == "chain" else vector(library, name)) + "\n")
        return 0

    vectors: dict[str, dict[str, Any]] = {}
    for name in CASES:
        vectors[name] = {library: child((library, name), SECONDS) for library in LIBRARIES}
        sys.stdout.write(f"{name:32}" + "".join(f"{vectors[name][x]['outcome']:>15}" for x in LIBRARIES) + "\n")
        sys.stdout.flush()
    counts = {x: collections.Counter(row[x]["outcome"] for row in vectors.values()) for x in LIBRARIES}
    record: dict[str, Any] = {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "versions": {name: importlib.metadata.version(package) for name, package in LIBRARIES.items()},
        "counts": {x: {outcome: counts[x][outcome] for outcome in OUTCOMES} for x in LIBRARIES},
        "vectors": vectors,
    }
    if not options.no_chain:
        record["chain_links"] = CHAIN
        record["chain"] = {library: child((library, "chain"), CHAIN_SECONDS) for library in LIBRARIES}
        sys.stdout.write(f"{f'a chain of {CHAIN} links':32}")
        sys.stdout.write("".join(f"{record['chain'][x]['outcome']:>15}" for x in LIBRARIES) + "\n")
    for x in LIBRARIES:
        sys.stdout.write(f"{x}: " + ", ".join(f"{n} {outcome}" for outcome, n in counts[x].items()) + "\n")
    path = HERE / "results" / f"{record['date'][:10]}-misuse.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"written to {path.relative_to(HERE.parent)}\n")
    return 1 if any(counts["featherweight"][outcome] for outcome in BAD) else 0


if __name__ == "__main__":
    sys.exit(main())
