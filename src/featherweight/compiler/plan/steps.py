"""The steps of a plan: straight-line functions, elementary functions as vectors, and the turns of loops."""

from __future__ import annotations

from dataclasses import dataclass, field

from featherweight.compiler.trace.structure import Repeat

# a block of slots: ("input", k) or from a part on ("input", k, start), ("chunk", k, block), ("repeat", k),
# ("literal",), and for each elementary level ("argument", level), and from a part on ("sin", level, start), ("cos", …)
Source = tuple


@dataclass
class Chunk:
    """A straight-line function and the places one call of it works on.

    A reference in `code` is ("local", k), ("slot", source, offset), ("table", k), ("literal", bytes) or ("number", k);
    `sources[s]` says which block and from which index the offsets of source s count.
    """

    nodes: list[int]
    blocks: list[list[int]] = field(default_factory=list)  # values for later steps, by who reads them last
    code: list[tuple] = field(default_factory=list)
    targets: list[tuple[Source, int]] = field(default_factory=list)  # further blocks to store to, and from which index
    stores: dict[int, tuple[int, int]] = field(default_factory=dict)  # local number: block or target, and place in it
    over: dict[int, tuple] = field(default_factory=dict)  # local number: the slot it is stored over, which is read here
    sources: list[tuple[Source, int]] = field(default_factory=list)
    constants: list[int] = field(default_factory=list)  # places in the table of the trace
    leaves: dict[int, list[int]] = field(default_factory=dict)  # local number: which entries of the output it is
    unread: set[int] = field(default_factory=set)  # local numbers of entries of the output that no other step reads

    def signature(self) -> tuple:
        return tuple(self.code), (len(self.blocks), tuple(self.stores.items()), tuple(self.over.items()))


@dataclass
class Elementary:
    """Sines and cosines of one level, evaluated together as whole vectors."""

    level: int
    nodes: list[int]
    arguments: list[int]


@dataclass
class Turn:
    """A place in a repeat: "begin" sets its first values, "test" leaves it if all lanes are done, "end" sets the next
    values and goes back to where the test begins."""

    kind: str
    repeat: Repeat
    values: tuple[int, ...]  # nodes: first values, whether a lane is done, next values
    copies: list[tuple[int, int]] = field(default_factory=list)  # from slot, to slot
    slot: int = 0  # of whether a lane is done


Step = Chunk | Elementary | Turn
