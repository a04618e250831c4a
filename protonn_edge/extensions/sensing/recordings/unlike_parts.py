"""Takes and sessions whose channels are unlike those of all others.

Programs and telephones write the same movement in g or in m/s^2, in deg/s or in rad/s, or in counts
of a sensor. If values are ten times as large in some takes or in a class only, they teach a model
the unit. The size of a sensor's values is that of its channels together, which does not change when
the sensor turns. A take in which nothing varies is from a sensor that was off, and channels without
names may be swapped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice, listed, names_at, quoted
from protonn_edge.data.points.dataset import Float32

_FEWEST_SAMPLES = 8  # of a class in a part,
_FEWEST_OTHERS = 3  # and other parts to compare with
_MOST_CELLS = 1_000  # that are compared with all others
_STILL = 50  # times less than usual varies what is still
_TIMES = 3.0  # as large, at least, in some parts as in all others; the gap between parts is also
# larger than their range. Of one class, they differ as much as two units
_NEAR, _SAME = 0.25, 0.3  # as logarithms, for usual and for large samples alike; of all classes,
_ALIKE, _EXACT = 0.4, 0.1  # sizes in each of the parts are alike, and differ by exactly two units
_UNITS = (9.80665, 1000 / 9.80665, 180 / np.pi, 1000.0, 9806.65)
_AXES = 3  # of gravity, which is the mean of an accelerometer's samples, and
_STEADY = 0.15  # of nearly the same size in all takes
_AXIS = re.compile(r"(.*?)[ _.-]?[xyz123]?", re.IGNORECASE)


@dataclass(frozen=True)
class NamedTakes:
    """The takes or sessions of samples: their names, and the number of each sample's, (n,)."""

    names: Sequence[str]
    numbers: NDArray[np.int64]


def about_unlike_parts(
    X: Float32,
    labels: NDArray[np.int64],
    parts: NamedTakes,
    names: Sequence[str],
    classes: Sequence[str],
) -> Iterator[Notice]:
    """Yield warnings about samples X (n, channels) with labels (n,), the numbers of `classes`.

    - `parts`: takes, sessions or, without either, classes
    - `names`: those of the channels, or none
    """
    known = ~np.isnan(X).any(axis=1)
    X = X[known]
    cells = _Cells.of(labels[known], parts.numbers[known])
    if still := _still(cells, X):
        text = (
            f"in {listed(parts.names[each] for each in still)}, nothing varies as in others of the "
            "same class; if the sensor was off, delete them"
        )
        yield Notice("still", text, warning=True)
    for channels in _sensors(names, X.shape[1]):
        sizes = cells.sizes(X[:, channels])
        found = _odd_sizes(cells, sizes)
        if found is None and len(channels) == _AXES:
            found = _odd_gravity(cells, X[:, channels])
        if found is not None:
            odd, times = found
            which = listed(names_at(channels, names))
            share = f"{float(f'{times:.3g}'):,g} times" if times > 1 else f"1/{1 / times:.3g}"
            text = (
                f"in {cells.named(odd, parts.names, classes)}, the values of {which} are about "
                f"{share} as large as in others; if they are in another unit, convert them"
            )
            columns = tuple(names[each] for each in channels) if names else ()
            yield Notice("other_unit", text, warning=True, columns=columns)
    if not names and len(cells.part) <= _MOST_CELLS:
        yield from _about_swapped(cells, X, parts)


@dataclass(frozen=True, eq=False)
class _Cells:
    """The samples of each class in each part, of which only cells with enough are judged."""

    order: NDArray[np.int64]  # of samples, by cell
    begin: NDArray[np.int64]  # (cells,): where each begins in this order,
    count: NDArray[np.int64]  # and its number of samples
    label: NDArray[np.int64]  # (cells,): the class,
    part: NDArray[np.int64]  # and the part

    @classmethod
    def of(cls, labels: NDArray[np.int64], numbers: NDArray[np.int64]) -> _Cells:
        n_parts = int(numbers.max(initial=0)) + 1
        cell = labels * n_parts + numbers
        order = np.argsort(cell, kind="stable")
        ids, begin, count = np.unique(cell[order], return_index=True, return_counts=True)
        kept = count >= _FEWEST_SAMPLES
        ids, begin, count = ids[kept], begin[kept], count[kept]
        return cls(order, begin, count, ids // n_parts, ids % n_parts)

    def named(self, cells: Sequence[int], parts: Sequence[str], classes: Sequence[str]) -> str:
        """Return the names of the parts that some cells are, of their classes, or of both."""
        some = np.isin(np.arange(len(self.part)), cells)
        which = listed(parts[each] for each in np.unique(self.part[some]))
        if not np.isin(self.part[~some], self.part[some]).any():
            return which
        of_classes = f"samples of {listed(classes[each] for each in np.unique(self.label[some]))}"
        if not np.isin(self.label[~some], self.label[some]).any():
            return of_classes
        return f"{of_classes} in {which}"

    def sizes(self, X: Float32) -> NDArray[np.float64]:
        """Return the logarithms of a usual and of a large size of samples in each cell, (2, cells).

        A take with a bump has a larger large size alone, and one of a gesture after a long rest a
        smaller usual size alone.
        """
        size = np.linalg.norm(X[self.order].astype(np.float64), axis=1)
        cell = np.searchsorted(self.begin, np.arange(len(size)), side="right")
        ranked = size[np.lexsort((size, cell))]
        places = [self.begin + self.count * share // 20 for share in (10, 19)]
        with np.errstate(divide="ignore"):
            logarithms: NDArray[np.float64] = np.log(np.stack([ranked[each] for each in places]))
        return logarithms

    def samples(self, X: Float32) -> Iterator[Float32]:
        """Yield the samples (n, channels) of each cell."""
        for at, n in zip(self.begin, self.count, strict=True):
            yield X[self.order[at : at + n]]


def _still(cells: _Cells, X: Float32) -> list[int]:
    """Return the parts in which all channels vary far less than in most parts of the class."""
    ranges = np.array([np.ptp(each, axis=0) for each in cells.samples(X)], np.float64)
    found = set[int]()
    for label in np.unique(cells.label):
        own = cells.label == label
        if own.sum() > _FEWEST_OTHERS:
            usual = np.median(ranges[own], axis=0)
            still = ((ranges[own] < usual / _STILL) | (usual == 0)).all(axis=1)
            found |= {*cells.part[own][still].tolist()} if usual.any() else set()
    return sorted(found)


def _sensors(names: Sequence[str], n_channels: int) -> list[list[int]]:
    """Return the channels of each sensor: those whose names differ by an axis, or each three.

    The size of a single channel, such as a sound's, varies too much.
    """
    of_name: dict[str, list[int]] = {}
    for place in range(n_channels):
        match = _AXIS.fullmatch(names[place]) if names else None
        name = match[1] if match is not None else str(place // 3 if n_channels % 3 == 0 else place)
        of_name.setdefault(name, []).append(place)
    return [channels for channels in of_name.values() if len(channels) > 1]


@dataclass(frozen=True, eq=False)
class _Split:
    """Logarithms of sizes (n,), divided at their largest gap."""

    odd: NDArray[np.bool_]  # (n,): the smaller part
    gap: float
    spread: float  # the range of the wider part
    apart: float  # how much larger the odd ones are

    @classmethod
    def of(cls, sizes: NDArray[np.float64], others: int = _FEWEST_OTHERS) -> _Split | None:
        """Return the division of sizes; None without enough other parts to compare with."""
        if len(sizes) <= others or not np.isfinite(sizes).all():
            return None
        ordered = np.sort(sizes)
        place = int(np.diff(ordered).argmax()) + 1
        low, high = ordered[:place], ordered[place:]
        odd = sizes >= high[0] if len(high) <= len(low) else sizes < high[0]
        if high[0] == low[-1] or (~odd).sum() < others:
            return None
        spread = float(max(np.ptp(low), np.ptp(high)))
        apart = float(np.median(sizes[odd]) - np.median(sizes[~odd]))
        return cls(odd, float(high[0] - low[-1]), spread, apart)

    def is_of_units(self, near: float) -> bool:
        """Whether two parts, which are clearly apart, differ about as much as two units do."""
        of_units = min(abs(abs(self.apart) - np.log(each)) for each in _UNITS) < near
        return bool(of_units) and self.gap > max(np.log(_TIMES), self.spread)


def _odd_sizes(cells: _Cells, sizes: NDArray[np.float64]) -> tuple[list[int], float] | None:
    """Return the cells with other sizes (2, cells), and how many times as large they are."""
    found: dict[int, float] = {}
    for label in np.unique(cells.label):
        own = cells.label == label
        split = _Split.of(sizes[0, own])
        if split is not None and split.is_of_units(_NEAR):
            large = sizes[1, own]
            apart = np.median(large[split.odd]) - np.median(large[~split.odd])
            if abs(apart - split.apart) < _SAME:
                found |= dict.fromkeys(np.flatnonzero(own)[split.odd].tolist(), split.apart)
    every = _Split.of(sizes[0])
    if not found and every is not None and every.is_of_units(_EXACT) and every.spread < _ALIKE:
        found = dict.fromkeys(np.flatnonzero(every.odd).tolist(), every.apart)
    larger = [cell for cell, apart in found.items() if apart > 0]
    odd = larger if 2 * len(larger) >= len(found) else [*found.keys() - larger]
    return (sorted(odd), float(np.exp(np.median([found[each] for each in odd])))) if odd else None


def _odd_gravity(cells: _Cells, X: Float32) -> tuple[list[int], float] | None:
    """Return the cells whose means are gravity in another unit, and how many times as large.

    How strong a movement is does not change the size of the mean acceleration, so a whole class may
    be odd, too.
    """
    means = np.array([each.mean(axis=0, dtype=np.float64) for each in cells.samples(X)])
    with np.errstate(divide="ignore"):
        split = _Split.of(np.log(np.linalg.norm(means, axis=1)) if len(means) else np.empty(0), 2)
    if split is None or not split.is_of_units(_EXACT) or split.spread > _STEADY:
        return None
    return np.flatnonzero(split.odd).tolist(), float(np.exp(split.apart))


def _about_swapped(cells: _Cells, X: Float32, parts: NamedTakes) -> Iterator[Notice]:
    """Yield a warning if two channels are swapped in a part.

    In all other parts, of the same class, too, each channel's means have a range of their own.
    """
    means = np.array([each.mean(axis=0, dtype=np.float64) for each in cells.samples(X)])
    for place, (label, part) in enumerate(zip(cells.label, cells.part, strict=True)):
        others = means[cells.part != part]
        alike = (cells.label == label) & (cells.part != part)
        if len(others) < _FEWEST_OTHERS or not alike.any():
            continue
        low, high = others.min(axis=0), others.max(axis=0)
        own = means[place]
        for one, other in combinations(range(means.shape[1]), 2):
            gap = max(low[other] - high[one], low[one] - high[other])
            clear = 4 * gap > max(high[one] - low[one], high[other] - low[other])
            near = all(
                low[there] - gap / 4 < own[here] < high[there] + gap / 4
                for here, there in ((one, other), (other, one))
            )
            if clear and near:
                text = (
                    f"in {quoted(parts.names[part])}, channel {one + 1} has values as channel "
                    f"{other + 1} in all others, and the other way round; if they are swapped, "
                    "exchange them"
                )
                yield Notice("swapped", text, warning=True)
                return
