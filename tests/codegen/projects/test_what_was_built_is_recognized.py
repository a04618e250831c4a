"""A project is known again whatever plan was taken, and one that was changed is called that."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from built_project import write_project
from model_factory import (
    random_model,
    random_pooling_model,
    random_window_model,
    window_features_of,
)
from refusals import refused_by

from protonn_edge.chips.boards import load_board
from protonn_edge.cli.devices import about_newer_models
from protonn_edge.codegen.planner import every_plan, make_plan
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.file import save_model
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize

MODELS = {
    "few features": random_model(features=20),
    "features": random_model(features=100),
    "averages": random_pooling_model(average_pooling((8, 8), (8, 8), (4, 4))),
    "more averages than are kept": random_pooling_model(
        average_pooling((40, 40), (40, 40), (40, 20))
    ),
    "windows": random_window_model(window_features_of("mean,max")),
}


@pytest.mark.parametrize("board", ["uno", "mega2560"])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_every_plan_for_a_board_is_recognized(model: Model, board: str, tmp_path: Path) -> None:
    reference = quantize(model)
    for number, plan in enumerate(every_plan(reference, load_board(board).cpu)):
        project = write_project(model, tmp_path / str(number), plan)
        assert project.generated()[1].to_json() == plan.to_json()


@pytest.mark.parametrize("name", ["pnn_model.c", "pnn_model.h", "pnn_inputs.h", "build.json"])
def test_a_changed_file_of_a_model_of_windows_is_said_to_be_changed(
    name: str, tmp_path: Path
) -> None:
    project = write_project(random_window_model(window_features_of("mean,max")), tmp_path)
    path = tmp_path / "firmware" / "generated" / name
    path.write_text(path.read_text() + "\n")
    with refused_by("codegen.projects.folder"):
        project.generated()


def test_another_plan_s_code_is_said_to_be_changed(tmp_path: Path) -> None:
    model = random_model(features=20)
    unrolled, columns = (
        write_project(model, tmp_path / kernel, make_plan(quantize(model), kernel=kernel))
        for kernel in ("unrolled", "columns")
    )
    source = Path("firmware", "generated", "pnn_model.c")
    (unrolled.folder / source).write_bytes((columns.folder / source).read_bytes())
    with refused_by("codegen.projects.folder"):
        unrolled.generated()


def test_a_model_that_was_trained_since_the_build_is_noticed(tmp_path: Path) -> None:
    """`hil` measured the earlier one, without a word."""
    path = tmp_path / "model.npz"
    save_model(MODELS["few features"], path)
    write_project(MODELS["few features"], tmp_path)
    assert not [*about_newer_models(tmp_path)], "it was built from this one"
    save_model(MODELS["features"], path)
    (tmp_path / "link.npz").symlink_to("nowhere")  # stopped `hil`
    (tmp_path / "folder.npz").mkdir()
    os.utime(path, (0, 0))
    assert not [*about_newer_models(tmp_path)], "another model, but older"
    os.utime(path, (2**31, 2**31))
    (notice,) = about_newer_models(tmp_path)
    assert f"protonn-edge build {path}" in str(notice)


def test_a_model_beside_the_folder_is_noticed_if_it_may_be_for_it(tmp_path: Path) -> None:
    """As after ``build model.npz -o project`` and another training."""
    project, path = tmp_path / "project", tmp_path / "model.npz"
    project.mkdir()
    write_project(MODELS["few features"], project)
    for model, count in ((MODELS["features"], 1), (random_model(classes=7), 0)):
        save_model(model, path)
        os.utime(path, (2**31, 2**31))
        notices = [*about_newer_models(project)]
        assert len(notices) == count
        assert all(f"build {path} -o {project}" in str(each) for each in notices)
    damage(path)
    os.utime(path, (2**31, 2**31))
    assert not [*about_newer_models(project)], "stopped `hil`"


def damage(path: Path) -> None:
    """Overwrite numbers in the middle of a model, whose names stay."""
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 64] = bytes(64)
    path.write_bytes(content)
