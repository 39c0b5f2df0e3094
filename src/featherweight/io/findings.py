"""What is found while a file is read: errors, impossible physics, things to know."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from featherweight.errors import ModelError, nearest
from featherweight.io.limits import LARGEST
from featherweight.io.xml import Element
from featherweight.model.spelling import Origin

# error: the file does not say what the robot is. wrong: it does, but not so that it can be, or in two ways. warning:
# part of a body is impossible, the whole is not. note: read, but not used.
LEVELS = ("error", "wrong", "warning", "note")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_SPACE = " \t\r\n"  # of XML: no other
_SPACES = re.compile(r"[ \t\r\n]+")
MOST_HINTS = 10  # similar names are looked for so often, not more: it takes time
XACRO = "expand the xacro file first: xacro robot.xacro > robot.urdf"


@functools.cache
def _exactly(n: int) -> re.Pattern[str]:
    """n numbers, and no more: a text may have millions."""
    space, number = f"[{_SPACE}]", _NUMBER.pattern
    return re.compile(rf"{space}*{number}(?:{space}+{number}){{{n - 1}}}{space}*", re.ASCII)


@dataclass(frozen=True)
class Finding:
    """One thing about a file: where it is, what is wrong, how to fix it.

    `kind` is a short code that stays the same from version to version: see docs/how-to/urdf.md. `taken` is what a
    policy that goes on reads instead.
    """

    level: str
    line: int
    element: str
    message: str
    fix: str = ""
    kind: str = ""
    taken: str = ""

    @property
    def place(self) -> str:
        """Line and element, as far as they are known."""
        return ": ".join(x for x in (f"line {self.line}" if self.line else "", self.element) if x)

    @property
    def note(self) -> str:
        """As a line of a model's notes: what was found, and what was read instead."""
        return ": ".join(x for x in (self.place, self.message, self.taken) if x)

    def error(self, file: str | None, more: int = 0) -> ModelError:
        """As an exception."""
        text = f"{self.message}; {self.fix}" if self.fix else self.message
        if more:
            text += f" (and {more} more: `featherweight lint` lists all)"
        return ModelError(text, file=file, line=self.line or None, element=self.element or None)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def name_of(element: Element, parent: str = "") -> str:
    """How messages call an element: <joint "knee">, or its place inside one."""
    name = element.attributes.get("name")
    own = f"<{short(element.tag)}>" if name is None else f'<{short(element.tag)} "{short(name)}">'
    return f"{parent} {own}" if parent else own


@dataclass
class Report:
    """Collects findings, and reads numbers in the strict grammar of XML: no 1_000, no nan, no local digits."""

    findings: list[Finding] = field(default_factory=list)
    hints: int = 0
    faults: int = 0  # errors and wrong things so far
    origins: dict[tuple[str | None, str | None], Origin] = field(default_factory=dict)  # by their texts, if readable
    _values: dict[str | None, tuple[tuple[float, ...], float]] = field(default_factory=dict)  # of texts; the largest

    def hint(self, name: str, known: Iterable[str]) -> str:
        """What may have been meant."""
        self.hints += 1
        near = nearest(name, known) if self.hints <= MOST_HINTS else []
        return f"did you mean {near[0]!r}?" if near else "define it"

    def add(
        self, level: str, line: int, where: str, message: str, fix: str = "", *, kind: str = "", taken: str = ""
    ) -> None:
        self.findings.append(Finding(level, line, where, message, fix, kind, taken))
        self.faults += level in ("error", "wrong")

    def error(self, line: int, where: str, message: str, fix: str = "", *, kind: str) -> None:
        self.add("error", line, where, message, fix, kind=kind)

    def wrong(
        self, element: Element, where: str, message: str, fix: str = "", *, kind: str, taken: str, fate: str = "rewrite"
    ) -> None:
        """Something that a policy which goes on reads as it is `taken`, and that a repaired file has otherwise."""
        element.fate = fate
        self.add("wrong", element.line, where, message, fix, kind=kind, taken=taken)

    def numbers(
        self,
        element: Element,
        where: str,
        attribute: str,
        n: int,
        default: tuple[float, ...] | None,
        most: float = LARGEST,
        otherwise: str = "",
    ) -> tuple[float, ...]:
        """n numbers of an attribute, up to ±most; without a default it must be there.

        What cannot be read is an error; or, if there is something that can be taken `otherwise`, wrong.
        """
        text = element.attributes.get(attribute)
        if text is None and default is not None:
            return default
        known = self._values.get(text)
        if known is None and text is not None and _exactly(n).fullmatch(text):
            values = tuple(map(float, text.split()))
            known = self._values[text] = values, max(map(abs, values))
        if known is not None and len(known[0]) == n and known[1] <= most:  # as a rule
            return known[0]
        kind, message, fix = self._fault(attribute, text, n, most)
        if otherwise:
            self.wrong(element, where, message, fix, kind=kind, taken=otherwise)
        else:
            self.error(element.line, where, message, fix, kind=kind)
        return default if default is not None else (0.0,) * n

    @staticmethod
    def _fault(attribute: str, text: str | None, n: int, most: float) -> tuple[str, str, str]:
        """Why a text is not n numbers up to ±most: kind, message, fix."""
        if text is None:
            return "number", f"{attribute} is missing", f'write {attribute}="{" ".join(["…"] * n)}"'
        if "${" in text or "$(" in text:
            return "unexpanded", f"{attribute}: {short(text)!r} is an expression of xacro", XACRO
        words = _SPACES.split(text.strip(_SPACE), maxsplit=n)
        if len(words) != n or not words[0]:
            what = f"{n} numbers" if n > 1 else "a number"
            return "number", f"{attribute}: expected {what}, got {short(text)!r}", ""
        for word in words:
            if not _NUMBER.fullmatch(word):
                return "number", f"{attribute}: {short(word)!r} is not a number", "write digits like -1.5e-3"
        word = next(word for word in words if not abs(float(word)) <= most)
        return "too-large", f"{attribute}: {short(word)} is too large", f"expected at most {most:g}"

    def number(
        self,
        element: Element,
        where: str,
        attribute: str,
        default: float | None,
        most: float = LARGEST,
        otherwise: str = "",
    ) -> float:
        """One number of an attribute."""
        known = self._values.get(element.attributes.get(attribute))
        if known is not None and len(known[0]) == 1 and known[1] <= most:  # as a rule
            return known[0][0]
        return self.numbers(element, where, attribute, 1, None if default is None else (default,), most, otherwise)[0]

    def row(
        self,
        element: Element,
        where: str,
        attributes: tuple[str, ...],
        needed: Collection[str],
        most: float,
        otherwise: str,
    ) -> tuple[float, ...]:
        """One number of each attribute; 0 of those that are not given and not `needed`."""
        texts = [*map(element.attributes.get, attributes)]
        with contextlib.suppress(TypeError, ValueError):  # as a rule all are there, and can be read at once
            if _exactly(len(texts)).fullmatch(" ".join(texts)):  # type: ignore[arg-type]
                values = tuple(map(float, texts))  # type: ignore[arg-type]
                if max(map(abs, values)) <= most:
                    return values
        return tuple(
            [self.number(element, where, a, None if a in needed else 0.0, most, otherwise) for a in attributes]
        )

    def text(self, element: Element, where: str, attribute: str) -> str:
        """A name; must be there and not empty."""
        value = element.attributes.get(attribute)
        if value is None or not value.strip():
            message = f"{attribute} is missing" if value is None else f"{attribute} is empty"
            self.error(element.line, where, message, kind="name")
            return ""
        return value

    def known(
        self, element: Element, where: str, attributes: Collection[str], children: Collection[str], text: bool = False
    ) -> None:
        """Note everything in an element that is not used."""
        for name in element.attributes:
            if name not in attributes:
                self._unused(element, where, attributes)
                break
        for child in element.children:
            if child.tag not in children and not child.tag.startswith("xacro:"):  # those are found as a whole
                self.unused(child, f"{where} <{short(child.tag)}>")
        if element.text and not text:
            message = f"the text {short(element.text.strip(_SPACE))!r} is not used"
            self.add("note", element.line, where, message, kind="unused-text")

    def leaf(self, element: Element, where: str, attributes: frozenset[str]) -> None:
        """`known`, of an element that has nothing but attributes; `where` is its parent's."""
        if element.children or element.text or not attributes.issuperset(element.attributes):
            self.known(element, f"{where} <{short(element.tag)}>", attributes, ())

    def unused(self, element: Element, where: str, why: str = "") -> None:
        """Note an element that is not used."""
        self.add("note", element.line, where, f"is not used{why}", kind="unused-element")

    def _unused(self, element: Element, where: str, attributes: Collection[str]) -> None:
        for name in sorted(element.attributes.keys() - attributes):
            if name.partition(":")[0] != "xmlns":
                message = f"attribute {short(name)} is not used"
                self.add("note", element.line, where, message, kind="unused-attribute")

    def parts(
        self, element: Element, where: str, attributes: Collection[str], children: Collection[str]
    ) -> dict[str, Element]:
        """The first child of each kind. Everything else in the element is not used: noted, and wrong if it says
        something else than the first of its kind."""
        self.known(element, where, attributes, children)
        found: dict[str, Element] = {}
        for child in element.children:
            first = found.setdefault(child.tag, child)
            if first is not child and child.tag in children:
                self.twice(first, child, where)
        return found

    def twice(self, first: Element, child: Element, where: str) -> None:
        """A second element where one is expected."""
        message, taken = f"<{child.tag}> is there twice", "the first is used"
        if child.tag == "material" or same(first, child):
            child.fate = "drop"
            self.add("note", child.line, where, f"{message}: {taken}", kind="twice")
        else:
            self.wrong(child, where, message, "keep one", kind="twice", taken=taken, fate="drop")


def same(a: Element, b: Element) -> bool:
    """Do two elements say the same?"""
    return (
        (a.tag, a.attributes, a.text, len(a.children)) == (b.tag, b.attributes, b.text, len(b.children))
        and all(map(same, a.children, b.children))
    )  # fmt: skip


def short(text: str) -> str:
    """Text for a message."""
    return text if len(text) <= 40 else f"{text[:37]}…"
