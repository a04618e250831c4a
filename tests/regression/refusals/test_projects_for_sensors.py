"""A project with a sensor is not measured, and 'build' does not replace it."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import refusal, run
from model_factory import plain_model

from protonn_edge.bench.boards import built_project
from protonn_edge.chain.file import save_model
from protonn_edge.errors import InputError
from protonn_edge.export.folder import LIVE, write_folder


def test_a_project_with_a_sensor_is_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_model(plain_model(), Path("m.npz"))
    write_folder(Path("other"), {"platformio.ini": ""}, LIVE)
    says = f"other: it contains {LIVE}, which only "
    assert says in refusal(run("hil", "data.npz", "--project", "other"))
    with pytest.raises(InputError, match=says):
        built_project(Path("other"))
    assert f"other contains {LIVE}, which 'build' does not" in refusal(
        run("build", "m.npz", "-o", "other")
    )
