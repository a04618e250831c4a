"""The test points of a page: their choice, their display, and the data for the page's script."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape

import numpy as np
from markupsafe import Markup
from matplotlib.image import imsave
from numpy.typing import NDArray

from protonn_edge.data.naming import channel_names
from protonn_edge.device.results import Result
from protonn_edge.model.expected import expected_by
from protonn_edge.model.features import signal_of
from protonn_edge.model.integer_chain import MODEL_HASH_BYTES
from protonn_edge.report import figures
from protonn_edge.report.content import figure
from protonn_edge.report.evidence import Evidence
from protonn_edge.system.schema import JsonObject

Floats = NDArray[np.float64]

_INKED = 0.25  # from this much ink on, a pixel belongs to the drawing
_TYPICAL_PERCENTILE = 75
_LOOKED_AT = 2_000  # points, to measure the size of drawings

_MOST_SLIDERS = 64
_CELLS_SHOWN = 12  # of a row in words
_POINT_BYTES = 64_000  # of all test points in a page
_MOST_POINTS, _LEAST_POINTS = 320, 20
_PER_POINT = ("index", "label", "predicted", "cycles", "scores")


@dataclass(frozen=True, eq=False)
class Levels:
    """Maps raw features to levels, 0..1: pixels as ink on paper, others each in its own range."""

    lower: Floats  # (D,), the raw values for the level 0
    upper: Floats  # (D,), for the level 1
    pixels: bool  # whether level 0 is paper and 1 is ink, for all features

    def of(self, raw: Floats) -> Floats:
        """Return levels of raw features (..., D), clamped to 0..1."""
        extent = self.upper - self.lower
        safe = np.where(extent == 0, 1.0, extent)
        return np.where(extent == 0, 0.5, np.clip((raw - self.lower) / safe, 0, 1))


def levels_of(one: Evidence) -> Levels:
    """Return the levels of a run's features, from its model's training data."""
    inputs, n, features = one.model.inputs, one.model.n_features, one.model.features
    pixels = one.image_shape is not None and one.image_shape[0] > 1
    if features is not None:
        first, last = features.points.quantizer.zero, features.points.quantizer.end
        if pixels:
            return Levels(first, last, pixels=True)
        return Levels(np.minimum(first, last), np.maximum(first, last), pixels=False)
    if one.image_shape is None and len(inputs.lower) == n:
        return Levels(inputs.lower, inputs.upper, pixels=False)
    lower, upper = float(inputs.lower.min()), float(inputs.upper.max())
    paper = float(np.median(inputs.background))
    if pixels and upper - paper < paper - lower:  # dark on light
        lower, upper = upper, lower
    return Levels(np.full(n, lower), np.full(n, upper), pixels=pixels)


@dataclass(frozen=True)
class Drawing:
    """The typical drawing in the test images: its size, its centre, and its stroke, in pixels."""

    height: float
    width: float
    y: float
    x: float
    pen: float


def typical_drawing(one: Evidence) -> Drawing:
    """Return a typical drawing of the test points, or a common one without points.

    A stroke of length l and width w has ink l w and, on both sides, slopes that add up to 2 l, so
    the width is twice the ink divided by the slopes.
    """
    assert one.image_shape is not None
    rows, columns = one.image_shape
    ink = np.zeros((0, rows, columns))
    if one.points is not None:
        some = one.points.raw[:_LOOKED_AT].astype(np.float64)
        ink = levels_of(one).of(some).reshape(-1, rows, columns)
        ink = ink[(ink > _INKED).any(axis=(1, 2))]
    if len(ink) == 0:
        return Drawing(0.8 * rows, 0.7 * columns, rows / 2, columns / 2, max(1.0, rows / 10))
    top, bottom = _extent(ink.max(axis=2) > _INKED)
    left, right = _extent(ink.max(axis=1) > _INKED)
    down, across = np.gradient(np.pad(ink, ((0, 0), (1, 1), (1, 1))), axis=(1, 2))
    slopes = np.hypot(down, across).sum(axis=(1, 2))
    return Drawing(
        height=float(np.percentile(bottom - top, _TYPICAL_PERCENTILE)),
        width=float(np.percentile(right - left, _TYPICAL_PERCENTILE)),
        y=float(np.mean((bottom + top) / 2)),
        x=float(np.mean((right + left) / 2)),
        pen=max(float(np.median(2 * ink.sum(axis=(1, 2)) / slopes)), 0.5),
    )


def _extent(inked: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the first and the last inked row of each image, by rows (n, H)."""
    begin = inked.argmax(axis=1).astype(np.float64)
    end = inked.shape[1] - inked[:, ::-1].argmax(axis=1).astype(np.float64)
    return begin, end


@dataclass(frozen=True)
class Trace:
    """The drawing of a point, a window of a signal, as a line per channel."""

    channels: tuple[str, ...]  # their names, "channel 1" if the model has none
    samples: int  # per channel
    rate: float | None  # samples per second of a channel, if known

    @property
    def words(self) -> str:
        """A description of the lines, the beginning of a sentence."""
        many = len(self.channels) > 1
        of_each = f"{self.samples:,} samples of {'each channel' if many else 'one channel'}"
        if self.rate is None:
            return of_each
        seconds = self.samples / self.rate
        digits = "#.2g" if seconds < 9.95 else ".0f"
        return f"{of_each} at {self.rate:.4g} Hz ({seconds:{digits}} s)"

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        """The colours of the channels; none for a single one."""
        if len(self.channels) == 1:
            return ()
        return tuple(zip(figures.channel_colours(len(self.channels)), self.channels, strict=True))

    def lines(self, levels: Floats) -> Floats:
        """Return levels of a point (features,), sample by sample, as lines (channels, samples)."""
        return levels.reshape(self.samples, len(self.channels)).T


def trace_of(one: Evidence) -> Trace | None:
    """Return the drawing of a run's points as lines, or None if they are not signals."""
    model = one.model
    signal = signal_of(model.features)
    if signal is not None:
        count, rate = signal.channels, signal.rate
    else:
        rate, count = None, sum(name.endswith("[0]") for name in model.feature_names)
        if not (count and channel_names(model.feature_names, count)):
            count = int(one.image_shape is not None and one.image_shape[0] == 1)
    if count == 0:
        return None
    names = channel_names(model.feature_names, count)
    default = tuple(f"channel {i + 1}" for i in range(count))
    return Trace(names or default, model.n_features // count, rate)


@dataclass(frozen=True)
class PageColumn:
    """A column of a table and the features that are made of it: one, or one per text."""

    name: str
    features: tuple[int, ...]
    choices: tuple[str, ...] = ()  # the texts, one per feature
    filling: float | None = None  # what the model was trained with where a cell is empty
    offset: float = 0.0  # what is subtracted from its cells

    def cell(self, raw: Floats) -> str:
        """Return the cell in which a point (D,) has these features."""
        if self.choices:
            place = int(raw[list(self.features)].argmax())
            return self.choices[place] if raw[self.features[place]] > 0 else "another value"
        if self.offset:
            return f"{raw[self.features[0]] + self.offset:.15g}"
        return str(np.float32(raw[self.features[0]])).removesuffix(".0")


def columns_of(one: Evidence) -> tuple[PageColumn, ...]:
    """Return the columns of a run's table; none if its points are images or signals."""
    if one.image_shape is not None or trace_of(one) is not None:
        return ()
    n, preparation = one.model.n_features, expected_by(one.model).preparation
    names = one.model.feature_names or tuple(f"feature {i}" for i in range(n))
    fillings: list[float | None] = [None] * n
    if preparation is not None and preparation.values:
        fillings = [None if math.isnan(each) else float(each) for each in preparation.values]
    if preparation is None or not (preparation.one_hot or preparation.offsets):
        return tuple(PageColumn(name, (i,), (), fillings[i]) for i, name in enumerate(names))
    made = []
    for name in preparation.columns_of(names):
        features = tuple(map(names.index, preparation.names_of(name)))
        choices = tuple(preparation.one_hot.get(name, ()))
        filling = None if choices else fillings[features[0]]
        offset = preparation.offsets.get(name, 0.0)
        made.append(PageColumn(name, features, choices, filling, offset))
    return tuple(made)


def table_of(one: Evidence) -> list[str]:
    """Return the names of all columns of the table with the points, if the model's are among them.

    A row can then be pasted as it is, with the columns that training left out.
    """
    names = [] if one.points is None else list(one.points.columns)
    wanted = [column.name for column in columns_of(one)]
    return names if wanted and all(names.count(name) == 1 for name in wanted) else []


def row_words(columns: Sequence[PageColumn], raw: Floats) -> str:
    """Return the cells of a point (D,) with their columns' names; those of the first few."""
    words = [f"{each.name} {each.cell(raw)}" for each in columns[:_CELLS_SHOWN]]
    more = len(columns) - len(words)
    return ", ".join(words) + (f" and {more:,} more" if more else "")


def row_prompt(one: Evidence) -> str:
    """Return what a row for the Uno consists of."""
    names = [column.name for column in columns_of(one)]
    if 0 < len(names) <= _CELLS_SHOWN:
        others = "other columns" if table_of(one) else "label"
        return f"{', '.join(names)}: a row of the data, with or without its {others}"
    return f"{one.reference.n_features:,} features as in the data, without the label"


def picture_of(one: Evidence, raw: Floats, name: str) -> Markup:
    """Return the picture of a raw point (D,), with a name for screen readers."""
    levels = levels_of(one).of(raw)
    if one.image_shape is not None and one.image_shape[0] > 1:
        return ink_image(levels.reshape(one.image_shape), name)
    trace = trace_of(one)
    drawn = (
        figures.bars_figure(levels) if trace is None else figures.trace_figure(trace.lines(levels))
    )
    return figure(drawn, name)


def ink_image(ink: Floats, description: str) -> Markup:
    """Return an image (H, W) of ink, 0..1, as a small PNG in an element of a page.

    The ink is black and the rest is transparent, so that a dark page can make it white.
    """
    height, width = ink.shape
    pixels = np.zeros((height, width, 4), np.uint8)
    pixels[..., 3] = np.round(255 * np.clip(ink, 0, 1))
    png = io.BytesIO()
    imsave(png, pixels, format="png", metadata={"Software": ""})
    uri = f"data:image/png;base64,{base64.b64encode(png.getvalue()).decode()}"
    sizes = f'width="{width}" height="{height}"'
    element = f'<img class="picture" alt="{escape(description)}" {sizes} src="{uri}">'
    return Markup(element)  # noqa: S704  (text from data is escaped)


def chosen_points(one: Evidence) -> list[Result]:
    """Return the results for the page's points: mistakes first, the others evenly.

    All are returned if they fit the page. At most half of them are mistakes, chosen in rounds, one
    of each cell of the confusion matrix per round.
    """
    answered = one.answered
    if one.points is None or not answered:
        return []
    most = min(_MOST_POINTS, max(_LEAST_POINTS, _POINT_BYTES // one.reference.n_features))
    if len(answered) <= most:
        return answered
    are_classes = one.reference.policy.predicts == "class"
    wrong = [each for each in answered if are_classes and each.predicted != each.label]
    mistakes = _in_rounds(wrong)
    taken = {result.index for result in mistakes[: most // 2]}
    others = [result for result in answered if result.index not in taken]
    evenly = np.linspace(0, len(others) - 1, most - len(taken)).astype(int).tolist()
    taken |= {others[i].index for i in evenly}
    return [result for result in answered if result.index in taken]


def _in_rounds(results: list[Result]) -> list[Result]:
    """Return results ordered by their rank in their cell: the first of each cell come first."""
    seen: dict[tuple[int, int | None], int] = {}
    rounds = []
    for result in results:
        cell = (result.label, result.predicted)
        rounds.append(seen.get(cell, 0))
        seen[cell] = rounds[-1] + 1
    return [results[i] for i in np.argsort(rounds, kind="stable").tolist()]


def payload(one: Evidence, *, runs: bool) -> JsonObject:
    """Return the data for ``page.js``, as JSON types; the firmware runs in the page, or not."""
    points = chosen_points(one)
    reference, levels = one.reference, levels_of(one)
    trace, columns = trace_of(one), columns_of(one)
    given_names = one.model.feature_names
    names = list(given_names or (f"feature {i}" for i in range(one.model.n_features)))
    fed = b""
    if one.points is not None:
        fed = one.points.fed[[one.points.place[point.index] for point in points]].tobytes()
    return {
        "program": base64.b64encode(one.firmware.program).decode() if runs else None,
        "model": {
            "hash": reference.model_sha256[: 2 * MODEL_HASH_BYTES],
            "features": reference.n_features,
            "names": names if columns else [],
            "columns": [asdict(column) for column in columns],
            "table": table_of(one),
            **_of_rules(one),
            "classes": list(reference.classes),
            "maximum": reference.quantizer.maximum,
            "zero": _once(reference.quantizer.zero),
            "step": _once(reference.quantizer.step),
            "single": reference.quantizer.step.dtype == np.float32,
        },
        "board": {"clockHz": one.board.clock_hz, "watts": one.board.power_watts},
        "shape": _shape(one),
        "channels": trace
        and {
            "names": list(trace.channels),
            "colours": [colour for colour, _ in trace.key] or ["ink"],
            "rate": trace.rate,
            "words": trace.words,
        },
        "levels": {
            "lower": _once(levels.lower),
            "upper": _once(levels.upper),
            "ink": [levels.lower[0], levels.upper[0]] if levels.pixels else None,
            "shown": [_blank(one, levels), levels.upper[0]] if levels.pixels else None,
        },
        "sliders": _sliders(one, columns) if 0 < len(columns) <= _MOST_SLIDERS else None,
        "counts": one.confusion.tolist(),
        "total": len(one.answered),
        "points": [_of_page(one, point) for point in points],
        "pointBytes": base64.b64encode(fed).decode(),
    }


def _of_page(one: Evidence, point: Result) -> JsonObject:
    """Return a test point for the page, with the true number, if numbers are predicted."""
    record = {name: getattr(point, name) for name in _PER_POINT}
    if one.counts != "cycles":
        record["cycles"] = None
    if one.reference.policy.predicts == "value" and one.points is not None:
        known = (
            None if one.points.values is None else one.points.values[one.points.place[point.index]]
        )
        record["true"] = None if known is None or math.isnan(known) else float(known)
    return record


def _shape(one: Evidence) -> JsonObject | None:
    if one.image_shape is None:
        return None
    drawing = asdict(typical_drawing(one))
    pen = drawing.pop("pen")
    rows, columns = one.image_shape
    return {"rows": rows, "columns": columns, "pen": pen, "box": drawing}


def _of_rules(one: Evidence) -> JsonObject:
    """Return what the page needs to know of the policy's rules."""
    rules = one.reference.policy.rules
    return {key: value for rule in rules for key, value in rule.page_data().items()}


def _sliders(one: Evidence, columns: Sequence[PageColumn]) -> JsonObject:
    """Return the ends of a slider per feature: the shortest numbers equal in float32, as data."""
    inputs, start = one.model.inputs, one.model.inputs.mean.copy()
    for column in columns:
        if column.choices:  # the most frequent one
            of_choices = start[list(column.features)]
            start[list(column.features)] = np.arange(len(of_choices)) == of_choices.argmax()
    ends = {"lower": inputs.lower, "upper": inputs.upper, "start": start}
    return {
        name: [float(str(np.float32(value))) for value in values.tolist()]
        for name, values in ends.items()
    }


def _blank(one: Evidence, levels: Levels) -> float:
    """Return the raw value of paper after quantization."""
    features = one.reference.quantizer
    from_paper = np.sign(features.step) == np.sign(levels.upper[0] - levels.lower[0])
    return float(np.median(features.zero[from_paper])) if from_paper.any() else levels.lower[0]


def _once(values: NDArray[np.float64]) -> list[float]:
    """Return the values, or only one if all are equal."""
    everywhere: list[float] = values.tolist()
    return everywhere[:1] if len(set(everywhere)) == 1 else everywhere
