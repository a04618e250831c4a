"""Texts of many rows, of which few are different: labels, sessions, and cells of a column."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Self, overload

import numpy as np
from numpy.typing import NDArray

from protonn_edge.system.arrays import Array


class Coded(Sequence[str]):
    """A sequence of texts, stored as the index of each (n,) in a list of different texts."""

    def __init__(self, codes: NDArray[np.int64], texts: Sequence[str]) -> None:
        self.codes, self.texts = codes, texts

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Return a sequence of texts."""
        code_of = defaultdict[str, int](count().__next__)
        return cls(np.fromiter(map(code_of.__getitem__, texts), np.int64), list(code_of))

    @classmethod
    def repeated(cls, runs: Iterable[tuple[str, int]]) -> Self:
        """Return a sequence of runs of equal texts, given how long each is."""
        pairs = list(runs)
        different = cls.of(text for text, _ in pairs)
        counts = [count for _, count in pairs]
        return cls(np.repeat(different.codes, counts), different.texts)

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[str]:
        return map(self.texts.__getitem__, self.codes.tolist())

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice | Array) -> Self: ...

    def __getitem__(self, index: int | slice | Array) -> str | Self:
        if isinstance(index, slice | np.ndarray):
            return type(self)(self.codes[index], self.texts)
        return self.texts[int(self.codes[index])]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each of the different texts is there."""
        return np.bincount(self.codes, minlength=len(self.texts))

    @property
    def used(self) -> list[str]:
        """The different texts that there are."""
        return [self.texts[code] for code in np.unique(self.codes).tolist()]

    @property
    def runs(self) -> list[tuple[str, int]]:
        """The runs of equal texts, and how long each is."""
        begins = np.flatnonzero(np.diff(self.codes, prepend=-1)).tolist()
        ends = [*begins, len(self)][1:]
        return [(self[begin], end - begin) for begin, end in zip(begins, ends, strict=True)]

    def merged(self) -> Self:
        """Return the same texts with one code for each."""
        code_of = {text: code for code, text in enumerate(dict.fromkeys(self.texts))}
        return type(self)(self.numbers(code_of), list(code_of))

    def in_order(self) -> Self:
        """Return the same texts with codes in the order of the texts that there are."""
        names = sorted({*self.used})
        return type(self)(self.numbers({name: code for code, name in enumerate(names)}), names)

    def numbers(self, number_of: Mapping[str, int], other: int = -1) -> NDArray[np.int64]:
        """Return the number of each text, (n,), or an `other` one if it has none."""
        numbers = np.array([number_of.get(text, other) for text in self.texts], np.int64)
        return numbers[self.codes]
