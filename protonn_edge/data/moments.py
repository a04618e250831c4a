"""Dates and times of day in the cells of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

_DAY_FORMATS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y"),
    *("%d.%m.%y", "%m/%d/%y", "%d/%m/%y", "%d %b %Y", "%d-%b-%Y", "%b %d %Y", "%d %B %Y"),
)
_MOMENT = re.compile(
    r"\s*(?P<day>\d{1,4}[-/. ](?:\d\d?|[A-Za-z]{3,9})[-/. ]\d{2,4}|[A-Za-z]{3,9} \d\d?,? \d{4})?"
    r"(?:(?(day)[T ,]+)(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d(?:[.,:]\d+)?))?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?|(?P<short>\d\d?:\d\d[.,]\d+))?\s*(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d)?\s*"
)
_DAY_S = 86_400.0


class Moments(NamedTuple):
    """Moments in seconds since 1970 or, without a day, since midnight."""

    seconds: list[float]
    has_day: bool
    has_time: bool


def moments_in(texts: Sequence[str]) -> Moments | None:
    """Read dates and times that are all written alike; None if some are not."""
    matches = [_MOMENT.fullmatch(text) for text in texts]
    days = {match and match["day"] for match in matches}
    hours = {bool(match and (match["hour"] or match["short"])) for match in matches}
    if not texts or None in matches or len(hours) > 1 or (None in days and (days != {None})):
        return None
    has_day, has_time = None not in days, hours == {True}
    if not has_day and not has_time:
        return None
    read = {each for each in days if each is not None}
    formats = (each for each in _DAY_FORMATS if all(_day(day, each) is not None for day in read))
    notation = next(formats, None) if has_day else ""
    if notation is None:
        return None
    seconds = [
        (_day(match["day"], notation) or 0.0 if has_day else 0.0) + _time_of_day(match)
        for match in matches
        if match is not None
    ]
    return Moments(seconds, has_day, has_time)


@lru_cache(10_000)
def _day(text: str, notation: str) -> float | None:
    """Return the seconds from 1970 to a day; None if it is not in this notation."""
    with suppress(ValueError):
        return datetime.strptime(text.replace(",", ""), notation).replace(tzinfo=UTC).timestamp()
    return None


def _time_of_day(match: re.Match[str]) -> float:
    if match["short"]:  # minutes and seconds, as spreadsheets show short times
        minutes, seconds = match["short"].replace(",", ".").split(":")
        return 60 * int(minutes) + float(seconds)
    if match["hour"] is None:
        return 0.0
    hour, half = int(match["hour"]), (match["half"] or "").lower()[:1]
    hour = hour % 12 + 12 * (half == "p") if half else hour
    second = (match["second"] or "0").replace(",", ".").replace(":", ".")
    seconds = 3600 * hour + 60 * int(match["minute"]) + float(second)
    zone = match["zone"] or ""
    if zone[:1] in ("+", "-"):
        offset = 3600 * int(zone[1:3]) + 60 * int(zone[-2:])
        seconds += offset if zone[0] == "-" else -offset
    return seconds
