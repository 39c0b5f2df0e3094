"""Findings in few lines: grouped by kind, the worst first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from featherweight.io.findings import LEVELS, Finding, short
from featherweight.texts import printable

# Each kind of finding, and what it is about. docs/how-to/urdf.md has the same table.
KINDS = {
    "file": "the file cannot be read",
    "xml": "XML that is not well-formed",
    "format": "another file format",
    "xacro": "a xacro file that is not expanded",
    "name": "names that are missing, or used twice",
    "tree": "links and joints that make no tree",
    "joint-type": "unknown types of joints",
    "number": "numbers that cannot be read",
    "too-large": "numbers beyond any machine",
    "unexpanded": "parts of xacro that are not expanded",
    "twice": "elements that are there twice",
    "axis": "axes without a direction",
    "mimic": "joints that follow nothing",
    "no-mass": "moving bodies without mass",
    "negative-mass": "negative masses",
    "massless-moment": "moments of inertia without mass",
    "negative-moment": "negative moments of inertia",
    "triangle": "moments of inertia that break the triangle inequality",
    "too-wide": "moments of inertia too large for the mass",
    "too-light": "moving bodies that their own joint does not feel",
    "inertial": "inertials without mass or moments",
    "limit-order": "limits whose lower is above the upper",
    "negative": "negative limits, damping, friction or rotor inertias",
    "shape": "shapes that cannot be read",
    "mesh-outside": "meshes outside the allowed folders",
    "loop": "loops that are not closed",
    "mesh-missing": "meshes that are not there",
    "package-missing": "packages that are not there",
    "world": "the world is not defined",
    "no-limit": "joints without limits",
    "zero-limit": "joints between 0 and 0",
    "axis-length": "axes that are not unit vectors",
    "transmission": "transmissions that are not used",
    "color": "colours that cannot be read",
    "material": "materials that are not there",
    "unused-element": "elements that are not used",
    "unused-attribute": "attributes that are not used",
    "unused-text": "text that is not used",
    "": "others",
}
DYNAMICS = {"no-mass", "negative-mass", "massless-moment", "negative-moment", "too-wide", "too-light", "inertial"}
MAY_REFUSE = "kinematics, inverse dynamics and the mass matrix work; forward dynamics and simulations may refuse"
ORDER = {kind: k for k, kind in enumerate(KINDS)}
SHOWN = 3  # names of a group
GROUPS = 6  # of a warning
SCREEN = 40  # lines of a report
EXAMPLES = {"error": 9, "wrong": 5, "warning": 4, "note": 3}  # lines of a group, if there is room
_QUOTED = re.compile(r'"(.*?)"')
_LAST = re.compile(r"<([^<>\"]*)(?: \".*\")?>$")


@dataclass(frozen=True)
class Group:
    """Findings of one level and kind, by line."""

    level: str
    kind: str
    findings: tuple[Finding, ...]

    @property
    def title(self) -> str:
        """How many of what."""
        what = KINDS.get(self.kind) or self.kind or KINDS[""]
        return f"{len(self.findings)} × {what}"

    @property
    def names(self) -> str:
        """Some of the links and joints it is about; of what is not used, the tags or attributes, most often first."""
        if self.kind in ("unused-element", "unused-attribute"):
            counts = Counter(_unused(finding) for finding in self.findings)
            names = [f"{name} {n}×" if n > 1 else name for name, n in counts.most_common()]
        else:
            names = list(dict.fromkeys(short(found[1]) for f in self.findings if (found := _QUOTED.search(f.element))))
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN + 1 else ""
        return ", ".join(names[: SHOWN if more else SHOWN + 1]) + more

    @property
    def fix(self) -> str:
        """What to do, if it is the same for all."""
        fixes = {finding.fix for finding in self.findings}
        return fixes.pop() if len(fixes) == 1 else ""


def _unused(finding: Finding) -> str:
    """The tag or the attribute that a finding is about."""
    if finding.kind == "unused-attribute":
        return re.sub(r"^attribute | (is|are) not used.*", "", finding.message)
    found = _LAST.search(finding.element)
    return f"<{found[1]}>" if found else finding.element


def groups(findings: Iterable[Finding]) -> list[Group]:
    """Findings by level and kind, the worst first."""
    found: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        found.setdefault((finding.level, finding.kind), []).append(finding)
    return [
        Group(level, kind, tuple(sorted(own, key=lambda finding: finding.line)))
        for (level, kind), own in sorted(found.items(), key=lambda item: _rank(*item[0]))
    ]


def _rank(level: str, kind: str) -> tuple[int, int]:
    return LEVELS.index(level) if level in LEVELS else 0, ORDER.get(kind, len(ORDER))


def counts(findings: Sequence[Finding]) -> str:
    """How many there are of each level."""
    words = {"error": "errors", "wrong": "wrong", "warning": "warnings", "note": "notes"}
    own = Counter(finding.level for finding in findings)
    told = [
        f"{own[level]} {word if own[level] > 1 else word.removesuffix('s')}"
        for level, word in words.items()
        if own[level]
    ]
    return ", ".join(told) or "nothing to say"


class Findings(list[Finding]):
    """What `lint` finds in a file; as text at most a screen, grouped by kind, the worst first."""

    def __init__(self, findings: Iterable[Finding] = (), file: str | None = None) -> None:
        super().__init__(findings)
        self.file = file

    def __str__(self) -> str:
        return "\n".join(line for _, line in report_lines(self, self.file))


def report_lines(
    findings: Sequence[Finding], file: str | None, most: int | None = SCREEN, width: int = 10**9
) -> list[tuple[str, str]]:
    """A summary and a line for each group, with some of its findings while there is room; each with its level.

    At most as many lines of a screen of this width; without `most` all findings are listed.
    """
    lines = [("", f"{file or 'the text'}: {counts(findings)}")]
    shown = [(group, _headline(group)) for group in groups(findings)]
    room = 10**9 if most is None else most - 1 - _height(lines[0][1], width)
    used = list(accumulate(_height(line, width) for _, line in shown))
    if used and used[-1] > room:
        shown = shown[: sum(height < room for height in used)]
    room -= sum(_height(line, width) for _, line in shown)
    listed = 0
    for group, line in shown:
        lines.append((group.level, line))
        told = [f"    {_told(finding, group.fix)}" for finding in group.findings] if len(group.findings) > 1 else []
        allowed = room if most is None else min(EXAMPLES[group.level], room)
        kept = _fitting(told, allowed, width)
        lines += [("", line) for line in kept]
        room -= sum(_height(line, width) for line in kept)
        listed += len(group.findings) if len(kept) == len(told) else max(len(kept) - 1, 0)
    if listed < len(findings):
        lines.append(("", f"`featherweight lint --all` lists all {len(findings)}"))
    return [(level, printable(line)) for level, line in lines]


def _headline(group: Group) -> str:
    """The one finding of a group, or what its findings have in common."""
    if len(group.findings) == 1:
        return f"{group.level:8}{group.kind}: {_told(group.findings[0])}"
    names, fix = (f": {group.names}" if group.names else ""), (f"; {group.fix}" if group.fix else "")
    return f"{group.level:8}{group.kind}: {group.title}{names}{fix}"


def _height(line: str, width: int) -> int:
    """Lines of a screen."""
    return 1 + max(len(line) - 1, 0) // width


def _fitting(lines: list[str], room: int, width: int) -> list[str]:
    """All lines, or the first ones and how many are left."""
    heights = list(accumulate(_height(line, width) for line in lines))
    if not heights or heights[-1] <= room:
        return lines
    some = sum(height < room for height in heights)
    return [*lines[:some], f"    … {len(lines) - some} more"] if some else []


def _told(finding: Finding, known: str = "") -> str:
    """A finding in a line, without the advice that stands elsewhere."""
    fix = f"; {finding.fix}" if finding.fix and finding.fix != known else ""
    return ": ".join(x for x in (finding.place, finding.message) if x) + fix


def warning(findings: Sequence[Finding], file: str | None) -> str:
    """What is wrong with a robot that is taken all the same, in a few lines; empty if nothing is."""
    wrong = groups(finding for finding in findings if finding.level == "wrong")
    if not wrong:
        return ""
    name = file or "the text"
    total = sum(len(group.findings) for group in wrong)
    lines = [f"{name}: {total} {'things are' if total > 1 else 'thing is'} wrong; the robot is taken all the same"]
    for group in wrong[:GROUPS]:
        if len(group.findings) == 1:
            lines.append(f"  {group.findings[0].note}")
            continue
        taken = {finding.taken for finding in group.findings}
        instead = f"; {taken.pop()}" if len(taken) == 1 and any(taken) else ""
        names = f": {group.names}" if group.names else ""
        lines.append(f"  {group.title}{names}{instead}")
    if len(wrong) > GROUPS:
        lines.append(f"  … and {sum(len(group.findings) for group in wrong[GROUPS:])} of other kinds")
    if any(group.kind in DYNAMICS for group in wrong):
        lines.append(MAY_REFUSE)
    lint = f"`featherweight lint {file}` lists all" if file else "fw.lint of a file lists all"
    lines.append(f'{lint}; policy="repair" changes it, policy="strict" refuses it')
    return printable("\n".join(lines), keep="\n")
