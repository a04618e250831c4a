"""Results: a run's lines survive interruption, bad files are refused, figures add up."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_factory import random_model
from refusals import refused_by

from protonn_edge.chips.boards import load_board
from protonn_edge.data.naming import NO_CLASS, NO_CLASS_NAME, NO_LABEL
from protonn_edge.device.results import (
    Origin,
    RecordedRun,
    Result,
    ResultsFile,
    Spread,
    read_results,
    summarize,
)
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError

RESULTS = [
    Result(0, 1, 1, 16_000, mismatch=False, scores=(-3, 5), device="COM3"),
    Result(1, 0, 1, 18_000, mismatch=True, scores=(1, 2), device='rfc2217://a,"b"'),
    Result(5, 0, None, None),
]
ORIGIN = Origin("0123456789abcdef", "fedcba9876543210", 9)
RUN = "0123456789abcdef-fedcba9876543210-9"
CLASSES = ("rest", "walk")
COLUMNS = "index,label,predicted,cycles,mismatch,device,score_rest,score_walk,run\n"

i32 = st.integers(-(1 << 31), (1 << 31) - 1)
answers = st.builds(
    Result,
    st.integers(0, 10**6),
    st.sampled_from((NO_LABEL, 0, 1, 2, NO_CLASS)),
    st.sampled_from((0, 1, 2, NO_CLASS)),
    st.integers(0, (1 << 32) - 1),
    st.none() | st.booleans(),
    st.none() | st.tuples(i32, i32, i32),
    st.text("abc:/,\"'# ", max_size=9),
)


def write(path, results, **options):
    with ResultsFile(path, ORIGIN, CLASSES, **options) as file:
        for result in results:
            file.append(result)


# --- the file ------------------------------------------------------------------------------------


@given(answers, st.sampled_from(("yes", NO_CLASS_NAME)))
def test_any_result_round_trips_through_its_fields(result, name):
    classes = ("a,b", "no", name)
    assert Result.from_fields(result.to_fields(classes), classes) == result


@given(answers, st.text("ab,:\"' 1.-", max_size=9), st.text("ab,:\"' 1.-", max_size=9))
def test_any_answer_that_is_no_class_round_trips_as_text(result, true, predicted):
    best = None if result.scores is None else result.scores.index(max(result.scores))
    result = replace(result, label=NO_LABEL, predicted=best or 0, texts=(true, predicted))
    classes = ("a,b", "no", "yes")
    fields = result.to_fields(classes)
    assert fields[1:3] == [true, predicted]
    assert Result.from_fields(fields, classes, of_classes=False) == result


def test_a_file_of_numbers_has_the_true_and_the_predicted_ones(tmp_path):
    path = tmp_path / "results.csv"
    results = [
        Result(0, NO_LABEL, 0, 16_000, mismatch=False, scores=(-3,), texts=("7.25", "7.3")),
        Result(1, NO_LABEL, None, None, texts=("", "")),
    ]
    with ResultsFile(path, ORIGIN, ("level",), of_classes=False) as file:
        for result in results:
            file.append(result)
    assert path.read_text() == (
        "index,true,predicted,cycles,mismatch,device,score_level,run\n"
        f"0,7.25,7.3,16000,0,,-3,{RUN}\n"
        f"1,,,,,,,{RUN}\n"
    )
    assert read_results(path) == RecordedRun(ORIGIN, results, ("level",), of_classes=False)


def test_the_file_has_the_documented_columns(tmp_path):
    path = tmp_path / "results.csv"
    write(path, RESULTS)
    assert path.read_text() == (
        COLUMNS
        + f"0,walk,walk,16000,0,COM3,-3,5,{RUN}\n"
        + f'1,rest,walk,18000,1,"rfc2217://a,""b""",1,2,{RUN}\n'
        + f"5,rest,,,,,,,{RUN}\n"
    )
    assert read_results(path) == RecordedRun(ORIGIN, RESULTS, CLASSES)


def test_pandas_reads_it(tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas is missing; to run: pip install pandas")
    path = tmp_path / "results.csv"
    write(path, RESULTS[:2])
    table = pandas.read_csv(path)
    assert list(table.columns) == COLUMNS.strip().split(",")
    assert (table["predicted"] == table["label"]).tolist() == [True, False]


def test_the_origin_tells_models_points_and_labels_apart():
    integer_model = quantize(random_model())
    Q, y = np.zeros((4, 3), np.uint8), np.zeros(4, np.int64)
    origins = {
        Origin.of(integer_model, Q, y),
        Origin.of(integer_model, Q + np.uint8(1), y),
        Origin.of(integer_model, Q.reshape(3, 4), y),
        Origin.of(integer_model, Q, y + 1),
    }
    assert len(origins) == 4
    assert {origin.model for origin in origins} == {integer_model.model_sha256[:16]}


def test_a_result_is_in_the_file_as_soon_as_it_is_appended(tmp_path):
    path = tmp_path / "results.csv"
    with ResultsFile(path, ORIGIN, CLASSES) as file:
        for count, result in enumerate(RESULTS, 1):
            file.append(result)
            assert read_results(path).results == RESULTS[:count]


def test_a_torn_last_line_is_passed_over(tmp_path):
    path = tmp_path / "results.csv"
    write(path, RESULTS)
    whole = path.read_bytes()
    for kept in range(len(COLUMNS), len(whole)):
        path.write_bytes(whole[:kept])
        assert read_results(path).results == RESULTS[: whole[:kept].count(b"\n") - 1]


def test_a_torn_last_line_goes_when_the_file_begins_with_what_is_kept(tmp_path):
    path = tmp_path / "results.csv"
    write(path, RESULTS[:2])
    path.write_bytes(path.read_bytes()[:-5])
    kept = read_results(path).results
    assert kept == RESULTS[:1]
    write(path, RESULTS[2:], keep=kept)
    assert read_results(path).results == [RESULTS[0], RESULTS[2]]


def test_a_file_that_holds_something_else_is_left_alone(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("label,a\nx,1\n")
    with pytest.raises(InputError, match="not a results file; choose another file with -o"):
        ResultsFile(path, ORIGIN, CLASSES)
    assert path.read_text() == "label,a\nx,1\n"


def test_without_resume_a_file_starts_anew(tmp_path):
    path = tmp_path / "results.csv"
    write(path, RESULTS)
    write(path, RESULTS[:1])
    assert read_results(path).results == RESULTS[:1]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("what", "line 3: not a result: it has 1 fields, not 9"),
        ("", "it has 0 fields, not 9"),
        (f"1,rest,rest,1,0,,1,2,3,{RUN}", "it has 10 fields, not 9"),
        ('"1', "it has 1 fields"),
        (f"1,rest,rest,,0,,1,2,{RUN}", "both be given or both be empty"),
        (f"1,rest,rest,-1,0,,1,2,{RUN}", "'cycles' must be an integer from 0 to 4294967295"),
        (f"1,rest,run,1,0,,1,2,{RUN}", "'predicted' must be a class of the model, not 'run'"),
        (f"1,0,rest,1,0,,1,2,{RUN}", "'label' must be a class of the model, not '0'"),
        (f"1,rest,rest,1,2,,1,2,{RUN}", "'mismatch' must be an integer from 0 to 1"),
        (f"1,rest,rest,1,0,,1,,{RUN}", "'score' must be an integer"),
        (f"1,rest,rest,1,0,,1,3000000000,{RUN}", "'score' must be an integer"),
        (f"1,rest,rest,1,0,,1,\N{ARABIC-INDIC DIGIT ONE},{RUN}", "'score' must be an integer"),
        ("1,rest,rest,1,0,,1,2,", "'run' must be two hashes and a number"),
        (f"1,rest,rest,1,0,,1,2,{RUN}0", f"belongs to another run, {RUN}0"),
        (f"0,rest,rest,1,0,,1,2,{RUN}", "line 3: it repeats index 0"),
        (" " * 270_000, "line 3: longer than 262144 bytes"),
    ],
)
def test_a_file_that_is_not_results_is_refused_with_the_line(tmp_path, line, words):
    path = tmp_path / "results.csv"
    write(path, RESULTS[:1])
    with path.open("a") as stream:
        stream.write(line + "\n")
    with pytest.raises(InputError, match=words) as caught:
        read_results(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "start",
    [b"", COLUMNS[:-5].encode(), b"index,label\n", b"\xff\n\xff\n"],
)
def test_a_file_that_begins_with_something_else_is_refused(tmp_path, start):
    path = tmp_path / "results.csv"
    path.write_bytes(start)
    with refused_by("device.results"):
        read_results(path)


def test_a_file_that_cannot_be_read_or_written_is_bad_input(tmp_path):
    with refused_by("system.files"):
        read_results(tmp_path / "missing.csv")
    (tmp_path / "file").write_text("")
    with refused_by("system.files"):
        ResultsFile(tmp_path / "file" / "results.csv", ORIGIN, CLASSES)


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
        "unknown",
        "accuracy_of_classified",
        "others",
        "others_found",
        "cycles",
        "latency_ms",
        "energy_mj",
        "instructions",
    }
    for quantity in ("cycles", "latency_ms", "energy_mj"):
        assert set(fields[quantity]) == {"mean", "max", "min", "p99"}
    json.dumps(fields)


def test_no_results_have_no_summary():
    with refused_by("device.results"):
        summarize([], load_board("uno"))


@pytest.mark.parametrize(
    ("answers", "counted"),
    [
        # points without a label are neither right nor wrong
        (
            [(1, 1), (NO_LABEL, 0), (NO_LABEL, 1)],
            {"n": 3, "labelled": 1, "accuracy": 1.0, "accuracy_of_classified": 1.0},
        ),
        ([(0, None)], {"accuracy": 0.0, "lost": 1, "cycles": None, "energy_mj": None}),
        # unknown ones are counted apart
        (
            [(0, 0), (0, 1), (1, NO_CLASS), (1, 1), (1, None)],
            {"n": 5, "lost": 1, "unknown": 1, "accuracy": 2 / 5, "accuracy_of_classified": 2 / 3},
        ),
        ([(0, NO_CLASS)], {"unknown": 1, "accuracy_of_classified": None}),
        # points of no class are right if they are unknown
        (
            [(0, 0), (0, NO_CLASS), (NO_CLASS, NO_CLASS), (NO_CLASS, NO_CLASS), (NO_CLASS, 0)],
            {
                "accuracy": 3 / 5,
                "others": 3,
                "others_found": 2,
                "false_alarms": 1,
                "accuracy_of_classified": 1 / 2,
            },
        ),
    ],
)
def test_answers_are_counted(answers, counted):
    results = [
        Result(i, label, predicted, None if predicted is None else 100)
        for i, (label, predicted) in enumerate(answers)
    ]
    summary = summarize(results, load_board("uno"))
    assert {name: getattr(summary, name) for name in counted} == pytest.approx(counted)
