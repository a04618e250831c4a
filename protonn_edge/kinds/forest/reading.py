"""Reading of inputs by trees as instructions: some from registers, others through two pointers.

``ldd`` reaches 64 bytes from Y or Z on with one word. Y is fixed where it covers most tests; Z is
moved, by one word if a pair of registers has the address. The most tested inputs are loaded once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from protonn_edge.kinds.forest.trees import Places

REACH = 64
"""Bytes from a pointer on that ``ldd`` reaches."""

SCRATCH = 24
"""The register of an input that is loaded for a test."""


@dataclass(frozen=True)
class Held:
    """The state at a node: the address in Z, and the input in the scratch register."""

    window: int | None = None
    feature: int | None = None


@dataclass(frozen=True)
class Reading:
    """The places from which inputs are read.

    Attributes
    ----------
    pinned : dict of int to int
        Registers of inputs that are loaded once.
    fixed : int or None
        The first input that Y reaches; None if Y is not needed.
    windows : tuple of int
        The first input at each address of Z.
    pairs : dict of int to int
        The lower registers of pairs with addresses for Z.
    """

    pinned: dict[int, int]
    fixed: int | None
    windows: tuple[int, ...]
    pairs: dict[int, int]

    @classmethod
    def of(cls, asked: Places, upper: Sequence[int], lower: Sequence[int]) -> Reading:
        """Return the places for the features that nodes test.

        Parameters
        ----------
        asked : ndarray of int64
            The feature of each inner node.
        upper : sequence of int
            Registers available for inputs.
        lower : sequence of int
            The lower registers of pairs available for addresses.
        """
        features, counts = np.unique(asked, return_counts=True)
        uses = dict(zip(features.tolist(), counts.tolist(), strict=True))
        often = sorted(uses, key=lambda feature: (-uses[feature], feature))
        kept = [each for each in often if uses[each] > 1 or len(often) <= len(upper)]
        pinned = dict(zip(kept, upper, strict=False))
        left = sorted(feature for feature in uses if feature not in pinned)
        fixed = max(left, key=lambda first: (_within(uses, left, first), -first), default=None)
        beyond = [each for each in left if fixed is None or not 0 <= each - fixed < REACH]
        windows = tuple(_cover(beyond))
        by_use = sorted(windows, key=lambda first: -_within(uses, beyond, first))
        pairs = {} if len(windows) == 1 else dict(zip(by_use, lower, strict=False))
        return cls(pinned, fixed, windows, pairs)

    @property
    def at_root(self) -> Held:
        """The state at the beginning of a tree."""
        return Held(window=self.windows[0] if len(self.windows) == 1 else None)

    def set_up(self) -> list[str]:
        """Return the instructions that set pointers and registers; Z points to the inputs."""
        lines, at = [], 0
        places = [("r28", self.fixed)] if self.fixed is not None else []
        places += [(f"r{pair}", first) for first, pair in self.pairs.items()]
        for register, first in sorted(places, key=lambda place: place[1]):
            lines += [*_moved(first - at), f"movw {register}, r30"]
            at = first
        for feature, kept in sorted(self.pinned.items()):
            if not 0 <= feature - at < REACH:
                lines += _moved(feature - at)
                at = feature
            lines.append(f"ldd  r{kept}, Z+{feature - at}")
        if len(self.windows) == 1:
            lines += _moved(self.windows[0] - at)
        return lines

    def load(self, feature: int, held: Held) -> tuple[list[str], int, Held]:
        """Return the instructions that load an input, its register, and the state after them."""
        if feature in self.pinned:
            return [], self.pinned[feature], held
        if held.feature == feature:
            return [], SCRATCH, held
        if self.fixed is not None and 0 <= feature - self.fixed < REACH:
            lines = [f"ldd  r{SCRATCH}, Y+{feature - self.fixed}"]
            return lines, SCRATCH, Held(held.window, feature)
        window = next(first for first in reversed(self.windows) if first <= feature)
        lines = [] if window == held.window else self._to_window(window)
        lines.append(f"ldd  r{SCRATCH}, Z+{feature - window}")
        return lines, SCRATCH, Held(window, feature)

    def _to_window(self, window: int) -> list[str]:
        if window in self.pairs:
            return [f"movw r30, r{self.pairs[window]}"]
        assert self.fixed is not None
        return ["movw r30, r28", *_moved(window - self.fixed)]


def _within(uses: dict[int, int], features: Sequence[int], first: int) -> int:
    return sum(uses[each] for each in features if 0 <= each - first < REACH)


def _cover(features: Sequence[int]) -> Iterator[int]:
    """Yield the beginnings of the fewest windows that cover all features, in ascending order."""
    end = -1
    for feature in features:
        if feature >= end:
            yield feature
            end = feature + REACH


def _moved(distance: int) -> list[str]:
    """Return the instructions that move Z by a number of bytes."""
    if distance == 0:
        return []
    if 0 < distance < REACH:
        return [f"adiw r30, {distance}"]
    return [f"subi r30, lo8({-distance})", f"sbci r31, hi8({-distance})"]
