"""How trees that are instructions read inputs: some in registers, others through two pointers.

``ldd`` reaches 64 bytes behind Y or Z with one word. Y stays where it covers most questions; Z is
moved, by a word where a pair of registers has the place. What is asked for most is loaded once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from protonn_edge.stages.forest.trees import Places

REACH = 64
"""Bytes behind a pointer that ``ldd`` reaches."""

SCRATCH = 24
"""The register of an input that is loaded where it is asked for."""


@dataclass(frozen=True)
class Held:
    """What is known at a node: where Z points, and which input the scratch register has."""

    window: int | None = None
    feature: int | None = None


@dataclass(frozen=True)
class Reading:
    """Where inputs are read.

    Attributes
    ----------
    pinned : dict of int to int
        Registers of inputs that are loaded once.
    fixed : int or None
        The first input that Y reaches; None if Y is not needed.
    windows : tuple of int
        The first inputs of Z's places.
    pairs : dict of int to int
        The lower registers of pairs that hold places of Z.
    """

    pinned: dict[int, int]
    fixed: int | None
    windows: tuple[int, ...]
    pairs: dict[int, int]

    @classmethod
    def of(cls, asked: Places, upper: Sequence[int], lower: Sequence[int]) -> Reading:
        """Return the places for the features that nodes ask for.

        Parameters
        ----------
        asked : ndarray of int64
            A feature for each inner node.
        upper : sequence of int
            Registers that an input may stay in.
        lower : sequence of int
            The lower registers of pairs that a pointer may stay in.
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
        """What is known where a tree begins."""
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
        """Return the instructions that load an input, its register, and what is known then."""
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
    """Yield where the fewest windows begin that have all features, which are in order."""
    end = -1
    for feature in features:
        if feature >= end:
            yield feature
            end = feature + REACH


def _moved(distance: int) -> list[str]:
    """Return the instructions that move Z by so many bytes."""
    if distance == 0:
        return []
    if 0 < distance < REACH:
        return [f"adiw r30, {distance}"]
    return [f"subi r30, lo8({-distance})", f"sbci r31, hi8({-distance})"]
