"""Derivations as a LaTeX document that compiles as it is, by any engine, and as PDF where one is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sympy
from sympy import Symbol
from sympy.core.alphabets import greeks

from featherweight.endings import check_ending
from featherweight.equations.document import WHAT, all_steps, formulas
from featherweight.equations.equations import Equations
from featherweight.equations.printing import Writer
from featherweight.recording.files import write_whole
from featherweight.texts import printable

ENGINES = ("pdflatex", "lualatex", "xelatex", "tectonic")
INSTALL = "apt install texlive-latex-recommended, brew install --cask basictex, or tectonic"
OPTIONS = ("-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape")
SECONDS = 120  # for an engine
LINE = 240  # letters of LaTeX in a line of a long sum
LONG = 700  # letters of a formula that is written entry by entry and line by line

HEAD = r"""% featherweight: compile with pdflatex, lualatex, xelatex or tectonic
\documentclass{article}
\usepackage[a4paper, margin=20mm]{geometry}
\usepackage{amsmath, graphicx}
\allowdisplaybreaks
\setlength{\parindent}{0pt}
% a formula in one line, made smaller if it is wider than that
\newcommand{\fitted}[1]{\sbox0{$\displaystyle #1$}\ifdim\wd0>.88\linewidth\resizebox{.88\linewidth}{!}{\usebox0}\else\usebox0\fi}
\begin{document}
"""  # noqa: E501

ACCENTS = {
    "\u0300": "grave", "\u0301": "acute", "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0307": "dot",
    "\u0308": "ddot",
}  # fmt: skip
SIGNS = {
    "²": "^{2}", "³": "^{3}", "ᵀ": "^{T}", "⁻": "^{-}", "¹": "^{1}", "₀": "_{0}", "₁": "_{1}", "₂": "_{2}",
    "½": r"\tfrac{1}{2}", "×": r"\times", "·": r"\cdot", "∘": r"\circ", "°": r"^{\circ}", "…": r"\ldots", "ℓ": r"\ell",
    "∂": r"\partial", "⟨": r"\langle", "⟩": r"\rangle", "−": "-", "–": "-", "≥": r"\geq", "≤": r"\leq", "≠": r"\neq",
}  # fmt: skip
ACCENTED = re.compile(f"([A-Za-z0-9]|[^\x00-\x7f])([{''.join(ACCENTS)}])")
SPECIAL = {c: rf"\{c}" for c in "_#$%&{}"} | {
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''",
}  # fmt: skip


def tex(derivations: Sequence[Equations]) -> str:
    """A LaTeX document of some derivations of one model, step by step; of ASCII letters alone."""
    if not derivations:
        raise ValueError("tex: expected at least one derivation")
    first = derivations[0]
    parts = [rf"\section*{{{_text(first.model.name)}: equations of motion}}"]
    for equations in derivations:
        parts += [rf"\subsection*{{{_text(equations.method)}}}", _text(WHAT.get(equations.method, ""))]
        parts += _steps(equations)
    return _ascii(HEAD + "\n\n".join(parts) + "\n\n\\end{document}\n")


def write_pdf(derivations: Sequence[Equations], path: str | os.PathLike[str]) -> None:
    """The same as PDF, by a LaTeX that is installed; FileNotFoundError with what to install if there is none."""
    check_ending("path", path, (".pdf",))
    engine = next(filter(None, map(shutil.which, ENGINES)), None)
    if engine is None:
        raise FileNotFoundError(f"a PDF needs a LaTeX ({', '.join(ENGINES)}): {INSTALL}; or write a .tex")
    with tempfile.TemporaryDirectory(prefix="featherweight-") as folder:
        Path(folder, "derivation.tex").write_text(tex(derivations), encoding="ascii")
        options = [] if Path(engine).stem == "tectonic" else OPTIONS
        paranoid = os.environ | {"openin_any": "p", "openout_any": "p"}  # files of this folder and of LaTeX alone
        done = subprocess.run(
            [engine, *options, "derivation.tex"], cwd=folder, env=paranoid, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=SECONDS,
        )  # fmt: skip
        made = Path(folder, "derivation.pdf")
        if done.returncode or not made.is_file():
            said = (done.stdout + done.stderr).decode(errors="replace").splitlines()
            reason = next((line for line in said if line.startswith("!")), said[-1] if said else "it said nothing")
            raise OSError(f"{os.fspath(path)}: {Path(engine).name} failed with status {done.returncode}: {reason}")
        write_whole(path, [made.read_bytes()])


def _steps(equations: Equations) -> list[str]:
    writer, parts = Writer(equations), []
    for number, step in enumerate(all_steps(equations), start=1):
        parts += [rf"\subsubsection*{{{number}. {_text(step.title)}}}", _text(step.text)]
        for (left, _), (short_left, right) in zip(step.formulas, formulas(equations, step), strict=True):
            if right is None or short_left is None:
                name = f"${writer.latex(left)}$" if isinstance(left, Symbol) else "This"
                parts.append(rf"\emph{{{name} is too long to print; \texttt{{lambdify}} computes it.}}")
            else:
                parts.append(_display(writer, short_left, right))
    return parts


def _display(writer: Writer, left: Any, right: Any) -> str:
    """A formula; a long matrix entry by entry, a long sum in lines."""
    name, whole = writer.latex(left), writer.latex(right)
    if len(whole) <= LONG:
        return rf"\[ \fitted{{{name} = {whole}}} \]"
    if not isinstance(right, sympy.MatrixBase):
        return rf"\begin{{align*}}{_sum(writer, name, right)}\end{{align*}}"
    lines = [
        _sum(writer, f"{{{name}}}_{{{i + 1}{f',{j + 1}' if right.cols > 1 else ''}}}", right[i, j])
        for i in range(right.rows)
        for j in range(right.cols)
    ]
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"


def _sum(writer: Writer, name: str, e: Any) -> str:
    """name &= terms, in lines of about LINE letters; of a long product, those of its longest factor in brackets."""
    before, after, terms = "", "", e.as_ordered_terms()
    sums = [factor for factor in sympy.Mul.make_args(e) if factor.is_Add]
    if len(terms) == 1 and sums and len(writer.latex(e)) > LINE:
        longest = max(sums, key=sympy.count_ops)
        before, after = rf"{writer.latex(e / longest)} \Bigl(", r" \Bigr)"
        terms = longest.as_ordered_terms()
    lines = [before]
    for k, term in enumerate(terms):
        text = writer.latex(term)
        text = text if k == 0 or text.startswith("-") else f"+ {text}"
        if lines[-1] and len(lines[-1]) + len(text) > LINE:
            lines.append("")
        lines[-1] += f" {text}"
    lines[-1] += after
    first, *rest = [rf"\fitted{{{line.strip()}}}" for line in lines]
    return " \\\\\n".join([rf"{name} &= {first}", *(rf"&\quad {line}" for line in rest)])


def _text(text: str) -> str:
    """Plain text for LaTeX, letter by letter."""
    return "".join(SPECIAL.get(c, c) for c in printable(text))


def _ascii(text: str) -> str:
    """LaTeX without other letters than ASCII: Greek, accents and signs by their commands, all others by their number.

    >>> _ascii("τ = q̈ 猫")
    '\\\\ensuremath{\\\\tau} = \\\\ensuremath{\\\\ddot{q}} \\\\text{U+732B}'
    """
    text = unicodedata.normalize("NFD", text)
    text = ACCENTED.sub(lambda found: rf"\ensuremath{{\{ACCENTS[found[2]]}{{{_letter(found[1])}}}}}", text)
    return "".join(c if c < "\x80" else _sign(c) for c in text)


def _letter(c: str) -> str:
    return c if c < "\x80" else _command(c) or rf"\text{{U+{ord(c):04X}}}"


def _sign(c: str) -> str:
    known = _command(c)
    return rf"\ensuremath{{{known}}}" if known else rf"\text{{U+{ord(c):04X}}}"


def _command(c: str) -> str:
    """In math: of a sign, or of a Greek letter that LaTeX has."""
    if c in SIGNS:
        return SIGNS[c]
    kind, _, name = unicodedata.name(c, "").rpartition(" ")
    name = "lambda" if name == "LAMDA" else name.lower()
    if kind == "GREEK SMALL LETTER" and name in {*greeks, "lambda"} - {"omicron"}:
        return rf"\{name}"
    capitals = ("gamma", "delta", "theta", "lambda", "xi", "pi", "sigma", "upsilon", "phi", "psi", "omega")
    return rf"\{name.capitalize()}" if kind == "GREEK CAPITAL LETTER" and name in capitals else ""
