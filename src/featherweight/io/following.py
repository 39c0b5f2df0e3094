"""Mimic joints of a file: whom each follows in the end, and how fast. Every joint is looked at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from featherweight.io.findings import Report, short
from featherweight.io.limits import FOLLOW
from featherweight.model.description import Follow, LinkJoint, source_of

SHOWN = 5  # joints of a circle that are named


class _Way(NamedTuple):
    """From a joint over all that it follows: the joint for which the product of ratios is largest, that product; and
    what is wrong at the end, as message and fix."""

    leader: str = ""
    ratio: float = 1.0
    wrong: tuple[str, str] | None = None


class Following:
    """Checks followers, in any order; `void` are those that follow none, themselves, or what cannot be followed."""

    def __init__(self, joints: Mapping[str, LinkJoint], report: Report) -> None:
        self._joints, self._report = joints, report
        self.void: set[str] = set()
        self._ways: dict[str, _Way] = {}

    def check(self, joint: LinkJoint) -> None:
        """Does a follower lead, over other followers, to a joint that can be followed?"""
        if joint.mimic is None:
            return
        _, line, where = source_of(joint.mimic, joint)
        if not joint.moves:
            self._report.add("note", line, where, "is not used: a fixed joint does not move", kind="unused-element")
            return
        simple = joint.simple
        way = self._way(joint) if simple else _Way(wrong=(f"a {short(joint.type)} joint cannot follow another", ""))
        if way.wrong is not None:
            leader = self._joints.get(joint.mimic.joint)
            if not simple or leader is None or not leader.simple:
                self.void.add(joint.name)
            taken = "the joint moves by itself" if joint.name in self.void else ""
            self._report.add("wrong", line, where, *way.wrong, kind="mimic", taken=taken)
        elif abs(way.ratio) > FOLLOW:
            message = f"follows {short(way.leader)!r} {way.ratio:g} times as fast"
            self._report.error(line, where, message, kind="too-large")

    def _way(self, joint: LinkJoint) -> _Way:
        """Walk until something is known, then back."""
        walked: dict[str, Follow] = {}
        current = joint
        while current.name not in self._ways:
            if current.mimic is None or not current.simple:  # what cannot follow moves by itself
                self._ways[current.name] = _end(current)
                break
            walked[current.name] = current.mimic
            leader = self._joints.get(current.mimic.joint)
            if leader is None:
                hint = self._report.hint(current.mimic.joint, self._joints)
                wrong = (f"joint {short(current.mimic.joint)!r} does not exist", hint)
                self._ways[current.name] = _Way(wrong=wrong)
            elif leader.name in walked:
                names = list(walked)
                self.void |= {*names[names.index(leader.name) :]}
                self._in_circles(walked)
                break
            else:
                current = leader
        for name, mimic in reversed(walked.items()):
            if name not in self._ways:
                self._ways[name] = _longer(self._ways[mimic.joint], mimic)
        return self._ways[joint.name]

    def _in_circles(self, walked: Mapping[str, Follow]) -> None:
        """Of joints that never come to an end, each with the first that it follows."""
        for name in walked:
            names = [name, walked[name].joint]
            while len(names) <= SHOWN and names[-1] not in names[:-1]:
                names.append(walked[names[-1]].joint)
            message = f"follows in a circle: {' -> '.join(map(short, names))}"
            self._ways[name] = _Way(wrong=("follows itself" if names == [name, name] else message, ""))


def _longer(way: _Way, mimic: Follow) -> _Way:
    """With one joint more in front of it."""
    if way.wrong is None and abs(way.ratio) > 1:
        return _Way(way.leader, mimic.multiplier * way.ratio)
    return _Way(mimic.joint, mimic.multiplier, way.wrong)


def _end(joint: LinkJoint) -> _Way:
    if joint.simple:
        return _Way()
    return _Way(wrong=(f"joint {short(joint.name)!r} is {short(joint.type)}: it cannot be followed", ""))
