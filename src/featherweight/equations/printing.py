"""How expressions are written: LaTeX and MathML with q̇ for velocities, decimals for decimals, readable subscripts."""

from __future__ import annotations

import re
import unicodedata
import xml.dom.minidom
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import Basic, Expr, Symbol
from sympy.core.alphabets import greeks
from sympy.printing.latex import LatexPrinter
from sympy.printing.mathml import MathMLPresentationPrinter

from featherweight.equations.equations import Equations
from featherweight.texts import printable

DOTS = {"dot": "\u02d9", "ddot": "\u00a8"}  # accents of MathML
COMBINING = {"dot": "\u0307", "ddot": "\u0308"}
SMALL_DENOMINATOR = 16  # fractions up to here stay fractions
FLAT_BRACKETS = re.compile(r"<mo>\(</mo>((?:(?!<mo>[()]|<mfrac|<msqrt|<mtable).)*)<mo>\)</mo>")  # around one line
MATH = "http://www.w3.org/1998/Math/MathML"
ENTITY = re.compile(r"&#?\w+;")  # that SymPy writes for an operator
LATEX = str.maketrans(
    {c: rf"\{c}" for c in "_#$%&{}"}
    | {" ": "~", "\\": r"\backslash{}", "^": r"\hat{}", "~": r"\sim{}", "`": r"{\grave{}}"}
    | {c: f"{{{c}}}" for c in "<>[]"}  # no tag and no link where LaTeX stands in Markdown
)  # escapes of letters in names


@dataclass(frozen=True)
class Name:
    """A symbol's name in parts: base letter, dots above it, subscripts."""

    base: str
    dots: str = ""
    subscripts: tuple[str, ...] = ()

    @staticmethod
    def of(text: str) -> Name:
        """From "m_c", "q1", "theta_dot", "J_P,pole"."""
        first, *rest = printable(text).split("_")
        dots = next((part for part in rest if part in DOTS), "")
        found = re.fullmatch(r"([A-Za-z]+?)(\d+)", first)
        base, number = (found[1], (found[2],)) if found else (first, ())
        subscripts = (*number, *(s for part in rest if part not in DOTS for s in part.split(",")))
        return Name(base, dots, tuple(s for s in subscripts if s))

    @property
    def latex(self) -> str:
        base = _latex_word(self.base)
        base = rf"\{self.dots}{{{base}}}" if self.dots else base
        return base + (f"_{{{','.join(map(_latex_word, self.subscripts))}}}" if self.subscripts else "")

    @property
    def text(self) -> str:
        """For text: θ̇, m_c."""
        base = _letter(self.base) + COMBINING.get(self.dots, "")
        return base + ("_" + ",".join(map(_letter, self.subscripts)) if self.subscripts else "")


def _latex_word(word: str) -> str:
    if word in greeks:
        return rf"\{word}"
    escaped = word.translate(LATEX)
    return escaped if len(word) == 1 or word.isdigit() else rf"\mathrm{{{escaped}}}"


def _letter(word: str) -> str:
    if word not in greeks:
        return word
    name = "LAMDA" if word == "lamda" else word.upper()
    return unicodedata.lookup(f"GREEK SMALL LETTER {name}")


def names_of(equations: Equations) -> dict[Symbol, Name]:
    """Velocities and accelerations as dotted coordinates where that is what they are."""
    found = {}
    for q, v, a in zip(equations.q, equations.v, equations.a, strict=False):
        name = Name.of(q.name)
        if equations.mechanism.holonomic:
            found[v], found[a] = (Name(name.base, dots, name.subscripts) for dots in ("dot", "ddot"))
    if not equations.mechanism.holonomic:
        for v, a in zip(equations.v, equations.a, strict=True):
            name = Name.of(v.name)
            found[a] = Name(name.base, "dot", name.subscripts)
    return found


class _Latex(LatexPrinter):
    def __init__(self, names: Mapping[Symbol, Name]) -> None:
        super().__init__({"mat_str": "bmatrix", "mat_delim": "", "fold_short_frac": False})
        self._names = names

    def _print_Symbol(self, symbol: Symbol, style: str = "plain") -> str:
        return self._names.get(symbol, Name.of(symbol.name)).latex


class _MathML(MathMLPresentationPrinter):
    def __init__(self, names: Mapping[Symbol, Name]) -> None:
        super().__init__({"mat_delim": "["})
        self._names = names
        # SymPy puts texts into the document as they are, so that it can write entities: only those may pass
        raw = self.dom.createTextNode
        self.dom.createTextNode = lambda text: raw(text) if ENTITY.fullmatch(text) else self._text(text)

    def _print_Symbol(self, symbol: Symbol, style: str = "plain") -> Any:
        name = self._names.get(symbol, Name.of(symbol.name))
        base = self._element("mi", _letter(name.base))
        if name.dots:
            accented = self.dom.createElement("mover")
            accented.setAttribute("accent", "true")
            accented.appendChild(base)
            accented.appendChild(self._element("mo", DOTS[name.dots]))
            base = accented
        if not name.subscripts:
            return base
        whole = self.dom.createElement("msub")
        whole.appendChild(base)
        whole.appendChild(self._element("mtext", ",".join(map(_letter, name.subscripts))))
        return whole

    def _element(self, kind: str, text: str) -> Any:
        element = self.dom.createElement(kind)
        element.appendChild(self._text(text))
        return element

    def _text(self, text: str) -> Any:
        """Text that is escaped when it is written."""
        return xml.dom.minidom.Document.createTextNode(self.dom, text)


class Writer:
    """Writes formulas of some equations."""

    def __init__(self, equations: Equations) -> None:
        self.names = names_of(equations)

    def latex(self, e: Any) -> str:
        """An expression or a matrix in LaTeX."""
        return str(_Latex(self.names).doprint(decimal(e)))

    def mathml(self, e: Any) -> str:
        """The same in MathML, without the outermost element."""
        text = str(_MathML(self.names).doprint(decimal(e)))
        text = text.replace("<mo>&InvisibleTimes;</mo>", '<mspace width="0.17em"/>').replace(
            "<mo>-</mo>", "<mo>\u2212</mo>"
        )
        return FLAT_BRACKETS.sub(r'<mo stretchy="false">(</mo>\1<mo stretchy="false">)</mo>', text)

    def text(self, symbol: Symbol) -> str:
        """A symbol in text."""
        return self.names.get(symbol, Name.of(symbol.name)).text


def decimal(e: Any) -> Any:
    """Fractions with large denominators (981/100) as decimals of at most six digits; simple fractions stay."""
    if isinstance(e, sympy.MatrixBase):
        return e.applyfunc(decimal)
    if not isinstance(e, Basic):
        return sympy.sympify(e)
    long = [r for r in e.atoms(sympy.Rational) if r.q > SMALL_DENOMINATOR or abs(r.p) > 10**6]
    return e.xreplace({r: sympy.Float(str(float(f"{float(r):.6g}")), 6) for r in long}) if long else e


def short_enough(e: Any, most: int) -> bool:
    """Whether an expression has at most so many operations; the count ends there."""
    stack = list(e) if isinstance(e, sympy.MatrixBase) else [e]
    for _ in range(most):
        if not stack:
            return True
        x: Expr = stack.pop()
        stack.extend(x.args)
    return not stack
