"""The role of each column, the evidence for it, and the options that give it another role."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, run_json, succeed

from protonn_edge.datasets import TableOptions, load_dataset
from protonn_edge.datasets.dataset import Dataset
from protonn_edge.datasets.recorded import Recording, read_recording
from protonn_edge.errors import InputError

N = 60
RNG = np.random.default_rng(0)
NOISE = RNG.normal(0, 9, (N, 2)).round(2)
CLASSES = ["ab"[row // 30] for row in range(N)]
MIXED = ["ab"[row * 7 % 5 % 2] for row in range(N)]


def write(
    path: Path,
    columns: dict[str, Sequence[object]],
    labels: Sequence[str] = CLASSES,
) -> Path:
    """Write columns before two of noise and the label."""
    names = [*columns, "x", "y", "label"]
    rows = zip(*columns.values(), *NOISE.T.tolist(), labels, strict=True)
    lines = [",".join(map(str, row)) for row in rows]
    path.write_text("\n".join([",".join(names), *lines]) + "\n", "utf-8")
    return path


def left_out(data: Dataset) -> list[str]:
    return [each.text for each in data.notices if each.kind == "left_out"]


COUNTS: dict[str, tuple[str, Sequence[object]]] = {
    "rises": ("frame", range(N)),
    "in steps": ("ticks", range(7, 7 + 20 * N, 20)),
    "falls": ("battery", [f"{100 - row / 10:.1f}" for row in range(N)]),
    "begins again": ("uptime", [row % 30 * 5 for row in range(N)]),
    "is shuffled": ("code", RNG.permutation(N).tolist()),
    "jitters": ("elapsed", [f"{row + 0.1 * (row * 7 % 5):.2f}" for row in range(N)]),
}


@pytest.mark.parametrize("case", COUNTS)
@pytest.mark.parametrize("place", ["first", "last"])
def test_what_counts_is_left_out_unless_kept(tmp_path: Path, case: str, place: str) -> None:
    name, values = COUNTS[case]
    path = write(tmp_path / "t.csv", {name: values})
    if place == "last":  # before the label
        rows = [line.split(",") for line in path.read_text().splitlines()]
        path.write_text("\n".join(",".join([x, y, c, label]) for c, x, y, label in rows) + "\n")
    dataset = load_dataset(path)
    assert dataset.feature_names == ("x", "y")
    (text,) = left_out(dataset)
    assert f"column '{name}'" in text
    assert text.endswith(f"--read keep={name} uses it")
    kept = load_dataset(path, keep=name)
    assert set(kept.feature_names) == {name, "x", "y"}
    assert not left_out(kept)
    assert read_recording(path, TableOptions(keep=(name,))).samples.shape == (N, 3)


ASKED: dict[str, tuple[str, Sequence[object], str]] = {
    "identifiers": (
        "code",
        RNG.choice(10**7, N, replace=False).tolist(),
        "has a different whole number in each row, as an identifier does",
    ),
    "a sorted measurement": (
        "level",
        np.sort(RNG.normal(0, 9, N)).round(2).tolist(),
        "rises from row to row, as a time or counter does",
    ),
    "a session": (
        "q7",
        [row // 15 for row in range(N)],
        "changes only 3 times in 60 rows, as a session does",
    ),
    "a copy of the label": (
        "grade",
        [5 + (label == "b") for label in CLASSES],
        "has one value for each class, so it may be a copy of the label",
    ),
}


@pytest.mark.parametrize("case", ASKED)
def test_what_may_be_a_measurement_is_asked_about(tmp_path: Path, case: str) -> None:
    name, values, evidence = ASKED[case]
    path = write(tmp_path / "t.csv", {name: values})
    ways = f"leave it out with --read drop={name}, or use it with --read keep={name}"
    with pytest.raises(InputError, match=f"column '{name}' {evidence}; {ways}"):
        load_dataset(path)
    assert load_dataset(path, drop=name).feature_names == ("x", "y")
    assert load_dataset(path, keep=name).feature_names == (name, "x", "y")
    with pytest.raises(
        InputError, match=r", or name it with --read session=NAME or time=NAME if it is one"
    ):
        read_recording(path)


@pytest.mark.parametrize("case", ASKED)
def test_data_shows_the_question_the_evidence_and_the_options(tmp_path: Path, case: str) -> None:
    name, values, evidence = ASKED[case]
    path = write(tmp_path / "t.csv", {name: values})
    record = run_json("data", path)
    (column,) = (each for each in record["columns"] if each["name"] == name)
    assert (column["role"], column["evidence"]) == ("in doubt", f"it {evidence}")
    (notice,) = (each for each in record["notices"] if each["kind"] == "doubt")
    assert notice["columns"] == [name]
    assert f"--read drop={name}, or use it with --read keep={name}" in notice["text"]
    kept = run_json("data", path, "--read", f"keep={name}")
    roles = {each["name"]: each["role"] for each in kept["columns"]}
    assert roles == {name: "feature", "x": "feature", "y": "feature", "label": "label"}


def test_data_shows_what_is_left_out_with_its_evidence(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", {"uptime": range(0, 20 * N, 20)})
    column = run_json("data", path)["columns"][0]
    assert (column["role"], column["evidence"]) == (
        "time",
        "it rises by about 20 from row to row, as a time or counter does",
    )
    shown = succeed("data", path)
    assert "--read keep=uptime uses it" in shown.stderr
    assert any(line.split()[:2] == ["uptime", "time"] for line in shown.stdout.splitlines())


def test_several_columns_in_doubt_for_one_reason_are_one_question(tmp_path: Path) -> None:
    level = np.sort(NOISE[:, 0])
    path = write(tmp_path / "t.csv", {"p 1": level.tolist(), "p2": (2 * level).tolist()})
    with pytest.raises(InputError, match=r"'p 1' rises .* \(the same holds for 'p2'\)") as asked:
        load_dataset(path)
    assert "--read drop='p 1',p2, or use it with --read keep='p 1',p2" in str(asked.value)
    assert load_dataset(path, keep=["p 1", "p2"]).n_features == 4


def test_usual_names_decide_where_numbers_do_not(tmp_path: Path) -> None:
    columns = {
        "time": np.sort(NOISE[:, 0]).tolist(),
        "session": [row // 15 for row in range(N)],
        "device_id": [row * 7 % 3 for row in range(N)],
    }
    dataset = load_dataset(write(tmp_path / "t.csv", columns))
    assert dataset.feature_names == ("x", "y")
    assert [text.split("'")[1] for text in left_out(dataset)] == [*columns]


@pytest.mark.parametrize("name", ["value", "temperature", "id", "time", "session"])
def test_measurements_stay_whatever_they_are_called(tmp_path: Path, name: str) -> None:
    values = np.random.default_rng(5).normal(20, 3, N).round(2).tolist()
    path = write(tmp_path / "t.csv", {name: values}, MIXED)
    assert load_dataset(path).feature_names == (name, "x", "y")


def test_a_text_copy_of_the_label_is_no_session(tmp_path: Path) -> None:
    words = {"grade": ["no" if label == "a" else "yes" for label in CLASSES]}
    recording = read_recording(write(tmp_path / "t.csv", words))
    assert recording.channels == ("x", "y")
    assert recording.groups is None
    people = {"who": [("al", "bo")[row // 15 % 2] for row in range(N)]}
    groups = read_recording(write(tmp_path / "t.csv", people)).groups
    assert groups is not None
    assert set(groups) == {"al", "bo"}


# --- the time of a recording ----------------------------------------------------------------------


def rate_and_seams(recording: Recording) -> tuple[float | None, list[int]]:
    return recording.rate, np.flatnonzero(recording.seams).tolist()


TIMES = [20 * row + 500 * (row >= 40) for row in range(N)]


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("name", ["battery", "frame"])
def test_a_counter_is_not_taken_for_the_time(tmp_path: Path, name: str, first: bool) -> None:
    counts = [f"{100 - row / 10:.1f}" if name == "battery" else row for row in range(N)]
    columns = {name: counts, "time": TIMES} if first else {"time": TIMES, name: counts}
    recording = read_recording(write(tmp_path / "t.csv", columns))
    assert recording.channels == ("x", "y")
    assert rate_and_seams(recording) == (50, [40])


def test_what_falls_without_a_time_leaves_no_gaps(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", {"battery": COUNTS["falls"][1]})
    assert rate_and_seams(read_recording(path)) == (None, [])


def test_an_option_names_the_time_and_the_session(tmp_path: Path) -> None:
    columns = {"frame": range(N), "when": TIMES, "q7": [row // 15 for row in range(N)]}
    path = write(tmp_path / "t.csv", columns)
    recording = read_recording(path, TableOptions(time="when", session="q7"))
    assert rate_and_seams(recording) == (50, [15, 30, 40, 45])
    assert recording.groups is not None
    assert set(recording.groups) == {"0", "1", "2", "3"}


def test_numbers_that_change_seldom_may_be_the_session(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", {"q7": [row // 15 for row in range(N)]})
    words = ("windows", path, "-o", tmp_path / "w.npz", "--window", 10)
    assert "or name it with --read session=NAME" in refusal(run(*words))
    assert "groups" in succeed(*words, "--read", "session=q7").stdout
