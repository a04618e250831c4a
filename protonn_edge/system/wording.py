"""What a sentence advises, in the words of the interface that shows it.

Errors and notices are written once, as for the command line: what is wrong and, behind semicolons,
what to try, such as ``t.csv has gaps; use --missing drop, or fill them``. This module alone reads
such sentences. Another interface writes the options and commands that it has in its own words, and
does not advise what it lacks.
"""

from __future__ import annotations

import re
import shlex
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

# words behind an option that are not its value
_PROSE = r"(?:or|and|if|to|for|in|out|too|is|has|with|such|so|as|that|of|each|units|names|uses)\b"
_VALUE = r"(?:'[^']*'|\"[^\"]*\"|\\.|[^\s;()'\"\\,:]|[,:](?=[^\s,;:()]))+"  # a word of a shell
_NAMED = r"(?<![\w-])-(?:-(?P<name>[a-z][a-z-]*)|o\b)"  # "-o" is the output
_OPTION = re.compile(rf"{_NAMED}(?:[ =](?!{_PROSE})(?P<value>{_VALUE}))?")
_QUOTED = r"(?<!\w)(?P<quote>['`])(?P<words>[a-z][^'`]*)(?P=quote)(?!\w)|(?<=: )protonn-edge .*"
_ADVICE = re.compile(f"{_QUOTED}|{_OPTION.pattern}")
_FAULT = re.compile(f"{_QUOTED}|{_NAMED}")
PLACEHOLDER = re.compile(r"(?:NAME|COLUMN)S?|[A-Z]+x[A-Z]+")
"""The value of an option that a sentence leaves to the user."""

_WAYS = re.compile(r",? or, |, or ")
_ASIDE = re.compile(r" ?\([^()]*\)")


def options_in(sentence: str) -> list[tuple[str, str]]:
    """Return the options that a sentence names, with their values, empty for none."""
    return [
        (found["name"] or "output", "".join(shlex.split(found["value"] or "")))
        for found in _OPTION.finditer(sentence)
    ]


class _NoWords(Exception):
    """An interface lacks what a sentence advises."""


@dataclass(frozen=True)
class Interface:
    """The words of an interface for what it has of the command line."""

    # how it writes an option with a value, or alone
    options: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    # how it calls commands; None if they are commands
    commands: Mapping[str, str] | None = field(default_factory=dict)
    # how it calls options that it does not advise
    names: Mapping[str, str] = field(default_factory=dict)

    def worded(self, sentence: str) -> str:
        """Return a sentence in the words of this interface."""
        if self is COMMAND_LINE:
            return sentence
        fault, *remedies = sentence.split("; ")
        for aside in filter(_OPTION.search, _ASIDE.findall(fault)):
            fault = fault.replace(aside, self._advised(aside))
        return "; ".join([_FAULT.sub(self._named, fault), *filter(None, map(self._ways, remedies))])

    def _named(self, found: re.Match[str]) -> str:
        """Return what it calls an option in the first part of a sentence."""
        if found[0][0] != "-":
            return found[0] if self.commands is None else re.sub(_NAMED, self._named, found[0])
        name = found["name"] or "output"
        write = self.options.get(name)
        return write("") if write else self.names.get(name, name.replace("-", " "))

    def _ways(self, remedy: str) -> str:
        """Return what it has of the alternatives of a remedy."""
        ways = [remedy] if self._advised(remedy) else _WAYS.split(remedy)
        return ", or ".join(filter(None, map(self._advised, ways)))

    def _advised(self, way: str) -> str:
        """Return an alternative in its words, or "" if it lacks something of it."""
        try:
            return _ADVICE.sub(self._written, way)
        except _NoWords:
            return ""

    def _written(self, found: re.Match[str]) -> str:
        if found[0][0] != "-":
            return self._command(found)
        write = self.options.get(found["name"] or "output")
        if write is None:
            raise _NoWords
        return write("".join(shlex.split(found["value"] or "")))

    def _command(self, found: re.Match[str]) -> str:
        words = (found["words"] or found[0]).removeprefix("protonn-edge ")
        used = found.string[: found.start()].endswith(("with ", "run ", "let "))
        is_name = found["words"] == words and not _OPTION.search(words)
        if self.commands is None or (is_name and not (used and words.isalpha())):
            return found[0]
        command, _, rest = words.partition(" ")
        if command not in self.commands:
            raise _NoWords
        given = " and ".join(map(self._written, _OPTION.finditer(rest)))
        return self.commands[command] + (given and f" with {given}")


COMMAND_LINE = Interface()


class _Keywords(dict[str, Callable[[str], str]]):
    """Keyword arguments, which the modules that have them add."""

    def add(self, option: str, keyword: str, read: Callable[[str], object]) -> None:
        """Add the keyword argument of an option, whose value Python has as `read` returns it."""

        def written(value: str) -> str:
            if not value or PLACEHOLDER.fullmatch(value):
                return f"{keyword}={value}" if value else keyword
            return f"{keyword}={read(value)!r}"

        self[option] = written


def plain_value(text: str) -> object:
    """Return a number, a pair of numbers such as 28x28, or the text."""
    if re.fullmatch(r"\d+x\d+", text):
        return tuple(map(int, text.split("x")))
    return literal_eval(text) if re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?", text) else text


KEYWORDS = _Keywords()
PYTHON = Interface(KEYWORDS)

_present = PYTHON


def worded(sentence: str) -> str:
    """Return a sentence in the words of the interface of this process."""
    return _present.worded(sentence)


@contextmanager
def speaking(interface: Interface) -> Iterator[None]:
    """Have errors and notices in the words of an interface: by default, they are Python's."""
    global _present  # noqa: PLW0603 (a process has one interface, in all of its threads)
    before, _present = _present, interface
    try:
        yield
    finally:
        _present = before
