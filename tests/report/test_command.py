"""``protonn-edge report``: from files to one HTML file, or one sentence."""

from __future__ import annotations

import json
import shutil
import webbrowser
from dataclasses import replace

import numpy as np
import pytest
from avr_tools import EMULATED_AVR, missing, needs_emulated_avr
from command_line import assert_one_sentence, run
from extension_parts import needs
from model_factory import random_model, random_points

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.projects.project import build
from protonn_edge.device.results import Origin, Result, ResultsFile, is_results
from protonn_edge.learn.evaluation.measurement import measure
from protonn_edge.model.file import save_model
from protonn_edge.model.quantization import quantize
from protonn_edge.report import content

WHOLE = ["--model", "model.npz", "--data", "points.csv"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a project with results and the points of them; and what does not belong to it."""
    folder = tmp_path_factory.mktemp("project")
    model = random_model()
    X = random_points(0, 300, 12)[:16].astype(np.float32)
    y = np.arange(16) % 4
    save_model(model, folder / "model.npz")
    save_model(random_model(1), folder / "another.npz")
    rows = [",".join([f"class {k}", *map(str, x.tolist())]) for k, x in zip(y, X, strict=True)]
    heading = ",".join(["label", *(f"f{i}" for i in range(12))])
    (folder / "points.csv").write_text("\n".join([heading, *rows, ""]))
    (folder / "others.csv").write_text("\n".join([heading, *rows[:-1], ""]))
    reference = quantize(model)
    origin = Origin.of(reference, reference.quantize(X), y)
    with ResultsFile(folder / "empty.csv", origin, reference.classes):
        pass
    with ResultsFile(folder / "wild.csv", origin, [*reference.classes, "wild"]) as wild:
        wild.append(Result(0, 4, 1, 100))
    for name, result in (("beyond", Result(16, 0, 1, 100)), ("relabelled", Result(1, 0, 1, 100))):
        with ResultsFile(folder / f"{name}.csv", origin, reference.classes) as strange:
            strange.append(result)
    classes, scores = reference.answers(reference.quantize(X))
    right = [
        Result(i, int(y[i]), int(classes[i]), 4000, False, tuple(scores[i].tolist()), "x")
        for i in range(16)
    ]
    wrong = replace(right[5], predicted=(right[5].predicted + 1) % 4)
    kept = {"stopped": [], "edited": [wrong]}
    for name, changed in kept.items():
        rows = [*right[:5], *changed, *right[6:]]
        with ResultsFile(folder / f"{name}.csv", origin, reference.classes, keep=rows):
            pass
    if not missing(*EMULATED_AVR):
        build(model, load_board("uno"), folder)
        measure(Project(folder), (X, y), load_board("uno"), results=folder / "results.csv")
    return folder


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(content, "page_script", lambda: content.PageScript(None, "it is a test"))


def report(*arguments: object):
    return run("report", *arguments)


@needs("proof")
@needs_emulated_avr
def test_beside_a_project_the_results_are_enough(folder, tmp_path):
    done = report(folder / "results.csv", "-o", tmp_path / "r.html", "--json")
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert record["report"] == str(tmp_path / "r.html")
    assert record["n"] == 16
    assert "95 % confidence" in done.stderr
    page = (tmp_path / "r.html").read_text()
    assert "does not include the emulated Uno: it is a test." in page
    assert str(folder) not in page
    assert "no function called by pnn_predict uses floating point" in page
    assert "bound, proven from the machine code" in page


@needs_emulated_avr
def test_it_finds_the_folder_of_the_model_that_was_run(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folder, tmp_path / "measured")
    (tmp_path / "another").mkdir()
    shutil.copy(folder / "results.csv", tmp_path)
    done = report("results.csv")
    assert done.exit_code == 0, done.output
    run_of = (tmp_path / "results.csv").read_text().split()[-1].rpartition(",")[2]
    assert f'<meta name="run" content="{run_of}">' in (tmp_path / "report.html").read_text()
    with ResultsFile(tmp_path / "none.csv", Origin("0" * 16, "0" * 16, 1), ["a"]):
        pass
    assert is_results(tmp_path / "none.csv")
    assert not is_results(folder / "points.csv")


@needs_emulated_avr
def test_results_of_another_chip_are_refused(folder, tmp_path):
    """The page had the results of an Uno and the memory of a Mega."""
    refused = report(folder / "results.csv", "--board", "mega2560", "-o", tmp_path / "r.html")
    assert_one_sentence(refused, "does not run on mega2560")


@needs_emulated_avr
def test_a_model_alone_is_built_and_the_points_show_mistakes(folder, tmp_path, monkeypatch):
    shutil.copy(folder / "results.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    done = report("results.csv", "--model", folder / "model.npz", "--data", folder / "points.csv",
                  "--watts", 0.5)  # fmt: skip
    assert done.exit_code == 0, done.output
    page = (tmp_path / "report.html").read_text()
    assert 'id="mistakes"' in page
    assert "at 0.5 W" in page
    assert "protonn-edge report results.csv --model model.npz" in page


@needs_emulated_avr
def test_a_board_that_nothing_names_is_said_to_be_taken_for_an_uno(folder, tmp_path, monkeypatch):
    """The times of an ESP32 were computed with the clock of an Uno, without a word."""
    of_a_port = (folder / "results.csv").read_text().replace(",emulated", ",/dev/ttyUSB0 ")
    (tmp_path / "results.csv").write_text(of_a_port)
    monkeypatch.chdir(tmp_path)
    words = ("results.csv", "--model", folder / "model.npz")
    assert "those of the board uno, because no folder" in report(*words).stderr
    named = report(*words, "--board", "uno")
    assert named.exit_code == 0
    assert "those of the board" not in named.stderr


@needs_emulated_avr
def test_it_is_opened_where_that_is_asked_for(folder, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    assert report(folder / "results.csv", "-o", tmp_path / "r.html", "--open").exit_code == 0
    assert opened == [(tmp_path / "r.html").as_uri()]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["empty.csv", "--model", "model.npz"], "empty.csv: no results yet"),
        (
            ["wild.csv", "--model", "model.npz"],
            "wild.csv: the classes are 'class 0', 'class 1', 'class 2', 'class 3', 'wild', but the",
        ),
        (["wild.csv", "--model", "another.npz"], "which is not among the given models"),
        (
            ["model.npz", "--model", "model.npz"],
            "model.npz: it does not begin with the header of a results file; name a file",
        ),
        (["beyond.csv", "--model", "model.npz"], "index 16, but this run's indices are 0 to 15"),
        (["stopped.csv", "--model", "model.npz"], "15 of 16 results of a run that was stopped"),
        (
            ["stopped.csv", *WHOLE],
            "or continue with the command: protonn-edge hil DATA -o stopped.csv --resume",
        ),
        (["edited.csv", "--model", "model.npz"], "index 5: an answer that does not follow from"),
        (["edited.csv", *WHOLE], "that does not follow from its scores; delete the file and run"),
        (["relabelled.csv", *WHOLE], "index 1: label 'class 0', but the point has label "),
        (
            ["wild.csv", "--model", "model.npz", "--with", "points.csv"],
            "not the output of",
        ),
    ],
)
def test_what_does_not_belong_together_is_one_sentence(
    folder, tmp_path, monkeypatch, arguments, sentence
):
    monkeypatch.chdir(folder)
    assert_one_sentence(report(*arguments, "-o", tmp_path / "r.html"), sentence)
    assert not (tmp_path / "r.html").exists()


@needs_emulated_avr
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--data", "others.csv"], "not measured on the points of --data"),
        (["--image-shape", "5x5"], "has 25 pixels, but the model takes 12 features"),
    ],
)
def test_points_and_shapes_that_do_not_fit_are_one_sentence(
    folder, tmp_path, monkeypatch, arguments, sentence
):
    monkeypatch.chdir(folder)
    done = report("results.csv", *arguments, "-o", tmp_path / "r.html")
    assert done.exit_code == 2
    assert sentence in done.stderr


def test_results_without_a_project_want_a_model(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(folder / "wild.csv", tmp_path)
    done = report("wild.csv")
    assert done.exit_code == 2
    assert "use --model to name the model that was run" in done.stderr
