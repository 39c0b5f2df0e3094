"""What is said of versions and systems is said alike everywhere: metadata, citation, smoke test, workflow, Makefile."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

import featherweight as fw

ROOT = Path(__file__).parents[2]
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
WORKFLOW = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")


def module(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_every_supported_python_is_tried_and_named() -> None:
    named = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', PROJECT)
    assert named[0] == re.search(r'requires-python = ">=([\d.]+)"', PROJECT)[1]
    tried = [name.removeprefix("python") for name in module("tests/smoke/interpreters.py").NAMES if name[-1] != "t"]
    assert named == tried
    for matrix in re.findall(r"python: \[(.*)\]", WORKFLOW):
        assert re.findall(r'"([\d.]+)"', matrix) == named


def test_the_citation_is_of_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (\S+)$", text, re.MULTILINE)[1] == fw.__version__
    assert (
        re.search(r"^license: (\S+)$", text, re.MULTILINE)[1]
        == re.search(r'^license = "(.*)"', PROJECT, re.MULTILINE)[1]
    )


@pytest.mark.parametrize("script", [".ci/run", ".github/workflows/ci.yml"])
def test_scripts_call_targets_and_files_that_are_there(script: str) -> None:
    text = (ROOT / script).read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    calls = re.findall(r"(?:^|run: )make (.+)$", text, re.MULTILINE)
    assert {word for call in calls for word in call.split() if not word.startswith("-")} <= targets
    assert calls
    for path in re.findall(r"\btests/[\w/.]+", text):
        assert (ROOT / path).exists(), path


def test_every_target_that_is_no_file_is_declared_so() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    declared = set(re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)[1].split())
    assert declared == {name for name in re.findall(r"^([a-z][\w-]*):", text, re.MULTILINE)}


def test_bits_that_differ_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    compared = module("tests/aarch64/emulated.py").compared
    here = json.dumps({"machine": "a", "digests": {"one": "1", "two": "2", "three": "3"}})
    there = json.dumps({"machine": "b", "digests": {"one": "1", "two": "x"}})
    assert compared(here, here) == 0
    assert compared(here, there) == 2
    assert "DIFFERENT two: 2 here, x there" in capsys.readouterr().out


def test_addresses_are_given_together_or_not_at_all() -> None:
    """One place decides where the project is: `project.urls`. Once it is there, the citation has it, and the README's
    links lead there, since PyPI knows no files beside it."""
    table = re.search(r"^\[project\.urls\]\n(.*?)(?=\n\n|\n\[|\Z)", PROJECT, re.MULTILINE | re.DOTALL)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    cited = re.findall(r"^(?:url|repository-code): \"?(\S+?)\"?$", citation, re.MULTILINE)
    if table is None:
        assert cited == [], "CITATION.cff has an address, pyproject.toml has none"
        return
    urls = re.findall(r'"(https://[^"]+)"', table[1])
    assert urls, "project.urls: expected addresses that begin with https://"
    assert set(cited) & set(urls)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    relative = [link for link in re.findall(r"\]\(([^)#]+)", readme) if not link.startswith("https://")]
    assert relative == [], "links that PyPI's page cannot follow"
