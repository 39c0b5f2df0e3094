"""What is found while a file is read: errors, impossible physics, things to know."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from featherweight.errors import ModelError, nearest
from featherweight.io.limits import LARGEST
from featherweight.io.xml import Element

# error: the file does not say what the robot is. wrong: it does, but no such robot can exist. warning: part of a body
# is impossible, the whole is not. note: read, but not used.
LEVELS = ("error", "wrong", "warning", "note")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_SPACE = " \t\r\n"  # of XML: no other
_SPACES = re.compile(r"[ \t\r\n]+")
MOST_HINTS = 10  # similar names are looked for so often, not more: it takes time


@dataclass(frozen=True)
class Finding:
    """One thing about a file: where it is, what is wrong, how to fix it."""

    level: str
    line: int
    element: str
    message: str
    fix: str = ""

    def error(self, file: str | None, more: int = 0) -> ModelError:
        """As an exception."""
        text = f"{self.message}; {self.fix}" if self.fix else self.message
        if more:
            text += f" (and {more} more: `featherweight lint` lists all)"
        return ModelError(text, file=file, line=self.line or None, element=self.element)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def name_of(element: Element, parent: str = "") -> str:
    """How messages call an element: <joint "knee">, or its place inside one."""
    name = element.attributes.get("name")
    own = f"<{short(element.tag)}>" if name is None else f'<{short(element.tag)} "{short(name)}">'
    return f"{parent} {own}".strip()


@dataclass
class Report:
    """Collects findings, and reads numbers in the strict grammar of XML: no 1_000, no nan, no local digits."""

    findings: list[Finding] = field(default_factory=list)
    hints: int = 0
    errors: int = 0  # how many there are so far

    def hint(self, name: str, known: Iterable[str]) -> str:
        """What may have been meant."""
        self.hints += 1
        near = nearest(name, known) if self.hints <= MOST_HINTS else []
        return f"did you mean {near[0]!r}?" if near else "define it"

    def add(self, level: str, line: int, where: str, message: str, fix: str = "") -> None:
        self.findings.append(Finding(level, line, where, message, fix))
        self.errors += level == "error"

    def error(self, line: int, where: str, message: str, fix: str = "") -> None:
        self.add("error", line, where, message, fix)

    def numbers(
        self,
        element: Element,
        where: str,
        attribute: str,
        n: int,
        default: tuple[float, ...] | None,
        most: float = LARGEST,
    ) -> tuple[float, ...]:
        """n numbers of an attribute, up to ±most; without a default it must be there."""
        text = element.attributes.get(attribute)
        if text is None:
            if default is None:
                self.error(element.line, where, f"{attribute} is missing", f'write {attribute}="{" ".join(["…"] * n)}"')
            return default if default is not None else (0.0,) * n
        if "${" in text:
            fix = "expand the xacro file first: xacro robot.xacro > robot.urdf"
            self.error(element.line, where, f"{attribute}: {short(text)!r} is an expression of xacro", fix)
            return default if default is not None else (0.0,) * n
        if n == 1 and _NUMBER.fullmatch(text):  # as a rule
            return (self._number(element, where, attribute, text, most),)
        words = _SPACES.split(text.strip(_SPACE), maxsplit=n)
        if len(words) != n or not words[0]:
            what = f"{n} numbers" if n > 1 else "a number"
            self.error(element.line, where, f"{attribute}: expected {what}, got {short(text)!r}")
            return default if default is not None else (0.0,) * n
        return tuple([self._number(element, where, attribute, word, most) for word in words])

    def number(
        self, element: Element, where: str, attribute: str, default: float | None, most: float = LARGEST
    ) -> float:
        """One number of an attribute."""
        return self.numbers(element, where, attribute, 1, None if default is None else (default,), most)[0]

    def _number(self, element: Element, where: str, attribute: str, word: str, most: float) -> float:
        if not _NUMBER.fullmatch(word):
            fix = "write digits like -1.5e-3"
            self.error(element.line, where, f"{attribute}: {short(word)!r} is not a number", fix)
            return 0.0
        value = float(word)
        if not abs(value) <= most:
            self.error(element.line, where, f"{attribute}: {short(word)} is too large", f"expected at most {most:g}")
            return 0.0
        return value

    def text(self, element: Element, where: str, attribute: str) -> str:
        """A name; must be there and not empty."""
        value = element.attributes.get(attribute)
        if value is None or not value.strip():
            self.error(element.line, where, f"{attribute} is missing" if value is None else f"{attribute} is empty")
            return ""
        return value

    def known(
        self, element: Element, where: str, attributes: set[str], children: set[str], *, text: bool = False
    ) -> None:
        """Note everything in an element that is not used."""
        for name in sorted(element.attributes.keys() - attributes) if element.attributes else ():
            if name.partition(":")[0] == "xmlns":
                continue
            self.add("note", element.line, where, f"attribute {short(name)} is not used")
        for child in element.children:
            if child.tag not in children:
                self.add("note", child.line, f"{where} <{short(child.tag)}>", "is not used")
        if element.text and element.text.strip(_SPACE) and not text:
            self.add("note", element.line, where, f"the text {short(element.text.strip(_SPACE))!r} is not used")


def short(text: str) -> str:
    """Text for a message."""
    return text if len(text) <= 40 else f"{text[:37]}…"
