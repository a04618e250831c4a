"""Compares modules with expected answers on any interpreter, and prints how many points are wrong.

A module ``m.py`` has beside it ``m.h``, raw whole numbers of 16 bits, or ``m.f``, raw floats, and
for each ``m.h.expected``: of every point its inputs, its scores and its answer. A line is the name,
the number of wrong points, that of all points, whether the self-test passes, and whether the module
is in machine code of 64 bits.
"""

# MicroPython has no pathlib, and no stars in a tuple.
# ruff: noqa: PTH123, PTH208, RUF005, T201

import os
from struct import calcsize, unpack_from


def wrong(model, points: bytes, code: str, expected: bytes) -> tuple:
    """Return how many points have other inputs, scores or answers, and how many there are."""
    count = model.FEATURES
    form = f"<{count}{code}"
    size = calcsize(form)
    answer = model.value if hasattr(model, "value") else model.predict
    n = len(points) // size
    each = len(expected) // n
    found = 0
    for i in range(n):
        point = unpack_from(form, points, i * size)
        inputs = bytes(model.quantize(point))
        answers = tuple(model.scores(point)) + (answer(point),)
        found += inputs != expected[i * each : i * each + count]
        found += answers != unpack_from(f"<{len(answers)}i", expected, i * each + count)
    return found, n


for name in sorted(os.listdir(".")):
    stem, _, code = name.partition(".")
    if code in {"h", "f"}:
        model = __import__(stem)
        with open(name, "rb") as points, open(name + ".expected", "rb") as expected:
            found, n = wrong(model, points.read(), code, expected.read())
        print(name, found, n, model.self_test(), model._HIGH > 0)
