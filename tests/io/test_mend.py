"""XML that is not well-formed but meant one way is read that way, with its lines; what is broken stays refused."""

from __future__ import annotations

import time

import pytest
from bad_models import GOOD, in_joint, more

import featherweight as fw
from featherweight.io.mend import mended
from featherweight.io.xml import as_utf8

MEANT = {
    "two hyphens in a comment": more("<!-- a -- b --- c ----->"),
    "a comment that ends in a hyphen": more("<!--- a --->"),
    "a lone ampersand": in_joint('<foo bar="R & D" baz="&nbsp;"/>'),
    "a lone ampersand in a text": more("<gazebo>a & b &x; c</gazebo>"),
    "a sign < in an attribute": in_joint('<foo bar="a < b"/>'),
    "a declaration on the second line": f'\n<?xml version="1.0" encoding="utf-8"?>\n{GOOD}',
    "a byte of another encoding in a comment": GOOD.encode() + "<!-- 90° -->".encode("latin-1"),
    "another root": f"{GOOD}<robot/>",
    "text behind the root": f"{GOOD}the end",
}
BROKEN = {
    "an element that is not closed": in_joint("<foo>"),
    "an attribute without quotes": in_joint("<foo a=1/>"),
    "a quote that is not closed": in_joint('<foo a="1/>'),
    "a comment that is not closed": more("<!-- a -- b"),
    "an attribute twice": in_joint('<foo a="1" a="2"/>'),
    "a NUL byte": more("<foo>\0</foo>"),
}


@pytest.mark.parametrize("encoding", ["gb2312", "windows-1252", "klingon"])
def test_an_encoding_that_is_not_known_is_taken_as_utf_8(encoding):
    data = f'<?xml version="1.0" encoding="{encoding}"?>\n{GOOD}'.encode()
    with pytest.warns(UserWarning, match=f"line 1: the encoding '{encoding}' cannot be read.*: read as it is meant"):
        assert fw.loads(data).fingerprint == fw.loads(GOOD).fingerprint
    with pytest.raises(fw.ModelError, match=f"the encoding '{encoding}' cannot be read"):
        fw.loads(data, policy="strict")


def data_of(text):
    return text if isinstance(text, bytes) else text.encode()


@pytest.mark.parametrize("what", MEANT)
def test_what_is_meant_is_read(what):
    data = data_of(MEANT[what])
    with pytest.warns(UserWarning, match="not well-formed XML"):
        model = fw.loads(data)
    assert model.fingerprint == fw.loads(GOOD).fingerprint
    with pytest.raises(fw.ModelError, match="not well-formed XML"):
        fw.loads(data, policy="strict")


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_broken_is_refused(what):
    for policy in ("strict", "repair", "warn"):
        with pytest.raises(fw.ModelError, match="not well-formed XML"):
            fw.loads(data_of(BROKEN[what]), policy=policy)


@pytest.mark.parametrize("what", MEANT)
def test_lines_stay_where_they_are(what, tmp_path):
    """A joint that is damaged is found on its line."""
    path = tmp_path / "robot.urdf"
    path.write_bytes(data_of(MEANT[what]).replace(b'lower="-1" upper="1"', b'lower="1" upper="-1"'))
    (found,) = [finding for finding in fw.lint(path) if finding.kind == "limit-order"]
    assert b"<limit" in path.read_bytes().splitlines()[found.line - 1]


def test_signs_stand_for_themselves():
    text = more('<gazebo a="R &amp; D &#38; &lt; R & D < &x;">a & b<![CDATA[ < & -- ]]></gazebo>')
    data, done = mended(text.encode(), None)
    assert b'a="R &amp; D &#38; &lt; R &amp; D &lt; &amp;x;">a &amp; b<![CDATA[ < & -- ]]>' in data
    assert done == "read as it is meant"
    assert mended(data, None) == (data, "")


def test_a_document_in_another_encoding_becomes_one_in_utf_8():
    for encoding, name in (("utf-16", "utf-16"), ("latin-1", "iso-8859-1")):
        text = f"<?xml version='1.0' encoding='{name}'?><robot name='é'/>"
        assert as_utf8(text.encode(encoding)).decode() == text.replace(name, "utf-8")
    assert as_utf8(GOOD.encode()) == GOOD.encode()


@pytest.mark.parametrize("unit", ["<!--", '<a b="', "<a ", "&", "<![CDATA[", "<?x ", "<!-- -- -->", "'", '<a b="\'" '])
def test_mending_takes_no_longer_than_the_document_is_long(unit):
    seconds = []
    for n in (20_000, 160_000):
        data = f'<robot name="r">{unit * n}'.encode()
        start = time.process_time()
        mended(data, None)
        seconds.append(time.process_time() - start)
    assert seconds[1] < 40 * seconds[0] + 0.2  # eight times as much; squared it would be 64
