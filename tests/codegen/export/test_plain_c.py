"""Plain C is C99 without a warning, and its self-test passes under sanitizers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from arduino_ide import export_for_uno, spoil_score_of_vector_7
from model_factory import random_model, random_points

from protonn_edge.chips.toolchain.process import build_host_executable
from protonn_edge.model.model import Model

SOURCES = ("main.c", "plain_model.c", "plain_self_test.c")


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build by -std=c99 -Wall -Wextra -Wpedantic -Werror with sanitizers, and run."""
    sources = [folder / name for name in SOURCES]
    program = build_host_executable(sources, folder, folder.parent / "program", sanitize=True)
    return subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)


def test_the_self_test_passes(model: Model, tmp_path: Path):
    export_for_uno(model, "c", tmp_path / "plain")
    done = run(tmp_path / "plain")
    assert (done.returncode, done.stdout, done.stderr) == (0, "PASS: 20 test vectors\n", "")


def test_points_of_data_are_the_vectors(tmp_path: Path):
    points = random_points(5, 9, 12)
    export_for_uno(random_model(), "c", tmp_path / "plain", points=points)
    assert run(tmp_path / "plain").stdout == "PASS: 9 test vectors\n"


def test_the_first_difference_is_told(tmp_path: Path):
    export_for_uno(random_model(), "c", tmp_path / "plain")
    right, wrong = spoil_score_of_vector_7(tmp_path / "plain" / "plain_self_test.c")
    done = run(tmp_path / "plain")
    said = f"first vector 7, score 0: {wrong} expected, {right} computed"
    assert done.stdout == f"FAIL: 1 of 20 test vectors; {said}\n"
    assert done.returncode == 1


def test_another_models_sources_do_not_compile(tmp_path: Path):
    for features in (12, 13):
        export_for_uno(
            random_model(features=features), "c", tmp_path / f"of_{features}", prefix="pnn"
        )
    other = tmp_path / "of_13" / "pnn_self_test.c"
    command = ["cc", "-fsyntax-only", f"-I{tmp_path / 'of_12'}", other.rename(tmp_path / "self.c")]
    shutil.copy(tmp_path / "of_13" / "pnn_self_test.h", tmp_path)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "different models" in done.stderr


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not on PATH; to run: install it")
@pytest.mark.parametrize("prefix", ["pnn", "wave"])
def test_the_makefile_runs_it(tmp_path: Path, prefix: str):
    export_for_uno(random_model(), "c", tmp_path / "plain", prefix=prefix)
    command = ["make", "-s", "test", "CFLAGS=-Werror"]
    done = subprocess.run(
        command, cwd=tmp_path / "plain", capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.endswith("PASS: 20 test vectors\n")
    # What was built there is no reason to refuse the next export.
    export_for_uno(random_model(1), "c", tmp_path / "plain")


def test_cpp_programs_link_it(tmp_path: Path):
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("g++ is not on PATH; to run: install it")
    export_for_uno(random_model(), "c", tmp_path, name="plain")
    names = ("self_test", "model", "self_test")
    use = "".join(f'#include "plain_{name}.h"\n' for name in names)
    (tmp_path / "one.cpp").write_text(f"{use}int other();\nint main() {{ return other(); }}\n")
    (tmp_path / "two.cpp").write_text(
        f"{use}int other() {{ plain_difference first; return plain_self_test(&first); }}\n"
    )
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    for name in SOURCES[1:]:
        subprocess.run(
            ["cc", "-std=c99", *strict, "-c", name], cwd=tmp_path, timeout=60, check=True
        )
    objects = [name.replace(".c", ".o") for name in SOURCES[1:]]
    command = [compiler, "-std=c++11", *strict, "one.cpp", "two.cpp", *objects, "-o", "both"]
    subprocess.run(command, cwd=tmp_path, timeout=60, check=True)
    subprocess.run([tmp_path / "both"], timeout=60, check=True)
