"""Figures on a terminal: aligned, in 80 columns, and plain where nobody looks."""

from __future__ import annotations

import io

import numpy as np
import pytest
from evidence_factory import evidence_of, hostile_model
from rich.console import Console

from protonn_edge.learn.evaluation.accuracy import Quality
from protonn_edge.learn.evaluation.figures import accuracy_figure
from protonn_edge.learn.evaluation.terminal import (
    class_parts,
    confusion_parts,
    fact_table,
)
from protonn_edge.report.evidence import evidence_facts


def printed(*parts: object) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=80, highlight=False)
    for part in parts:
        console.print(part)
    return stream.getvalue()


def matrix(n: int) -> np.ndarray:
    counts = np.diag(np.full(n, 180))
    counts[0, 1], counts[n - 1, 0] = 3, 7
    return counts


@pytest.mark.parametrize("n", [2, 10, 14])
def test_a_matrix_that_fits_is_shown_whole(n):
    sentence, table = confusion_parts(matrix(n), [str(k) for k in range(n)])
    assert "rows: actual classes" in sentence
    text = printed(table)
    assert text.count("180") == n
    assert "\u2026" not in text


def test_a_matrix_that_does_not_fit_gives_way_to_what_is_confused_most():
    sentence, table = confusion_parts(matrix(26), [f"letter {k}" for k in range(26)])
    assert sentence == "most frequent confusions:"
    first, second = [line for line in printed(table).splitlines() if "letter" in line]
    assert first.split() == ["letter", "25", "letter", "0", "7"]
    assert second.split() == ["letter", "0", "letter", "1", "3"]


def test_a_report_fits_80_columns_and_names_are_no_markup():
    one = evidence_of(hostile_model())
    text = printed(
        fact_table(evidence_facts(one)),
        *class_parts(Quality.of(one.confusion, ["[red]x[/red]", *one.reference.classes[1:]])),
    )
    assert max(map(len, text.splitlines())) <= 80
    assert "[red]x" in text
    assert "\x1b" not in text
    for name in ("accuracy", "95 % confidence", "latency", "bound", "flash", "inputs clamped"):
        assert name in text


def test_one_point_is_no_points():
    assert accuracy_figure(1.0, 1).text.startswith("100.00 % of 1 point (95 % confidence: ")
