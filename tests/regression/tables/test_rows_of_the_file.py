"""Some rows were dropped, and answers to later rows had the numbers of other rows."""

from __future__ import annotations

from pathlib import Path

from chains import replace
from evidence_factory import evidence_of
from fake_device import HostileDevice
from model_factory import random_model
from simulated_run import N, honest_model, measure_on

from protonn_edge.device.results import read_results
from protonn_edge.report.answers import mistake_panels


def test_results_have_the_rows_of_the_file_also_of_a_resumed_run(tmp_path: Path) -> None:
    path, rows = tmp_path / "results.csv", [*range(1, N), N + 5]
    device = [HostileDevice(honest_model())]
    measure_on(device, results=path, rows=rows)
    assert sorted(each.index for each in read_results(path).results) == rows
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:8]))
    again, _ = measure_on([HostileDevice(honest_model())], results=path, rows=rows, resume=True)
    assert sorted(each.index for each in read_results(path).results) == rows
    assert again.summary.n == N
    assert again.summary.mismatches == 0


def test_a_report_shows_the_points_of_these_rows() -> None:
    one = evidence_of(random_model(), 30)
    assert one.points is not None
    later = replace(
        one,
        results=tuple(replace(each, index=each.index + 7) for each in one.results),
        points=replace(one.points, rows=range(7, 37)),
    )
    before, after = (mistake_panels(each)[0].gallery for each in (one, later))
    assert [each.index + 7 for each in before] == [each.index for each in after]
