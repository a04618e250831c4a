"""Option types: numbers with a unit, shapes, and lists of words."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, ClassVar

import click


class ShapeType(click.ParamType[tuple[int, int]]):
    """A shape of two sides, such as 16x16.

    - `name`: what they are called, such as "HxW".
    - `what`: what the sides are, with an example.
    - `second`: the second side, if it may be omitted.
    """

    def __init__(self, name: str, what: str, second: int | None = None) -> None:
        self.name, self._what, self._second = name, what, second

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Return both sides."""
        found = re.fullmatch(r"(\d{1,6})(?:x(\d{1,6}))?", str(value))
        first, second = (int(found[1]), int(found[2] or self._second or 0)) if found else (0, 0)
        if not first or not second:
            self.fail(f"{value!r} is not {self._what}", param, ctx)
        return first, second


def image_shape() -> ShapeType:
    """Return the type of height and width of an image, such as 16x16."""
    return ShapeType("HxW", "a height and a width, such as 16x16")


class Some(click.ParamType[tuple[str, ...]]):
    """A choice of several words, each at most once, such as W,B."""

    name = "NAME[,NAME...]"

    def __init__(self, words: Sequence[str]) -> None:
        self._words = tuple(words)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the words."""
        words = tuple(value.split(",")) if isinstance(value, str) else tuple(value)
        if not set(words) <= set(self._words) or len(set(words)) < len(words):
            known = ", ".join(self._words)
            self.fail(
                f"{value!r} must be one or more of {known}, such as {self._words[0]}", param, ctx
            )
        return words


class Bytes(click.ParamType[int]):
    """A number of bytes, such as 16kB, 900 B or 16000."""

    name = "BYTES"
    _UNITS: ClassVar[dict[str, int]] = {"": 1, "b": 1, "kb": 1_000, "kib": 1_024}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of bytes."""
        found = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,6})?)\s*([A-Za-z]*)\s*", str(value))
        unit = None if found is None else self._UNITS.get(found[2].lower())
        count = 0 if found is None or unit is None else int(float(found[1]) * unit)
        if not count:
            self.fail(
                f"{value!r} is not a number of bytes, such as 16kB, 900B or 16000", param, ctx
            )
        return count


class Level(click.ParamType[float]):
    """A number above 0, or auto, which is 0."""

    name = "LEVEL|auto"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number."""
        try:
            level = 0.0 if value == "auto" else float(value)
        except ValueError:
            level = -1.0
        if not 0 <= level < math.inf or (level == 0 and value != "auto"):
            self.fail(f"{value!r} is neither a number above 0 nor auto", param, ctx)
        return level


class Share(click.ParamType[float]):
    """A share between 0 and 1, such as 1%, 0.5 % or 0.01."""

    name = "SHARE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the share."""
        found = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*(%?)\s*", str(value))
        share = 0.0 if found is None else float(found[1]) / (100 if found[2] else 1)
        if not 0 < share < 1:
            self.fail(f"{value!r} is not a share between 0 and 1, such as 1% or 0.01", param, ctx)
        return share
