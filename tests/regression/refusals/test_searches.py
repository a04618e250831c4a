"""A damaged file of a search, or of its front, is repaired or refused when it is read."""

from __future__ import annotations

import json
import math

import pytest
from refusals import refused_by

from protonn_edge.errors import InputError
from protonn_edge.report.front import read_front
from protonn_edge.tuning.limits import Figures
from protonn_edge.tuning.space import SearchSpace
from protonn_edge.tuning.store import Record, SearchFile

SPACE = SearchSpace(n_points=200, n_inputs=64, n_classes=10, parameter_bytes=6_000)
FIGURES = Figures("columns", 3_000, 80, 12_345.5)


def record(number, **changes):
    settings = SPACE.suggest(number, 0, [])
    changes = {"accuracies": (0.9, 0.8), **changes}
    return Record(number, settings, "complete", FIGURES, (0.9, 0.8), {0.25: 0.5}, 3.5, **changes)


@pytest.fixture
def written(tmp_path):
    """Return the lines of a search's file with two trials, and what reads such lines again."""
    path = tmp_path / "search.jsonl"

    def opened():
        return SearchFile(path, {"seed": 0}, SPACE.distributions)

    with opened() as file:
        file.add(record(0))
        file.add(record(1))
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]

    def read(changed):
        path.write_text("".join(json.dumps(line) + "\n" for line in changed), "utf-8")
        with opened() as file:
            return file.records()

    assert sorted(read(lines)) == [0, 1]
    return lines, read


def trial_in(lines):
    return next(
        line for line in lines if "user_attrs" in json.dumps(line) and "outcome" in str(line)
    )


WRONG = {
    "number": [None, "1", 1.5, -1, 10**400, True],
    "outcome": ["great", None, ["complete"], 1],
    "figures": [None, {}, [], "x", {"kernel": "columns"}],
    "scores": [None, [], [0.9], [0.9, "x"], [0.9, math.inf], [0.9, 1e308], {"a": 1}, 0.5],
    "accuracies": [None, [], [0.9], [0.9, "x"], [0.9, math.inf], [0.9, 1e308], {"a": 1}, 0.5],
    "rungs": [None, [1], [[1]], [[0.5, math.nan]], [["a", 0.5]], {"a": 1}],
    "seconds": [None, "1", math.inf, -1, 10**400],
    "reason": [None, 1, "x" * 5_000],
    "excess": [None, [], {"--max-flash": "x"}, {"--max-flash": math.nan}, {"odd": 2}],
    "is_default": [None, 0, "yes"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG.items() for value in values]
)
def test_a_field_of_another_type_or_range_is_refused(written, name, value):
    lines, read = written
    attributes = trial_in(lines)["user_attrs"]
    assert name in attributes
    attributes[name] = value
    with pytest.raises(InputError, match=r"damaged trial after 0|is not a search file"):
        read(lines)


@pytest.mark.parametrize("name", WRONG)
def test_a_field_that_is_missing_is_refused(written, name):
    lines, read = written
    del trial_in(lines)["user_attrs"][name]
    with refused_by("tuning.store"):
        read(lines)


@pytest.mark.parametrize(
    ("name", "value"),
    [("kernel", "quick"), ("flash_bytes", math.inf), ("mean_cycles", None)],
)
def test_figures_out_of_range_are_refused(written, name, value):
    lines, read = written
    trial_in(lines)["user_attrs"]["figures"][name] = value
    with refused_by("tuning.store"):
        read(lines)


def test_trials_of_different_numbers_of_folds_are_refused(written):
    lines, read = written
    for name in ("scores", "accuracies"):
        trial_in(lines)["user_attrs"][name] = [0.9, 0.8, 0.7]
    with refused_by("tuning.store"):
        read(lines)


@pytest.mark.parametrize("known", [[], "x", 5, True])
def test_a_search_without_its_identity_is_refused(written, known):
    lines, read = written
    (line,) = (line for line in lines if "search" in str(line.get("user_attr")))
    line["user_attr"]["search"] = known
    with refused_by("tuning.store"):
        read(lines)


GOOD = {"accuracy": 0.9, "flash_bytes": 900, "mean_ms": 1.5}


@pytest.mark.parametrize(
    "wrong",
    [
        {"flash_bytes": 10**400},
        {"mean_ms": 10**400},
        {"accuracy": math.nan},
        {"mean_ms": math.inf},
        {"mean_ms": [1]},
        {"accuracy": None},
    ],
)
def test_a_front_of_impossible_numbers_is_refused(tmp_path, wrong):
    path = tmp_path / "front.json"
    front = {"accuracy_by_flash": [GOOD | wrong], "accuracy_by_cycles": [GOOD]}
    path.write_text(json.dumps(front), encoding="utf-8")
    with pytest.raises(InputError, match="is not the output of 'tune --front FILE.json'"):
        read_front(path)
    path.write_text(json.dumps(front | {"accuracy_by_flash": [GOOD]}), encoding="utf-8")
    assert read_front(path).by_flash[0].flash_bytes == 900


@pytest.mark.parametrize("damaged", [b"", b"\xff", b'{"op_code":4,"values":n', b"[" * 100_000])
@pytest.mark.parametrize("torn", [b"", b'{"op'])
def test_a_search_goes_on_after_a_last_line_that_is_damaged(written, tmp_path, damaged, torn):
    path = tmp_path / "search.jsonl"
    path.write_bytes(path.read_bytes() + damaged + b"\n" + torn)
    with SearchFile(path, {"seed": 0}, SPACE.distributions) as file:
        file.add(record(2))
    with SearchFile(path, {"seed": 0}, SPACE.distributions) as file:
        assert sorted(file.records()) == [0, 1, 2]
