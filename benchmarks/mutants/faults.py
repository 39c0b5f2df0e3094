"""Faults that can be seeded in a source file, each a replacement of a few bytes: found in its syntax tree.

Left out is what no test of behaviour can or should see: docstrings, annotations, imports, decorators, the words of
messages, `__repr__`, and marks of regions, which shape the code that is compiled and never its result. Conditions of
refusals stay in.
"""

from __future__ import annotations

import ast
import hashlib
import re
from dataclasses import dataclass, replace

ARITHMETIC = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*")}
NEGATED = {
    ast.Lt: ("<", ">="), ast.LtE: ("<=", ">"), ast.Gt: (">", "<="), ast.GtE: (">=", "<"), ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}  # fmt: skip
OPPOSITE = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}
SYMMETRIC = {*OPPOSITE, "zip", "isinstance", "getattr", "setattr", "dot", "partial", "warn", "replace", "TypeVar"}
SEQUENCES = (ast.List, ast.Tuple, ast.ListComp, ast.JoinedStr, ast.Starred)
SILENT_FUNCTIONS = {"__repr__", "__str__", "_repr_html_", "_repr_latex_"}
SILENT_KEYWORDS = {"strict", "stacklevel", "encoding", "maxsize"}
SILENT_CALLS = {"mark", "warn", "errstate"}


@dataclass(frozen=True)
class Fault:
    """A replacement in a source file. Known by the text of its line, so that it stays itself when others move."""

    source: str  # path of the file below the root
    kind: str
    line: int
    start: int  # bytes
    end: int
    new: str
    was: str  # the line, without the fault and with it
    becomes: str
    texts: tuple[str, ...]  # all lines of its statement; none if it runs on import
    repeated: int = 0  # how many faults of the same words stand above it

    @property
    def id(self) -> str:
        words = "\n".join([self.source, self.kind, self.was, self.becomes, str(self.repeated)])
        return hashlib.sha256(words.encode()).hexdigest()[:12]

    def applied(self, text: bytes) -> bytes:
        return text[: self.start] + self.new.encode() + text[self.end :]


def faults_in(source: str, text: bytes) -> list[Fault]:
    """All faults of a file that still parse, in the order of their lines."""
    finder = _Finder(text)
    finder.visit(ast.parse(text))
    found, seen = [], dict[str, int]()
    for kind, node, start, end, new, texts in sorted(finder.found, key=lambda change: change[2:5]):
        becomes = text[:start] + new.encode() + text[end:]
        fault = Fault(
            source, kind, node.lineno, start, end, new,
            _line_at(text, start, end), _line_at(becomes, start, start + len(new.encode())), texts,
        )  # fmt: skip
        seen[fault.id] = seen.get(fault.id, -1) + 1
        fault = replace(fault, repeated=seen[fault.id])
        if _parses(becomes):
            found.append(fault)
    return found


def _line_at(text: bytes, start: int, end: int) -> str:
    """The lines from one byte to another, without the indentation."""
    first, last = text.rfind(b"\n", 0, start) + 1, text.find(b"\n", end)
    return text[first : last if last >= 0 else len(text)].decode().strip()


def _parses(text: bytes) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


class _Finder(ast.NodeVisitor):
    """Collects changes; knows the statement it is in, and whether that runs in a function."""

    def __init__(self, text: bytes) -> None:
        self.text, self.lines = text, text.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.found: list[tuple[str, ast.AST, int, int, str, tuple[str, ...]]] = []
        self.texts: tuple[str, ...] = ()
        self.depth = 0  # of functions
        self.bound: set[str] = set()  # names that this function has by now

    # where things are

    def span(self, node: ast.AST) -> tuple[int, int]:
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def piece(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.text[start:end].decode()

    def operand(self, node: ast.AST) -> str:
        """A piece that may stand anywhere: parentheses around it are not part of its span."""
        compound = isinstance(node, (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda))
        return f"({self.piece(node)})" if compound else self.piece(node)

    def add(self, kind: str, node: ast.AST, new: str, span: tuple[int, int] | None = None) -> None:
        start, end = span or self.span(node)
        if self.text[start:end] != new.encode():
            self.found.append((kind, node, start, end, new, self.texts))

    def between(self, kind: str, node: ast.AST, left: ast.AST, right: ast.AST, words: tuple[str, str]) -> None:
        """Exchange the operator between two operands."""
        first, last = self.span(left)[1], self.span(right)[0]
        gap = self.text[first:last].decode()
        match = re.search(re.sub(" ", r"\\s+", re.escape(words[0]).replace(r"\ ", " ")), gap)
        if match and "#" not in gap:
            place = first + len(gap[: match.start()].encode())
            self.add(kind, node, words[1], (place, place + len(match[0].encode())))

    def swap(self, node: ast.AST, left: ast.AST, right: ast.AST) -> None:
        """Exchange two pieces of one expression."""
        (a, b), (c, d) = self.span(left), self.span(right)
        between = self.text[b:c].decode()
        if "#" not in between:
            self.add("order", node, self.operand(right) + between + self.operand(left), (a, d))

    # statements

    def visit(self, node: ast.AST) -> None:
        if not isinstance(node, ast.stmt):
            super().visit(node)
            return
        outer = self.texts
        header = min((b.lineno for b in getattr(node, "body", ()) if isinstance(b, ast.stmt)), default=0)
        last = max(node.lineno, header - 1) if header else node.end_lineno
        lines = self.lines[node.lineno - 1 : last]
        self.texts = tuple(line.decode().strip() for line in lines) if self.depth else ()
        super().visit(node)
        self.texts = outer

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in SILENT_FUNCTIONS:
            return
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        outer, self.bound = self.bound, {arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)}
        self.depth += 1
        for statement in node.body:
            self.visit(statement)
        self.depth -= 1
        self.bound = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_Import(self, node: ast.Import) -> None:
        pass

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        pass

    def visit_Raise(self, node: ast.Raise) -> None:
        pass

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        names = {n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)}
        if "__all__" in names:
            return
        replaces = isinstance(node.targets[0], ast.Name) and names <= self.bound
        if self.depth and (replaces or isinstance(node.targets[0], ast.Subscript)):
            self.add("statement", node, "pass")
        if (
            isinstance(node.value, ast.BinOp)
            and isinstance(node.value.op, (ast.Mult, ast.Div))
            and _numbers(node.value)
        ):
            self.add("sign", node.value, f"-({self.piece(node.value)})")
        self.bound |= names
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.add("statement", node, "pass")
        if type(node.op) in ARITHMETIC and not isinstance(node.value, SEQUENCES):
            old, new = ARITHMETIC[type(node.op)]
            self.between("arithmetic", node, node.target, node.value, (f"{old}=", f"{new}="))
        self.visit(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):  # a docstring
            return
        if isinstance(node.value, ast.Call) and _name(node.value.func) != "mark":
            self.add("statement", node, "pass")
        self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if _name(node.test) == "TYPE_CHECKING":
            return
        self.negate(node.test)
        self.generic_visit(node)

    # expressions

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.negate(node.test)
        self.generic_visit(node)

    def negate(self, test: ast.expr) -> None:
        """Comparisons and words are turned over where they stand."""
        if not isinstance(test, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
            self.add("condition", test, f"not ({self.piece(test)})")

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            if type(op) in NEGATED:
                self.between("condition", node, left, right, NEGATED[type(op)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        self.between("condition", node, node.values[0], node.values[1], words)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.USub):
            self.add("sign", node, self.piece(node.operand))
        elif isinstance(node.op, ast.Not):
            self.add("condition", node, self.piece(node.operand))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in ARITHMETIC and _numbers(node):
            self.between("arithmetic", node, node.left, node.right, ARITHMETIC[type(node.op)])
        if isinstance(node.op, ast.MatMult):
            self.swap(node, node.left, node.right)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.add("constant", node, str(not node.value))
        elif isinstance(node.value, int):
            self.add("constant", node, str(node.value + 1))
        elif isinstance(node.value, float):
            self.add("constant", node, "1.0" if node.value == 0 else repr(2 * node.value))

    def visit_Call(self, node: ast.Call) -> None:
        name = _name(node.func)
        if name in OPPOSITE:
            end = self.span(node.func)[1]
            self.add("condition", node, OPPOSITE[name], (end - len(name), end))
        if name == "cross" and len(node.args) == 1 and isinstance(node.func, ast.Attribute):
            one, other = self.piece(node.func.value), self.operand(node.args[0])
            self.add("order", node, f"{other}.cross({one})")
        elif name not in SYMMETRIC:
            pairs = list(zip(node.args, node.args[1:], strict=False))
            for left, right in pairs[1:] if name == "where" else pairs:
                if name == "where" or _alike(left, right):
                    self.swap(node, left, right)
                    break
        if name not in SILENT_CALLS:
            for argument in (*node.args, *(k.value for k in node.keywords if k.arg not in SILENT_KEYWORDS)):
                self.visit(argument)
        self.visit(node.func)


def _name(node: ast.AST) -> str:
    """The last word of a name: `cross` of `a.b.cross`."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _alike(left: ast.AST, right: ast.AST) -> bool:
    """Arguments that could be mistaken for each other: nobody gives an array for a model."""
    named = {_name(left), _name(right)} & {"model", "tree", "self"}
    return type(left) is type(right) and not isinstance(left, ast.Starred) and not named


def _numbers(node: ast.BinOp) -> bool:
    """Neither side is a sequence or a word, which are joined and repeated by the same signs."""
    sides = (node.left, node.right)
    words = any(isinstance(side, ast.Constant) and isinstance(side.value, (str, bytes)) for side in sides)
    return not words and not any(isinstance(side, SEQUENCES) for side in sides)
