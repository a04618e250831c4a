"""All ways through a program: two of them that one input decides between become one again."""

from __future__ import annotations

from itertools import product
from typing import Any

from protonn_edge.extensions.proof.checker.chip import (
    END,
    Address,
    CheckedChip,
    Execution,
    NotSeparable,
)
from protonn_edge.extensions.proof.checker.sums import Less, One

_MOST_STATES, _MOST_STEPS = 256, 2_000_000

Facts = frozenset[tuple[Any, Any, bool]]
"""Numbers, as their bytes: the first is less than the second one, or (False) not greater."""


class Ways:
    """Runs functions to their ends."""

    def __init__(self, execution: Execution) -> None:
        self.execution, self.steps = execution, 0

    def run(self, chips: list[CheckedChip]) -> list[CheckedChip]:
        """Return the states behind the functions that were entered."""
        while True:
            chips = [self._advanced(chip) for chip in chips]
            places = {chip.place for chip in chips}
            if len(places) != 1 or len(chips) > _MOST_STATES:
                raise NotSeparable("the ways of comparisons do not meet")
            if places == {END}:
                return chips
            chips = _distinct([each for chip in chips for each in self._met(chip)])

    def _advanced(self, chip: CheckedChip) -> CheckedChip:
        """Return the state where the function returns, or a comparison of sums decides."""
        while chip.place != END:
            if chip.fork is None:
                self._step(chip)
            elif isinstance(chip.fork[0], Less):
                break
            else:
                (chip,) = self._met(chip)
        return chip

    def _step(self, chip: CheckedChip) -> None:
        self.execution.step(chip)
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise NotSeparable(f"there is no end after {self.steps:,} instructions")

    def _met(self, chip: CheckedChip) -> list[CheckedChip]:
        """Return the states where two ways behind a fork meet: one, if an input decides."""
        assert chip.fork is not None
        bit, *places = chip.fork
        ways = [self._way(chip, place, bit, sense=k == 0) for k, place in enumerate(places)]
        pairs = [
            (_distance(x, y), i + k, x, y)
            for (i, x), (k, y) in product(*map(enumerate, ways))
            if (x.place, x.stack) == (y.place, y.stack)
        ]
        if not pairs:
            raise NotSeparable("two ways do not meet")
        _, _, x, y = min(pairs, key=lambda pair: pair[:2])
        if isinstance(bit, Less):
            return [x, y]
        join = self.execution.sums.joined
        x.registers = [join(*pair, bit) for pair in zip(x.registers, y.registers, strict=True)]
        x.flags = [join(*pair, bit) for pair in zip(x.flags, y.flags, strict=True)]
        used = x.memory.keys() | y.memory.keys()
        x.memory = {at: join(x.memory.get(at), y.memory.get(at), bit) for at in used}
        x.fork = None
        return [x]

    def _way(
        self, chip: CheckedChip, place: int, bit: One | Less, *, sense: bool
    ) -> list[CheckedChip]:
        """Return all states on a way to the next fork."""
        way = [chip.copy()]
        way[0].place, way[0].fork = place, None
        if isinstance(bit, Less):
            way[0].facts |= {(bit.xs, bit.ys, True) if sense else (bit.ys, bit.xs, False)}
        while way[-1].fork is None and way[-1].place != END:
            way.append(way[-1].copy())
            self._step(way[-1])
        return way


def _distance(x: CheckedChip, y: CheckedChip) -> int:
    """Return how many registers hold different numbers."""
    pairs = zip(x.registers, y.registers, strict=True)
    return sum(
        isinstance(v, int | Address) and isinstance(w, int | Address) and v != w for v, w in pairs
    )


def _distinct(chips: list[CheckedChip]) -> list[CheckedChip]:
    """Return states without those that are equal to another but for facts and flags."""
    kept: dict[Any, CheckedChip] = {}
    for chip in chips:
        memory = frozenset(chip.memory.items())
        key = chip.place, tuple(chip.stack), tuple(chip.registers), memory
        chip.facts, chip.fork = closed(chip.facts), None
        if (other := kept.setdefault(key, chip)) is not chip:
            other.facts &= chip.facts
            pairs = zip(other.flags, chip.flags, strict=True)
            other.flags = [x if x == y else None for x, y in pairs]
    return [*kept.values()]


def closed(facts: Facts) -> Facts:
    """Return facts and all that follows from them."""
    closed = {*facts, *((x, y, False) for x, y, _ in facts)}
    for between in {name for fact in facts for name in fact[:2]}:
        into = [fact for fact in closed if fact[1] == between]
        out = [fact for fact in closed if fact[0] == between]
        closed |= {(x, y, a or b) for x, _, a in into for _, y, b in out}
        closed |= {(x, y, False) for x, _, a in into for _, y, b in out}
    return frozenset(closed)
