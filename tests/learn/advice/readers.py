"""How an interface reads a table, with its own words for messages, and does what these advise."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from learn.advice.following import Advice, Followed

from protonn_edge.data.options import TableOptions
from protonn_edge.system.wording import Interface

Given = Mapping[str, Any]
TYPED = re.compile(r"(?<![\w-])(--[a-z]|-o\b)|(?:['`]|: )protonn-edge [a-z]")
_KEYWORD = re.compile(r"\b([a-z_]+)=('[^']*'|\"(?:[^\"\\]|\\.)*\"|\[[^]]*\]|\([^)]*\)|-?[\d.]+\b)")


def keywords(shown: str, _: str) -> Iterator[tuple[str, Any]]:
    """Yield the arguments, with values, that the remedies of a sentence name."""
    for name, value in _KEYWORD.findall(shown.partition("; ")[2]):
        yield name, literal_eval(value)


@dataclass(frozen=True)
class Reader:
    """How an interface reads a table with arguments of its own, and what its words advise."""

    words: Interface
    # returns whether it works, and what the command line says
    read: Callable[[Path, Given], tuple[bool, list[str]]]
    given: Callable[[TableOptions], Given]  # its arguments for options; raises KeyError without one
    has: Callable[[str], bool]  # whether it has an argument of this name
    # yields the arguments that a sentence advises, in the words of the interface and as it was
    advice: Callable[[str, str], Iterable[tuple[str, Any]]] = keywords
    kind: str = "table"  # how the corpus reads what it reads

    def follow(self, path: Path, given: Given) -> Iterator[Followed]:
        """Yield what comes of all that the messages about a table advise."""
        for sentence in self.read(path, given)[1]:
            shown = self.words.worded(sentence)
            if TYPED.search(shown):
                yield Followed(Advice(shown), f"is typed: {shown}", faulty=True)
            for name, value in self.advice(shown, sentence):
                yield self._followed(Advice(shown, f"{name}={value!r}"), path, given, name, value)

    def _followed(
        self, advice: Advice, path: Path, given: Given, name: str, value: Any
    ) -> Followed:
        if not self.has(name):
            return Followed(advice, "has no such argument", faulty=True)
        works, said = self.read(path, {**given, name: value})
        if advice.text in map(self.words.worded, said):
            return Followed(advice, f"says the same again: {advice.text}", faulty=True)
        return Followed(advice, "works" if works else f"another question: {said[0]}")


def set_options(options: TableOptions) -> dict[str, Any]:
    plain = vars(TableOptions())
    return {name: value for name, value in vars(options).items() if value != plain[name]}
