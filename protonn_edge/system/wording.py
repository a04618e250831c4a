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
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

# words behind an option that are not its value
_PROSE = (
    r"(?:or|and|if|to|for|in|out|too|is|has|with|such|so|as|that|of|each|units|names|uses|above)\b"
)
_VALUE = (
    r"(?:'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|[^\s;()'\"\\,:]|[,:](?=[^\s,;:()]))+"  # a word of a shell
)
_NAMED = r"(?<![\w-])-(?:-(?P<name>[a-z][a-z-]*)|o\b)"  # "-o" is the output
_OPTION = re.compile(rf"{_NAMED}(?:[ =](?!{_PROSE})(?P<value>{_VALUE}))?")
_QUOTED = r"(?<!\w)(?P<quote>['`])(?P<words>[a-z][^'`]*)(?P=quote)(?!\w)|(?<=: )protonn-edge .*"
_ADVICE = re.compile(f"{_QUOTED}|{_OPTION.pattern}")
PLACEHOLDER = re.compile(r"(?:NAME|COLUMN)S?|PATTERN|[A-Z]+x[A-Z]+")
"""The value of an option that a sentence leaves to the user."""

_WAYS = re.compile(r",? or, |, or ")
_ASIDE = re.compile(r" ?\([^()]*\)")
_SHORT = re.compile(r"(?<![\w-])-[a-np-z]\b")  # an option of another program
_TOLD = re.compile(rf"(?<!\w)'pio [^']*'|{_NAMED}")  # options, and what another program ran


def options_in(sentence: str) -> list[tuple[str, str]]:
    """Return the options that a sentence names, with their values, empty for none."""
    return [*map(_parts, _OPTION.finditer(sentence))]


def _parts(found: re.Match[str]) -> tuple[str, str]:
    return found["name"] or "output", "".join(shlex.split(found["value"] or ""))


@dataclass(frozen=True)
class Interface:
    """The words of an interface for what it has of the command line."""

    # its names for options
    options: Mapping[str, str] = field(default_factory=dict)
    # its form of a name with a value; None if it has buttons in place of what is advised
    form: Callable[[str, str], str] | None = None
    # its names for commands; None if they are commands
    commands: Mapping[str, str] | None = field(default_factory=dict)

    def worded(self, sentence: str) -> str:
        """Return a sentence in the words of this interface."""
        if self is COMMAND_LINE:
            return sentence
        for aside in filter(_OPTION.search, _ASIDE.findall(sentence)):
            kept = "; ".join(filter(None, map(self._advised, aside.strip(" ()").split("; "))))
            begin = aside.partition("(")[0]
            sentence = sentence.replace(aside, kept and f"{begin}({kept})")
        fault, *remedies = sentence.split("; ")
        parts = (_TOLD.sub(self._named, fault), *map(self._ways, remedies))
        return "; ".join(filter(None, parts))

    def _named(self, found: re.Match[str]) -> str:
        """Return what it calls an option in the first part of a sentence."""
        if found[0][0] != "-":
            return re.sub(_NAMED, self._named, found[0]) if self.form is None else found[0]
        name = found["name"] or "output"
        return self.options.get(name, name.replace("-", " "))

    def _ways(self, remedy: str) -> str:
        """Return what it has of the alternatives of a remedy."""
        ways = [remedy] if self._advised(remedy) else _WAYS.split(remedy)
        return ", or ".join(filter(None, map(self._advised, ways)))

    def _advised(self, way: str) -> str:
        """Return an alternative in its words, or "" if it lacks something of it."""
        if self.form is None and _SHORT.search(way):
            return ""
        try:
            return _ADVICE.sub(self._written, way)
        except KeyError:
            return ""

    def _written(self, found: re.Match[str]) -> str:
        words = found["words"] or found[0]
        if found[0][0] != "-":
            command = words.removeprefix("protonn-edge ")
            is_name = words == command and not _OPTION.search(words)
            return found[0] if is_name or self.commands is None else self.commands[command]
        option, value = _parts(found)
        if self.form is None:
            raise KeyError(option)
        name = self.options[option]
        if PLACEHOLDER.fullmatch(value):
            return f"{name}={value}"
        return self.form(name, value) if value else name


COMMAND_LINE = Interface()

KEYWORDS: dict[str, str] = {}
"""Keyword arguments by the names of options, which the modules that have them add."""

READERS: dict[str, Callable[[str], object]] = {}
"""What makes the values of keyword arguments of texts, if they are no texts."""


def _keyword(name: str, text: str) -> str:
    value: object = text  # as it is if a name in the sentence, not an option, has led here
    with suppress(ValueError):
        value = READERS.get(name, str)(text)
    return f"{name}={value!r}"


PYTHON = Interface(KEYWORDS, _keyword)

_present = PYTHON


def plain_value(text: str) -> object:
    """Return a number, a pair of numbers such as 28x28, or the text."""
    is_number = re.fullmatch(r"(0|[1-9]\d*)(\.\d+|x[1-9]\d*)?", text)
    return literal_eval(text.replace("x", ",")) if is_number else text


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
