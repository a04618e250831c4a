"""build.json: what it says, and that one which is damaged is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from built_project import write_project
from model_factory import random_model

from protonn_edge import __version__
from protonn_edge.codegen.planner import make_plan
from protonn_edge.codegen.projects.built import BUILT_FILE, built_in, built_text
from protonn_edge.codegen.projects.folder import PLAN_FILE, Project, nothing_built
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError

FILE = Path("firmware", "generated", "build.json")
MODEL = random_model()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return write_project(MODEL, tmp_path / "project")


def assert_refused(project: Project) -> None:
    """Check that one sentence says to build again."""
    with pytest.raises(InputError) as refused:
        project.generated()
    sentence = str(refused.value)
    assert sentence.endswith("; run 'protonn-edge build' again")
    assert "\n" not in sentence
    assert len(sentence) < 300 + len(str(project.folder))


def test_it_says_which_plan_was_taken_and_what_it_takes(project: Project) -> None:
    reference = quantize(MODEL)
    plan = make_plan(reference)
    written = json.loads((project.folder / FILE).read_text())
    assert written == {
        "format": 1,
        "tool_version": __version__,
        "model_sha256": reference.model_sha256,
        "core": "avr5",
        "limit_bytes": None,
        "choices": plan.choices,
        "table_bytes": plan.table_bytes,
        "state_bytes": plan.state_bytes,
        "plan": json.loads(json.dumps(plan.to_json())),
    }


def test_what_the_build_printed_is_read_again_unless_it_is_of_another_model(
    project: Project,
) -> None:
    record = {"model_sha256": quantize(MODEL).model_sha256, "board": "uno", "flash_bytes": 7000}
    path = project.folder / FILE.with_name(BUILT_FILE)
    assert built_in(project.folder) == {}
    path.write_text(built_text({"folder": "/home/anna", **record}))
    assert "/home" not in path.read_text()
    assert built_in(project.folder) == record
    for changed in ({"model_sha256": "0" * 64}, {"flash_bytes": -1}, {"board": 7}):
        path.write_text(built_text(record | changed))
        assert built_in(project.folder) == {}
    path.write_text("[")
    assert built_in(project.folder) == {}


def test_the_same_model_gives_the_same_bytes(project: Project, tmp_path: Path) -> None:
    again = write_project(MODEL, tmp_path / "again")
    assert (again.folder / FILE).read_bytes() == (project.folder / FILE).read_bytes()


def test_a_project_of_an_older_version_is_to_be_built_again(project: Project) -> None:
    (project.folder / FILE).unlink()
    assert_refused(project)


def test_a_project_of_another_version_is_to_be_built_again(project: Project) -> None:
    path = project.folder / FILE
    path.write_text(path.read_text().replace(f'"{__version__}"', '"0.0.1"'))
    assert_refused(project)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\x00",
        b"{",
        b"null",
        b"[]",
        b"{}",
        b"7" * 5_000,
        b"[" * 60_000,
        b" " * (1 << 20),
        b'{"tool_version": NaN}',
        b'{"tool_version": []}',
    ],
    ids=lambda content: repr(content[:12]),
)
def test_what_is_no_record_is_one_sentence(project: Project, content: bytes) -> None:
    (project.folder / FILE).write_bytes(content)
    assert_refused(project)


def _cases() -> list[tuple[str, Any]]:
    keys = ["format", "model_sha256", "core", "choices", "table_bytes", "plan"]
    wild = [None, True, -1, 2, 1e400, float("nan"), "x", "float32", [], {}, [[]], {"stages": 3}]
    return [(key, value) for key in keys for value in wild]


@pytest.mark.parametrize(
    ("key", "value"),
    [*_cases(), *(("limit_bytes", wild) for wild in (True, -1, 0, 1.5, 1 << 40, "x", []))],
)
def test_a_wild_value_is_one_sentence(project: Project, key: str, value: Any) -> None:
    path = project.folder / FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}, indent=2) + "\n")
    assert_refused(project)


@pytest.mark.parametrize(
    ("key", "value"),
    [("projection", "spiral"), ("projection", []), ("feeding", "in chunks"), ("more", "x")],
)
def test_choices_that_are_not_the_plan_s_are_one_sentence(
    project: Project, key: str, value: Any
) -> None:
    path = project.folder / FILE
    record = json.loads(path.read_text())
    record["choices"][key] = value
    path.write_text(json.dumps(record, indent=2) + "\n")
    assert_refused(project)


def test_no_figure_is_believed(project: Project) -> None:
    path = project.folder / FILE
    text = path.read_text()
    for number in re.finditer(r"\b\d+", text):
        path.write_text(f"{text[: number.start()]}{int(number[0]) + 1}{text[number.end() :]}")
        assert_refused(project)


@pytest.mark.parametrize("place", ["", "firmware/generated"])
def test_a_build_in_a_folder_below_is_named(place: str, tmp_path: Path) -> None:
    assert "another" not in str(nothing_built(tmp_path))
    (tmp_path / "another" / place).mkdir(parents=True)
    (tmp_path / "another" / place / PLAN_FILE).write_text("{}")
    (tmp_path / "empty").mkdir()
    assert "but in 'another' below; name that folder with --project" in str(nothing_built(tmp_path))
    with pytest.raises(InputError, match="but in 'another' below"):
        Project(tmp_path).model()
