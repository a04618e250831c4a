"""Results files, as ``report`` and ``hil --resume`` read them."""

from __future__ import annotations

import csv
import functools
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
from evidence_factory import evidence_of, hostile_model
from laws.fuzz.mutation import encoded, mutated_bytes, mutated_json, mutated_text, pick
from laws.fuzz.sentences import REFUSALS, check_refusal

from protonn_edge.chips.boards import load_board
from protonn_edge.device.results import (
    Origin,
    RecordedRun,
    Result,
    ResultsFile,
    read_results,
    summarize,
)
from protonn_edge.learn.evaluation import answering
from protonn_edge.report import gathering
from protonn_edge.report.content import PageScript
from protonn_edge.report.evidence import Evidence
from protonn_edge.report.gathering import gather
from protonn_edge.report.page import render_page

BRIEF_CASES = 20

_PAGES = 0.1  # of the results that are accepted
_RECORDS = ({}, {"settings": {"image_shape": [3, 4]}}, {"settings": {"image_shape": [2, 6]}})
_NOT_A_NUMBER = re.compile(r"(?<![\w.])(nan|inf)(?![\w])")


def run_case(seed: int, folder: Path) -> None:
    """Read changed results; sum up, go on with and report what was accepted."""
    rng = np.random.default_rng(seed)
    path = folder / "results.csv"
    path.write_bytes(_changed_file(rng))
    try:
        recorded = read_results(path)
    except REFUSALS as error:
        check_refusal(error)
        return
    _check_again(recorded, path, folder)
    _check_resumed(recorded, path)
    if rng.random() < _PAGES:
        _check_page(rng, path)


def _changed_file(rng: np.random.Generator) -> bytes:
    text = pick(rng, _files())
    chance = rng.random()
    if chance < 0.1:
        return mutated_bytes(rng, text.encode())
    return encoded(rng, text if chance < 0.15 else mutated_text(rng, text))


@functools.cache
def _evidence() -> Evidence:
    return evidence_of(hostile_model(), 24)


@functools.cache
def _files() -> tuple[str, ...]:
    """Return results of a run: whole ones, with lost points, without scores."""
    results = _evidence().results
    lost = [Result(each.index, each.label, None, None) for each in results[:3]]
    plain = [replace(each, scores=None, mismatch=None) for each in results]
    runs = (results[:1], results, [*lost, *results[3:]], plain)
    return tuple(_text(_evidence().origin, run) for run in runs)


def _text(origin: Origin, results: object) -> str:
    names = ["index", "label", "predicted", "cycles", "mismatch", "device"]
    classes = _evidence().reference.classes
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow([*names, *(f"score_{name}" for name in classes), "run"])
    lines.writerows([*each.to_fields(classes), str(origin)] for each in results)
    return text.getvalue()


def _check_again(recorded: RecordedRun, path: Path, folder: Path) -> None:
    """Write what was read; it must be the same results."""
    again = folder / "again.csv"
    with ResultsFile(
        again,
        recorded.origin,
        recorded.classes,
        keep=recorded.results,
        of_classes=recorded.of_classes,
    ):
        pass
    assert read_results(again) == recorded, "accepted results change when they are written"
    if recorded.results:
        json.dumps(summarize(recorded.results, load_board("uno")).to_json(), allow_nan=False)


def _check_resumed(recorded: RecordedRun, path: Path) -> None:
    made = _evidence()
    labels = {each.index: each.label for each in made.results}
    try:
        earlier = answering.earlier_results(path, made.origin, made.reference, labels)
    except REFUSALS as error:
        check_refusal(error)
        return
    assert {one.index for one in earlier} <= {one.index for one in recorded.results}


def _check_page(rng: np.random.Generator, path: Path) -> None:
    """Render the page, with the firmware of another run: no compiler is needed for it."""
    made = _evidence()
    record = mutated_json(rng, pick(rng, _RECORDS))
    try:
        model = replace(made.model, record=record)
        with patch.object(gathering, "_firmware_of", return_value=made.firmware):
            evidence = gather(path, [model], [], made.board)
    except REFUSALS as error:
        check_refusal(error)
        return
    page = render_page(evidence, PageScript(None, "fuzzing"))
    assert "<script>alert" not in page, "a name in the page is not escaped"
    text = re.sub(r"<[^>]*>", " ", page)
    for device in {each.device for each in evidence.results}:  # any word names a port
        text = text.replace(device, "")
    found = _NOT_A_NUMBER.search(text)
    assert found is None, f"the page says {text[max(0, found.start() - 30) : found.end() + 30]!r}"
