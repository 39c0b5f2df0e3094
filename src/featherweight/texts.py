"""Names of links, joints and files are data: what they become where they are shown."""

from __future__ import annotations

import re

# controls (also those that terminals obey without an escape), marks that reverse the order of letters, ends of lines
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
ACTIVE = re.compile(r"([\\`*$|~]|\](?=[(\[:])|(?<![^\W_])_|_(?![^\W_]))")  # of Markdown, within a line


def printable(text: str, *, keep: str = "") -> str:
    r"""Text with the characters that are not to be seen, and that a terminal or an editor might obey, written out.

    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return UNSEEN.sub(lambda found: found[0] if found[0] in keep else ascii(found[0])[1:-1], text)


def markdown(text: str) -> str:
    r"""Plain text for Markdown: shown as it is, whatever is in it.

    >>> markdown("<b>[a](b) _c_d_")
    '&lt;b&gt;[a\\](b) \\_c_d\\_'
    """
    escaped = ACTIVE.sub(r"\\\1", printable(text))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
