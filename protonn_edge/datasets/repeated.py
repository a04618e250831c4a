"""Texts of samples, which are equal for a whole file: stored once per run of equal ones."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, groupby, repeat
from typing import overload


class Repeated(Sequence[str]):
    """A sequence of texts, stored as runs of equal ones.

    Parameters
    ----------
    runs : iterable of (str, int)
        Each text, and its count.

    Attributes
    ----------
    runs : list of (str, int)
        The runs that are not empty.
    """

    def __init__(self, runs: Iterable[tuple[str, int]]) -> None:
        self.runs = [(text, count) for text, count in runs if count]
        self._ends = list(accumulate(count for _, count in self.runs))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(repeat(text, count) for text, count in self.runs)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"there is no text {index} of {len(self)}")
        return self.runs[bisect_right(self._ends, place)][0]


def runs_in(texts: Sequence[str]) -> list[tuple[str, int]]:
    """Return the runs of equal consecutive elements of a sequence."""
    if isinstance(texts, Repeated):
        return texts.runs
    return [(text, sum(1 for _ in run)) for text, run in groupby(texts)]
