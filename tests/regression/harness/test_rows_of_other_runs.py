"""Rows in a results file that cannot be of its run: they are refused before the run goes on.

They were believed until all points were measured, and then a bug; and ten million rows for fifty
points were read to the end.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from chains import replace
from fake_device import HostileDevice
from refusals import refused_by
from simulated_run import N, honest_model, measure_on, subject

from protonn_edge.data.naming import NO_CLASS
from protonn_edge.device.results import Origin, Result, ResultsFile, read_results
from protonn_edge.system.errors import InputError

DONE = 8


def resumed(path: Path, change: Callable[[Result], Result], n: int = DONE) -> tuple[str, int]:
    """Resume a run of which a row is another one; return the error, and the number of requests."""
    reference, _, X, y = subject()
    Q = reference.quantize(X)
    scores = reference.scores(Q)
    rows = [
        Result(i, int(y[i]), int(scores[i].argmax()), 3000, False, tuple(scores[i].tolist()), "x")
        for i in range(n)
    ]
    rows[-1] = change(rows[-1])
    with ResultsFile(path, Origin.of(reference, Q, y), reference.classes, keep=rows):
        pass
    device = HostileDevice(honest_model())
    with pytest.raises(InputError) as caught:
        measure_on([device], results=path, resume=True)
    return str(caught.value), len(device.requests)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"label": NO_CLASS}, "index 7: a class or scores that are impossible for a model of 4"),
        (
            {"predicted": NO_CLASS},
            "index 7: a class or scores that are impossible for a model of 4",
        ),
        ({"label": 2}, "index 7: label 'class 2', but the point has label 'class 3'"),
        ({"predicted": 2}, "index 7: an answer that does not follow from its scores; delete"),
        ({"index": N}, f"line 9: index {N}, but this run's indices are 0 to {N - 1}"),
        ({"index": 3}, "line 9: it repeats index 3"),
    ],
)
def test_a_row_that_does_not_belong_is_refused_before_the_run(
    tmp_path: Path, change: dict[str, int], words: str
) -> None:
    path = tmp_path / "results.csv"
    error, requests = resumed(path, lambda row: replace(row, **change))
    assert words in error
    assert requests <= 1  # HELLO


def test_reading_ends_at_the_first_row_too_many(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    resumed(path, lambda row: replace(row, label=2), n=N)
    run = path.read_text().rstrip().rpartition(",")[2]
    path.write_text(path.read_text() + f"{N},class 0,class 0,1,0,x,0,0,0,0,{run}\nno result\n")
    with refused_by("device.results"):
        read_results(path)


def test_a_row_with_more_points_is_of_another_run(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    resumed(path, lambda row: replace(row, label=2))
    path.write_text(path.read_text().replace(f"-{N}\n", "-9000000\n"))
    with refused_by("device.results"):
        measure_on([HostileDevice(honest_model())], results=path, resume=True)
