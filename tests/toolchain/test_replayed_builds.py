"""What other tests have in place of PlatformIO makes the same files as PlatformIO."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from avr_tools import needs_avr_gcc
from kept_programs import KeptPrograms
from model_factory import random_model
from refusals import refused_by
from replayed_builds import ReplayedBuilds

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.toolchain import platformio
from protonn_edge.chips.toolchain.platformio import build_firmware
from protonn_edge.chips.toolchain.process import build_host_executable, run_within
from protonn_edge.codegen.projects.project import build
from protonn_edge.system.errors import CheckFailed

pytestmark = needs_avr_gcc


def files_of(project: Path) -> dict[str, bytes]:
    """Return what a build leaves, but for PlatformIO's own notes."""
    return {
        path.relative_to(project).as_posix(): path.read_bytes()
        for path in (project / ".pio" / "build" / "uno").rglob("*")
        if path.suffix in {".elf", ".hex", ".o", ".su"}
    }


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Projects of two models, whose settings differ in what no compiler is told of."""
    folders = tuple(tmp_path_factory.mktemp(f"project_{seed}") for seed in range(2))
    for seed, folder in enumerate(folders):
        build(random_model(seed), load_board("uno"), folder)
    settings = folders[1] / "platformio.ini"
    text = settings.read_text("utf-8").replace("board = uno\n", "board = uno  ; the other one\n")
    settings.write_text(f"; Another project.\n{text}monitor_speed = 9600\n", "utf-8")
    return folders[0], folders[1]


def test_replayed_builds_are_those_of_platformio(
    projects: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = []

    def counted(*arguments: object, **named: object) -> subprocess.CompletedProcess[str]:
        runs.append(arguments)
        return run_within(*arguments, **named)  # type: ignore[arg-type]

    def built(project: Path) -> dict[str, bytes]:
        shutil.rmtree(project / ".pio", ignore_errors=True)
        build_firmware(project)
        return files_of(project)

    monkeypatch.delenv("PLATFORMIO_BUILD_CACHE_DIR")  # it keeps no .su files
    wanted = [built(project) for project in projects]
    monkeypatch.setattr(platformio, "run_within", ReplayedBuilds(tmp_path, counted))
    for project, files in zip(projects, wanted, strict=True):
        assert built(project) == files
        for kept in tmp_path.iterdir():
            if kept.suffix != ".json":
                kept.unlink()  # so that all are compiled, linked and kept again
        assert built(project) == files
        assert built(project) == files
    assert len(runs) == 1
    assert wanted[0] != wanted[1]


def test_a_build_that_fails_is_left_to_platformio(
    projects: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    shutil.copytree(projects[0], project)
    monkeypatch.setattr(platformio, "run_within", ReplayedBuilds(tmp_path / "kept", run_within))
    build_firmware(project)
    source = project / "firmware" / "frame.c"
    source.write_text(source.read_text("utf-8") + "\nint broken = ;\n", "utf-8")
    with refused_by("chips.toolchain.platformio", kind=CheckFailed):
        build_firmware(project)


def test_what_another_source_includes_is_part_of_its_object(tmp_path: Path) -> None:
    line = "avr-gcc -o main.o -c src/main.c"

    def compiled(
        _: float, command: Sequence[str], *, folder: Path, **rest: object
    ) -> subprocess.CompletedProcess[str]:
        subprocess.run(line.split(), cwd=folder, check=True)
        return subprocess.CompletedProcess(command, 0, line, "")

    def built(source: str, header: str) -> bytes:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        (folder / "src").mkdir(parents=True)
        (folder / "platformio.ini").touch()
        (folder / "src" / "main.c").write_text(source)
        (folder / "src" / "main.h").write_text(header)
        command = ["python", "-m", "platformio", "run", "--environment", "uno"]
        replayed(60, command, name="PlatformIO", folder=folder, environment=os.environ)
        return (folder / "main.o").read_bytes()

    kept = tmp_path / "kept"
    kept.mkdir()
    replayed = ReplayedBuilds(kept, compiled)
    including = '#include "main.h"\nint x = ANSWER;\n'
    objects = [
        built("int x = 0;\n", ""),
        *(built(including, f"#define ANSWER {n}\n") for n in "12"),
    ]
    assert len({*objects}) == 3
    assert len([*kept.glob("*.json")]) == 1


def test_a_program_is_compiled_again_if_anything_that_it_is_made_of_differs(tmp_path: Path) -> None:
    built = []

    def counted(*arguments: object) -> Path:
        built.append(arguments)
        return build_host_executable(*arguments)  # type: ignore[arg-type]

    def answer(source: str, header: str, *, sanitize: bool = False) -> int:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        (folder / "main.c").write_text(source)
        (folder / "main.h").write_text(header)
        kept = KeptPrograms(tmp_path / "kept", counted)
        program = kept([folder / "main.c"], folder, folder / "main", sanitize)
        return subprocess.run([program], check=False, timeout=60).returncode

    (tmp_path / "kept").mkdir()
    plain = '#include "main.h"\nint main(void)\n{\n    return ANSWER;\n}\n'
    assert [answer(plain, "#define ANSWER 1\n") for _ in range(2)] == [1, 1]
    assert len(built) == 1
    assert answer(plain, "#define ANSWER 2\n") == 2
    assert answer(plain.replace("ANSWER", "3"), "#define ANSWER 2\n") == 3
    assert answer(plain, "#define ANSWER 2\n", sanitize=True) == 2
    assert len(built) == 4
    for _ in range(2):
        with pytest.raises(CheckFailed, match="unknown"):
            answer(plain, "#define ANSWER unknown\n")
