"""The layout of a tree's instructions: branches reach 64 words, jumps 2,048.

Inputs are read from registers or through two pointers.

``ldd``, one word, reaches 64 bytes from Y or Z on. Y stays where it covers most tests; Z is moved,
by one word if a pair of registers has the address. The bytes tested most are loaded once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from protonn_edge.codegen.kernels.listing import moved
from protonn_edge.model.integer_stage import IntArray

REACH = 64  # bytes that ``ldd`` reaches from a pointer on
SCRATCH = 24  # the register into which an input is loaded for a test


@dataclass(frozen=True)
class Held:
    """The state at a node: the address in Z, and the input in `SCRATCH`."""

    window: int | None = None
    feature: int | None = None


@dataclass(frozen=True)
class Reading:
    """The places from which inputs are read; inputs are the offsets of their first bytes."""

    pinned: dict[int, int]  # registers of the inputs that are loaded once
    fixed: int | None  # the first input that Y reaches; None if Y is not needed
    windows: tuple[int, ...]  # the first input at each address of Z
    pairs: dict[int, int]  # the lower registers of pairs with addresses for Z
    moves: bool  # whether leaves change Z
    reach: int = REACH  # bytes from a pointer within which inputs begin

    @classmethod
    def of(
        cls,
        asked: IntArray,
        upper: Sequence[int],
        lower: Sequence[int],
        *,
        moves: bool = False,
        size: int = 1,
    ) -> Reading:
        """Choose the places for `asked`, the input of each inner node, of `size` bytes.

        `upper` are registers for inputs, `lower` the lower registers of pairs for addresses, and
        `moves` whether leaves change Z.
        """
        reach = REACH + 1 - size
        features, counts = np.unique(asked, return_counts=True)
        uses = dict(zip(features.tolist(), counts.tolist(), strict=True))
        often = sorted(uses, key=lambda feature: (-uses[feature], feature))
        kept = [each for each in often if uses[each] > 1 or len(often) <= len(upper)]
        pinned = dict(zip(kept, upper, strict=False))
        left = sorted(feature for feature in uses if feature not in pinned)
        fixed = max(
            left, key=lambda first: (_within(uses, left, first, reach), -first), default=None
        )
        beyond = [each for each in left if fixed is None or not 0 <= each - fixed < reach]
        windows = tuple(_cover(beyond, reach))
        by_use = sorted(windows, key=lambda first: -_within(uses, beyond, first, reach))
        pairs = {} if len(windows) == 1 and not moves else dict(zip(by_use, lower, strict=False))
        return cls(pinned, fixed, windows, pairs, moves, reach)

    @property
    def at_root(self) -> Held:
        """The state at the beginning of a tree."""
        return Held(window=self.windows[0] if self._stays else None)

    @property
    def _stays(self) -> bool:
        """Whether Z has the same address in all trees."""
        return len(self.windows) == 1 and not self.moves

    def set_up(self) -> list[str]:
        """Return the instructions that set pointers and registers; Z points to the inputs."""
        lines, at = [], 0
        places = [("r28", self.fixed)] if self.fixed is not None else []
        places += [(f"r{pair}", first) for first, pair in self.pairs.items()]
        for register, first in sorted(places, key=lambda place: place[1]):
            lines += [*moved(30, first - at), f"movw {register}, r30"]
            at = first
        for feature, kept in sorted(self.pinned.items()):
            if not 0 <= feature - at < REACH:
                lines += moved(30, feature - at)
                at = feature
            lines.append(f"ldd  r{kept}, Z+{feature - at}")
        if self._stays:
            lines += moved(30, self.windows[0] - at)
        return lines

    def load(self, feature: int, held: Held) -> tuple[list[str], int, Held]:
        """Return the instructions that load an input, its register, and the state after them."""
        if feature in self.pinned:
            return [], self.pinned[feature], held
        if held.feature == feature:
            return [], SCRATCH, held
        lines, pointer, at, window = self.near(feature, held)
        lines.append(f"ldd  r{SCRATCH}, {pointer}+{at}")
        return lines, SCRATCH, Held(window, feature)

    def near(self, feature: int, held: Held) -> tuple[list[str], str, int, int | None]:
        """Return how a pointer gets near an input, the pointer, the bytes left, and Z's window."""
        if self.fixed is not None and 0 <= feature - self.fixed < self.reach:
            return [], "Y", feature - self.fixed, held.window
        window = next(first for first in reversed(self.windows) if first <= feature)
        lines = [] if window == held.window else self._to_window(window)
        return lines, "Z", feature - window, window

    def _to_window(self, window: int) -> list[str]:
        if window in self.pairs:
            return [f"movw r30, r{self.pairs[window]}"]
        assert self.fixed is not None
        return ["movw r30, r28", *moved(30, window - self.fixed)]


def _within(uses: dict[int, int], features: Sequence[int], first: int, reach: int) -> int:
    return sum(uses[each] for each in features if 0 <= each - first < reach)


def _cover(features: Sequence[int], reach: int) -> Iterator[int]:
    """Yield, in ascending order, the starts of the fewest windows that cover all features."""
    end = -1
    for feature in features:
        if feature >= end:
            yield feature
            end = feature + reach


_INVERSE = {"brcs": "brcc", "brcc": "brcs", "brlt": "brge", "brge": "brlt"}
_NEAR, _FAR = 64, 2048  # words that branches and jumps reach backwards; forwards it is one less
# in lines: the safe reach of a branch, and the age at which leaves are emitted
_REACHED, _OLD = 56, 24


@dataclass(eq=False)
class Line:
    """A line of a tree."""

    text: str = ""  # an instruction; for a branch or jump only the mnemonic (`_INVERSE`, rjmp)
    label: str = ""  # the label of the next instruction; a line has a label or a text
    does: str = ""  # the action at a label, or at the target of a branch
    target: str = ""  # the label to branch to; if an action is given, chosen at the end
    node: int = -1  # the node that it belongs to; -1 for none
    words: int = 0

    def __post_init__(self) -> None:
        self.words = 1 if self.text else 0

    def source(self) -> str:
        """Return the line as text for a listing."""
        if self.label:
            return f"{self.label}:"
        if not self.target:
            return self.text
        if self.text == "rjmp":
            return f"{'rjmp' if self.words == 1 else 'jmp '} {self.target}"
        if self.words == 1:
            return f"{self.text} {self.target}"
        jump = "rjmp" if self.words == 2 else "jmp "
        past = f"past_{self.node}"
        return f"{_INVERSE[self.text]} {past}\n{jump} {self.target}\n{past}:"


class TreeLines:
    """The lines of a tree, and the labels of the actions of leaves."""

    def __init__(self, tree: int) -> None:
        self._tree, self._end = tree, f"add_{tree}"
        self._lines = [Line(label=f"tree_{tree}")]
        self._first: dict[str, str] = {}  # labels of emitted actions, to branch to
        self._last: dict[str, int] = {}
        self._wanted: dict[str, int] = {}

    def ask(self, node: int, instructions: Iterable[str]) -> None:
        """Emit a node's test."""
        self._lines.append(Line(label=f"node_{node}", node=node))
        self._lines += [
            Line(label=each[:-1]) if each.endswith(":") else Line(each) for each in instructions
        ]

    def branch(self, mnemonic: str, node: int, does: str) -> None:
        """Emit a branch to a node; `does` is its action if it is a leaf."""
        if does and not self.is_near(does):
            self._wanted.setdefault(does, len(self._lines))
        self._lines.append(Line(mnemonic, does=does, target=f"node_{node}", node=node))

    def leaf(self, node: int, does: str, *, last: bool) -> None:
        """Emit a leaf, followed by old pending actions, or by all of them if `last`."""
        self._put(f"node_{node}", does, node)
        for wanted, since in list(self._wanted.items()):
            if last or len(self._lines) - since > _OLD:
                self._put(f"leaf_{self._tree}_{len(self._lines)}", wanted)

    def is_near(self, does: str) -> bool:
        """Whether a branch will probably reach back to an action."""
        return does in self._last and len(self._lines) - self._last[does] <= _REACHED

    def finished(self) -> list[Line]:
        """Return the lines with all targets."""
        if self._lines[-1].target == self._end:
            self._lines.pop()  # its target is next
        self._lines.append(Line(label=self._end))
        _settle(self._lines)
        return self._lines

    def _put(self, label: str, does: str, node: int = -1) -> None:
        self._lines.append(Line(label=label, does=does, node=node))
        there = self._first.setdefault(does, label)
        if there == label:
            self._lines += map(Line, does.splitlines())
        self._lines.append(Line("rjmp", target=self._end if there == label else there))
        self._last[does] = len(self._lines)
        self._wanted.pop(does, None)


def _settle(lines: Sequence[Line]) -> None:
    """Set the nearest label with its action, and the size in words, for every branch."""
    wanting = [
        (line, place) for place, line in enumerate(lines) if line.text in (*_INVERSE, "rjmp")
    ]
    doing: dict[str, list[int]] = {}
    for place, line in enumerate(lines):
        if line.label:
            doing.setdefault(line.label, []).append(place)
            if line.does:
                doing.setdefault(line.does, []).append(place)
    for _ in range(len(lines)):
        starts, at = [], 0
        for line in lines:
            starts.append(at)
            at += line.words
        grown = False
        for line, place in wanting:
            behind = starts[place] + line.words
            nearest, *others = doing[line.does or line.target]
            if others:
                nearest = min((nearest, *others), key=lambda each: abs(starts[each] - behind))
            line.target = lines[nearest].label
            needed = _words(line.text, starts[nearest] - behind)
            grown |= needed > line.words
            line.words = max(line.words, needed)
        if not grown:
            return


def _words(mnemonic: str, distance: int) -> int:
    """Return the size in words of a branch with this displacement, counted from its end."""
    jump = 1 if -_FAR <= distance < _FAR else 2
    if mnemonic == "rjmp":
        return jump
    return 1 if -_NEAR <= distance < _NEAR else 1 + jump
