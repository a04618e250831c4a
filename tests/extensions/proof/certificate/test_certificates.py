"""Certificates of projects, libraries and linked programs: what they claim, and that they check."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from avr_programs import compile_text
from avr_tools import needs_avr_gcc
from command_line import refusal, run, run_json, succeed
from model_factory import plain_model, random_window_model, window_features_of
from refusals import refuses

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.export.exporting import export
from protonn_edge.codegen.export.folder import LIVE, write_folder
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.projects.project import build
from protonn_edge.device.results import Result
from protonn_edge.extensions.proof.certificate.claims import (
    Certificate,
    Claim,
    Settings,
    read_certificate,
)
from protonn_edge.extensions.proof.certificate.every_input import refuse_different
from protonn_edge.model.file import save_model
from protonn_edge.system.errors import CheckFailed, InputError

pytestmark = needs_avr_gcc

SKETCH = """
#include <stdint.h>
#include <stdlib.h>
uint8_t pnn_predict(const uint8_t *features) __attribute__((noinline));
volatile uint8_t answer;
static uint8_t features[4];
uint8_t pnn_predict(const uint8_t *point) { BODY }
int main(void) { answer = pnn_predict(features); for (;;) {} }
"""

CALLING = """
#include <shape_model.h>
static shape_input_t features[SHAPE_FEATURES];
volatile uint8_t answer;
int main(void) { answer = shape_predict(features) + shape_scores()[0]; for (;;) {} }
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    build(plain_model(), "uno", folder)
    return folder


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported") / "classifier"
    export(plain_model(), "arduino", folder)
    return folder


def claims_of(record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {claim["name"]: claim for claim in record["claims"]}


def test_a_project_is_certified_with_what_was_proven_and_measured(
    project: Path, tmp_path: Path
) -> None:
    path = tmp_path / "certificate.json"
    record = run_json("verify", project, "-o", path, "--points", 20, "--every-input")
    claims = claims_of(record)
    assert {name for name, claim in claims.items() if claim["status"] == "proven"} >= {
        *("ranges", "sources", "flash", "sram", "stack"),
        *(
            "every-input",
            "no-recursion",
            "no-allocation",
            "no-floats",
            "cycles-most",
            "cycles-least",
        ),
    }
    least, took, most = (
        claims[name]["value"] for name in ("cycles-least", "cycles-measured", "cycles-most")
    )
    assert least < took <= most
    for name in ("host-c", "firmware", "cycles-measured"):
        assert (claims[name]["status"], claims[name]["points"]) == ("measured", 20)
    assert claims["memory-safety"]["status"] == "not checked"
    assert {"ok": True, **json.loads(path.read_text("utf-8"))} == record
    assert "firmware/generated/pnn_model.c" in record["hashes"]


def test_a_confirmed_difference_is_named(project: Path) -> None:
    model = Project(project).generated()[0]
    points = np.zeros((1, model.n_features), np.uint8)
    (label,), (scores,) = model.answers(points)
    right = Result(0, 0, int(label), None, scores=tuple(scores.tolist()))
    refuse_different(model, points, lambda _: [right])
    wrong = replace(right, scores=(*right.scores[:-1], right.scores[-1] + 1))
    with pytest.raises(CheckFailed, match="to the inputs 0 0 .* but the integer model answers"):
        refuse_different(model, points, lambda _: [wrong])


def test_the_same_project_has_the_same_certificate_elsewhere(project: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        page = tmp_path / f"{name}.html"
        succeed("verify", project, "-o", tmp_path / f"{name}.json", "--points", 8, "-o", page)
    for kind in ("json", "html"):
        one, two = ((tmp_path / f"{name}.{kind}").read_bytes() for name in ("one", "two"))
        assert one == two
        assert str(tmp_path).encode() not in one


EDITS = {
    "an edited source": "firmware/prediction.c",
    "an edited header": "firmware/frame.h",
    "edited settings": "platformio.ini",
    "a new library": "lib/added/added.c",
    "a new header": "include/uart.h",
    "a source among generated ones": "firmware/generated/extra.c",
}
ADDED = [
    *(
        f"firmware/generated/{name}"
        for name in ("more.S", "more.cpp", "a/b.c", "parts2.h", "x.inc")
    ),
    *(f"firmware/{name}" for name in ("extra.c", "extra.S", "x/y.cc", ".hidden.c", "test/extra.c")),
    *(f"lib/{name}" for name in ("a/a.c", "generated/a.c", "host/a.c", "a/library.json", "a/x.a")),
    *(f"include/{name}" for name in ("string.h", "avr/io.h", "generated/pnn_model.h", "host/x.h")),
    "boards/uno.json",
]


@pytest.mark.parametrize(
    "name",
    [
        # PlatformIO compiles them, for seconds; what follows names them, too
        pytest.param(name, id=title, marks=[pytest.mark.nightly] * title.startswith("a new"))
        for title, name in EDITS.items()
    ],
)
def test_nothing_is_proven_of_edited_firmware(project: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "project"
    shutil.copytree(project, folder)
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write("; edited\n" if path.suffix == ".ini" else "/* edited */\n")
    assert Project(folder).edited_files(load_board("uno")) == [name]
    done = run("verify", folder, "--points", 8, "--every-input", "--json")
    assert done.exit_code == 1
    assert f"not as 'build' writes them: '{name}'" in done.stderr
    for record in (json.loads(done.stdout), run_json("verify", folder, "--points", 8)):
        claims = claims_of(record)
        assert "every-input-cycles" not in claims
        for claim in (claims["files"], claims["every-input"]):
            assert claim["status"] == "not checked"
            assert name in claim["by"]


@pytest.mark.parametrize("name", ADDED)
def test_a_file_that_is_compiled_or_included_is_named(
    project: Path, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "project"
    shutil.copytree(project, folder)
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("\n")
    assert Project(folder).edited_files(load_board("uno")) == [name]


def test_a_link_to_a_folder_of_sources_is_named(project: Path, tmp_path: Path) -> None:
    shutil.copytree(project, tmp_path / "project")
    (tmp_path / "sources").mkdir()
    (tmp_path / "project" / "firmware" / "more").symlink_to(tmp_path / "sources")
    assert Project(tmp_path / "project").edited_files(load_board("uno")) == ["firmware/more"]


def test_a_model_without_a_proof_fails_where_one_is_asked_for(tmp_path: Path) -> None:
    build(random_window_model(window_features_of("mean,deviation", 8, 2)), "uno", tmp_path)
    done = run("verify", tmp_path, "--points", 8, "--every-input")
    assert done.exit_code == 1
    assert "no proof was found" in done.stderr
    assert "omit --every-input" in done.stderr
    succeed("verify", tmp_path, "--points", 8)


@pytest.mark.parametrize(
    ("answer", "words", "sentence", "is_written"),
    [
        ("1", [], "to restore them,", False),
        ("1", ["--every-input"], "to restore them,", False),
        # wrong for inputs that no point has:
        ("(chunk[0] == 77)", ["--every-input"], "it is not proven that", True),
    ],
)
def test_a_wrong_answer_names_what_was_edited(
    project: Path, tmp_path: Path, answer: str, words: list[str], sentence: str, is_written: bool
) -> None:
    folder = tmp_path / "project"
    shutil.copytree(project, folder)
    path = folder / "firmware" / "prediction.c"
    path.write_text(path.read_text().replace("label = pnn", f"label = {answer} ^ pnn"))
    done = run("verify", folder, "--points", 8, *words, "-o", tmp_path / "certificate.json")
    assert done.exit_code == 1
    assert "'firmware/prediction.c'" in done.stderr
    assert sentence in done.stderr
    assert (tmp_path / "certificate.json").exists() == is_written


def test_unchanged_files_are_proven_for_any_board_of_the_chip(project: Path) -> None:
    for board in ("uno", "nano"):
        assert Project(project).edited_files(load_board(board)) == []
    claims = claims_of(run_json("verify", project, "--points", 8, "--every-input"))
    assert claims["files"]["status"] == "proven"
    assert "edited" not in claims["every-input"]["statement"]


def test_firmware_with_a_sensor_is_refused_by_its_kind(tmp_path: Path) -> None:
    write_folder(tmp_path / "live", {"main.c": ""}, LIVE)
    done = run("verify", tmp_path / "live", "-o", tmp_path / "certificate.json")
    refuses(done, "extensions.proof.commands.certify")


def test_a_library_is_certified_by_its_self_test(library: Path, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    record = run_json("verify", library, "-o", path)
    claims = claims_of(record)
    assert claims["self-test"]["status"] == "measured"
    assert claims["no-floats"]["status"] == claims["cycles-most"]["status"] == "proven"
    succeed("verify", library, "--check", path)
    header = library / "src" / "pnn_model.h"
    text = header.read_text("utf-8")
    header.write_text(text + "\n", "utf-8")
    try:
        assert "edited after the export" in refusal(run("verify", library, "--check", path))
    finally:
        header.write_text(text, "utf-8")


def test_the_readme_of_a_library_shows_its_certificate(library: Path, tmp_path: Path) -> None:
    record = run_json("verify", library, "-o", tmp_path / "certificate.json")
    readme = (library / "README.md").read_text("utf-8")
    for claim in record["claims"]:
        points = "" if claim["points"] is None else f" on {claim['points']} points"
        assert f"| {claim['statement']} | {claim['status']}{points} | {claim['by']} |" in readme
    assert record["repeat"] in readme


def test_a_library_that_was_not_tried_shows_how_to_certify_it(tmp_path: Path) -> None:
    export(plain_model(), "c", tmp_path / "own", tries=False)
    readme = (tmp_path / "own" / "README.md").read_text("utf-8")
    assert "proven" not in readme
    (command,) = re.findall("(?m)^protonn-edge (verify PATH --board uno)$", readme)
    words = [tmp_path / "own" if word == "PATH" else word for word in command.split()]
    claims = claims_of(run_json(*words))
    assert claims["cycles-most"]["statement"].startswith("own_predict takes at most")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("return *(volatile float *)point > 0.5f;", "pnn_predict uses floating point"),
        ("uint8_t *volatile p = malloc(point[0]); return p != 0;", "pnn_predict allocates memory"),
        (
            "return point[0] ? pnn_predict(point + 1) + pnn_predict(point + point[1]) : 0;",
            "pnn_predict calls itself",
        ),
    ],
)
def test_a_program_of_which_a_claim_is_false_gets_no_certificate(
    tmp_path: Path, body: str, sentence: str
) -> None:
    elf = compile_text(SKETCH.replace("BODY", body), tmp_path / "sketch.elf", "-O1")
    done = run("verify", elf, "-o", tmp_path / "certificate.json")
    assert sentence in refusal(done, exit_code=1)
    assert not (tmp_path / "certificate.json").exists()


def test_a_program_without_the_entry_is_refused(tmp_path: Path) -> None:
    elf = compile_text("int main(void) { for (;;) {} }", tmp_path / "sketch.elf", "-Os")
    refuses(run("verify", elf, "-o", tmp_path / "certificate.json"), "codegen.families.avr.code")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[" * 100_000,
        b'{"claims": 1}',
        b'{"format": 2, "tool": {}, "subject": {}, "settings": {}, "claims": []}',
        b"\xff\xfe",
    ],
)
def test_a_damaged_certificate_is_refused_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "certificate.json"
    path.write_bytes(content)
    with pytest.raises(InputError):
        read_certificate(path)


def test_names_in_a_certificate_are_escaped_in_its_page() -> None:
    name = "<script>alert(1)</script>"
    certificate = Certificate(
        {"kind": "program", "core": "avr5", "compilers": name},
        Settings(name, name, 8, prove=False),
        {name: name, "firmware": "00"},
        (Claim(name, name, "proven", name),),
    )
    page = certificate.page()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_a_sketch_may_ask_for_scores_of_a_model_with_another_prefix(tmp_path: Path) -> None:
    model = plain_model()
    save_model(model, tmp_path / "model.npz")
    export(model, "platformio", tmp_path / "library", tries=False, prefix="shape")
    sketch = tmp_path / "main.c"
    sketch.write_text(CALLING)
    elf, src = tmp_path / "sketch.elf", tmp_path / "library" / "src"
    sources = [sketch, src / "shape_model.c"]
    command = ["avr-gcc", "-mmcu=atmega328p", "-Os", "-std=gnu11", f"-I{src}", "-o", elf, *sources]
    subprocess.run(command, check=True)
    given = ("verify", tmp_path / "model.npz", elf)
    claims = claims_of(run_json(*given, "--entry", "shape_predict"))
    assert claims["every-input"]["status"] == "proven"
    assert (
        "shape_predict of the linked program computes the scores"
        in (claims["every-input"]["statement"])
    )
    assert "pnn_predict" in refusal(run(*given))
    assert "--entry is 'main'" in refusal(run(*given, "--entry", "main"))
    (tmp_path / "points.csv").write_text("1,2,3,4,5,6,7,8\n")
    with_points = ("verify", tmp_path / "model.npz", tmp_path / "points.csv")
    assert "does not apply" in refusal(run(*with_points, "--entry", "shape_predict"))
