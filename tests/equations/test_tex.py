"""LaTeX documents of derivations: of ASCII, in balance, whatever names are in them; compiled where a LaTeX is there."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from pylatexenc import latexwalker

import featherweight as fw
from cli.command_line import call

sympy = pytest.importorskip("sympy")
from featherweight import equations  # noqa: E402
from featherweight.equations.latex_document import ENGINES, LINE, _ascii, tex, write_pdf  # noqa: E402

NAMES = (  # of LaTeX, amsmath (allowdisplaybreaks, tfrac, text) and graphicx (resizebox)
    "Bigl Bigr Gamma Sigma Theta acute allowdisplaybreaks backslash cdot cos ddot displaystyle documentclass dot else "
    "ensuremath fi frac hat ifdim lambda left linewidth mathrm newcommand omega parindent partial quad resizebox right "
    "sbox section setlength sim sin subsection subsubsection sqrt tau text textasciicircum textasciitilde "
    "textbackslash textgreater textless tfrac times usebox usepackage wd"
)
COMMANDS = frozenset(NAMES.split())
HOSTILE = r"\input{/etc/passwd} 100% #1 $x$ {a_b} ~^<&> ∮猫 \end{document} é̇"


def pendulum(name: str = "bob") -> fw.Model:
    m, l = sympy.symbols("m l", positive=True)
    return (
        fw.Builder(name)
        .add_body(name, joint=fw.joints.Revolute("y"), inertia=fw.Inertia.point(m, at=(0, 0, -l)), joint_name=name)
        .build()
    )


def two_links() -> fw.Model:
    m1, m2, l1, l2, g = sympy.symbols("m1 m2 l1 l2 g", positive=True)
    return fw.robots.double_pendulum(mass1=m1, length1=l1, mass2=m2, length2=l2, gravity=g)


@pytest.fixture(scope="module")
def derivations() -> list[equations.Equations]:
    model = two_links()
    return [equations.newton_euler(model), equations.lagrange(model)]


def environments(text: str) -> None:
    """Braces and environments end in the order in which they begin."""
    code = re.sub(r"(?<!\\)%.*", "", text)
    open_ones: list[str] = []
    for found in re.finditer(r"\\(begin|end)\{(\w+\*?)\}|\\.|[{}]", code):
        if found[1] == "begin":
            open_ones.append(found[2])
        elif found[1] == "end":
            assert open_ones.pop() == found[2]
        elif found[0] == "{":
            open_ones.append("{")
        elif found[0] == "}":
            assert open_ones.pop() == "{"
    assert open_ones == []


@pytest.mark.parametrize("name", ["bob", HOSTILE])
def test_a_document_is_ascii_and_in_balance_whatever_its_names_are(name: str) -> None:
    text = tex([equations.lagrange(pendulum(name)), equations.newton_euler(pendulum(name))])
    assert text.isascii()
    environments(text)
    assert text.count(r"\end{document}") == 1
    assert r"\input" not in text


def test_every_step_and_method_is_in_the_document(derivations: list[equations.Equations]) -> None:
    text = tex(derivations)
    for one in derivations:
        assert rf"\subsection*{{{one.method}}}" in text
        for number, step in enumerate(one.steps, start=1):
            assert f"{number}. {step.title}" in text
    assert r"\subsubsection*{6. Constraint forces}" in text
    assert r"\ddot{q}" in text


def test_no_line_of_a_long_formula_is_long(derivations: list[equations.Equations]) -> None:
    """Constraint forces of two links are fractions with a page of terms: those stand in lines of their own."""
    text = tex(derivations)
    _, _, forces = text.partition("Constraint forces")
    forces, _, _ = forces.partition(r"\subsection*")
    lines = re.findall(r"\\fitted\{(.*)\}", forces)
    assert len(lines) > 20
    assert max(map(len, lines)) < 2 * LINE


def test_letters_become_commands() -> None:
    assert _ascii("Ṁ − 2C, q̈₁ ∂") == (
        r"\ensuremath{\dot{M}} \ensuremath{-} 2C, \ensuremath{\ddot{q}}\ensuremath{_{1}} \ensuremath{\partial}"
    )
    assert _ascii("Σ ω λ Ω ο") == (
        r"\ensuremath{\Sigma} \ensuremath{\omega} \ensuremath{\lambda} \ensuremath{\Omega} \text{U+03BF}"
    )


def walked(text: str) -> list[Any]:
    """All nodes of a document, by a parser that is not ours and forgives nothing."""
    nodes, at, length = latexwalker.LatexWalker(text, tolerant_parsing=False).get_latex_nodes()
    assert at + length == len(text), "it was read to its end"
    every = list(nodes)
    for node in every:  # grows
        inside = [*(getattr(node, "nodelist", None) or [])]
        arguments = getattr(node, "nodeargd", None)
        inside += [one for one in (getattr(arguments, "argnlist", None) or []) if one is not None]
        every += inside
    return every


@pytest.mark.parametrize("which", ["two links", "hostile"])
def test_another_parser_reads_every_formula(which: str, derivations: list[equations.Equations]) -> None:
    """Where there is no LaTeX: groups, environments and math end where they should, and all commands are LaTeX's own,
    amsmath's, or defined in the document."""
    shown = derivations if which == "two links" else [equations.lagrange(pendulum(HOSTILE))]
    text = tex(shown)
    nodes = walked(text)
    formulas = [n for n in nodes if n.isNodeType(latexwalker.LatexMathNode)]
    formulas += [n for n in nodes if n.isNodeType(latexwalker.LatexEnvironmentNode) and n.environmentname != "document"]
    assert len(formulas) > 10
    known = set(re.findall(r"\\(?:newcommand|providecommand|def|newsavebox|newlength)\*?\{?\\(\w+)", text))
    used = {n.macroname for n in nodes if n.isNodeType(latexwalker.LatexMacroNode)}
    assert {name for name in used - known if name.isalpha()} <= COMMANDS, "commands that nobody defines"


@pytest.mark.parametrize(
    "broken",
    [r"\begin{document}$x", r"\begin{document}{x\end{document}", r"\begin{align}x\end{equation}", r"a } b"],
)
def test_the_other_parser_sees_what_is_broken(broken: str) -> None:
    with pytest.raises(latexwalker.LatexWalkerParseError):
        walked(broken)


@pytest.mark.skipif(
    not any(map(shutil.which, ENGINES)), reason="no LaTeX is installed: another parser reads the documents instead"
)
@pytest.mark.parametrize("which", ["two links", "hostile"])
def test_it_compiles_without_a_word(which: str, derivations: list[equations.Equations], tmp_path: Path) -> None:
    shown = derivations if which == "two links" else [equations.lagrange(pendulum(HOSTILE))]
    write_pdf(shown, tmp_path / "a.pdf")
    data = (tmp_path / "a.pdf").read_bytes()
    assert data.startswith(b"%PDF-")
    assert data.rstrip().endswith(b"%%EOF")


def engine_that(folder: Path, does: str) -> None:
    """A stand-in for pdflatex, as the only program there is."""
    path = folder / "pdflatex"
    path.write_text(f"#!{sys.executable}\nimport pathlib, sys\n{does}\n")
    path.chmod(0o755)


@pytest.mark.skipif(os.name == "nt", reason="a script is no program there")
def test_an_engine_is_run_safely_and_its_error_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    shown = [equations.lagrange(pendulum())]
    wanted = "a PDF needs a LaTeX .*apt install texlive-latex-recommended.*or write a .tex"
    with pytest.raises(FileNotFoundError, match=wanted):
        write_pdf(shown, tmp_path / "no.pdf")
    engine_that(tmp_path, "print('! Undefined control sequence.'); sys.exit(1)")
    with pytest.raises(OSError, match=r"no\.pdf: pdflatex failed with status 1: ! Undefined control sequence\."):
        write_pdf(shown, tmp_path / "no.pdf")
    assert not (tmp_path / "no.pdf").exists()
    engine_that(tmp_path, "pathlib.Path('derivation.pdf').write_text(' '.join(sys.argv[1:]))")
    write_pdf(shown, tmp_path / "yes.pdf")
    assert "-no-shell-escape" in (tmp_path / "yes.pdf").read_text()
    with pytest.raises(ValueError, match=r"path: expected a name that ends in \.pdf"):
        write_pdf(shown, tmp_path / "no.html")


def test_nothing_to_write_is_named() -> None:
    with pytest.raises(ValueError, match="tex: expected at least one derivation"):
        tex([])


@pytest.mark.skipif(os.name == "nt", reason="a script is no program there")
def test_the_command_line_writes_pdf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine_that(tmp_path, "pathlib.Path('derivation.pdf').write_text('%PDF')")
    monkeypatch.setenv("PATH", str(tmp_path))
    done = call("derive", "pendulum", "--method", "lagrange", "-o", tmp_path / "a.pdf")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.pdf").read_text() == "%PDF"
