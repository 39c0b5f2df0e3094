"""The figures of docs/explanation/reliability.md, from the newest results of each kind; `make tables` writes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from report import BEGIN, END, table

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "explanation" / "reliability.md"
Row = list[str]


def fuzz(result: dict[str, Any]) -> Row | None:
    slowest = f"slowest {result['slowest_seconds']:.2g} s"
    mended = len(result.get("since", {}).get("mended", ()))
    since = f", {mended} mended since" if mended else ""
    return [
        f"{_many(result['count'])} damaged URDF files",
        f"{result['failure_count']} failures{since}; {slowest}",
        "`make fuzz`",
    ]


def time_bombs(result: dict[str, Any]) -> Row | None:
    slowest = max(float(row["seconds"]) for row in result["rows"])
    return ["the largest URDF files that are read, made to take long", f"slowest {slowest:.2g} s", "`make time-bombs`"]


def load(result: dict[str, Any]) -> Row | None:
    median = f"median {result['median_milliseconds']['all']:.2g} ms, at most {result['largest_milliseconds']:.2g} ms"
    return [f"{_many(result['count'])} real URDF files, loaded", median, "`make load`"]


def soak(result: dict[str, Any]) -> Row | None:
    counts = result["counts"]
    grown = result["grown_after_two_minutes"]
    what = (
        f"{result['minutes']:g} minutes of random calls on 200 models: {_many(counts['calls'])} calls, "
        f"{_many(counts['struck'])} ended by signals, {_many(counts['forks'])} forks"
    )
    came = (
        f"{result['failure_count']} failures; {_many(result['compared_with_fresh_processes'])} calls made again by "
        f"fresh processes without a cache; after two minutes memory in use grew by {grown['megabytes_in_use']:.1f} MB "
        f"at most, resident memory by {grown['megabytes']:.1f} MB"
    )
    return [what, came, "`make soak`"]


def memory(result: dict[str, Any]) -> Row | None:
    what = f"{_many(result['count'])} models compiled and dropped in one process"
    return [what, f"{result['bytes_a_model']:.0f} bytes a model stay in memory", "`make memory`"]


def mutants(result: dict[str, Any]) -> Row | None:
    if result["untried"]:
        return None
    what = f"{result['faults']} faults put into the source one at a time"
    same = f", {result['equivalent']} change nothing" if result["equivalent"] else ""
    return [what, f"{result['caught']} caught by the tests{same}, {result['survived']} not caught", "`make mutants`"]


def misuse(result: dict[str, Any]) -> Row | None:
    counts = result["counts"]["featherweight"]
    answered = counts["right"] + counts["refused"]
    return [f"{len(result['vectors'])} bad vectors (below)", f"{answered} answered rightly or refused", "`make misuse`"]


def misuse_derivatives(result: dict[str, Any]) -> Row | None:
    counts = result["counts"]
    answered = f"{_many(counts['right'])} answered rightly, {_many(counts['refused'])} refused"
    failed = f"{counts['wrong'] + counts['crashed']} neither"
    return [f"{_many(result['calls'])} misuses of derivatives", f"{answered}, {failed}", "`make misuse-derivatives`"]


KINDS: dict[str, Callable[[dict[str, Any]], Row | None]] = {
    "misuse": misuse, "misuse-derivatives": misuse_derivatives, "fuzz": fuzz, "time-bombs": time_bombs, "load": load,
    "soak": soak, "memory": memory,
    "mutants": mutants,
}  # fmt: skip


def _many(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def newest(kind: str) -> dict[str, Any] | None:
    """The last result of a kind, if there is one."""
    paths = sorted((HERE / "results").glob(f"????-??-??-{kind}.json"))
    return json.loads(paths[-1].read_text(encoding="utf-8")) if paths else None


def figures() -> str:
    """A row for each kind that there are results of."""
    rows = []
    for kind, describe in KINDS.items():
        result = newest(kind)
        row = None if result is None else describe(result)
        if result is not None and row is not None:
            rows.append([*row, result["date"][:10]])
    return table(["what", "what came of it", "repeat", "measured"], rows)


OUTCOMES = {
    "right": "right",
    "refused": "refused, with an error",
    "warned": "not right, with a warning",
    "not finite": "NaN or inf, without a word",
    "wrong": "other numbers, without a word",
    "crashed": "crashed",
    "hung": "hung",
}


def peers(result: dict[str, Any]) -> str:
    """The same bad vectors, and a chain, given to others."""
    names = list(result["counts"])
    rows = [
        [words, *(str(result["counts"][name][outcome]) for name in names)]
        for outcome, words in OUTCOMES.items()
        if any(result["counts"][name][outcome] for name in names)
    ]
    if "chain" in result:
        outcomes = [_of_chain(result["chain"][name]) for name in names]
        rows.append([f"a chain of {_many(result['chain_links'])} links from a URDF text", *outcomes])
    head = ["", *(f"{name} {result['versions'][name]}" for name in names)]
    return table(head, rows)


def _of_chain(found: dict[str, Any]) -> str:
    if found["outcome"] == "right":
        return f"accelerations after {found['cpu_seconds']:.0f} s of CPU" if "cpu_seconds" in found else "accelerations"
    return f"{found['outcome']} ({found['said']})" if found["outcome"] in ("crashed", "hung") else found["outcome"]


def write() -> None:
    """Put the tables between the marks of the page, in their order."""
    misused = newest("misuse")
    parts = [figures(), "" if misused is None else peers(misused)]
    text, at = PAGE.read_text(encoding="utf-8"), 0
    for part in parts:
        begin = text.index(BEGIN, at) + len(BEGIN)
        end = text.index(END, begin)
        text = f"{text[:begin]}\n{part}\n{text[end:]}"
        at = text.index(END, begin) + len(END)
    PAGE.write_text(text, encoding="utf-8")
