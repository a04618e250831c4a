"""Two libraries with the same names in one program do not compile, and the reason is the cure."""

from __future__ import annotations

import json
import shutil
import subprocess
from itertools import permutations
from pathlib import Path

import pytest
from arduino_ide import export_for_uno
from model_factory import random_model

from protonn_edge.chips.boards import load_export_board
from protonn_edge.codegen.export import Kind, export

COMPILERS = {"cc": (), "c++": ("-x", "c++")}


def compiled(folder: Path, *headers: str, compiler: str = "cc") -> str:
    """Return what a compiler prints about a program that includes these headers."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not on PATH; to run: install it")
    source = folder / "both.c"
    source.write_text("".join(f'#include "{header}"\n' for header in headers) + "int main(void);\n")
    command = [compiler, *COMPILERS[compiler], "-fsyntax-only", source]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode == 0) is (done.stderr == "")
    return done.stderr


@pytest.mark.parametrize("board", ["uno", "pico"])
@pytest.mark.parametrize("kind", ["arduino", "platformio", "c"])
def test_two_models_with_the_same_prefix_are_refused_in_any_order(
    tmp_path: Path, kind: Kind, board: str
):
    headers = []
    for seed, name in enumerate(("wave", "knock", "other")):
        model, prefix = random_model(seed), "other" if name == "other" else "pnn"
        export(model, kind, tmp_path / name, load_export_board(board), prefix=prefix, tries=False)
        own = f"{prefix}_self_test.h" if kind == "c" else f"src/{name}.h"
        headers.append(f"{name}/{own}")
    for first, second in permutations(headers[:2]):
        words = compiled(tmp_path, first, second)
        assert "export one of them with --library prefix=NAME" in words
        assert compiled(tmp_path, first, first, headers[2]) == ""


def test_the_header_of_the_model_alone_is_enough(tmp_path: Path):
    for seed in range(2):
        export_for_uno(random_model(seed), "c", tmp_path / f"{seed}", prefix="pnn")
    for compiler in COMPILERS:
        words = compiled(tmp_path, "0/pnn_model.h", "1/pnn_model.h", compiler=compiler)
        assert words.count("--library prefix=NAME") >= 1
        assert compiled(tmp_path, *["0/pnn_model.h"] * 2, compiler=compiler) == ""


def test_platformio_links_objects_so_that_equal_names_are_an_error(tmp_path: Path):
    """From an archive, a linker takes the first of two functions without a word."""
    export_for_uno(random_model(), "platformio", tmp_path / "wave")
    manifest = json.loads((tmp_path / "wave" / "library.json").read_text("utf-8"))
    assert manifest["build"]["libArchive"] is False
