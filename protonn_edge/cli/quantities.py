"""Numbers with a unit or a shape, as options take them."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import click


class ImageShape(click.ParamType[tuple[int, int]]):
    """Height and width of an image, such as 16x16."""

    name = "HxW"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Return height and width."""
        height, _, width = str(value).partition("x")
        if not (height.isdecimal() and width.isdecimal() and int(height) and int(width)):
            self.fail(f"{value!r} is not a height and a width, such as 16x16", param, ctx)
        return int(height), int(width)


class WindowShape(click.ParamType[tuple[int, int]]):
    """Samples and channels of a window, such as 128x3, or samples of one channel, such as 128."""

    name = "SAMPLES[xCHANNELS]"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Return samples of a channel, and channels."""
        found = re.fullmatch(r"(\d{1,6})(?:x(\d{1,6}))?", str(value))
        samples, channels = (int(found[1]), int(found[2] or 1)) if found else (0, 0)
        if not samples or not channels:
            self.fail(f"{value!r} is no number of samples and channels, such as 128x3", param, ctx)
        return samples, channels


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
            self.fail(f"{value!r} is no number of bytes, such as 16kB, 900B or 16000", param, ctx)
        return count


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
            self.fail(f"{value!r} is no share between 0 and 1, such as 1% or 0.01", param, ctx)
        return share
