"""``protonn-edge export``, as people type it."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from command_line import refusal, run
from model_factory import random_model, random_points

from protonn_edge.codegen.export.rendering import KINDS
from protonn_edge.model.file import save_model


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    path = tmp_path / "model.npz"
    save_model(random_model(), path)
    return path


def export(*arguments: object) -> Result:
    return run("export", *arguments, "--no-try")


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_says_what_was_written(tmp_path: Path, model_file: Path, kind: str):
    folder = tmp_path / "gestures"
    done = export(model_file, f"--{kind}", folder, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["kind"], told["name"], told["vectors"]) == (kind, "gestures", 20)
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert written - {".protonn-edge-export"} == set(told["files"])


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_input_gives_the_same_bytes(tmp_path: Path, model_file: Path, kind: str):
    data = tmp_path / "test.csv"
    rows = [",".join(map(repr, row)) for row in random_points(3, 30, 12).tolist()]
    data.write_text("".join(f"{row},class {i % 4}\n" for i, row in enumerate(rows)))
    folders = [tmp_path / "here" / "same", tmp_path / "there" / "same"]
    for folder in folders:
        assert export(model_file, f"--{kind}", folder, "--data", data).exit_code == 0
    first, second = ({p.relative_to(f): p for p in f.rglob("*") if p.is_file()} for f in folders)
    assert set(first) == set(second)
    for name, path in first.items():
        content = path.read_bytes()
        assert content == second[name].read_bytes()
        assert str(tmp_path).encode() not in content
        assert not re.search(rb"20[2-9]\d-[01]\d|\b[0-2]\d:[0-5]\d\b", content)  # no date, no time
        assert not content.decode().splitlines() or content.endswith(b"\n")


def test_a_name_of_its_own(tmp_path: Path, model_file: Path):
    assert export(model_file, "--arduino", tmp_path / "x", "--library", "name=wave").exit_code == 0
    assert (tmp_path / "x" / "src" / "wave.h").is_file()


@pytest.mark.parametrize("kind", KINDS)
def test_a_prefix_names_the_files(tmp_path: Path, model_file: Path, kind: str):
    done = export(model_file, f"--{kind}", tmp_path / "x", "--library", "prefix=wave", "--json")
    names = {name.removeprefix("src/") for name in json.loads(done.stdout)["files"]}
    assert names > {f"wave_{name}" for name in ("model.h", "model.c", "self_test.h", "self_test.c")}
    texts = [path.read_text() for path in (tmp_path / "x").rglob("*") if path.is_file()]
    assert not any(re.search("pnn_", text, re.IGNORECASE) for text in texts)


@pytest.mark.parametrize(("kind", "usual"), [("arduino", "pnn"), ("platformio", "x"), ("c", "x")])
def test_the_usual_prefix_is_the_name_except_for_the_arduino_ide(
    tmp_path: Path, model_file: Path, kind: str, usual: str
):
    for folder, more in (("one", []), ("two", ["--library", f"prefix={usual}"])):
        done = export(model_file, f"--{kind}", tmp_path / folder / "x", "--json", *more)
        assert json.loads(done.stdout)["prefix"] == usual
    for name in json.loads(done.stdout)["files"]:
        one, two = ((tmp_path / folder / "x" / name).read_bytes() for folder in ("one", "two"))
        assert one == two


@pytest.mark.parametrize(
    ("option", "value", "complaint"),
    [
        ("author", "A\nincludes=evil.h", "the library's author: "),
        ("url", "https://example.org/\n", "the library's url: "),
    ],
)
def test_a_manifest_has_no_other_lines(
    tmp_path: Path, model_file: Path, option: str, value: str, complaint: str
):
    done = export(model_file, "--arduino", tmp_path / "x", "--library", f"{option}={value}")
    assert complaint in refusal(done)
    assert not (tmp_path / "x").exists()


def test_another_prefix_replaces_the_files_of_the_first(tmp_path: Path, model_file: Path):
    for prefix in ("wave", "knock"):
        assert (
            export(model_file, "--c", tmp_path / "x", "--library", f"prefix={prefix}").exit_code
            == 0
        )
    assert sorted(path.name for path in (tmp_path / "x").glob("*_*.[ch]")) == [
        *("knock_inputs.h", "knock_model.c", "knock_model.h"),
        *("knock_self_test.c", "knock_self_test.h"),
    ]  # fmt: skip


def test_less_flash_takes_a_smaller_plan(tmp_path: Path):
    save_model(random_model(features=64, projections=10), tmp_path / "model.npz")
    told = [
        json.loads(export(tmp_path / "model.npz", "--c", tmp_path / "c", "--json", *more).stdout)
        for more in ([], ["--max-flash", 8000])
    ]
    assert told[1]["flash_bytes"] <= 8000 < told[0]["flash_bytes"]


@pytest.mark.parametrize("board", ["uno", "attiny85", "pico"])
@pytest.mark.parametrize(
    ("limit", "figure"), [("--max-flash", "flash_bytes"), ("--max-sram", "sram_bytes")]
)
def test_a_limit_is_kept_or_nothing_is_written(
    tmp_path: Path, model_file: Path, limit: str, figure: str, board: str
):
    folder, whole = tmp_path / "x", tmp_path / "whole"
    least = json.loads(export(model_file, "--c", whole, "--json", "--board", board).stdout)[figure]
    for limit_bytes in (least, least // 3):
        done = export(model_file, "--c", folder, limit, limit_bytes, "--json", "--board", board)
        if limit_bytes == least:
            assert done.exit_code == 0, done.output
            assert json.loads(done.stdout)[figure] <= limit_bytes
            shutil.rmtree(folder)
        else:
            assert done.exit_code == 1
            assert f"{board} with your limits has {limit_bytes:,}; try " in done.stderr
            assert not folder.exists()


def test_a_model_without_room_for_all_vectors_gets_fewer(tmp_path: Path):
    save_model(random_model(features=780, projections=18), tmp_path / "model.npz")
    told = json.loads(export(tmp_path / "model.npz", "--c", tmp_path / "c", "--json").stdout)
    assert 1 <= told["vectors"] < 20
    assert told["flash_bytes"] <= 32_256


def test_a_model_too_large_for_the_board_is_told(tmp_path: Path):
    save_model(random_model(features=1000, projections=40), tmp_path / "model.npz")
    done = export(tmp_path / "model.npz", "--c", tmp_path / "c")
    assert done.exit_code == 0
    assert "of 32,256 B: too much for the uno" in done.stdout


def test_a_manifest_names_who_publishes_the_library(tmp_path: Path, model_file: Path):
    texts = ('author=Ada "A" <ada@example.org>', "url=https://example.org/x", "version=2.10.0")
    given = [word for text in texts for word in ("--library", text)]
    for kind in ("arduino", "platformio"):
        folder = tmp_path / kind
        done = export(model_file, f"--{kind}", folder, *given)
        assert done.exit_code == 0, done.output
    lines = (tmp_path / "arduino" / "library.properties").read_text().splitlines()
    assert {'author=Ada "A" <ada@example.org>', "url=https://example.org/x", "version=2.10.0"} <= {
        *lines
    }
    manifest = json.loads((tmp_path / "platformio" / "library.json").read_text())
    assert manifest["authors"] == [{"name": 'Ada "A" <ada@example.org>'}]
    assert (manifest["homepage"], manifest["version"]) == ("https://example.org/x", "2.10.0")


def test_classes_are_listed_with_their_constants(tmp_path: Path):
    names = ("up-down", "Château | Margaux", "<b>*x*", "still")
    save_model(replace(random_model(), classes=names), tmp_path / "model.npz")
    assert export(tmp_path / "model.npz", "--arduino", tmp_path / "x").exit_code == 0
    readme = (tmp_path / "x" / "README.md").read_text("utf-8")
    assert "| `PNN_CLASS_UP_DOWN` | up-down |\n" in readme
    assert "| `PNN_CLASS_CHATEAU_MARGAUX` | Château &#124; Margaux |\n" in readme
    assert "| `PNN_CLASS_B_X` | &#60;b&#62;&#42;x&#42; |\n" in readme
    header = (tmp_path / "x" / "src" / "pnn_model.h").read_text()
    assert re.search(r" PNN_CLASS_STILL = 3,$", header, re.MULTILINE)
    assert "PNN_CLASS_UP_DOWN\tLITERAL1" in (tmp_path / "x" / "keywords.txt").read_text()
