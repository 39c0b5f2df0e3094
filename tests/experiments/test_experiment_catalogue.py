"""Experiments by name, from the command line and as pages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cli.command_line import call
from featherweight.experiments import catalogue, writing
from featherweight.experiments.claim import Claim
from featherweight.experiments.experiment import SOURCES, Experiment, Outcome, Table

DOCS = Path(__file__).parents[2] / "docs"
MADE_UP = Outcome(
    [Claim("a < b", "1 | 2", True, "section 1"), Claim("b & c", "3", False, "section 2", "it is <d>")],
    [Table("Figures", ("x", "y"), [("1", "a|b")])],
    {"one.svg": "a picture"},
    {"one-3d.html": "in three dimensions"},
    ["What one sees."],
)


def nothing(out: Path, tell: object, short: bool) -> Outcome:
    return MADE_UP


STUB = Experiment("stub", "000", "A title", nothing)


@pytest.mark.parametrize("name", catalogue.EXPERIMENTS)
def test_every_name_leads_to_its_experiment_and_its_page(name: str) -> None:
    found = catalogue.named(name)
    assert found.name == name
    assert found.source in SOURCES
    assert "\n" not in found.title
    text = (DOCS / "experiments" / f"{name}.md").read_text("utf-8")
    assert text.startswith(f"# {found.title}\n")
    assert f"featherweight experiment {name}\n" in text
    index = (DOCS / "experiments" / "index.md").read_text("utf-8")
    assert f"]({name}.md)" in index


def test_all_sources_have_an_experiment() -> None:
    assert {catalogue.named(name).source for name in catalogue.EXPERIMENTS} == set(SOURCES)


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="no experiment named 'trott'; did you mean 'trot'"):
        catalogue.named("trott")


def test_a_verdict_says_why() -> None:
    assert [claim.verdict for claim in MADE_UP.claims] == ["holds", "does not hold: it is <d>"]


def test_a_page_escapes_what_it_shows(tmp_path: Path) -> None:
    page = writing.write_page(STUB, MADE_UP, tmp_path / "page.html").read_text("utf-8")
    for text in (
        "a &lt; b (section 1)",
        "does not hold: it is &lt;d&gt;",
        'src="one.svg"',
        'href="one-3d.html"',
        "a|b",
    ):
        assert text in page
    assert "<d>" not in page


@pytest.mark.parametrize("dark", [False, True])
def test_text_of_a_page_can_be_read_in_light_and_in_dark(dark: bool, tmp_path: Path) -> None:
    """Contrast of 4.5 and more (WCAG 2, AA) of verdicts and small print with the paper."""
    page = writing.write_page(STUB, MADE_UP, tmp_path / "page.html").read_text("utf-8")
    colors: dict[str, str] = {}
    for line in page.splitlines():
        if dark or "prefers-color-scheme: dark" not in line:
            colors |= dict(re.findall(r"--(\w+): (#\w+)", line))
    assert {"yes", "no", "dim"} <= set(colors)
    assert not re.search(r"[^-]color: #", page)
    for name in ("yes", "no", "dim", "ink"):
        light, shade = sorted((luminance(colors[name]), luminance(colors["paper"])), reverse=True)
        assert (light + 0.05) / (shade + 0.05) > 4.5, name


def luminance(color: str) -> float:
    """Relative luminance of #rgb or #rrggbb (WCAG 2)."""
    width = len(color) // 3
    parts = [int(color[k : k + width] * (3 - width), 16) / 255 for k in range(1, 1 + 3 * width, width)]
    linear = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_markdown_has_the_same_with_pipes_kept_in_their_cells() -> None:
    text = writing.markdown(STUB, MADE_UP, "pictures/")
    assert "| a < b (section 1) | 1 \\| 2 | holds |" in text
    assert "![a picture](pictures/one.svg)" in text
    assert "| 1 | a\\|b |" in text


def test_the_command_without_a_name_lists_them_with_a_line_each() -> None:
    result = call("experiment")
    assert result.returncode == 0, result.stderr
    for name in catalogue.EXPERIMENTS:
        assert f"{name:<12} {catalogue.named(name).source}" in result.stdout
    assert [one["name"] for one in json.loads(call("experiment", "--json").stdout)] == list(catalogue.EXPERIMENTS)


def test_the_command_prints_claims_and_writes_its_files(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    target = tmp_path / "branches"
    result = call("experiment", "branches", "--short", "--json", "--out", target)
    assert result.returncode == 0, result.stderr
    facts = json.loads(result.stdout)
    assert facts["source"] == "003"
    assert (
        {path.name for path in target.iterdir()}
        == set(facts["files"])
        == {"index.html", "branches.svg", "branches.gif"}
    )
    assert [claim["holds"] for claim in facts["claims"]].count(False) == 2
    told = call("experiment", "branches", "--short", "--no-browser", "--out", target)
    for text in ("the source says", "we measure", "verdict", "does not hold", "20 numberings", "Open "):
        assert text in told.stdout


def test_a_bad_name_or_folder_is_one_line(tmp_path: Path) -> None:
    result = call("experiment", "trott")
    assert (result.returncode, result.stdout) == (2, "")
    assert "did you mean 'trot'" in result.stderr
    (tmp_path / "file").write_text("")
    result = call("experiment", "branches", "--out", tmp_path / "file")
    assert result.returncode == 2
    assert "expected a folder or a new name" in result.stderr
