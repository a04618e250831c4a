"""The layout of a tree's instructions: branches reach 64 words, jumps 2,048, others take more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_INVERSE = {"brcs": "brcc", "brcc": "brcs"}
_NEAR, _FAR = 64, 2048  # words that branches and jumps reach backwards, and one less forwards
_REACHED, _OLD = 56, 24  # lines: the safe reach of a branch, and the age at which to emit leaves


@dataclass(eq=False)
class Line:
    """A line of a tree.

    Attributes
    ----------
    text : str
        An instruction; of a branch or a jump only the mnemonic: brcs, brcc or rjmp.
    label : str
        The label of the next instruction; a line has a label or a text.
    does : str
        The action at a label, or that of the target of a branch, at any label.
    target : str
        The label that it branches to; for an action, it is chosen at the end.
    node : int
        The node that it belongs to; -1 for none.
    """

    text: str = ""
    label: str = ""
    does: str = ""
    target: str = ""
    node: int = -1
    words: int = 0

    def __post_init__(self) -> None:
        self.words = 1 if self.text else 0

    def source(self) -> str:
        """Return it as a line of a listing."""
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
        self._lines += map(Line, instructions)

    def branch(self, mnemonic: str, node: int, does: str) -> None:
        """Emit a branch to a node; `does` is its action if it is a leaf."""
        if does and not self.is_near(does):
            self._wanted.setdefault(does, len(self._lines))
        self._lines.append(Line(mnemonic, does=does, target=f"node_{node}", node=node))

    def leaf(self, node: int, does: str, *, last: bool) -> None:
        """Emit a leaf, and after it pending actions: old ones, or all of them if `last`."""
        self._put(f"node_{node}", does, node)
        for wanted, since in list(self._wanted.items()):
            if last or len(self._lines) - since > _OLD:
                self._put(f"leaf_{self._tree}_{len(self._lines)}", wanted)

    def is_near(self, does: str) -> bool:
        """Whether a branch will probably reach back to a place."""
        return does in self._last and len(self._lines) - self._last[does] <= _REACHED

    def finished(self) -> list[Line]:
        """Return the lines with all targets."""
        if self._lines[-1].target == self._end:
            self._lines.pop()  # it is next
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
    """Give every branch the nearest label with its action, and its size in words."""
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
            found = min(
                doing[line.does or line.target], key=lambda each: abs(starts[each] - behind)
            )
            line.target = lines[found].label
            needed = _words(line.text, starts[found] - behind)
            grown |= needed > line.words
            line.words = max(line.words, needed)
        if not grown:
            return


def _words(mnemonic: str, distance: int) -> int:
    """Return the words of what goes this far, as seen from behind it."""
    jump = 1 if -_FAR <= distance < _FAR else 2
    if mnemonic == "rjmp":
        return jump
    return 1 if -_NEAR <= distance < _NEAR else 1 + jump
