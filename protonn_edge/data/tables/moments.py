"""Dates, times of day and durations in the cells of a table, in the layouts of usual programs."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_SAMPLED = 200  # cells that decide the layout
_MOST = 0.75  # share of cells in the layout; others are damaged
_DAY_S = 86_400.0
# In English, German, French, Spanish and Italian.
_MONTHS = (
    "jan ene gen,feb fev,mar mrz,apr avr abr,may mai mag,jun juin giu,jul juil lug,aug aou ago,"
    "sep set,oct okt ott,nov,dec dez dic"
)
_MONTH = {name: n for n, each in enumerate(_MONTHS.split(","), 1) for name in each.split()}
_WEEKDAY = r"(?:(?:mo|tu|we|th|fr|s[auo]|d[io]|m[aei]|l[uú]|j[eu]|v[ei]|gi)[^\W\d_]{0,9}\.?,?\s)?"
_NAME = r"[^\W\d_]{3,10}\.?"
_DAYS = (
    rf"(?P<y>\d{{4}})[-/._ ]\s?(?P<m>\d\d?|{_NAME})[-/._ ]\s?(?P<d>\d\d?)[/.]?",
    r"(?P<y>(?:19|20)\d\d)(?P<m>\d\d)(?P<d>\d\d)",
    rf"(?P<d>\d\d?)[-/._ ]\s?(?:de )?(?P<m>\d\d?|{_NAME})[-/._ ]\s?(?:de )?(?P<y>\d{{4}}|\d\d)",
    rf"(?P<m>{_NAME})[-/ ]\s?(?P<d>\d\d?)(?:,?[-/ ](?P<y>\d{{4}}))?",
    rf"(?P<d>\d\d?)[-/. ]\s?(?P<m>\d\d|{_NAME})\.?(?=[ ,T])",
    r"(?P<y>\d{4})-?W(?P<week>\d\d)-?(?P<d>\d)",
    r"(?P<y>\d{4})-(?P<d>\d{3})",
)
"""Year first, packed, year last, a month's name first, no year, weeks and days of ISO 8601."""
_TIME = (
    r"(?P<H>\d\d?)(?P<mark>[:.h_-]?)\s?(?P<M>\d\d)(?:(?:(?P=mark)|m)\s?(?P<S>\d\d)"
    r"(?:(?:(?P=mark)|[.,;]|::)(?P<F>\d{1,9}))?s?)?(?:\s?(?P<half>[ap])\.?\s?m\.?)?"
    r"(?:\s?(?P<word>[^\W\d_][^\W\d]{0,20}(?:/[^\W\d]{1,20})?))?(?:\s?(?P<zone>[+-]\d\d(?::?\d\d)?))?"
    r"(?:\s?[(\[][^()\[\]]{1,60}[)\]])?"
)
_SECONDS = r"(?P<S>\d\d)(?:[.,](?P<F>\d{1,9}))?"
_UNITS = (
    r"(?:(?:milli|micro|nano)?s(?:ec(?:ond)?s?)?|[muµμn]s|m(?:in(?:ute)?s?)?|h(?:ours?|rs?)?|"
    r"d(?:ays?)?)"
)
_UNIT_S = {"d": _DAY_S, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_SHORT = {"mil": "ms", "mic": "us", "nan": "ns", "min": "m", "µs": "us", "μs": "us"}
_TERM = re.compile(rf"(\d{{1,18}}(?:[.,]\d{{1,9}})?)\s?({_UNITS})", re.IGNORECASE)
_PACKED_DIGITS = 14  # at least
_PACKED = re.compile(r"(?:19|20)\d{12}(?:\d{3}|\d{6})?")
_LAYOUTS = (
    *(
        rf"\[?{_WEEKDAY}{day}(?:[-T,;:_/ ]{{1,3}}{_TIME}(?:\s(?P<late>\d{{4}}))?)?\]?"
        for day in _DAYS
    ),
    rf"{_DAYS[1]}{_TIME}",
    *(rf"{_TIME}[ ,;]{{1,3}}{_WEEKDAY}{day}" for day in (_DAYS[0], *_DAYS[2:4])),
    rf"(?=\d\d?(?:[:h]|[-._]\d\d[-._])){_TIME}",
    rf"(?P<M>\d\d?):(?=\d\d[.,]){_SECONDS}",  # as spreadsheets show short times
    rf"(?:(?P<days>\d{{1,9}})\s?d(?:ays?)?,?\s?)?(?P<H>\d{{1,6}}):(?P<M>\d\d):{_SECONDS}",
    rf"(?P<sum>P?(?:T?\d{{1,18}}(?:[.,]\d{{1,9}})?\s?{_UNITS}[ ,]{{0,2}}){{1,7}})",
)
_SHORT_DATE = re.compile(r"(?:\d\d?[-. ]\s?)?([^\W\d_]{3,10})\.?(?:[-. ]\s?\d{2,4})?")

_Day = tuple[str, str, str, str]  # year, month, day, week
_ORDERS: Mapping[str, Callable[[str, str, str, str], _Day]] = {
    "day": lambda y, m, d, week: (y, m, d, week),
    "month": lambda y, m, d, week: (y, d, m, week),
    "year": lambda y, m, d, week: (d, m, y, week),
}
"""What is first in a day that is written with numbers."""


class Moments(NamedTuple):
    """Moments in seconds since 1970 or, without a day, since midnight; durations have a day."""

    seconds: NDArray[np.float64]  # (n,): NaN for cells that are written unlike most
    has_day: bool
    has_time: bool
    first: str = ""  # what is read as first in days, if another order gives other steps


def unit_seconds(text: str) -> float | None:
    """Return the seconds in a unit of time such as ``ms``; None if the text is none."""
    unit = text.strip().lower()
    if re.fullmatch(_UNITS, unit) is None:
        return None
    return _UNIT_S[_SHORT.get(unit[:3], unit if unit in _UNIT_S else unit[:1])]


def may_be_date(text: str) -> bool:
    """Return whether a text is a date, or a day or a year with a month's name."""
    match = _SHORT_DATE.fullmatch(text.strip())
    is_month = match is not None and not np.isnan(_day("2000", match[1], "1", ""))
    return is_month or moments_in([text]) is not None


def are_packed(texts: Sequence[str]) -> bool:
    """Return whether most numbers are days with times, such as 20260305080000."""
    some = _some(texts)
    long = [text for text in some if len(text) >= _PACKED_DIGITS]
    return sum(map(bool, map(_PACKED.fullmatch, map(str.strip, long)))) > _MOST * len(some)


def moments_in(texts: Sequence[str]) -> Moments | None:
    """Read dates, times or durations of which nearly all are written alike; None if not."""
    some = _some(texts)
    if not any(map(str.isdigit, "".join(some))):
        return None
    layout = max(_layouts(), key=lambda each: np.isfinite(_read(each, some).seconds).sum())
    found = _read(layout, texts)
    return found if np.isfinite(found.seconds).sum() > _MOST * len(texts) else None


@cache
def _layouts() -> list[re.Pattern[str]]:
    """Return the layouts, whose compilation takes long."""
    return [re.compile(each, re.IGNORECASE) for each in _LAYOUTS]


def _some(texts: Sequence[str]) -> Sequence[str]:
    return texts[:: max(1, len(texts) // _SAMPLED)]


def _read(layout: re.Pattern[str], texts: Sequence[str]) -> Moments:
    """Read texts in a layout, and in the order of day and month that a clock has."""
    cells = [match and match.groupdict() for match in map(layout.fullmatch, map(str.strip, texts))]
    kinds = Counter(_kind(each) for each in cells if each)
    kind = kinds.most_common(1)[0][0] if kinds else (None, True)
    cells = [None if each is None or _kind(each) != kind else each for each in cells]
    times = np.array([np.nan if each is None else _time_of(each) for each in cells])
    places = layout.groupindex
    if "d" not in places:
        return Moments(times, "days" in places or "sum" in places, has_time=True)
    days = [_day_in(each or {}, has_time=kind[1]) for each in cells]
    orders = list(_ORDERS) if places["d"] < places.get("m", 0) else ["day"]
    readings = [_in_order(days, first) + times for first in orders]
    ranks = [_as_a_clock(each) for each in readings]
    place = ranks.index(min(ranks))
    alike = [each == ranks[place] for each in ranks if each[0] == ranks[place][0]]
    return Moments(readings[place], True, kind[1], "" if all(alike) else orders[place])


def _kind(cell: Mapping[str, str | None]) -> tuple[str | None, bool]:
    """Return what is the same in all cells: a word such as a time zone, and whether times are."""
    return cell.get("word"), cell.get("M") is not None


def _in_order(days: Sequence[_Day], first: str) -> NDArray[np.float64]:
    seconds_of = {day: _day(*_ORDERS[first](*day)) for day in {*days}}
    return np.array([seconds_of[each] for each in days])


def _as_a_clock(seconds: NDArray[np.float64]) -> tuple[int, int, float]:
    """Return the sort key of readings: few unreadable cells, few falls, and a short way."""
    steps = np.diff(seconds[np.isfinite(seconds)])
    falls = int((steps < 0).sum())
    return int(np.isnan(seconds).sum()), falls, round(float(np.abs(steps).sum()), 3)


def _day_in(cell: Mapping[str, str | None], *, has_time: bool) -> _Day:
    year = cell.get("y") or cell.get("late") or ("2000" if has_time else "")
    return year, cell.get("m") or "", cell.get("d") or "", cell.get("week") or ""


@lru_cache(10_000)
def _day(year: str, month: str, day: str, week: str) -> float:
    """Return the seconds from 1970 to a day; NaN if there is none."""
    try:
        y = int(year) + (0 if len(year) > 2 else 2000 if year < "70" else 1900)
        if week:
            found = date.fromisocalendar(y, int(week), int(day))
        else:
            found = date(y, _month(month) if month else 1, int(day) if month else 1)
        number = found.toordinal() + (0 if month or week else int(day) - 1)
    except (ValueError, KeyError):
        return np.nan
    return (number - date(1970, 1, 1).toordinal()) * _DAY_S


def _month(text: str) -> int:
    plain = unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()
    return int(text) if text.isdigit() else _MONTH.get(plain[:4]) or _MONTH[plain[:3]]


def _time_of(cell: Mapping[str, str | None]) -> float:
    """Return the seconds of a time or a duration; NaN if there is no such time."""
    if total := cell.get("sum"):
        terms = _TERM.findall(total)
        return sum(float(n.replace(",", ".")) * (unit_seconds(unit) or 0) for n, unit in terms)
    hour, minute, second = (int(cell.get(part) or 0) for part in "HMS")
    if minute >= 60 or second > 60 or ("days" not in cell and hour > 24):
        return np.nan
    if half := cell.get("half"):
        hour = hour % 12 + 12 * (half in "Pp")
    zone = cell.get("zone") or "+00"
    minutes = 60 * int(zone[1:3]) + int(zone[3:].strip(":") or 0)
    hours = 24 * int(cell.get("days") or 0) + hour
    seconds = 3600.0 * hours + 60 * minute + second + float(f"0.{cell.get('F') or 0}")
    return seconds - 60 * minutes * (1 if zone[0] == "+" else -1)
