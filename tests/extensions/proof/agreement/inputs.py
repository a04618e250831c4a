"""What bytes are that may be any in front of a call: for a proof, or for many values at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from extensions.proof.agreement.call import Call, Place

from protonn_edge.extensions.proof.forms import (
    Root,
    Value,
    byte_of,
    constant,
    plus,
    scaled,
    single,
    variable,
)

_BYTES = 256
_MOST_VALUES = 1 << 16  # of a number that has a root of its own


class AnyInputs:
    """All values: a root for each byte or number, and one for those that are given together."""

    def __init__(self, call: Call) -> None:
        self._known: dict[Place, Value] = {}
        if call.together:
            (count,) = {len(each) for each in call.together.values()}
            root = Root("together", np.arange(count))
            for place, values in call.together.items():
                self._known[place] = byte_of(single(root, values), 0)
        for (name, offset, size), (least, most) in call.ranges.items():
            for byte, value in enumerate(_number(f"{name}+{offset}", size, least, most)):
                self._known.setdefault((name, offset + byte), value)

    def byte(self, place: Place) -> Value:
        """Return a byte."""
        if place not in self._known:
            name = "{}+{}".format(*place)
            self._known[place] = byte_of(variable(Root(name, np.arange(_BYTES))), 0)
        return self._known[place]


def _number(name: str, size: int, least: int, most: int) -> list[Value]:
    """Return the bytes of a number within a range; wide ones have a root for each byte."""
    total, bit = constant(0), 0
    while (most >> bit) - (least >> bit) >= _MOST_VALUES:
        root = Root(f"{name}.{bit}", np.arange(_BYTES))
        total, bit = plus(total, scaled(variable(root), 1 << bit)), bit + 8
    root = Root(f"{name}.{bit}", np.arange(least >> bit, (most >> bit) + 1))
    total = plus(total, scaled(variable(root), 1 << bit))
    return [byte_of(total, k) for k in range(size)]


class DrawnInputs:
    """Random and extreme values of bytes that may be any: functions of one root, the lane."""

    def __init__(self, call: Call, lanes: int, rng: np.random.Generator) -> None:
        self.lane, self._rng = Root("lane", np.arange(lanes)), rng
        self._drawn: dict[Place, Any] = {}
        for (name, offset, size), (least, most) in call.ranges.items():
            numbers = _drawn(rng, least, most, lanes)
            self._drawn |= {(name, offset + k): numbers >> 8 * k & 255 for k in range(size)}
        chosen = rng.random(lanes) < 0.5
        for name, points in call.points.items():
            which = rng.integers(0, len(points), lanes)
            for at, values in enumerate(points.T.astype(np.int64) & 255):
                before = self._drawn.get((name, at), values[which])
                self._drawn[name, at] = np.where(chosen, values[which], before)

    def byte(self, place: Place) -> Value:
        """Return a byte."""
        if place not in self._drawn:
            self._drawn[place] = _drawn(self._rng, 0, 255, self.lane.size)
        return byte_of(single(self.lane, self._drawn[place]), 0)

    def of(self, lane: int) -> dict[Place, int]:
        """Return the values of a lane."""
        return {place: int(each[lane]) for place, each in self._drawn.items()}


def _drawn(rng: np.random.Generator, least: int, most: int, lanes: int) -> Any:
    """Return numbers within a range: some anywhere, some at its ends, some about 0 and powers."""
    corners = [least, most, least + 1, most - 1, 0, 1, -1, 2, 127, 128, 129, 255, 256, -128, -129,
               32767, -32768, 65535]  # fmt: skip
    corners = [each for each in corners if least <= each <= most]
    anywhere = rng.integers(least, most, lanes, endpoint=True)
    chosen = np.array(corners)[rng.integers(0, len(corners), lanes)]
    # whole lanes of corners, so that extremes meet
    kind = np.arange(lanes) % 8
    numbers = np.where((kind < 3) | ((kind < 6) & (rng.random(lanes) < 0.5)), anywhere, chosen)
    numbers[kind == 6] = most
    numbers[kind == 7] = least
    return numbers
