"""XML that is not well-formed, and that other readers take: comments with two hyphens, a sign & or < that stands for
itself, a declaration that does not come first, bytes that are not UTF-8. Lines stay where they are.
"""

from __future__ import annotations

import re

_ENTITY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});)")
_IN_TAG = re.compile(rb"[\"'>]")


def mended(data: bytes, encoding: str | None) -> tuple[bytes, str]:
    """The document in UTF-8 with what can be mended, and what was done. One pass: every byte is looked at once."""
    done: list[str] = []
    if encoding is None and data[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        try:
            data.decode()
        except UnicodeDecodeError:
            data = data.decode("latin-1").encode()
            done.append("read as ISO-8859-1")
    elif encoding != "UTF-8":
        data = data.decode(encoding or "utf-16", "replace").encode()
    pieces: list[bytes] = []
    at, size = 0, len(data)
    while at < size:
        opens = data.find(b"<", at)
        opens = size if opens < 0 else opens
        pieces.append(_escaped(data[at:opens]))
        at = _markup(data, opens, pieces)
    other = b"".join(pieces)
    if other != data:
        done.append("read as it is meant")
    return other, ", ".join(done)


def _markup(data: bytes, at: int, pieces: list[bytes]) -> int:
    """One comment, instruction, section or tag, and where it ends."""
    if data.startswith(b"<!--", at):
        end = _after(data, b"-->", at + 4)
        inside = data[at + 4 : end].removesuffix(b"-->")
        pieces.append(b"<!--" + inside.replace(b"--", b"- -").replace(b"--", b"- -") + b" -->")
    elif data.startswith(b"<?xml", at):  # the text is UTF-8 now, whatever it says
        end = _after(data, b"?>", at)
        pieces.append(b"\n" * data.count(b"\n", at, end))
    elif data.startswith((b"<![CDATA[", b"<?"), at):
        end = _after(data, b"]]>" if data[at + 1 : at + 2] == b"!" else b"?>", at)
        pieces.append(data[at:end])
    else:
        end = _tag(data, at, pieces)
    return end


def _tag(data: bytes, at: int, pieces: list[bytes]) -> int:
    """A tag; in the values of its attributes signs stand for themselves."""
    while (found := _IN_TAG.search(data, at)) is not None:
        pieces.append(data[at : found.end()])
        if found[0] == b">":
            return found.end()
        closing = data.find(found[0], found.end())
        if closing < 0:
            at = found.end()
            break
        pieces.append(_escaped(data[found.end() : closing]).replace(b"<", b"&lt;"))
        pieces.append(found[0])
        at = closing + 1
    pieces.append(data[at:])
    return len(data)


def tag_end(data: bytes, at: int) -> int:
    """Where the tag that begins here ends."""
    while (found := _IN_TAG.search(data, at)) is not None and found[0] != b">":
        closing = data.find(found[0], found.end())
        at = len(data) if closing < 0 else closing + 1
    return len(data) if found is None else found.end()


def _after(data: bytes, end: bytes, at: int) -> int:
    found = data.find(end, at)
    return len(data) if found < 0 else found + len(end)


def _escaped(text: bytes) -> bytes:
    return _ENTITY.sub(b"&amp;", text) if b"&" in text else text
