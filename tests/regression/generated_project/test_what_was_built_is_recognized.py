"""A project is known again whatever plan was taken, and one that was changed is called that."""

from __future__ import annotations

from pathlib import Path

import pytest
from model_factory import random_pooling_model, random_window_model, window_features_of

from protonn_edge.boards import load_board
from protonn_edge.build.project import Project
from protonn_edge.codegen import SOURCES, every_plan, render_c
from protonn_edge.errors import InputError
from protonn_edge.model import ProtoNNModel, save_model
from protonn_edge.quantization import quantize
from protonn_edge.stages.average_pooling.pooling import AveragePooling


def project_of(model: ProtoNNModel, sources: dict[str, str], folder: Path) -> Project:
    generated = folder / "firmware" / "generated"
    generated.mkdir(parents=True)
    save_model(model, generated / "model.npz")
    for name in SOURCES:
        (generated / name).write_text(sources[name], encoding="utf-8", newline="\n")
    return Project(folder)


def test_a_plan_that_keeps_no_averages_is_recognized(tmp_path: Path) -> None:
    """Where SRAM is too short for them."""
    model = random_pooling_model(AveragePooling((28, 28), (28, 28), (14, 14)))
    reference = quantize(model)
    plan = next(plan for plan in every_plan(reference) if not plan.keeps_averages)
    project = project_of(model, render_c(reference, plan), tmp_path)
    assert not project.generated()[1].keeps_averages


@pytest.mark.parametrize("board", ["uno", "mega2560", "attiny85"])
def test_every_plan_for_a_board_is_recognized(board: str, tmp_path: Path) -> None:
    model = random_pooling_model(AveragePooling((8, 8), (8, 8), (4, 4)))
    reference = quantize(model)
    for number, plan in enumerate(every_plan(reference, load_board(board).cpu)):
        sources = render_c(reference, plan)
        project = project_of(model, sources, tmp_path / str(number))
        assert render_c(*project.generated()) == sources


def test_a_changed_file_of_a_model_of_windows_is_said_to_be_changed(tmp_path: Path) -> None:
    model = random_window_model(window_features_of("mean,max"))
    sources = render_c(quantize(model))
    sources["pnn_model.c"] += "/* mine */\n"
    project = project_of(model, sources, tmp_path)
    with pytest.raises(InputError, match=r"pnn_model\.c is not what 'build' writes"):
        project.generated()
