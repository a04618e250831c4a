"""Draws the same points on any interpreter, so that a board need not be sent them."""

from binascii import crc32
from struct import pack, unpack_from

if False:  # for a checker of types; MicroPython has no such modules, and ignores annotations
    from collections.abc import Iterator
    from typing import Any

LEAST, MOST = -(1 << 15), (1 << 15) - 1


def drawn(base: bytes, features: int, first: int, n: int) -> "Iterator[list[int]]":
    """Yield the points `first` to `first + n - 1`, lists of whole numbers of 16 bits.

    A point mixes two of `base`, packed raw points; a 16th of its numbers are any numbers.
    """
    for seed in range(first, first + n):
        state = seed + 1
        parents = []
        for _ in range(2):
            state = (state * 75 + 74) % 65537
            parents.append(state * 2 % len(base) // (2 * features) * features)
        point = []
        for place in range(features):
            state = (state * 75 + 74) % 65537
            number = state * 31 % 65536 + LEAST
            if state & 15:
                at = 2 * (parents[state >> 4 & 1] + place)
                number = unpack_from("<h", base, at)[0] + (state >> 6) % 5 - 2
            point.append(max(LEAST, min(MOST, number)))
        yield point


def checksum(model: "Any", base: bytes, first: int, n: int) -> int:
    """Return the checksum of a module's inputs, scores and answers for such points."""
    answer = model.value if hasattr(model, "value") else model.predict
    found = 0
    for point in drawn(base, model.FEATURES, first, n):
        inputs = bytes(model.quantize(point))
        numbers = tuple(model.scores(point)) + (answer(point),)  # noqa: RUF005  (MicroPython has no stars in it)
        found = crc32(inputs + pack(f"<{len(numbers)}i", *numbers), found)
    return found
