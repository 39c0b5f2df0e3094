"""Pages of experiments: what is written for Markdown is read as HTML, too."""

from __future__ import annotations

from pathlib import Path

from featherweight.experiments import catalogue, writing
from featherweight.experiments.experiment import Outcome


def test_code_in_notes_is_code_on_the_page(tmp_path: Path) -> None:
    outcome = Outcome(claims=[], notes=["what one costs is in `scaling`, for a < b"])
    page = writing.write_page(catalogue.named("trot"), outcome, tmp_path / "index.html").read_text("utf-8")
    assert "<p>what one costs is in <code>scaling</code>, for a &lt; b</p>" in page
    assert "in `scaling`" in writing.markdown(catalogue.named("trot"), outcome, "pictures/")
