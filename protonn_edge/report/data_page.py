"""The page of ``data --html``: a data set to look at before training, as one HTML file.

Its size is bounded: a sample of the points is drawn, and only the first columns, classes and takes.
Names from data are escaped by the template, or by `content.figure`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice, pairwise

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from protonn_edge import __version__
from protonn_edge.codegen.renderer import html_environment
from protonn_edge.data.naming import Notice, channel_names, listed
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.report.content import PageTable, Panel, Picture, Scatter, Section, figure
from protonn_edge.report.data_summary import HEADINGS, ColumnProfile, DataSummary
from protonn_edge.report.plane import Frame, marks, principal_axes
from protonn_edge.report.points import ink_image
from protonn_edge.system.figures import percent

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

_SAMPLE, _SAMPLE_VALUES, _LEAST_SAMPLE = 20_000, 5_000_000, 600  # points, and all their values
_CLASSES, _COLUMNS, _PICTURES, _OUTLIERS, _COLOURS = 40, 48, 24, 8, 12
_WIDTH, _HEIGHT, _PLANE = 200, 90, 480  # of a small figure, and the width of a plane, in px
_BINS, _MOST_SAMPLES, _LEAST_SAMPLES = 24, 200, 8
_ENDS = 0.5, 99.5  # percentiles between which values are drawn
_FAR, _NEAR = 6.0, 8.0  # robust deviations: of outliers, and to which values count for the axes
_TO_DEVIATION = 1.4826  # of a median absolute deviation, for normal values
_SOUND_HZ, _SIDE = 1_000, 6  # at least, of a sound and an image
_FRAME, _BANDS, _DECIBELS = 256, 64, 60.0  # of a spectrogram


def render_data_page(
    name: str,
    dataset: Dataset,
    summary: DataSummary,
    columns: Sequence[ColumnProfile],
    notices: Sequence[Notice],
    facts: Sequence[tuple[str, str]],
) -> str:
    """Return the page of a data set in a file, with the profiles of a table's columns."""
    view, environment = _View(dataset), html_environment()
    environment.filters["own_ids"] = lambda drawn: drawn  # these figures have no ids
    of_classes = dataset.label_facts is None
    lead = f"Histograms of {len(view.rows):,} of {summary.n_train:,} points"
    lead += ", with a line per class" if of_classes else ""
    lead += f"; they show the values between percentiles {_ENDS[0]:g} and {_ENDS[1]:g}."
    rows = tuple(each.cells for each in columns[: 4 * _COLUMNS])
    table = PageTable("Columns of the table", HEADINGS, rows, frozenset({1, 2, 6}))
    space = tuple(view.space())
    outliers = " and outliers" if any(panel.table for panel in space) else ""
    sections = (
        Section("columns", "Columns", lead, tuple(view.histograms(table if rows else None))),
        Section("takes", "Takes and points", "", tuple(view.takes())),
        Section("space", f"Principal axes{outliers}", "", space),
    )
    return environment.get_template("data.html.j2").render(
        title=name,
        version=__version__,
        facts=[*facts, *_origin(dataset)],
        notices=sorted(notices, key=lambda each: not each.warning),
        classes=summary.classes[:_CLASSES] if of_classes else (),
        largest=max(1, *(each.train + each.test for each in summary.classes)),
        sections=[each for each in sections if each.panels],
    )


def _origin(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield what is known about the measurements: their rate, sensor, units and groups."""
    if dataset.sample_rate is not None:
        yield "rate", f"{dataset.sample_rate:.6g} samples a second"
    if dataset.instrument is not None:
        yield "sensor", str(dataset.instrument)
    if dataset.group_names:
        yield "groups", f"{len(dataset.group_names):,}: {listed(dataset.group_names)}"


class _View:
    """The drawings of a data set, of a sample X (n, D) of its points."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset, X, y = dataset, dataset.X_train, dataset.y_train
        most = max(_LEAST_SAMPLE, min(_SAMPLE, _SAMPLE_VALUES // X.shape[1]))
        self.rows = np.sort(np.random.default_rng(0).permutation(X.shape[0])[:most])
        self.X: Floats = X[self.rows].astype(np.float64)
        # Numbers and sets of labels are no classes, so their points are drawn alike.
        self.classes = dataset.classes if y.ndim == 1 else ("all points",)
        self.labels: Labels = y if y.ndim == 1 else np.zeros(len(y), np.int64)
        self.y = self.labels[self.rows]
        rate, shape = dataset.sample_rate, dataset.point_shape
        self._windows = len(shape) == 2 and rate is not None
        self._image = len(shape) == 2 and rate is None and min(shape) >= _SIDE
        self._sound = self._windows and shape[1] == 1 and (rate or 0) >= _SOUND_HZ

    @cached_property
    def _columns(self) -> list[tuple[str, Floats, float, float]]:
        """The name, the values (n, k) and the ends of each column, channel, or of all pixels."""
        names, count = self._dataset.feature_names, self.X.shape[1]
        if self._windows or self._image:
            count = self._dataset.point_shape[1] if self._windows else 1
            names = channel_names(names, count) or ("value",) * (count == 1)
        columns = []
        for index in range(min(count, _COLUMNS)):
            values = self.X[:, index::count]
            present = values[~np.isnan(values)] if not np.isnan(values).all() else np.zeros(1)
            low, high = np.percentile(present, _ENDS).tolist()
            if low == high:
                low, high = float(present.min()), float(present.max())
            columns.append((names[index] if names else str(index + 1), values, low, high))
        return columns

    def histograms(self, table: PageTable | None) -> Iterator[Panel]:
        """Yield a histogram of each column, with a line for each class, above a table of them."""
        drawn: list[Picture] = []
        for name, values, low, high in self._columns:
            if low < high:
                of_class = (values[self.y == label] for label in range(len(self.classes)))
                shares = [_shares(each, low, high) for each in islice(of_class, _COLOURS)]
                top = max(float(heights.max()) for heights in shares)
                edges = np.repeat(np.linspace(0, 1, _BINS + 1), 2)
                caption = f"{name}: {_number(low)} to {_number(high)}"
                markup = _lines([(edges, heights / top) for heights in shares if top], caption)
                drawn.append(Picture(markup, caption, len(drawn)))
        if drawn or table:
            key = _key(self.classes if drawn else ())
            yield Panel(gallery=tuple(drawn), key=key, table=table)

    def takes(self) -> Iterator[Panel]:
        """Yield some points as curves, spectrograms or images; or takes of a recording."""
        pictured = self._points() if self._windows or self._image else self._recorded()
        rate = self._dataset.sample_rate or 1.0
        drawn: list[Picture] = []
        low, high = np.array([each[2:] for each in self._columns]).reshape(-1, 2).T
        spread = np.maximum(high - low, 1e-9)
        for label, name, take in pictured:
            caption = f"{self.classes[label]}, {name}"
            if self._sound:
                caption += f": 0 to {rate / 2000:g} kHz, {len(take) / rate:.2g} s"
                markup = ink_image(_spectrogram(take[:, 0]), f"Spectrogram of {caption}")
            elif self._image:
                step = -(-max(take.shape) // _WIDTH)
                markup = ink_image((take[::step, ::step] - low[0]) / spread[0], caption)
            else:
                rows = np.linspace(0, len(take) - 1, min(len(take), _MOST_SAMPLES)).astype(int)
                levels = np.clip((take[rows, : len(low)] - low) / spread, 0, 1)
                markup = _lines([(rows / max(rows[-1], 1), each) for each in levels.T], caption)
            drawn.append(Picture(markup, caption, len(drawn)))
        if drawn:
            channels = [] if self._sound or self._image else [each[0] for each in self._columns]
            yield Panel(gallery=tuple(drawn), key=_key(channels))

    def _points(self) -> Iterator[tuple[int, str, Floats]]:
        """Yield the class, the name and the values of some points."""
        for row in self._chosen(self.y):
            point = self.X[row].reshape(self._dataset.point_shape)
            yield int(self.y[row]), f"point {self.rows[row] + 1:,}", point

    def _chosen(self, labels: Labels) -> list[int]:
        """Return places of a few of each class, spread over the data: neighbours are alike."""
        each = max(1, _PICTURES // max(1, len(self.classes)))
        rows = [np.flatnonzero(labels == label) for label in range(len(self.classes))]
        some = [
            places[np.linspace(0, len(places) - 1, min(each, len(places))).astype(int)]
            for places in rows
        ]
        return np.concatenate(some)[:_PICTURES].tolist() if len(self.X) else []

    def _recorded(self) -> Iterator[tuple[int, str, Floats]]:
        """Yield takes of a table that is a recording: rows of one session and one class."""
        data, y = self._dataset, self.labels
        if (data.sessions is None and data.times is None) or self.X.shape[1] > _COLOURS:
            return
        names = np.array(data.sessions or [""] * len(y))
        seams = np.flatnonzero((y[1:] != y[:-1]) | (names[1:] != names[:-1])) + 1
        runs = np.array([*pairwise([0, *seams.tolist(), len(y)])])
        runs = runs[runs[:, 1] - runs[:, 0] >= _LEAST_SAMPLES]
        for run in self._chosen(y[runs[:, 0]]):
            first, last = runs[run].tolist()
            name = f"{names[first]} rows {first + 1:,} to {last:,}".strip()
            yield int(y[first]), name, data.X_train[first:last].astype(np.float64)

    def space(self) -> Iterator[Panel]:
        """Yield the points on two principal axes, and a table of those far from all others."""
        Z, used = _standardized(self.X)
        if len(Z) < 3 or not Z.size:
            return
        distance = np.sqrt(np.square(Z).mean(axis=1))
        middle = max(float(np.median(distance)), 1e-9)
        far = np.flatnonzero(distance > middle + _FAR * _deviations(distance))
        far = far[np.argsort(-distance[far], kind="stable")][:_OUTLIERS]
        shown = np.unique([*far, *np.linspace(0, len(Z) - 1, _LEAST_SAMPLE).astype(int)])
        near = np.clip(Z[shown], -_NEAR, _NEAR)
        axes, centre, explained = principal_axes(near)
        flat = (near - centre) @ axes.T
        frame = Frame.around(flat)
        if frame is None:
            return
        at, columns = frame.at(flat), self._dataset.feature_names
        names, rows = [], []
        for row in far.tolist():
            name, most = f"point {self.rows[row] + 1:,}", int(used[np.abs(Z[row]).argmax()])
            x, y = at[np.searchsorted(shown, row)].tolist()
            names.append((min(max(x, 45.0), _PLANE - 45.0), y - 7, name))
            figures = _number(self.X[row, most]), f"{distance[row] / middle:.1f}"
            column = columns[most] if columns else str(most + 1)
            rows.append((name, self.classes[self.y[row]], column, *figures))
        caption = f"{len(shown):,} standardized points along two principal axes, "
        caption += f"which account for {percent(explained, 0)} of the variance."
        points, classes = marks(at, self.y[shown].tolist()), self.classes[:_CLASSES]
        plane = Scatter(_PLANE, frame.height, points, classes, tuple(names))
        headings = ("outlier", "class", "most unusual feature", "value", "distance / median")
        table = PageTable("Outliers", headings, tuple(rows), frozenset({1, 2})) if rows else None
        yield Panel(scatter=plane, caption=caption, table=table)


def _number(value: float) -> str:
    """Return a number with four digits, or as a whole number in place of an exponent."""
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


def _standardized(X: Floats) -> tuple[Floats, Labels]:
    """Return the columns of X (n, D) that vary, by robust deviations, gaps as 0; their numbers."""
    used = np.flatnonzero(~np.isnan(X).all(axis=0))
    centred = np.nan_to_num(X[:, used] - np.nanmedian(X[:, used], axis=0)) if used.size else X
    scale = _deviations(centred) if X.size else np.zeros(len(used))
    return centred[:, scale > 0] / scale[scale > 0], used[scale > 0]


def _deviations(X: Floats) -> Floats:
    """Return robust deviations along the first axis, the usual ones if most values are equal."""
    robust = _TO_DEVIATION * np.median(np.abs(X - np.median(X, axis=0)), axis=0)
    return np.where(robust > 0, robust, X.std(axis=0))


def _shares(values: Floats, low: float, high: float) -> Floats:
    """Return the outline of a histogram: the heights at both sides of each edge."""
    present = np.clip(values[~np.isnan(values)], low, high)
    counts = np.histogram(present, _BINS, (low, high))[0]
    return np.concatenate([[0], np.repeat(counts / max(1, len(present)), 2), [0]])


def _lines(lines: Sequence[tuple[Floats, Floats]], name: str) -> Markup:
    """Return lines through places 0..1, each in the colour of its number."""
    parts = []
    for colour, (x, y) in enumerate(lines[:_COLOURS]):
        places = zip(_WIDTH * x, 2 + (_HEIGHT - 4) * (1 - y), strict=True)
        points = " ".join(f"{a:.0f},{b:.1f}" for a, b in places if b == b)  # noqa: PLR0124
        parts.append(f'<polyline class="c{colour}" points="{points}"/>')
    box = f'<svg class="lines" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}">'
    return figure(f"{box}{''.join(parts)}</svg>", name)


def _spectrogram(sound: Floats) -> Floats:
    """Return ink, 0..1, of a sound (n,): time from the left, frequency from below, 60 dB."""
    padded = np.pad(sound - sound.mean(), (0, max(0, _FRAME - len(sound))))
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FRAME)
    frames = frames[:: max(_FRAME // 4, -(-len(frames) // _MOST_SAMPLES))]
    power = np.square(np.abs(np.fft.rfft(frames * np.hanning(_FRAME), axis=1)[:, 1:]))
    bands = power.reshape(len(power), _BANDS, -1).mean(axis=2)
    level = 10 * np.log10(bands / max(float(bands.max()), 1e-30) + 1e-12)
    ink: Floats = np.clip(1 + level / _DECIBELS, 0, 1)
    return ink.T[::-1]


def _key(names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the colours of classes or channels."""
    return tuple((f"own c{index}", name) for index, name in enumerate(names[:_COLOURS]))
