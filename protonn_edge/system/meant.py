"""What a mistyped name means, of those that exist."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from protonn_edge.system.errors import shortened

_LEAST = 3  # letters of a part of a name
_NEARLY = 0.88  # of a name that is the same but for a letter


def plain(name: str) -> str:
    """Return a name without case, hyphens and the like."""
    return "".join(filter(str.isalnum, name.lower()))


def meant(word: str, names: Iterable[str], *, alike: float = 0.6) -> list[str]:
    """Return the names that a mistyped word may mean, at most two; the first is the likeliest.

    A name may be written in another way, begun, abbreviated by initials, a part of the word or the
    word a part of it, or spelled alike, as `difflib` counts.
    """
    from difflib import get_close_matches

    names, typed = dict.fromkeys(names), plain(word)
    by_plain = {plain(name): name for name in names}
    if not typed:
        return []

    def spelled_alike(cutoff: float) -> list[str]:
        return [by_plain[each] for each in get_close_matches(typed, by_plain, 1, cutoff)]

    long = len(typed) >= _LEAST
    ways: tuple[Callable[[str], bool], ...] = (
        lambda name: plain(name) == typed,
        lambda name: long and plain(name).startswith(typed),
        lambda name: sorted(plain(name)) == sorted(typed),  # letters are swapped
        spelled_alike(_NEARLY).__contains__,
        lambda name: len(typed) > 1 and _initials(name) == typed,
        lambda name: long and typed in map(plain, _parts(name)),
        lambda name: len(plain(name)) >= _LEAST and plain(name) in map(plain, _parts(word)),
        spelled_alike(alike).__contains__,
    )
    found = (sorted(filter(way, names), key=len) for way in ways)
    return next(filter(None, found), [])[:2]


def _parts(name: str) -> list[str]:
    """Return the words of a name, also of one in camel case."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W_A-Z]+", name)


def _initials(name: str) -> str:
    return "".join(part[0].lower() for part in _parts(name))


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return the question for a message about an unknown name, or nothing."""
    found = meant(word, names)
    quoted = " or ".join(shortened(repr(each)) for each in found)
    return f"; did you mean {quoted}?" if found else ""
