"""`featherweight lint`: what is wrong with a URDF file, grouped by kind; with --fix, a file without it."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

import featherweight as fw
from featherweight.cli.app import (
    AsJson,
    Base,
    ModelArgument,
    Roots,
    can_be_written,
    check_base,
    fail,
    is_built_in,
    out,
    told_in_one_line,
)
from featherweight.cli.bases import usual_base
from featherweight.io.catalogue import is_name
from featherweight.io.files import ENDINGS
from featherweight.io.summary import SCREEN, Findings, report_lines

COLORS = {"error": "bold red", "wrong": "red", "warning": "yellow", "note": "dim", "": ""}
All = Annotated[bool, typer.Option("--all", help="list every finding, not a screen of them")]
Fix = Annotated[bool, typer.Option("--fix", help="write a repaired file, FILE.fixed.urdf, and tell what was changed")]
Out = Annotated[Path | None, typer.Option("--out", help="the repaired file; that of the model itself is replaced")]


def lint(
    model: ModelArgument,
    base: Base = "auto",
    root: Roots = None,
    everything: All = False,
    as_json: AsJson = False,
    fix: Fix = False,
    out_file: Out = None,
) -> None:
    """What is wrong with a URDF file, the worst first, grouped by kind.

    Status 0: nothing, or notes only, or all of it repaired by --fix. 1: something is wrong. 2: it cannot be read.
    """
    check_base(base)
    if is_name(model) and fix and out_file is None:
        raise fail("--fix: name the repaired file by --out; that of a package stays as it is")
    if not Path(model).is_file() and not is_name(model):
        own = f": {model} is built in, and needs none" if is_built_in(model) else ""
        raise fail(f"there is no file {model!r}{own}")
    base = _base(model, root) if base == "auto" else base
    findings = fw.lint(model, base=base, roots=root or ())
    levels = {finding.level for finding in findings}
    status = 2 if "error" in levels else int(bool(levels & {"wrong", "warning"}))
    if fix or out_file is not None:
        raise typer.Exit(_repair(model, out_file, base, root, findings, status, everything, as_json))
    if as_json:
        print(json.dumps([finding.as_dict() for finding in findings], indent=1))
    else:
        _print(findings, everything)
    raise typer.Exit(status)


def _base(model: str, root: list[Path] | None) -> str:
    """The base that it is simulated with; that of a robot which cannot be loaded is not asked for."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return usual_base(fw.load(model, roots=root or ()))
    except (ValueError, OSError):
        return "fixed"


def _print(findings: Findings, everything: bool) -> None:
    """In colours, where there is a terminal."""
    width = out.width if out.is_terminal else 10**9
    lines = report_lines(findings, findings.file, None if everything else SCREEN - 1, width)
    levels = {finding.level for finding in findings}
    if "error" in levels:
        lines.append(("", "mend errors by hand: no file is repaired that has one"))
    elif levels & {"wrong", "warning"}:
        lines.append(("", "--fix writes a repaired file"))
    for level, line in lines:
        text = Text(line, style=COLORS[level] if level == "note" else "")
        if level:
            text.stylize(COLORS[level], 0, len(level))
        out.print(text, soft_wrap=True, highlight=False)


def _repair(
    model: str, given: Path | None, base: str, root: list[Path] | None, findings: Findings, status: int,
    everything: bool, as_json: bool,
) -> int:  # fmt: skip
    """Write a repaired file, if there is something to repair; the status of the process."""
    if status == 2:
        if as_json:
            _print_json(findings, [], None)
        else:
            _print(findings, everything)
        return status
    target = given or Path(model).with_suffix(".fixed.urdf")
    if given is None and target.exists():
        raise fail(f"{str(target)!r} is there already; name it by --out to replace it")
    with told_in_one_line(OSError, ValueError):
        can_be_written("--out", target, ENDINGS)
        text, changes = fw.io.repaired_urdf(model, base=base, roots=root or ())
        written = str(target) if changes else None
        if changes:
            beside = Path(findings.file or model).parent
            fw.loads(text, policy="strict", base=base, roots=[*(root or ()), beside])
            target.write_text(text, encoding="utf-8", newline="")
    if as_json:
        _print_json(findings, changes, written)
        return 0
    shown_changes = changes if everything else changes[: SCREEN - 3]
    for change in shown_changes:
        out.print(change, soft_wrap=True, highlight=False, markup=False)
    if len(shown_changes) < len(changes):
        out.print(f"… {len(changes) - len(shown_changes)} more: --all lists them")
    said = f"{len(changes)} changes, written to {target}" if changes else f"{model}: nothing to repair"
    out.print(said, soft_wrap=True, highlight=False, markup=False)
    return 0


def _print_json(findings: Findings, changes: list[str], written: str | None) -> None:
    """What --fix found, what it changed, and the file it wrote, if it did."""
    shown = [finding.as_dict() for finding in findings]
    print(json.dumps({"findings": shown, "changes": changes, "written": written}, indent=1))
