"""A careful XML reader: elements that know their line, and nothing that reaches outside the file.

Documents with a DTD or an entity are refused before anything is expanded; size, depth and number of elements and
of attributes are bounded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from featherweight.errors import ModelError

MOST_BYTES = 20_000_000
MOST_ELEMENTS = 200_000
MOST_ATTRIBUTES = 200_000  # counted by "=", before anything is parsed: very many in one tag take seconds
MOST_DEPTH = 64
ENCODINGS = {
    **dict.fromkeys(("utf-8", "utf8"), "UTF-8"),
    **dict.fromkeys(("us-ascii", "ascii"), "US-ASCII"),
    **dict.fromkeys(("iso-8859-1", "latin-1", "latin1"), "ISO-8859-1"),
    "utf-16": None,  # as its first bytes say
}


@dataclass(slots=True)
class Element:
    """A tag with its attributes, children, text, and the line it begins on."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> list[Element]:
        """The children with this tag."""
        return [child for child in self.children if child.tag == tag]


def _encoding(data: bytes, file: str | None) -> str | None:
    """The encoding of a document that names one, if it is one of XML's own; others would have to be looked up."""
    declared = re.match(rb"\s*<\?xml[^>]*?encoding\s*=\s*[\"']([^\"']*)[\"']", data[:1000])
    if declared is None:
        return None
    return _known(declared[1].decode("ascii", "replace"), file)


def _known(name: str, file: str | None) -> str | None:
    if name.lower() not in ENCODINGS:
        expected = "UTF-8, UTF-16, ISO-8859-1 or US-ASCII"
        raise ModelError(f"the encoding {name[:40]!r} cannot be read; expected {expected}", file=file, line=1)
    return ENCODINGS[name.lower()]


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def parse(data: bytes, file: str | None) -> Element:
    """The root element of a document; ModelError with file and line if it is not one, or not a harmless one."""
    if len(data) > MOST_BYTES:
        raise ModelError(f"the file is too large; at most {MOST_BYTES} bytes are read", file=file)
    if data.count(b"=") > MOST_ATTRIBUTES:
        raise ModelError(f"the document has more than {MOST_ATTRIBUTES} attributes, or other signs '='", file=file)
    if not data.strip():
        raise ModelError("the file is empty; expected a URDF document", file=file)
    parser = expat.ParserCreate(_encoding(data, file))
    parser.buffer_text = True
    open_elements: list[Element] = []
    roots: list[Element] = []
    count = 0

    def refuse(*_: object) -> Any:
        raise ModelError(
            "document types and entities are refused: they can reach other files; remove <!DOCTYPE …>",
            file=file,
            line=parser.CurrentLineNumber,
        )

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        line = parser.CurrentLineNumber
        if len(open_elements) >= MOST_DEPTH:
            raise ModelError(f"elements are nested more than {MOST_DEPTH} deep", file=file, line=line)
        if count > MOST_ELEMENTS:
            raise ModelError(f"the document has more than {MOST_ELEMENTS} elements", file=file, line=line)
        element = Element(tag, attributes, line)
        (open_elements[-1].children if open_elements else roots).append(element)
        open_elements.append(element)

    def end(_: str) -> None:
        open_elements.pop()

    def characters(text: str) -> None:
        if open_elements and len(open_elements[-1].text) < 10_000:
            open_elements[-1].text += text

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, characters

    def declaration(_: str, encoding: str | None, __: int) -> None:
        if encoding is not None:
            _known(encoding, file)

    parser.XmlDeclHandler = declaration
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = parser.UnparsedEntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        text = expat.errors.messages.get(error.code, str(error))
        if error.code == expat.errors.codes[expat.errors.XML_ERROR_INVALID_TOKEN] and not _is_utf8(data):
            text = "a character that is not UTF-8"
        raise ModelError(
            f"not well-formed XML: {text} (column {error.offset + 1})", file=file, line=error.lineno
        ) from None
    except (ValueError, LookupError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"the encoding of the file cannot be read: {error}", file=file, line=1) from None
    return roots[0]
