"""Without a test part, training holds points out, and commands find them again in the file."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import assert_one_sentence, run, run_json, succeed

from protonn_edge.data.points.division import digest_of
from protonn_edge.model.file import load_model, save_model

LINEAR = ("--classifier", "linear")


def kinds_of(record: dict[str, object]) -> set[str]:
    notices = record["notices"]
    assert isinstance(notices, list)
    return {each["kind"] for each in notices}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Give 80 rows with a column of persons and a text, and classes that overlap."""
    rng, path = np.random.default_rng(0), tmp_path / "t.csv"
    lines = ["when;person;p;q;state"]
    for row in range(80):
        values = ";".join(f"{value:.3f}" for value in rng.normal(row % 2, 0.6, 2))
        lines.append(f"{row} May;p{row // 10};{values};{'ab'[row % 2]}")
    path.write_text("\n".join(lines).replace(".", ",") + "\n")
    return path


def test_the_accuracy_on_a_fifth_is_the_headline_and_found_again(tmp_path: Path) -> None:
    data, model = tmp_path / "t.csv", tmp_path / "m.npz"
    rows = [f"{row % 7},{row * 37 % 11},{'ab'[row % 2]}" for row in range(100)]
    data.write_text("\n".join(["x,y,label", *rows]) + "\n")
    done = succeed("train", data, "-o", model, *LINEAR)
    trained = run_json("train", data, "-o", model, *LINEAR)
    assert (trained["n"], trained["tested"]) == (20, "held-out points")
    low, high = trained["quality"]["accuracy_interval"]
    share, learned = 100 * trained["accuracy"], 100 * trained["train_accuracy"]
    headline = f"accuracy {share:.2f} % on 20 held-out points (95 % confidence: {100 * low:.2f} to"
    assert headline + f" {100 * high:.2f} %)" in done.stdout
    assert f", {learned:.2f} % in training; " in done.stdout
    copy = tmp_path / "copy.csv"
    shutil.copy(data, copy)
    for path in (data, copy):  # the digest counts, not the name
        predicted = run_json("predict", model, path)
        assert (predicted["n"], predicted["accuracy"]) == (20, trained["accuracy"])
        assert kinds_of(predicted) == {"held_out"}
    copy.write_text(data.read_text() + "1,1,a\n")
    assert run_json("predict", model, copy)["n"] == 101


def test_whole_groups_of_the_file_are_held_out(table: Path) -> None:
    model = table.with_name("m.npz")
    trained = run_json("train", table, "-o", model, *LINEAR)
    (notice,) = (each for each in trained["notices"] if each["kind"] == "held_out")
    assert trained["n"] == 20
    assert notice["text"].startswith("groups held out for testing: 'p")
    assert load_model(model).record["file"] == {
        "sha256": digest_of(table),
        "share": 0.2,
        "seed": 0,
        "groups": "person",
        "label": "state",
        "check": load_model(model).record["file"]["check"],
        "read": [],
        "held": [],
    }
    out = table.with_name("out.csv")
    succeed("predict", model, table, "-o", out)
    people = {line.split(";")[1] for line in out.read_text().splitlines()[1:]}
    assert len(people) == 2
    assert all(f"'{name}'" in notice["text"] for name in people)


def test_an_array_of_groups_and_a_file_of_groups_are_found_again(tmp_path: Path) -> None:
    rng, data, model = np.random.default_rng(0), tmp_path / "d.npz", tmp_path / "m.npz"
    y, people = np.arange(90) % 3, np.arange(90) // 9
    np.savez(data, X=rng.normal(y[:, None], 0.5, (90, 4)), y=y, groups=people)
    trained = run_json("train", data, "-o", model, *LINEAR)
    assert (trained["n"], load_model(model).record["file"]["groups"]) == (18, "groups")
    predicted = run_json("predict", model, data)
    assert (predicted["n"], predicted["accuracy"]) == (18, trained["accuracy"])
    lines = tmp_path / "days.txt"
    lines.write_text("".join(f"day {row // 30}\n" for row in range(90)))
    options = ("--groups", lines, "--seed", 3)
    assert run_json("train", data, "-o", model, *LINEAR, *options)["n"] == 30
    assert load_model(model).record["file"]["groups"] == "days.txt"
    assert run_json("predict", model, data)["n"] == 30
    lines.write_text("".join(f"day {row % 3}\n" for row in range(90)))
    refused = run("predict", model, data)
    assert_one_sentence(refused, "but with other options, which give other rows, labels or groups")


def test_overlapping_windows_of_noise_are_not_learned(tmp_path: Path) -> None:
    """Windows of one recording in both parts gave 100 % on noise."""
    data, lines = tmp_path / "w.npz", tmp_path / "rows.txt"
    words = ("train", data, "-o", tmp_path / "m.npz", "--features", "mean,deviation")
    words = (*words, "--classifier", "forest")
    honest = list[float]()
    for rng in map(np.random.default_rng, range(4)):  # a few recordings agree by chance
        signals = rng.normal(size=(24, 48, 3)) + rng.normal(size=(24, 1, 3))
        windows = np.lib.stride_tricks.sliding_window_view(signals, 32, axis=1)[:, ::2]
        X = windows.transpose(0, 1, 3, 2).reshape(-1, 32, 3)
        y = np.repeat(np.arange(24) % 2, windows.shape[1])
        np.savez(data, X_train=X, y_train=y, sample_rate=50.0)
        told = run_json(*words)
        assert told["n"] % windows.shape[1] == 0
        honest.append(told["accuracy"])
    assert np.mean(honest) < 0.75
    lines.write_text("".join(f"{row // 2}\n" for row in range(len(y))))
    assert run_json(*words, "--groups", lines)["accuracy"] > 0.9


def test_an_accuracy_of_no_new_points_is_called_what_it_is(table: Path) -> None:
    words = ("train", table, "-o", table.with_name("m.npz"), *LINEAR)
    done = succeed(*words, "--holdout", 0)
    assert "in training only, which overestimates the accuracy on new data" in done.stdout
    table.write_text("x,y,label\n1,2,a\n3,5,b\n")
    said = succeed(*words).stdout
    assert "too few points to estimate the accuracy (100.00 % in training)" in said


def test_a_training_that_goes_on_with_another_division_is_warned_of(table: Path) -> None:
    first, words = table.with_name("first.npz"), ("train", table, "-o", table.with_name("m.npz"))
    succeed("train", table, "-o", first, "--epochs", 1, "--prototypes", 4)
    words = (*words, "--start-from", first, "--epochs", 1)
    assert "training_rows" not in kinds_of(run_json(*words))
    for other in (("--seed", 1), ("--holdout", 0.4)):
        assert "training_rows" in kinds_of(run_json(*words, *other))


@needs_emulated_avr
def test_one_class_finds_its_held_out_points_and_all_others(tmp_path: Path) -> None:
    data, model = tmp_path / "t.csv", tmp_path / "m.npz"
    rng = np.random.default_rng(0)
    rows = [
        [*rng.normal(8 * (row % 4 == 0), 1, 3).round(3), "ba"[row % 4 == 0]] for row in range(800)
    ]
    data.write_text("\n".join(["x,y,z,label", *(",".join(map(str, row)) for row in rows)]) + "\n")
    words = ("--one-class", "--normal", "b", "--rejection", "5%")
    trained = run_json("train", data, "-o", model, *words)
    verified = run_json("verify", model, data)
    assert trained["n"] == verified["n"] == 120 + 200
    assert trained["accuracy"] == verified["accuracy"]


def test_a_search_holds_points_out_too(tmp_path: Path) -> None:
    pytest.importorskip("optuna", reason="pip install optuna")
    data, model = tmp_path / "t.csv", tmp_path / "m.npz"
    rows = [f"{row % 7 + 9 * (row % 2)},{row * 37 % 11},{'ab'[row % 2]}" for row in range(120)]
    data.write_text("\n".join(["x,y,label", *rows]) + "\n")
    words = ("tune", data, "-o", model, *LINEAR, "--trials", 1, "--jobs", 1)
    tuned = run_json(*words)
    assert tuned["n"] == 24
    assert run_json("predict", model, data)["n"] == 24
    words = (*words, "--search", tmp_path / "again.jsonl")
    assert run_json(*words, "--holdout", 0)["n"] == 0


# --- rows without labels --------------------------------------------------------------------------


@needs_emulated_avr
def test_rows_with_and_without_labels_are_measured(table: Path) -> None:
    model, new, uno = table.with_name("m.npz"), table.with_name("new.csv"), table.with_name("uno")
    trained = run_json("train", table, "-o", model, *LINEAR)
    succeed("build", model, "-o", uno)
    results = uno / "results.csv"
    measured = run_json("hil", table, "--project", uno, "-o", results)
    assert (measured["n"], measured["accuracy"]) == (trained["n"], trained["accuracy"])
    head, first, *_ = results.read_text().splitlines()
    assert head == "index,label,predicted,cycles,mismatch,device,score_a,score_b,run"
    assert set(first.split(",")[1:3]) <= {"a", "b"}
    page = table.with_name("report.html")
    succeed("report", results, "--data", table, "-o", page)
    lines = [line.rpartition(";")[0] for line in table.read_text().splitlines()]
    new.write_text("\n".join(lines) + "\n")
    done = succeed("hil", new, "--project", uno, "-o", results)
    assert "80, without labels" in done.stdout
    assert "accuracy" not in done.stdout
    partly = results.read_text().splitlines(keepends=True)
    assert {line.split(",")[1] for line in partly[1:]} == {""}
    results.write_text("".join(partly[:40]))
    again = run_json("hil", new, "--project", uno, "-o", results, "--resume")
    assert (again["n"], again["accuracy"], again["quality"]) == (80, None, None)
    refused = run("report", results, "-o", page)
    assert_one_sentence(refused, "have no labels, but a report shows the accuracy")


# --- predictions in the table ---------------------------------------------------------------------


@pytest.fixture
def model(table: Path) -> Path:
    """Give a model of the table that does not know the file."""
    path = table.with_name("m.npz")
    succeed("train", table, "-o", path, *LINEAR)
    trained = load_model(path)
    record = {name: value for name, value in trained.record.items() if name != "file"}
    object.__setattr__(trained, "record", record)
    save_model(trained, path)
    return path


def test_predictions_keep_the_columns_and_the_order_of_the_file(table: Path, model: Path) -> None:
    out = table.with_name("out.csv")
    record = run_json("predict", model, table, "-o", out)
    lines, given = out.read_text().splitlines(), table.read_text().splitlines()
    assert lines[0].startswith(f"{given[0]};predicted_class;confidence_percent")
    for line, before, said in zip(lines[1:], given[1:], record["predicted"], strict=True):
        assert line.startswith(f"{before};{said};")
    right = [line.split(";")[4] == line.split(";")[5] for line in lines[1:]]
    assert record["accuracy"] == np.mean(right)
    assert record["accuracy_interval"][0] < record["accuracy"] < record["accuracy_interval"][1]
    printed = succeed("predict", model, table, "-o", out)  # which replaces predictions
    assert f"{100 * record['accuracy']:.2f} % of 80 points" in printed.stdout
    plain = succeed("predict", model, table)
    assert plain.stdout.splitlines() == record["predicted"]
    assert "95 % confidence" in plain.stderr


def test_names_of_columns_do_not_collide(table: Path, model: Path) -> None:
    new, out = table.with_name("new.csv"), table.with_name("out.csv")
    new.write_text(table.read_text().replace("when;", "predicted_class;"))
    succeed("predict", model, new, "-o", out)
    head = out.read_text().splitlines()[0].split(";")
    assert head[0] == "predicted_class"
    assert head[5:] == ["predicted_class_2", "confidence_percent"]
