"""The score: how many faults were caught, by folder and by kind, and what became of those that were not at first."""

from __future__ import annotations

import collections
import datetime
import json
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.mutants.faults import Fault
from benchmarks.mutants.trial import CAUGHT

Trials = dict[str, list[dict[str, Any]]]


def fate_of(fault: Fault, trials: Trials, equivalent: dict[str, str]) -> str:
    """The last outcome, unless the fault is known to change nothing."""
    if fault.id in equivalent:
        return "equivalent"
    return trials[fault.id][-1]["outcome"] if fault.id in trials else "untried"


def summary(faults: list[Fault], trials: Trials, equivalent: dict[str, str], seed: int) -> dict[str, Any]:
    fates = {fault: fate_of(fault, trials, equivalent) for fault in faults}
    caught = sum(fate in CAUGHT for fate in fates.values())
    changing = [fault for fault in faults if fates[fault] not in ("equivalent", "untried")]
    first = sum(trials[fault.id][0]["outcome"] in CAUGHT for fault in changing)
    notable = [fault for fault in faults if fates[fault] not in CAUGHT or _survived_once(fault, trials)]
    return {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "seed": seed,
        "faults": len(faults),
        "caught": caught,
        "equivalent": sum(fate == "equivalent" for fate in fates.values()),
        "survived": sum(fate in ("survived", "unreached") for fate in fates.values()),
        "untried": sum(fate == "untried" for fate in fates.values()),
        "score": round(caught / len(changing), 4) if changing else None,
        "score_when_first_tried": round(first / len(changing), 4) if changing else None,
        "seconds": round(sum(trials[fault.id][-1]["seconds"] for fault in changing)),
        "by_folder": _counted((fault.source.split("/")[2], fates[fault]) for fault in faults),
        "by_kind": _counted((fault.kind, fates[fault]) for fault in faults),
        "outcomes": dict(collections.Counter(fates.values())),
        "not_caught_at_first": [_told(fault, fates[fault], trials, equivalent) for fault in notable],
    }


def _survived_once(fault: Fault, trials: Trials) -> bool:
    return any(one["outcome"] not in CAUGHT for one in trials.get(fault.id, ()))


def _counted(pairs: Iterable[tuple[str, str]]) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for name, fate in pairs:
        group = counts.setdefault(name, {"faults": 0, "caught": 0, "equivalent": 0, "survived": 0, "untried": 0})
        group["faults"] += 1
        group["caught" if fate in CAUGHT else "survived" if fate == "unreached" else fate] += 1
    return dict(sorted(counts.items()))


def _told(fault: Fault, fate: str, trials: Trials, equivalent: dict[str, str]) -> dict[str, Any]:
    told = {"id": fault.id, "at": f"{fault.source}:{fault.line}", "kind": fault.kind, "was": fault.was}
    told |= {"becomes": fault.becomes, "fate": fate}
    if fate == "equivalent":
        return told | {"reason": equivalent[fault.id]}
    return told | ({"now_caught_by": trials[fault.id][-1].get("test", "")} if fate in CAUGHT else {})


def line(record: dict[str, Any]) -> str:
    score = "no score" if record["score"] is None else f"{100 * record['score']:.1f} % of those that change anything"
    return (
        f"{record['faults']} faults: {record['caught']} caught ({score}), {record['equivalent']} change nothing, "
        f"{record['survived']} survived, {record['untried']} not tried"
    )


def write(record: dict[str, Any], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    seed = f"-seed-{record['seed']}" if record["seed"] else ""
    path = folder / f"{record['date'][:10]}-mutants{seed}.json"
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
