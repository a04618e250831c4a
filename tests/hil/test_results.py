"""Results: a run's lines survive interruption, bad files are refused, figures add up."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protonn_edge.boards import load_board
from protonn_edge.errors import InputError
from protonn_edge.hil.results import Result, ResultsFile, Spread, read_results, summarize

RESULTS = [
    Result(0, 1, 1, 16_000, mismatch=False, scores=(-3, 5)),
    Result(1, 0, 1, 18_000, mismatch=True, scores=(1, 2)),
    Result(5, 0, None, None),
]

i32 = st.integers(-(1 << 31), (1 << 31) - 1)
answers = st.builds(
    Result,
    st.integers(0, 10**6),
    st.integers(0, 254),
    st.integers(0, 254),
    st.integers(0, (1 << 32) - 1),
    st.none() | st.booleans(),
    st.none() | st.lists(i32, min_size=1, max_size=255).map(tuple),
)


def write(path, results, **options):
    with ResultsFile(path, **options) as file:
        for result in results:
            file.append(result)


# --- the file ------------------------------------------------------------------------------------


@given(answers)
def test_any_result_round_trips_through_its_line(result):
    assert Result.from_json(result.to_json()) == result


def test_a_line_has_the_documented_fields():
    assert json.loads(RESULTS[0].to_json()) == {
        "index": 0,
        "label": 1,
        "predicted": 1,
        "cycles": 16_000,
        "mismatch": False,
        "scores": [-3, 5],
    }
    assert json.loads(RESULTS[2].to_json()) == {
        "index": 5,
        "label": 0,
        "predicted": None,
        "cycles": None,
    }


def test_a_result_is_in_the_file_as_soon_as_it_is_appended(tmp_path):
    path = tmp_path / "results.jsonl"
    with ResultsFile(path) as file:
        for count, result in enumerate(RESULTS, 1):
            file.append(result)
            assert read_results(path) == RESULTS[:count]


def test_a_torn_last_line_is_passed_over(tmp_path):
    path = tmp_path / "results.jsonl"
    write(path, RESULTS)
    whole = path.read_bytes()
    for kept in range(len(whole)):
        path.write_bytes(whole[:kept])
        assert read_results(path) == RESULTS[: whole[:kept].count(b"\n")]


def test_a_torn_last_line_goes_when_the_file_begins_with_what_is_kept(tmp_path):
    path = tmp_path / "results.jsonl"
    write(path, RESULTS[:2])
    path.write_bytes(path.read_bytes()[:-5])
    kept = read_results(path)
    assert kept == RESULTS[:1]
    with ResultsFile(path, keep=kept) as file:
        file.append(RESULTS[2])
    assert read_results(path) == [RESULTS[0], RESULTS[2]]


def test_a_file_that_holds_something_else_is_left_alone(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("label,a\nx,1\n")
    with pytest.raises(InputError, match="not a results file .*line 1 is not a result"):
        ResultsFile(path)
    assert path.read_text() == "label,a\nx,1\n"


def test_without_resume_a_file_starts_anew(tmp_path):
    path = tmp_path / "results.jsonl"
    write(path, RESULTS)
    write(path, RESULTS[:1])
    assert read_results(path) == RESULTS[:1]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("what", "line 2 is not a result: Expecting value"),
        ("[1]", "not a JSON object"),
        ("[" * 60_000, "nested too deeply"),
        ('{"index":1,"label":0,"predicted":0}', "'cycles' must be an integer from 0 to 4294967295"),
        ('{"index":1,"label":0,"predicted":0,"cycles":-1}', "'cycles' must be an integer"),
        ('{"index":1,"label":0,"predicted":255,"cycles":1}', "'predicted' must be an integer"),
        ('{"index":1,"label":0,"predicted":true,"cycles":1}', "'predicted' must be an integer"),
        ('{"index":1,"label":0,"predicted":null,"cycles":1}', "both be there or both be null"),
        ('{"index":1,"label":0.5,"predicted":0,"cycles":1}', "'label' must be an integer"),
        ('{"index":1,"label":0,"predicted":0,"cycles":1,"scores":1}', "'scores' must be a list"),
        ('{"index":1,"label":0,"predicted":0,"cycles":1,"scores":[1.5]}', "integers of 32 bits"),
        ('{"index":1,"label":0,"predicted":0,"cycles":1,"mismatch":1}', "must be true or false"),
        ('{"index":1,"label":0,"predicted":0,"cycles":1,"x":1}', "field 'x' is not known"),
        ('{"index":0,"label":0,"predicted":0,"cycles":1}', "line 2 repeats index 0"),
        ("\xff", "line 2 is not a result"),
        (" " * 70_000, "line 2 is longer than 65536 bytes"),
    ],
)
def test_a_file_that_is_not_results_is_refused_with_the_line(tmp_path, line, words):
    path = tmp_path / "results.jsonl"
    path.write_text(f"{RESULTS[0].to_json()}\n{line}\n", encoding="latin-1")
    with pytest.raises(InputError, match=words) as caught:
        read_results(path)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_or_written_is_bad_input(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        read_results(tmp_path / "missing.jsonl")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot write .*; choose another place"):
        ResultsFile(tmp_path / "file" / "results.jsonl")


# --- the summary ---------------------------------------------------------------------------------


def test_figures_add_up():
    board = load_board("uno")
    summary = summarize(RESULTS, board)
    assert summary.accuracy == pytest.approx(1 / 3)  # a lost point is not right
    assert (summary.n, summary.mismatches, summary.lost) == (3, 1, 1)
    assert summary.cycles == Spread(mean=17_000, max=18_000, min=16_000, p99=18_000)
    assert summary.latency_ms is not None
    assert summary.latency_ms.max == pytest.approx(18_000 / 16_000)
    assert summary.energy_mj is not None
    assert summary.energy_mj.mean == pytest.approx(0.2455 * 17_000 / 16_000)


def test_a_hundredth_may_exceed_the_99th_percentile_and_no_more():
    cycles = np.random.default_rng(0).permutation(1000) + 1
    results = [Result(i, 0, 0, int(count)) for i, count in enumerate(cycles)]
    spread = summarize(results, load_board("uno")).cycles
    assert spread is not None
    assert spread.p99 == 990


def test_the_json_has_the_names_that_all_commands_use():
    fields = summarize(RESULTS, load_board("uno")).to_json()
    assert set(fields) == {
        "accuracy",
        "n",
        "mismatches",
        "lost",
        "cycles",
        "latency_ms",
        "energy_mj",
    }
    for quantity in ("cycles", "latency_ms", "energy_mj"):
        assert set(fields[quantity]) == {"mean", "max", "min", "p99"}
    json.dumps(fields)


def test_a_run_without_an_answer_has_no_cycles():
    summary = summarize([Result(0, 0, None, None)], load_board("uno"))
    assert (summary.accuracy, summary.lost, summary.cycles, summary.energy_mj) == (0, 1, None, None)


def test_no_results_have_no_summary():
    with pytest.raises(InputError, match="there are 0 results"):
        summarize([], load_board("uno"))
