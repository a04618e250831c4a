"""What the numbers of a column do from row to row: the evidence by which its role is judged.

Nothing here knows the names of columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from protonn_edge.system.errors import counted

_FEWEST_STEPS = 8  # fewer steps in one direction prove little
_FEWEST_ROWS = 20
_ONE_WAY = 0.9  # share of steps in one direction, apart from restarts
_MOST_RESTARTS = 0.01
_EVEN, _EVEN_TICKS = 3.0, 1.6  # ratio of the 90th to the 10th percentile
_DISTINCT = 0.95
_RANDOM_ROWS = 100  # fewest rows to judge a distribution by
_PAIRS = 3  # expected pairs of equal numbers, of which there is none with a chance of 5 %
_MOST_COUNTS = 1 << 17  # range of whole numbers that most sensors have
_SAMPLED = 4_000
_UNIFORM = 1.63  # Kolmogorov-Smirnov statistic times root n, exceeded with a chance of 1 %
_LONG_RUN = 5  # rows
_MOSTLY = 0.7  # share of long runs; of rare values at random, about half the runs are long
_SELDOM = 8  # rows per change, on average
# Devices; the share of rows after which the same one follows; how much less it differs from itself.
_MOST_IN_TURN, _IN_ORDER, _ALIKE = 10, 0.75, 2
# Rounds of devices: their least number, and how much rarer slips are than changes of the order;
# the least ratio of the spreads of sensors of other kinds.
_FEWEST_ROUNDS, _CLEAR, _MANY_FOLD = 10, 3, 10
_LONGEST_PERIOD, _ROUNDING = 4, 1e-6  # in rounds; of numbers, as a share
_ONCE = 0.75  # share of different times, if these recur
SESSION_LIKE = "as a session does"
"""The end of the evidence for a session."""
IN_TURN = "as rows of several devices do"
"""The end of the evidence for devices."""
FALLS = "it falls"
"""The beginning of the evidence for numbers that fall."""

Kind = Literal["", "counter", "ticks", "rises", "distinct", "runs"]


@dataclass(frozen=True)
class Behaviour:
    """What numbers do, and a clause that states it; only the first two of these are beyond doubt.

    - ``counter``: they rise or fall in even steps, or all are different and evenly spaced
    - ``ticks``: they rise or fall in even steps at regular intervals, but so may sorted classes
    - ``rises``: they rise or fall through all takes, but unevenly
    - ``distinct``: all are different whole numbers, which those of measurements seldom are
    - ``runs``: they change seldom
    """

    kind: Kind = ""
    evidence: str = ""


def behaviour_of(values: NDArray[np.float64], begins: NDArray[np.bool_]) -> Behaviour:
    """Return the behaviour of numbers (n,), NaN in gaps; takes begin at some rows (n,)."""
    there = ~np.isnan(values)
    if not there.all():
        starts = np.maximum.accumulate(np.where(begins, np.arange(len(values)), 0))[there]
        values, begins = values[there], np.diff(starts, prepend=-1) != 0
    if len(values) < _FEWEST_STEPS:
        return Behaviour()
    steps = np.diff(values)
    steps[begins[1:]] = 0
    moves = np.flatnonzero(steps)
    return (
        _drift(values, steps, moves)
        or _spaced(values)
        or _in_runs(values, begins, moves)
        or Behaviour()
    )


def _drift(
    values: NDArray[np.float64], steps: NDArray[np.float64], moves: NDArray[np.intp]
) -> Behaviour | None:
    """Judge whether numbers rise or fall, and whether steps are as even as a clock's."""
    if len(moves) < _FEWEST_STEPS:
        return None
    sizes = steps[moves]
    rising = int((sizes > 0).sum())
    main = sizes[sizes > 0] if 2 * rising >= len(sizes) else -sizes[sizes < 0]
    if len(main) < _ONE_WAY * len(sizes):
        return None
    how = "it rises" if 2 * rising >= len(sizes) else FALLS
    dense = 2 * len(moves) >= len(steps)
    if not dense and len(np.unique(values)) <= _FEWEST_STEPS:
        return None  # takes with sorted classes have the same steps
    ticks = _ratio(np.diff(moves)) <= _EVEN_TICKS
    restarts = len(sizes) - len(main)
    few = restarts <= max(3, _MOST_RESTARTS * len(sizes))
    if few and _ratio(main) <= _EVEN and (dense or ticks):
        rows = "from row to row" if dense else "at regular intervals"
        evidence = f"{how} by about {np.median(main):.3g} {rows}, as a time or counter does"
        return Behaviour("counter" if dense else "ticks", evidence)
    return Behaviour("rises", f"{how} from row to row, as a time or counter does")


def _spaced(values: NDArray[np.float64]) -> Behaviour | None:
    """Judge whether numbers identify rows: all are different, and evenly spaced or spread."""
    n = len(values)
    if n < _FEWEST_ROWS or len(np.unique(values[:_SAMPLED])) < _DISTINCT * min(n, _SAMPLED):
        return None
    some, low, high = values[:: max(1, n // _SAMPLED)], values.min(), values.max()
    uniform = _is_uniform(some, low, high)
    whole = bool((some % 1 == 0).all() and (values % 1 == 0).all())
    if not uniform and not whole:
        return None
    distinct = np.unique(values)
    if uniform and len(distinct) >= _DISTINCT * n and _ratio(np.diff(distinct)) <= _EVEN:
        return Behaviour("counter", "it has evenly spaced numbers, a different one in each row")
    by_chance = n * n < 2 * _PAIRS * (high - low)  # of random numbers (the birthday paradox)
    measured = by_chance and high - low < _MOST_COUNTS and not (uniform and n >= _RANDOM_ROWS)
    evidence = "it has a different whole number in each row, as an identifier does"
    return (
        Behaviour("distinct", evidence) if whole and len(distinct) == n and not measured else None
    )


def _is_uniform(values: NDArray[np.float64], low: float, high: float) -> bool:
    """Whether numbers may be spread evenly between two, by the Kolmogorov-Smirnov test."""
    if not low < high:
        return False
    shares = (np.sort(values) - low) / (high - low)
    apart = np.abs(shares - (np.arange(len(values)) + 0.5) / len(values)).max()
    return bool(apart * np.sqrt(len(values)) <= _UNIFORM)


def _in_runs(
    values: NDArray[np.float64], begins: NDArray[np.bool_], moves: NDArray[np.intp]
) -> Behaviour | None:
    """Judge whether numbers change seldom, as those of a session do."""
    n = len(values)
    changed = np.flatnonzero(values[1:] != values[:-1]) + 1
    if n < _FEWEST_ROWS or not len(changed) or _SELDOM * len(changed) > n:
        return None
    returns = len(np.unique(values[np.append(0, changed)])) <= len(changed)
    if returns and (np.diff(changed, prepend=0) >= _LONG_RUN).mean() < _MOSTLY:
        return None
    of_takes = " and only between takes" if not len(moves) and begins.sum() > 1 else ""
    times = counted(len(changed), "time")
    return Behaviour("runs", f"it changes only {times} in {n:,} rows{of_takes}, {SESSION_LIKE}")


def _ratio(sizes: NDArray[np.float64] | NDArray[np.intp]) -> float:
    """Return the ratio of the 90th to the 10th percentile of positive numbers."""
    low, high = np.quantile(sizes, (0.1, 0.9)) if len(sizes) else (1.0, 1.0)
    return float(high / low) if low > 0 else np.inf


def alternates(codes: NDArray[np.int64]) -> bool:
    """Return whether few values, each of them frequent, take turns from row to row."""
    _, counts = np.unique(codes, return_counts=True)
    changes = int((codes[1:] != codes[:-1]).sum())
    often = 1 < len(counts) <= _MOST_IN_TURN and 2 * len(counts) * counts.min() >= len(codes)
    return bool(often and len(codes) > 2 * _MOST_IN_TURN and 3 * changes > len(codes))


def are_devices(codes: NDArray[np.int64], others: Iterable[NDArray[np.float64]]) -> bool:
    """Return whether numbers that take turns are those of devices, and no measurement.

    They come in rounds of any order, as no measurement does. Or times among the `others` (n,),
    which rise, recur, but never with the same device. Or devices return in a fixed order, but for
    lost rows, and what the others measure, or their steps in time, resembles the row before of the
    same device more than just the row before.
    """
    if _are_rounds(codes[:_SAMPLED]):
        return True
    others = list(others)
    for x in others:
        is_repeated = len(np.unique(x)) <= _ONCE * len(x)
        rises = (np.diff(x) < 0).mean() <= _MOST_RESTARTS
        if is_repeated and rises and np.unique(np.stack([x, codes]), axis=1).shape[1] == len(codes):
            return True
    periods = range(2, 2 * len(np.unique(codes)) + 1)
    again = {period: float(np.mean(codes[period:] == codes[:-period])) for period in periods}
    period = max(again, key=lambda each: again[each])
    if again[period] < _IN_ORDER:
        return False
    for x in others:
        steps = np.diff(x, prepend=x[:1])
        falls = min((steps < 0).mean(), (x[period:] <= x[:-period]).mean())  # or jitters in a round
        rises = falls <= _MOST_RESTARTS
        if not rises and len(np.unique(x[:_SAMPLED])) <= _FEWEST_ROWS:
            continue  # which may return in a fixed order itself
        moves = steps if rises else x
        own, last = _unlike(moves, period), _unlike(moves, 1)
        if last > _ROUNDING * np.abs(moves).mean() and _ALIKE * own <= last:
            return True
    return False


def _are_rounds(codes: NDArray[np.int64]) -> bool:
    """Return whether nearly all rounds have each value once, in orders that differ at random.

    A value that is missing or repeated, as after lost rows, begins a new round. Orders that recur
    are those of a signal with a period.
    """
    k, full, rounds, seen = len(np.unique(codes)), 0, 1, set[int]()
    for code in codes.tolist():
        if code in seen or len(seen) == k:
            rounds, seen = rounds + 1, set()
        seen.add(code)
        full += len(seen) == k
    periods = range(k, min(_LONGEST_PERIOD * k, len(codes) // 2) + 1)
    in_order = max((float(np.mean(codes[p:] == codes[:-p])) for p in periods), default=1.0)
    are_complete = _CLEAR * (rounds - full) < (1 - in_order) * rounds
    return rounds >= _FEWEST_ROUNDS and in_order < _IN_ORDER and are_complete


def are_unlike(codes: NDArray[np.int64], others: Iterable[NDArray[np.float64]]) -> bool:
    """Return whether what most of the others (n,) measure is far larger for some devices."""
    known = [(x[there], codes[there]) for x in others for there in [~np.isnan(x)] if there.any()]
    spreads = [
        [float(np.ptp(np.quantile(x[own == each], (0.05, 0.95)))) for each in np.unique(own)]
        for x, own in known
    ]
    ratios = [max(each) / min(each) if min(each) > 0 else np.inf for each in spreads if max(each)]
    return bool(ratios) and float(np.median(ratios)) >= _MANY_FOLD


def _unlike(values: NDArray[np.float64], lag: int) -> float:
    """Return by how much numbers differ from those some rows before, apart from a few gaps."""
    apart = np.abs(values[lag:] - values[:-lag])
    apart = apart[~np.isnan(apart)]
    return float(np.minimum(apart, np.quantile(apart, 0.95)).mean()) if len(apart) else 0.0


def is_copy(codes: NDArray[np.int64], labels: NDArray[np.int64]) -> bool:
    """Return whether each value (n,) stands for one class (n,) and each class has one value."""
    n, classes = len(labels), len(np.unique(labels))
    if n < _FEWEST_ROWS or not 1 < classes <= n // 2 or len(np.unique(codes)) != classes:
        return False
    pairs = codes.astype(np.int64) * (int(labels.max()) + 1) + labels
    return len(np.unique(pairs)) == classes
