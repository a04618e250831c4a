"""What is wrong with the input is one sentence, exit code 2, and nothing written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import assert_one_sentence, run
from model_factory import random_model

from protonn_edge.model.file import save_model

GOOD_ROWS = "label,a,b\n" + "".join(f"{'xy'[i % 2]},{i},{i % 3}\n" for i in range(12))


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    path = tmp_path / "model.npz"
    save_model(random_model(features=2, classes=2), path)
    return path


def test_unknown_label_in_the_points_to_verify(tmp_path: Path, model_file: Path) -> None:
    data = tmp_path / "points.csv"
    data.write_text("label,a,b\nclass 0,1,2\nclass 9,1,2\n")
    assert_one_sentence(run("verify", model_file, data), "class 9")


def test_model_that_cannot_fit_is_refused_before_the_compiler(tmp_path: Path) -> None:
    path = tmp_path / "large.npz"
    save_model(random_model(features=1000, projections=40), path)
    result = run("build", path, "-o", tmp_path / "project")
    assert_one_sentence(result, "40,", "32,256", "try", exit_code=1)
    assert not (tmp_path / "project").exists()


def training_data(folder: Path) -> Path:
    path = folder / "good.csv"
    path.write_text(GOOD_ROWS)
    return path


@pytest.mark.parametrize(
    ("option", "value"),
    [("--learning-rate", "nan"), ("--gamma-numerator", "inf"), ("--lambda-w", "nan"),
     ("--noise", "inf"), ("--holdout", "nan"), ("--epochs", "0"), ("--seed", "-1")],
)  # fmt: skip
def test_settings_that_are_no_numbers_are_usage_errors(
    tmp_path: Path, option: str, value: str
) -> None:
    result = run("train", training_data(tmp_path), "-o", tmp_path / "m.npz", option, value)
    assert result.exit_code == 2
    assert option in result.stderr
    assert not (tmp_path / "m.npz").exists()


def test_more_classes_than_generated_code_counts_are_refused_before_training(
    tmp_path: Path,
) -> None:
    data = tmp_path / "many.csv"
    data.write_text("label,a\n" + "".join(f"class{i % 300},{7 * i % 11}\n" for i in range(600)))
    assert_one_sentence(run("train", data, "-o", tmp_path / "m.npz"), "classes: 300", "255")


@pytest.mark.parametrize("name", ["good.csv/m.npz", "x" * 300 + ".npz"])
def test_model_file_that_cannot_be_written_is_refused(tmp_path: Path, name: str) -> None:
    assert_one_sentence(run("train", training_data(tmp_path), "-o", tmp_path / name), "choose")


@pytest.mark.parametrize("blocked", ["firmware", "firmware/generated"])
def test_file_where_the_project_needs_a_folder(
    tmp_path: Path, model_file: Path, blocked: str
) -> None:
    folder = tmp_path / "project"
    (folder / blocked).parent.mkdir(parents=True)
    (folder / blocked).write_text("in the way")
    assert_one_sentence(
        run("build", model_file, "-o", folder), "needs a folder", "another folder with -o"
    )
    assert not (folder / "platformio.ini").exists()


def test_foreign_platformio_project_is_left_alone(tmp_path: Path, model_file: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "platformio.ini").write_text("[env:nano]\nboard = nanoatmega328\n")
    assert_one_sentence(
        run("build", model_file, "-o", folder), "no [env:uno]", "another folder with -o"
    )
    assert [path.name for path in folder.iterdir()] == ["platformio.ini"]


def test_folder_where_platformio_ini_belongs(tmp_path: Path, model_file: Path) -> None:
    (tmp_path / "project" / "platformio.ini").mkdir(parents=True)
    result = run("build", model_file, "-o", tmp_path / "project")
    assert_one_sentence(result, "platformio.ini: not a file")


def test_hil_where_nothing_was_built(tmp_path: Path) -> None:
    data = tmp_path / "points.csv"
    data.write_text(GOOD_ROWS)
    result = run("hil", data, "--emulate", "--project", tmp_path)
    assert_one_sentence(result, "protonn-edge build")


def test_model_file_with_a_wrong_suffix_is_refused_before_training(tmp_path: Path) -> None:
    data = tmp_path / "points.csv"
    data.write_text(GOOD_ROWS)
    assert_one_sentence(run("train", data, "-o", tmp_path / "model.txt"), ".npz")
    assert_one_sentence(run("train", data, "-o", tmp_path), "folder")


def test_error_is_a_json_object_where_json_was_asked_for(tmp_path: Path) -> None:
    result = run("inspect", tmp_path / "no.npz", "--json")
    assert result.exit_code == 2
    assert "no.npz" in json.loads(result.stdout)["error"]


def test_a_command_or_a_column_that_is_misspelled_is_suggested(tmp_path: Path) -> None:
    result = run("tran", "train.csv")
    assert result.exit_code == 2
    assert "no such command 'tran'; did you mean 'train'?" in result.stderr
    assert "no such command 'qqqq'; 'protonn-edge --help' lists" in run("qqqq").stderr
    table = tmp_path / "t.csv"
    table.write_text("a,Fault state\n1,x\n2,y\n")
    refused = run("data", table, "--label", "fault state")
    assert_one_sentence(refused, "not a column of", "did you mean 'Fault state'?")
