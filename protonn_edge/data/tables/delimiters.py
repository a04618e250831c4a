"""Delimiters of text tables: their names, and which one divides some lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from protonn_edge.system.checks import check_choice

DELIMITERS = {"\t": "tabs", ";": "semicolons", "|": "pipes", ",": "commas", " ": "blanks"}
"""Delimiters in the order of the search, with their plurals for messages."""

_QUOTED = re.compile('"[^"]*"?')
_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", r"\t": "\t", "pipe": "|", "space": " "}


def delimiter_called(text: str) -> str:
    """Return the delimiter that an option names: the character, or a word such as ``tab``."""
    delimiter = _WORDS.get(text.lower(), text)
    if delimiter not in DELIMITERS:
        check_choice("--delimiter", text, tuple(_WORDS))
    return delimiter


def delimiter_in(lines: Sequence[str], usual: str) -> str:
    """Return the delimiter that divides most lines alike; `usual` if none does.

    A character that occurs only at the end of lines is none.
    """
    bare = [_QUOTED.sub("_", line).rstrip("\r\n") for line in lines if line.strip()]
    alike = {each: _alike(bare, each) for each in DELIMITERS}
    if alike["|"] < alike[","]:  # it stands between labels in cells
        del alike["|"]
    return next((each for each, n in alike.items() if 2 * n > len(bare)), usual)


def _alike(lines: Sequence[str], delimiter: str) -> int:
    """Return how many lines a delimiter divides into the most frequent number of cells."""
    if delimiter == " ":
        counts = Counter(len(line.split()) for line in lines)
        counts.pop(1, None)
    else:
        inside = [line.rstrip(delimiter + " ").count(delimiter) for line in lines]
        # the last cells of rows may be empty
        every = [line.count(delimiter) * (n > 0) for line, n in zip(lines, inside, strict=True)]
        counts = max((Counter(inside), Counter(every)), key=lambda it: max(it.values(), default=0))
        counts.pop(0, None)
    return max(counts.values(), default=0)
