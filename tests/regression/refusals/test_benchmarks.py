"""Firmware for a benchmark: options without effect and models without an answer are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from command_line import refusal, run
from model_factory import plain_model

from protonn_edge.bench.boards import built_project
from protonn_edge.chain.decision import Rejection
from protonn_edge.chain.file import save_model
from protonn_edge.errors import InputError
from protonn_edge.export.folder import BENCHMARK, LIVE, write_folder

TASK = ["--benchmark", "mlperf-tiny:kws01"]


@pytest.fixture(autouse=True)
def _a_folder_with_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_model(plain_model(), Path("m.npz"))
    save_model(replace(plain_model(), rejection=Rejection(score=0.25)), Path("rejecting.npz"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["m.npz", "--precision", "float32"], "--benchmark and --precision=float32 cannot be used"),
        (["m.npz", "--max-drop", 1, "--data", "x"], "--benchmark and --max-drop cannot be used"),
        (["m.npz", "--sensor", "a0", "--rate", 50], "--benchmark and --sensor cannot be used"),
        (["rejecting.npz"], 'may answer "unknown", for which the protocol of MLPerf Tiny has no'),
    ],
)
def test_what_has_no_effect_or_no_answer_is_refused(words: list[object], says: str) -> None:
    done = run("build", *words, *TASK)
    assert done.exit_code == 2
    assert says in done.stderr
    assert not Path("mlperf").exists()


@pytest.mark.parametrize("kind", [BENCHMARK, LIVE])
def test_a_project_for_something_else_is_not_measured(kind: str) -> None:
    write_folder(Path("other"), {"platformio.ini": ""}, kind)
    says = f"other contains {kind}, which only "
    assert says in refusal(run("hil", "data.npz", "--project", "other"))
    with pytest.raises(InputError, match=says):
        built_project(Path("other"))
    assert f"other contains {kind}, which 'build' does not" in refusal(
        run("build", "m.npz", "-o", "other")
    )
