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
    for delimiter in DELIMITERS:
        if delimiter == " ":
            counts = Counter(len(line.split()) for line in bare)
            counts.pop(1, None)
        else:
            inside = [line.rstrip(delimiter + " ").count(delimiter) for line in bare]
            # the last cells of rows may be empty
            every = [line.count(delimiter) * (n > 0) for line, n in zip(bare, inside, strict=True)]
            counts = max(
                (Counter(inside), Counter(every)), key=lambda it: max(it.values(), default=0)
            )
            counts.pop(0, None)
        if counts and 2 * counts.most_common(1)[0][1] > len(bare):
            return delimiter
    return usual
