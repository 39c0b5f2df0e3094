"""A careful XML reader: elements that know their line, and nothing that reaches outside the file.

Documents with a DTD or an entity are refused before anything is expanded; size, depth and number of elements and
of attributes are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from xml.parsers import expat

from featherweight.errors import ModelError
from featherweight.io.mend import mended

MOST_BYTES = 20_000_000
MOST_MENDED = 2_000_000  # bytes of a document that is not well-formed
MOST_ELEMENTS = 200_000
MOST_ATTRIBUTES = 200_000  # counted by "=", before anything is parsed: very many in one tag take seconds
MOST_DEPTH = 64
MOST_TEXT = 10_000  # characters of an element that are kept
PIECE = 1 << 16  # characters of text that come at once
ENCODINGS = {
    **dict.fromkeys(("utf-8", "utf8"), "UTF-8"),
    **dict.fromkeys(("us-ascii", "ascii"), "US-ASCII"),
    **dict.fromkeys(("iso-8859-1", "latin-1", "latin1"), "ISO-8859-1"),
    "utf-16": None,  # as its first bytes say
}
HANDLERS = (
    "StartElementHandler", "EndElementHandler", "CharacterDataHandler", "XmlDeclHandler",
    "StartDoctypeDeclHandler", "EntityDeclHandler", "ExternalEntityRefHandler", "UnparsedEntityDeclHandler",
)  # fmt: skip
JUNK = expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]


class Element:
    """A tag with its attributes, children, text, and the line it begins on.

    `fate` is what a repaired file does with it: "", "drop" or "rewrite". `start` and `end` are bytes of the document,
    if they were asked for: where the element begins, and where its last tag begins.
    """

    __slots__ = ("attributes", "children", "end", "fate", "line", "start", "tag", "text")

    def __init__(self, tag: str, attributes: dict[str, str], line: int) -> None:
        self.tag, self.attributes, self.line = tag, attributes, line
        self.children: Sequence[Element] = ()
        self.text = self.fate = ""
        self.start = self.end = 0

    def all(self, tag: str) -> list[Element]:
        """The children with this tag."""
        return [child for child in self.children if child.tag == tag]


class Document:
    """The bytes that were parsed, their root, and what is wrong with them: line, message, and what was read instead."""

    __slots__ = ("data", "root", "wrong")

    def __init__(self, data: bytes, root: Element, wrong: tuple[int, str, str] | None = None) -> None:
        self.data, self.root, self.wrong = data, root, wrong


class _UnknownEncodingError(Exception):
    """A document says that it is in an encoding that is not read."""


def _encoding(data: bytes) -> str | None:
    """The encoding of a document that names one, if it is one of XML's own; others would have to be looked up."""
    declared = re.match(rb"\s*<\?xml[^>]*?encoding\s*=\s*[\"']([^\"']*)[\"']", data[:1000])
    if declared is None:
        return None
    return _known(declared[1].decode("ascii", "replace"))


def _known(name: str) -> str | None:
    if name.lower() not in ENCODINGS:
        expected = "UTF-8, UTF-16, ISO-8859-1 or US-ASCII"
        raise _UnknownEncodingError(f"the encoding {name[:40]!r} cannot be read; expected {expected}")
    return ENCODINGS[name.lower()]


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def as_utf8(data: bytes) -> bytes:
    """The same document in UTF-8, also by its own word, if it is in another encoding of XML."""
    try:
        encoding = _encoding(data)
    except _UnknownEncodingError:
        return data
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    elif b"\0" in data[:2]:  # without a mark: XML begins with a character of ASCII, so the zero tells the order
        encoding = "utf-16-be" if data[:1] == b"\0" else "utf-16-le"
    if encoding in (None, "UTF-8"):
        return data
    text = data.decode(encoding, "replace").removeprefix("\ufeff")
    return re.sub(r"(encoding\s*=\s*[\"'])[^\"']*", r"\1utf-8", text, count=1).encode()


def parse(data: bytes, file: str | None, *, most_bytes: int = MOST_BYTES, most_text: int = MOST_TEXT) -> Element:
    """The root element of a well-formed document; ModelError with file and line if it is not one, or not harmless.

    Documents of more than `most_bytes` are refused; of an element's text about `most_text` characters are kept.
    """
    document = read_document(data, file, most_bytes=most_bytes, most_text=most_text)
    if document.wrong is not None:
        line, message, _ = document.wrong
        raise ModelError(message, file=file, line=line)
    return document.root


def read_document(
    data: bytes, file: str | None, places: bool = False, *, most_bytes: int = MOST_BYTES, most_text: int = MOST_TEXT
) -> Document:
    """The document, mended if it is not well-formed; ModelError if it cannot be, or is not harmless. With `places`, its
    elements know where they begin and end."""
    if len(data) > most_bytes:
        raise ModelError(f"the file is too large; at most {most_bytes} bytes are read", file=file)
    if data.count(b"=") > MOST_ATTRIBUTES:
        raise ModelError(f"the document has more than {MOST_ATTRIBUTES} attributes, or other signs '='", file=file)
    if not data.strip():
        raise ModelError("the file is empty; expected a URDF document", file=file)
    roots: list[Element] = []
    encoding = None
    try:
        encoding = _encoding(data)
        _elements(data, encoding, file, roots, places, most_text)
        return Document(data, roots[0])
    except _UnknownEncodingError as error:
        line, message = 1, str(error)
    except expat.ExpatError as error:
        line, message = error.lineno, _told(error, data)
        if error.code == JUNK:  # then the first element is whole
            if places:
                data = data[: data.index(b">", roots[0].end) + 1] + b"\n"
            return Document(data, roots[0], (line, message, f"what follows </{roots[0].tag[:40]}> is left out"))
    other, instead = mended(data, encoding) if len(data) <= MOST_MENDED else (data, "")
    try:
        roots.clear()
        _elements(other, "UTF-8", file, roots, places, most_text)
    except (expat.ExpatError, _UnknownEncodingError, ModelError):
        raise ModelError(message, file=file, line=line) from None
    return Document(other, roots[0], (line, message, instead))


def _told(error: expat.ExpatError, data: bytes) -> str:
    text = expat.errors.messages.get(error.code, str(error))
    if error.code == expat.errors.codes[expat.errors.XML_ERROR_INVALID_TOKEN] and not _is_utf8(data):
        text = "a character that is not UTF-8"
    return f"not well-formed XML: {text} (column {error.offset + 1})"


def _elements(
    data: bytes, encoding: str | None, file: str | None, roots: list[Element], places: bool, most_text: int
) -> None:
    """Parse a document into its outermost elements; ExpatError where it is not well-formed."""
    parser = expat.ParserCreate(encoding)
    parser.buffer_text, parser.buffer_size = True, PIECE
    outside = Element("", {}, 0)
    outside.children = roots
    stack = [outside]  # of open elements
    count = 0

    def refuse(*_: object) -> Any:
        message = "document types and entities are refused: they can reach other files; remove <!DOCTYPE …>"
        raise ModelError(message, file=file, line=parser.CurrentLineNumber)

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        element = Element(tag, attributes, parser.CurrentLineNumber)
        if len(stack) > MOST_DEPTH:
            raise ModelError(f"elements are nested more than {MOST_DEPTH} deep", file=file, line=element.line)
        if count > MOST_ELEMENTS:
            raise ModelError(f"the document has more than {MOST_ELEMENTS} elements", file=file, line=element.line)
        if places:
            element.start = parser.CurrentByteIndex
        siblings = stack[-1].children
        if type(siblings) is list:
            siblings.append(element)
        else:
            stack[-1].children = [element]
        stack.append(element)

    def end(_: str) -> None:
        element = stack.pop()
        if places:
            element.end = parser.CurrentByteIndex

    def characters(text: str) -> None:
        if not text.isspace() or stack[-1].text:
            element = stack[-1]
            if len(element.text) < most_text:
                element.text += text

    def declaration(_: str, encoding: str | None, __: int) -> None:
        if encoding is not None:
            _known(encoding)

    for name, handler in zip(HANDLERS, (start, end, characters, declaration, *[refuse] * 4), strict=True):
        setattr(parser, name, handler)
    try:
        parser.Parse(data, True)
    except (ValueError, LookupError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"the encoding of the file cannot be read: {error}", file=file, line=1) from None
    finally:  # handlers know the parser: a circle, in which all elements would wait for the garbage collector
        for name in HANDLERS:
            setattr(parser, name, None)
