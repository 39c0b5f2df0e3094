"""Every public name has its place in the reference, and the reference names nothing that is not there."""

from __future__ import annotations

import importlib
import re
import types
from pathlib import Path

import pytest

import featherweight as fw

PAGES = sorted((Path(__file__).parents[2] / "docs/reference").glob("*.md"))
DIRECTIVE = re.compile(r"^\.\. automodule:: (\S+)\n((?: +:.*\n)*)", re.MULTILINE)
INTERNAL = {  # public for those who write algorithms; described where they are used
    "featherweight.model": {"Tree", "TreeJoint"},
    "featherweight.constraints": {"Push"},  # it is that of forces
}


def documented() -> dict[str, set[str]]:
    """Names by module: those that its directive lists, or all that the module exports but for those it leaves out."""
    found: dict[str, set[str]] = {}
    for page in PAGES:
        for module, options in DIRECTIVE.findall(page.read_text()):
            given = dict(re.findall(r":([\w-]+): *(.*)", options))
            listed = [name.strip() for name in given["members"].split(",") if name.strip()]
            left_out = {name.strip() for name in given.get("exclude-members", "").split(",")}
            found.setdefault(module, set()).update(set(listed or exports(module)) - left_out)
    return found


def exports(module: str) -> list[str]:
    """`__all__`, or what the module itself defines."""
    own = importlib.import_module(module)
    defined = [n for n, x in vars(own).items() if getattr(x, "__module__", None) == module and not n.startswith("_")]
    return list(getattr(own, "__all__", defined))


FOUND = documented()
HIDDEN = {f"featherweight.{n}" for n in fw.__all__ if isinstance(getattr(fw, n), types.ModuleType)}
MODULES = sorted({*HIDDEN, *fw._LATE.values(), "featherweight.spatial", "featherweight.files", "featherweight.report"})


@pytest.mark.parametrize("module", MODULES)
def test_all_that_a_module_exports_is_in_the_reference(module: str) -> None:
    assert set(exports(module)) - INTERNAL.get(module, set()) <= FOUND.get(module, set())


def test_every_public_name_is_in_the_reference() -> None:
    names = {name for own in FOUND.values() for name in own}
    modules = {module.rpartition(".")[2] for module in FOUND}
    assert not [name for name in fw.__all__ if name not in names | modules]


def test_the_reference_lists_no_name_that_is_not_there() -> None:
    gone = {
        module: [n for n in own if not hasattr(importlib.import_module(module), n)] for module, own in FOUND.items()
    }
    assert not {module: names for module, names in gone.items() if names}


def test_every_page_of_the_reference_is_in_its_index() -> None:
    index = (PAGES[0].parent / "index.md").read_text()
    assert not [page.stem for page in PAGES if page.stem != "index" and f"\n{page.stem}\n" not in index]


# ---- coming from other libraries

COMING = (PAGES[0].parents[1] / "how-to/coming-from.md").read_text()


def missing(library: object, names: set[str]) -> list[str]:
    """Those that a library does not have."""

    def exists(path: str) -> bool:
        thing = library
        for name in path.split("."):
            if not hasattr(thing, name):
                return False
            thing = getattr(thing, name)
        return True

    return [name for name in names if not exists(name)]


def test_our_calls_of_the_table_are_there() -> None:
    named = set(re.findall(r"\bfw\.([A-Za-z_][\w.]*\w)", COMING))
    assert len(named) > 30
    assert not missing(fw, named)


@pytest.mark.parametrize(("library", "pattern"), [("pinocchio", r"\bpin\.([A-Za-z_]\w*)"), ("mujoco", r"\b(mj_\w+)")])
def test_their_calls_of_the_table_are_there(library: str, pattern: str) -> None:
    named = set(re.findall(pattern, COMING))
    assert len(named) > 6
    assert not missing(pytest.importorskip(library), named)
