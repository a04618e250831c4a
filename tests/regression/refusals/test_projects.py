"""A project is not replaced by one of another kind, which was done without a word."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, run_json
from model_factory import random_window_model, window_features_of
from refusals import refuses

from protonn_edge.model.file import save_model


def test_a_logger_is_replaced_by_loggers_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_model(random_window_model(window_features_of("mean,max", 20, 6)), Path("m.npz"))
    words = ["build", "--sensor", "mpu6050", "-o", "here", "--rate"]
    run_json(*words, 100)
    run_json(*words, 50)
    before = Path("here/src/main.c").read_text()
    sensor = ["--sensor", "mpu6050", "--rate", 100]
    for command in (
        ["build", "m.npz", *sensor, "-o", "here"],
        ["build", "m.npz", "-o", "here"],
        ["export", "m.npz", "--arduino", "here"],
    ):
        assert "contains a logger, which" in refusal(run(*command))
    assert Path("here/src/main.c").read_text() == before


def test_a_project_of_another_kind_names_the_command_that_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model = random_window_model(window_features_of("mean,max", 20, 6))
    save_model(replace(model, raw_exponents=np.zeros(6, np.int64)), Path("m.npz"))
    run_json("build", "--sensor", "mpu6050", "--rate", 100)
    run_json("build", "m.npz", "--sensor", "mpu6050", "--rate", 100)
    refuses(run("hil", "data.npz", "--emulate", "--project", "live"), "codegen.export.folder")
    hil = ["hil", "data.npz", "--emulate", "--project", "logger"]
    refuses(run(*hil), "codegen.export.folder")
    monitor = ["monitor", "--emulate", "--project", "logger"]
    refuses(run(*monitor), "codegen.export.folder")
    Path("plain").mkdir()
    Path("plain/platformio.ini").write_text("")  # as 'build' without a sensor writes it
    monitor = ["monitor", "--emulate", "--project", "plain"]
    refuses(run(*monitor), "codegen.export.folder")
    record = ["record", "--emulate", "--project", "live", "-o", "r.csv", "--label", "x"]
    record += ["--takes", "1", "--seconds", "1"]
    refuses(run(*record), "codegen.export.folder")
