"""The panels of a run's answers: accuracy and mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import NO_CLASS, answer_name, answer_names
from protonn_edge.device.results import Result
from protonn_edge.learn.evaluation.accuracy import (
    Quality,
    class_figures,
    frequent_confusions,
    wilson_interval,
)
from protonn_edge.learn.evaluation.terminal import BY_CLASS, class_rows
from protonn_edge.report import figures
from protonn_edge.report.content import Cell, Matrix, PageTable, Panel, Picture
from protonn_edge.report.evidence import Evidence
from protonn_edge.report.points import columns_of, picture_of, row_words, trace_of
from protonn_edge.system.errors import counted
from protonn_edge.system.figures import percent, percents

_MISTAKES_SHOWN = 18
_MATRIX_CLASSES = 30  # maximum for a readable confusion matrix
_CONFUSIONS_SHOWN = 40


def accuracy_panels(one: Evidence) -> list[Panel]:
    """Return the confusion matrix, a panel for the points of a cell, and figures by class."""
    counts, classes = one.confusion, one.reference.classes
    names = answer_names(len(counts), classes)
    right, n = int(counts.diagonal().sum()), len(one.results)
    low, high = wilson_interval(right, n)
    lost = n - len(one.answered)
    caption = f"{right:,} of {n:,} points are classified correctly: {percent(right / n)} (95 % "
    caption += f"Wilson score interval: {percents(low, high, 1)})."
    caption += f" {counted(lost, 'point')} got no answer." if lost else ""
    caption += _unknown_words(one) + _quality_words(one.quality)
    if len(classes) <= _MATRIX_CLASSES:
        shown = Panel(matrix=_matrix(counts, classes), caption=caption, live="matrix")
    else:
        drawn = figures.confusion_figure(counts, classes)
        table = _confusions(counts, classes)
        shown = Panel.drawn(drawn, caption, title="Confusion matrix. ", table=table)
    by_class = PageTable("By class", BY_CLASS, class_rows(names, class_figures(counts)))
    return [shown, Panel(table=by_class, live="cell")]


def _quality_words(quality: Quality | None) -> str:
    """Return a sentence that puts the accuracy into proportion, with a space before it."""
    if quality is None or len(quality.names) < 2:
        return ""
    return (
        f" Always answering {quality.names[quality.largest]!r} would be right for "
        f"{percent(quality.baseline)} of the points. The balanced accuracy is "
        f"{percent(quality.balanced_accuracy)}, and the macro F1 {percent(quality.macro_f1)}."
    )


def _unknown_words(one: Evidence) -> str:
    """Return a sentence about answers that are no class, with a space before it."""
    summary = one.summary
    if not one.reference.policy.other_answers:
        return ""
    if summary.unknown == 0:
        return " No point was answered 'unknown'."
    verb = "was" if summary.unknown == 1 else "were"
    share = percent(summary.unknown / summary.n)
    sentence = f" {counted(summary.unknown, 'point')} {verb} answered 'unknown' ({share})"
    right = summary.accuracy_of_classified
    others = "" if right is None else f"; {percent(right)} of the other answers are correct"
    return f"{sentence}{others}."


def _matrix(counts: NDArray[np.int64], classes: Sequence[str]) -> Matrix:
    """Return the confusion matrix, tinted by the share of the actual class."""
    answers = answer_names(counts.shape[1], classes)
    actual = answer_names(len(counts), classes)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)

    def cell(row: int, column: int) -> Cell | None:
        count = int(counts[row, column])
        if count == 0:
            return None
        kind = "right" if row == column else "unknown" if column == len(classes) else "wrong"
        of_class = f"{100 * shares[row, column]:.3g} % of the class"
        points = counted(count, "point")
        label = f"{actual[row]}, answered {answers[column]}: {points}, {of_class}"
        # A few mistakes of many must be seen; ink must stay readable on all of them.
        return Cell(count, round(12 + 38 * float(np.sqrt(shares[row, column]))), kind, label)

    columns = range(len(answers))
    rows = tuple(tuple(cell(row, column) for column in columns) for row in range(len(actual)))
    return Matrix(actual, answers, rows)


def _confusions(counts: NDArray[np.int64], classes: Sequence[str]) -> PageTable:
    names = answer_names(counts.shape[1], classes)
    frequent = frequent_confusions(counts, _CONFUSIONS_SHOWN)
    return PageTable(
        "The most frequent mistakes",
        ("actual", "predicted", "points"),
        tuple((names[actual], names[said], f"{n:,}") for actual, said, n in frequent),
        texts=frozenset({1}),
    )


def mistake_panels(one: Evidence) -> list[Panel]:
    """Return pictures of the most confident wrong answers."""
    if one.points is None:
        return []
    mistakes = (r for r in one.answered if r.predicted not in (r.label, NO_CLASS))
    wrong = sorted(mistakes, key=_lead)
    if not wrong:
        return []
    classes, columns = one.reference.classes, columns_of(one)
    pictures = []
    for result in wrong[:_MISTAKES_SHOWN]:
        assert result.predicted is not None
        mistake = f"#{result.index} is {answer_name(classes, result.label)}, taken for "
        mistake += classes[result.predicted]
        raw = one.points.raw[one.points.place[result.index]].astype(np.float64)
        details = row_words(columns, raw)
        if one.reference.quantizer.saturations(raw[None]):
            details += " (clamped)" if details else "clamped"
        pictures.append(Picture(picture_of(one, raw, mistake), mistake, result.index, details))
    more = len(wrong) - len(pictures)
    trace = trace_of(one)
    caption = "" if trace is None else f"Each line is a channel: {trace.words}. "
    caption += f"{counted(more, 'more mistake')} not shown." if more else ""
    return [
        Panel(
            gallery=tuple(pictures),
            caption=caption.strip(),
            key=() if trace is None else trace.key,
            live="mistakes",
        )
    ]


def _lead(result: Result) -> int:
    """Return the true class's score minus the answer's, at most 0."""
    if result.scores is None or result.predicted is None or result.label == NO_CLASS:
        return 0
    return result.scores[result.label] - result.scores[result.predicted]
