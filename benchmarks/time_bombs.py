"""URDF files as large as they may be, each of one kind that could take long: `make time-bombs`.

Every file is below the caps of 20 MB, 200 000 elements and a depth of 64, and is loaded or refused within two seconds
of processor time, whatever is done with impossible bodies; what would take longer is refused for its number of parts,
contact points or attributes. Each kind is read in a process of its own.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import random
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import featherweight as fw

HERE = Path(__file__).resolve().parent
MOST_SECONDS = 2.0  # of processor time
HUNG = 60  # seconds of waiting for one
WAYS = ("strict", "repair", "warn", "lint")
MEGABYTE = 1_000_000
LINK = '<link name="%s"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
BOX = '<collision><geometry><box size="1 1 1"/></geometry></collision>'


def chain(n: int, kind: str = "continuous", mimic: Callable[[int], str] | None = None, inside: str = "") -> str:
    """n joints one after the other; `mimic` gives what a joint follows."""
    parts = [(LINK % f"l{i}").replace("</link>", f"{inside}</link>") for i in range(n + 1)]
    for i in range(n):
        follow = mimic(i) if mimic is not None else ""
        ends = f'<parent link="l{i}"/><child link="l{i + 1}"/><axis xyz="0 0 1"/>'
        parts.append(f'<joint name="j{i}" type="{kind}">{ends}{follow}</joint>')
    return "".join(parts)


def _follows(ratio: str, last: str = "") -> Callable[[int], str]:
    """Each the one before; the first follows `last`."""

    def mimic(i: int) -> str:
        leader = f"j{i - 1}" if i else last
        return f'<mimic joint="{leader}" multiplier="{ratio}"/>' if leader else ""

    return mimic


def _word(rng: random.Random) -> str:
    """180 letters, of which there are the same in each."""
    return "".join(rng.sample("ab" * 90, 180))


def _different(n: int) -> str:
    """A chain in which no two links or joints have a number in common."""
    parts = []
    for i in range(n + 1):
        x = 1 + i / (2 * n)
        origin = f'<origin xyz="{x} 0 0" rpy="{x} 0.1 0.2"/>'
        moments = f'<inertia ixx="{x}" iyy="{1.1 * x}" izz="{1.2 * x}" ixy="0.01"/>'
        parts.append(f'<link name="l{i}"><inertial>{origin}<mass value="{x}"/>{moments}</inertial></link>')
    for i in range(n):
        x = 1 + i / (2 * n)
        ends = f'<parent link="l{i}"/><child link="l{i + 1}"/><origin xyz="{x} 1 0" rpy="0.1 {x} 0"/>'
        rest = f'<axis xyz="{x} 0 1"/><limit lower="-{x}" upper="{x}" effort="{x}" velocity="{x}"/>'
        parts.append(f'<joint name="j{i}" type="revolute">{ends}{rest}<dynamics damping="{x}"/></joint>')
    return "".join(parts)


def _similar(n: int) -> str:
    """Names that are like each other, and joints whose ends are none of them."""
    rng = random.Random(0)
    links = "".join(f'<link name="{_word(rng)}{i:06d}"/>' for i in range(n))
    ends = ((_word(rng), _word(rng)) for _ in range(40))
    return links + "".join(
        f'<joint name="j{i}" type="fixed"><parent link="{a}"/><child link="{b}"/></joint>'
        for i, (a, b) in enumerate(ends)
    )


def _attributes(n: int) -> str:
    return '<link name="a" ' + " ".join(f'a{i}=""' for i in range(n)) + "/>"


def _star(n: int) -> str:
    joints = (f'<joint name="j{i}" type="continuous"><parent link="l0"/><child link="l{i}"/></joint>' for i in range(n))
    return "".join(LINK % f"l{i}" for i in range(n)) + "".join(list(joints)[1:])


def _repeated_name(n: int) -> str:
    """One long name that messages about n joints might repeat."""
    long = "x" * 10 * n
    ends = '<parent link="a"/><child link="b"/>'
    joints = "".join(f'<joint name="j{i}" type="fixed">{ends}</joint>' for i in range(n))
    return f'<link name="a"/><link name="b"/><joint name="{long}" type="fixed">{ends}</joint>{joints}'


def _outside(n: int) -> str:
    """A link with a long name, and meshes that may not be looked for."""
    shapes = (f'<visual><geometry><mesh filename="/m{i}.stl"/></geometry></visual>' for i in range(n))
    return f'<link name="{"x" * 10 * n}">{"".join(shapes)}</link>'


def _placed(n: int) -> str:
    """Shapes without contact points, no two at the same place."""
    box = '<visual><origin xyz="0 0 {0}" rpy="0.1 {0} 0"/><geometry><box size="1 1 {0}"/></geometry></visual>'
    return f'<link name="a">{"".join(map(box.format, range(n)))}</link>'


def _winding(n: int) -> str:
    shapes = (f'<visual><geometry><mesh filename="{"a/../" * 500}m{i}.stl"/></geometry></visual>' for i in range(n))
    return f'<link name="a">{"".join(shapes)}</link>'


def _longer_names(n: int) -> str:
    links = "".join(f'<link name="a_joint{"_" * i}"/>' for i in range(n))
    fixed = (
        f'<joint name="a{i}" type="fixed"><parent link="a"/><child link="a_joint{"_" * i}"/></joint>' for i in range(n)
    )
    ends = '<parent link="a"/><child link="b"/>'
    return f'<link name="a"/><link name="b"/>{links}{"".join(fixed)}<joint name="a" type="fixed">{ends}</joint>'


def _transmissions(n: int) -> str:
    one = '<transmission name="t{}"><joint name="j0"/><actuator name="a"/></transmission>'
    return chain(2) + "".join(map(one.format, range(n)))


def _materials(n: int) -> str:
    one = '<material name="m{}"><color rgba="1 1 1 1"/></material>'
    return '<link name="a"/>' + "".join(map(one.format, range(n)))


def _inertials(n: int) -> str:
    """One link with many, no two alike."""
    one = '<inertial><mass value="{0}"/><inertia ixx="{0}" iyy="{0}" izz="{0}"/></inertial>'
    return f'<link name="a">{"".join(one.format(i + 1) for i in range(n))}</link>'


# kind: text of a size, and the largest size below the caps
KINDS: dict[str, tuple[Callable[[int], str], int]] = {
    "attributes": (_attributes, 199_000),
    "attributes, too many": (_attributes, 1_500_000),
    "attributes, errors": (
        lambda n: _attributes(18 * n) + "".join(f'<link name="l{i}"><inertial/></link>' for i in range(n)),
        10_900,
    ),
    "links without mass": (lambda n: "".join(f'<link name="l{i}"><inertial/></link>' for i in range(n)), 11_000),
    "similar names": (_similar, 10_960),
    "similar names, too many": (_similar, 80_000),
    "chain": (chain, 5_499),
    "chain, too long": (chain, 22_000),
    "chain of different links": (_different, 5_499),
    "fixed": (lambda n: chain(n, "fixed"), 5_499),
    "mimic 1": (lambda n: chain(n, mimic=_follows("1")), 5_499),
    "mimic 1.0000001": (lambda n: chain(n, mimic=_follows("1.0000001")), 5_499),
    "mimic 1.01": (lambda n: chain(n, mimic=_follows("1.01")), 5_499),
    "mimic of nothing": (lambda n: chain(n, mimic=_follows("1.1", "none")), 5_499),
    "mimic in a circle": (lambda n: chain(n, mimic=_follows("1", f"j{n - 1}")), 5_499),
    "star": (_star, 5_500),
    "boxes": (lambda n: f'<link name="a">{BOX * n}</link>', 625),
    "boxes, too many points": (lambda n: f'<link name="a">{BOX * n}</link>', 10_999),
    "boxes, too many": (lambda n: f'<link name="a">{BOX * n}</link>', 66_000),
    "boxes of different places": (_placed, 10_999),
    "boxes on a chain": (lambda n: chain(n, inside=BOX), 624),
    "meshes outside": (_outside, 10_999),
    "meshes by winding ways": (_winding, 10_999),
    "one long name": (_repeated_name, 10_990),
    "longer and longer names": (_longer_names, 5_490),
    "the same link": (lambda n: '<link name="a"/>' * n, 11_000),
    "roots": (lambda n: "".join(f'<link name="a{i}"/>' for i in range(n)), 11_000),
    "roots, too many": (lambda n: "".join(f'<link name="a{i}"/>' for i in range(n)), 190_000),
    "transmissions": (_transmissions, 60_000),
    "materials": (_materials, 90_000),
    "text": (lambda n: '<link name="a"/>' + "x" * n, 19 * MEGABYTE),
    "pieces of text": (lambda n: '<link name="a"/>' + "<![CDATA[x]]>" * n, 1_400_000),
    "comments": (lambda n: '<link name="a"/>' + "<!--x-->" * n, 2_300_000),
    "hyphens in comments": (lambda n: '<link name="a"/>' + "<!-- -- -->" * n, 180_000),
    "lone signs": (lambda n: '<link name="a"/>' + "& " * n, 990_000),
    "lone signs in values": (lambda n: f'<link name="a"><x y="{"& < " * n}"/></link>', 490_000),
    "lone signs, too many": (lambda n: '<link name="a"/>' + "& " * n, 9 * MEGABYTE),
    "inertials": (_inertials, 49_000),
    "inertials alike": (lambda n: (LINK % "a").replace("</link>", "") + INERTIAL * n + "</link>", 39_000),
    "xacro": (lambda n: '<link name="a"/>' + "<xacro:x/>" * n, 190_000),
    "digits": (lambda n: (LINK % "a").replace('value="1"', f'value="{"1" * n}"'), 19 * MEGABYTE),
    "digits of an exponent": (lambda n: (LINK % "a").replace('value="1"', f'value="1e-{"9" * n}"'), 19 * MEGABYTE),
    "numbers": (lambda n: (LINK % "a").replace("<mass", f'<origin xyz="{"1 " * n}"/><mass'), 9 * MEGABYTE),
    "spaces": (lambda n: (LINK % "a").replace("<mass", f'<origin xyz="1 2 {" " * n}3"/><mass'), 19 * MEGABYTE),
}


def text_of(kind: str, n: int | None = None) -> str:
    """A file of a kind, of size n or as large as may be."""
    write, most = KINDS[kind]
    return f'<robot name="r">{write(most if n is None else n)}</robot>'


def read(text: str, way: str) -> str:
    """What becomes of a file."""
    try:
        if way == "lint":
            return f"{len(_lint(text))} findings"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return f"loaded {fw.loads(text, policy=way)}"
    except fw.ModelError as error:
        return f"ModelError: {error}"


def _lint(text: str) -> list[object]:
    """As the command does it; it takes a file."""
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"time-bomb-{os.getpid()}.urdf"
    try:
        path.write_text(text, encoding="utf-8")
        return list(fw.lint(path))
    finally:
        path.unlink(missing_ok=True)


def measured(kind: str, way: str) -> dict[str, object]:
    """Seconds of processor time, megabytes and what came out; in this process."""
    import resource

    text = text_of(kind)
    fw.loads(f'<robot name="r">{chain(2)}</robot>')  # what is imported late
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    result = read(text, way)
    seconds = time.process_time() - began
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e3
    size = len(text.encode()) / MEGABYTE
    return {"kind": kind, "way": way, "MB": size, "seconds": seconds, "more_MB": more, "result": result[:120]}


def main() -> None:
    """All kinds in all ways, each in its own process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", help="only this one")
    parser.add_argument("--way", choices=WAYS, help="measure one kind in this process and print JSON")
    parser.add_argument("--no-file", action="store_true", help="write no record")
    given = parser.parse_args()
    if given.way:
        print(json.dumps(measured(given.kind, given.way)))
        return
    rows = []
    print(f"{'kind':36s} {'MB':>5s}  " + "  ".join(f"{way:>7s}" for way in WAYS) + "   most MB  result (strict)")
    for kind in [given.kind] if given.kind else KINDS:
        own = [_apart(kind, way) for way in WAYS]
        rows += own
        seconds = "  ".join(f"{row['seconds']:7.2f}" for row in own)
        most = max(float(str(row["more_MB"])) for row in own)
        print(f"{kind:36s} {own[0]['MB']:5.1f}  {seconds}   {most:7.0f}  {own[0]['result']}", flush=True)
    slow = [row for row in rows if float(str(row["seconds"])) > MOST_SECONDS]
    print(f"{len(rows)} readings, {len(slow)} longer than {MOST_SECONDS:g} s")
    if not given.no_file and not given.kind:
        today = datetime.date.today().isoformat()
        record = {"date": today, "python": platform.python_version(), "machine": platform.machine(), "rows": rows}
        path = HERE / "results" / f"{today}-time-bombs.json"
        path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(path.relative_to(HERE.parent))
    sys.exit(bool(slow))


def _apart(kind: str, way: str) -> dict[str, object]:
    command = [sys.executable, __file__, "--kind", kind, "--way", way]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=HUNG, check=True)
        return dict(json.loads(done.stdout))
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        return {"kind": kind, "way": way, "MB": 0.0, "seconds": float(HUNG), "more_MB": 0.0, "result": str(error)[:120]}


if __name__ == "__main__":
    main()
