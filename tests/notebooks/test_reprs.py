"""What notebooks show of models, runs and equations: whole, self-contained, cheap, and text where names are."""

from __future__ import annotations

import re
import subprocess
import sys
import time
import types
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import featherweight as fw
from featherweight.simulation.notebook_bar import notebook
from featherweight.simulation.progress import Progress
from viewer.chromium import Page, found

pytest.importorskip("PIL")
pytest.importorskip("matplotlib")
HOSTILE = '<script>window.ran=1</script>"><img src=x onerror=window.ran=1>'
VOID = {"img", "br", "hr"}


class Balanced(HTMLParser):
    """Tags that are opened are closed; the names of all are kept."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def robot(name: str = "arm") -> fw.Model:
    inertia = fw.Inertia.box(1.0, (0.1, 0.1, 0.4), at=(0, 0, -0.2))
    joint = fw.joints.Revolute("y")
    builder = fw.Builder(name).add_body(f"{name}1", joint=joint, inertia=inertia, joint_name=f"{name} j1")
    return builder.add_body(
        f"{name}2", parent=f"{name}1", joint=joint, inertia=inertia, joint_name=f"{name} j2"
    ).build()


@pytest.fixture(scope="module")
def swing() -> fw.Trajectory:
    return fw.simulate(robot(), [1.0, 0.5], [0.0, 0.0], duration=0.5, dt=1e-3)


def test_a_model_shows_a_picture_its_tree_and_its_joints() -> None:
    page = Balanced(fw.robots.mini_cheetah()._repr_html_())
    assert "13 bodies, nq 19, nv 18, 8.912 kg" in page.words
    assert page.tags.count("li") == 13
    assert page.tags.count("tr") == 14
    assert "FL_knee" in page.words
    assert dict(page.attributes)["src"].startswith("data:image/png;base64,")


def test_a_model_with_symbols_and_one_without_bodies_show_themselves() -> None:
    sympy = pytest.importorskip("sympy")
    symbolic = Balanced(fw.robots.pendulum(mass=sympy.Symbol("m", positive=True))._repr_html_())
    assert "img" not in symbolic.tags
    assert "hinge" in symbolic.words
    assert "0 bodies" in Balanced(fw.Builder("empty").build()._repr_html_()).words


def test_a_run_shows_its_player_and_curves(swing: fw.Trajectory) -> None:
    page = Balanced(swing._repr_html_())
    assert "501 states" in page.words
    assert "OK" in page.words
    assert page.tags.count("iframe") == 1
    assert ("sandbox", "allow-scripts") in page.attributes
    assert page.tags.count("img") == 1


def test_a_batch_shows_its_first_robot_and_how_many_failed() -> None:
    model = fw.robots.pendulum()
    run = fw.rollout(model, [[1.0], [2.0], [3.0]], [[0.0], [0.0], [0.0]], steps=20, dt=1e-3)
    run.status[1] = fw.Status.DIVERGED
    page = Balanced(run._repr_html_())
    assert "3 lanes" in page.words
    assert "1 DIVERGED" in page.words
    assert "iframe" in page.tags


def test_a_run_without_a_robot_or_a_state_shows_words(swing: fw.Trajectory) -> None:
    assert "iframe" not in Balanced(replace(swing, model=None)._repr_html_()).tags
    lost = replace(swing, q=np.full_like(swing.q, np.nan))
    assert "iframe" not in Balanced(lost._repr_html_()).tags


def test_names_are_text(swing: fw.Trajectory) -> None:
    model = robot(HOSTILE)
    for html in (model._repr_html_(), replace(swing, model=model)._repr_html_()):
        page = Balanced(html)
        assert "script" not in page.tags
        assert not [name for name, _ in page.attributes if name.startswith("on")]
        assert HOSTILE in page.words


def test_nothing_is_asked_of_the_network(swing: fw.Trajectory) -> None:
    for page in (Balanced(fw.robots.humanoid()._repr_html_()), Balanced(swing._repr_html_())):
        addresses = [value for name, value in page.attributes if name in ("src", "href")]
        assert all(value.startswith("data:") for value in addresses)


def test_showing_compiles_nothing(swing: fw.Trajectory, tmp_path: Path) -> None:
    swing.save(tmp_path / "run.fw")
    code = (
        "import sys, featherweight as fw\n"
        f"run = fw.Trajectory.load({str(tmp_path / 'run.fw')!r})\n"
        "assert len(run._repr_html_()) > 10_000 and len(run.model._repr_html_()) > 1_000\n"
        "print('llvmlite' in sys.modules, 'IPython' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_long_run_is_thinned(swing: fw.Trajectory) -> None:
    second = fw.simulate(swing.model, [1.0, 0.5], [0.0, 0.0], duration=3.0, dt=1e-3)
    slow = replace(second, t=1000 * second.t)  # 3001 states, of which 300 are shown
    assert len(slow.player().page) < len(swing.player().page) + 120_000
    assert "height:200px" in slow.player(height=200)._repr_html_()
    assert repr(slow.player(height=200)) == "Player(height=200)"  # a notebook keeps this text beside the page


def test_equations_show_themselves_as_latex() -> None:
    sympy = pytest.importorskip("sympy")
    m, l = sympy.symbols("m l", positive=True)
    equations = fw.equations.lagrange(fw.robots.pendulum(mass=m, length=l))
    shown = equations._repr_latex_()
    assert re.fullmatch(r"\$\$\n\\begin\{aligned\}.*\\end\{aligned\}\n\$\$", shown, re.DOTALL)
    assert "l^{2} m" in shown
    large = fw.equations.newton_euler(fw.robots.chain(4))
    assert large._repr_latex_() is None


@pytest.mark.skipif(found() is None, reason="there is no Chromium on this machine")
def test_the_player_moves_in_a_real_browser(swing: fw.Trajectory, tmp_path: Path) -> None:
    """Inside of its frame, without a network, and without a way to the page around it."""
    hostile = replace(swing, model=robot(HOSTILE))
    path = tmp_path / "cell.html"
    path.write_text(f"<!doctype html><meta charset=utf-8><body>{hostile._repr_html_()}</body>", encoding="utf-8")
    with Page(path.as_uri(), offline=True) as page:
        page.until("document.querySelector('iframe') != null", 30)
        first = page.picture()
        until = time.monotonic() + 30
        while page.picture() == first:
            assert time.monotonic() < until, "it stands still"
        assert page.value("window.ran") is None
        assert page.value("document.querySelector('iframe').contentDocument") is None  # sandboxed
        assert not [url for url in page.requests if url.startswith("http")]
        assert not [text for text in page.complaints if "Error" in text]


# ---- bars


class Display:
    """What IPython.display is to the bar."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def HTML(self, text: str) -> str:
        return text

    def display(self, page: str, display_id: bool) -> Display:
        self.shown.append(page)
        return self

    def update(self, page: str) -> None:
        self.shown.append(page)


def test_a_bar_in_a_notebook_needs_neither_rich_nor_widgets(monkeypatch: pytest.MonkeyPatch) -> None:
    display = Display()
    shell = types.SimpleNamespace(kernel=object())
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: shell
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setitem(sys.modules, "rich", None)
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    with Progress(1000, 1e-3, shown=True) as bar:
        bar.show(500)
        bar.show(501)  # at once: not another message
        bar.show(1000)
    assert [re.search(r'value="(\d+)" max="1000"', page)[1] for page in display.shown] == ["0", "500", "1000"]
    assert "simulated 1 of 1 s" in display.shown[-1]
    shell.kernel = None  # a terminal with IPython
    assert notebook() is None


def test_a_bar_that_is_not_wanted_shows_nothing() -> None:
    with Progress(10, 1e-3, shown=False) as bar:
        bar.show(5)
