"""Sentences of commands in words of the page, which has no options and no command lines.

A sentence states what is wrong and, behind a semicolon, what to type. The page has a button for it,
so these parts are left out; an option in the first part becomes a word.
"""

from __future__ import annotations

import re

_OPTION = re.compile(r"(?<![\w-])--?([a-z][a-z-]*)")
_TYPED = re.compile(r"(?<![\w-])--?[a-z]|protonn-edge\b|\bin Python:")
_NAMES = re.compile(r"--name '([^']+)'")
_INSIDE = re.compile(r" ?\((?:[^()]*(?<![\w-])--[a-z][^()]*)\)")
_WORD = {
    "drop": "leave out",
    "keep": "use",
    "holdout": "test on",
    "test": "the share for testing",
    "window": "look at",
    "label": "the column to predict",
    "o": "the file",
    "hop": "the time between answers",
    "votes": "the majority",
    "rate": "the samples a second",
}
"""Options that have another word in the page than their name."""


def in_words(sentence: str) -> str:
    """Return a sentence without what is typed; its first part always stays."""
    text = _INSIDE.sub("", sentence.removeprefix("error: ").removeprefix("warning: "))
    first, *more = text.split("; ")
    parts = [first, *(part for part in more if not _TYPED.search(part))]
    return _OPTION.sub(_word, "; ".join(parts))


def names_in(sentence: str) -> str | None:
    """Return the pattern of file names that a sentence suggests."""
    found = _NAMES.search(sentence)
    return found and found[1]


def _word(option: re.Match[str]) -> str:
    return _WORD.get(option[1], option[1].replace("-", " "))
