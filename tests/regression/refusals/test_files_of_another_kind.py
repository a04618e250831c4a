"""A table in place of a model was "damaged"; nothing said that two files were swapped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import every_command, refusal, run, succeed
from refusals import refuses

from protonn_edge.cli.paths import InputFile, shown_name

ROWS = "label,a,b\n" + "".join(f"{'xy'[i % 2]},{i % 2 * 9 + i % 3},{i % 7}\n" for i in range(40))
RESULTS = "index,label,predicted,cycles,mismatch,device,score_0,score_1\n0,0,0,9,0,emulated,1,2\n"
REPORT = '<!doctype html>\n<meta name="generator" content="protonn-edge">\n'
WRITES = "a model file, which 'train' or 'convert' writes"


@pytest.fixture
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in ("t.csv", ROWS), ("results.csv", RESULTS), ("report.html", REPORT):
        Path(name).write_text(text)
    Path("certificate.json").write_text('{"claims": []}')
    np.savez("points.npz", X=np.eye(4), y=np.arange(4) % 2)
    succeed("train", "t.csv", "-o", "model.npz", "--classifier", "linear")


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("build t.csv", f"MODEL is t.csv, which is a table; give {WRITES}"),
        ("inspect results.csv", f"FILE is results.csv, which is a results file; give {WRITES}"),
        ("export report.html --c x", f"MODEL is report.html, which is a report; give {WRITES}"),
        (
            "monitor --health certificate.json",
            f"certificate.json, which is a certificate; give {WRITES}",
        ),
        (
            "predict t.csv model.npz",
            "MODEL is t.csv, which is a table, and DATA is model.npz; swap",
        ),
        ("verify t.csv model.npz", "PATH is t.csv, which is a table, and DATA is model.npz; swap"),
        ("train model.npz -o m.npz", "DATA is model.npz, which is a model file; give a table, or"),
        ("hil model.npz --emulate", "DATA is model.npz, which is a model file; give a table, or"),
        ("inspect model.npz --data model.npz", "--data is model.npz, which is a model file; give"),
        ("export model.npz --c x --data results.csv", "is results.csv, which is a results file; g"),
        ("report model.npz", "RESULTS is model.npz, which is a model file; give a results file, "),
        ("report t.csv", "is t.csv, which is a table; give a results file, which 'hil -o' writes"),
        ("report results.csv --model t.csv", f"--model is t.csv, which is a table; give {WRITES}"),
        ("train t.csv -o m.npz --start-from t.csv", "--start-from is t.csv, which is a table; g"),
    ],
)
@pytest.mark.usefixtures("_files")
def test_a_file_of_another_kind_is_called_what_it_is(command: str, sentence: str) -> None:
    assert sentence in refusal(run(*command.split()))
    assert not Path("m.npz").exists()


@pytest.mark.usefixtures("_files")
def test_what_is_not_recognized_is_left_to_its_reader() -> None:
    Path("torn.npz").write_bytes(Path("model.npz").read_bytes()[:500])
    Path("empty.npz").write_bytes(b"")
    refuses(run("inspect", "torn.npz"), "data.archive")
    refuses(run("inspect", "empty.npz"), "system.files")
    refuses(run("inspect", "no.npz"), "system.files")


@pytest.mark.usefixtures("_files")
def test_points_in_any_format_are_taken() -> None:
    succeed("train", "points.npz", "-o", "other.npz", "--classifier", "linear")
    succeed("predict", "model.npz", "t.csv", "-o", "answers.csv")


def test_every_command_declares_the_kind_of_a_model_and_of_points() -> None:
    params = [param for command in every_command().values() for param in command.params]
    named = [param for param in params if shown_name(param) == "MODEL"]
    assert len(named) > 2
    assert all(isinstance(param.type, InputFile) for param in named)
