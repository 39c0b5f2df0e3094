"""The pages of the experiments, text and pictures: `make experiment-pages`. No figure in them is typed by hand."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: dense systems on one core, as all else

import datetime
import shutil
import sys
import tempfile
from pathlib import Path

from featherweight.compiler.native.target import host
from featherweight.experiments import catalogue, writing
from featherweight.experiments.experiment import SOURCES, Experiment, Outcome

DOCS = Path(__file__).parent
PAGES, PICTURES = DOCS / "experiments", DOCS / "pictures" / "experiments"
INTRODUCTION = """# The sources' own experiments

featherweight began with five documents on the dynamics of robots. What they describe can be run by one command each: it
prints what the source says beside what we measure, writes pictures and a page, and says where the source is wrong. Each
takes less than a minute. Equation by equation: [notes, corrected](../explanation/notes-corrected.md).

```sh
featherweight experiment          # lists them
featherweight experiment trot     # a quadruped on springs and on impulses, at 0.3×
```

![A quadruped trots in place on springs and on impulses](../pictures/experiments/trot.gif)
"""


def page_of(experiment: Experiment) -> tuple[Outcome, float]:
    """Run one, and write its page and pictures; what it found."""
    begin = datetime.datetime.now()
    with tempfile.TemporaryDirectory() as folder:
        outcome = experiment.run(Path(folder), lambda text: None, False)
        for file in outcome.pictures:
            shutil.copy(Path(folder) / file, PICTURES / file)
    text = writing.markdown(experiment, outcome, "../pictures/experiments/")
    today = datetime.date.today().isoformat()
    made = (
        "Equation by equation: [notes, corrected](../explanation/notes-corrected.md). "
        f"Made by `make experiment-pages` on {today} ({host().cpu}).\n"
    )
    (PAGES / f"{experiment.name}.md").write_text(f"{text}\n{made}", encoding="utf-8")
    return outcome, (datetime.datetime.now() - begin).total_seconds()


def index() -> str:
    """All of them, by source."""
    lines = [INTRODUCTION, "| experiment | source | |", "|---|---|---|"]
    for name in catalogue.EXPERIMENTS:
        one = catalogue.named(name)
        lines.append(f"| [`{name}`]({name}.md) | {one.source}: {SOURCES[one.source]} | {one.title} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    wanted = sys.argv[1:] or list(catalogue.EXPERIMENTS)
    for folder in (PAGES, PICTURES):
        folder.mkdir(exist_ok=True)
    for name in wanted:
        outcome, seconds = page_of(catalogue.named(name))
        held = sum(claim.holds for claim in outcome.claims)
        print(f"{name}: {held} of {len(outcome.claims)} claims hold, {seconds:.0f} s", flush=True)
    (PAGES / "index.md").write_text(index(), encoding="utf-8")


if __name__ == "__main__":
    main()
