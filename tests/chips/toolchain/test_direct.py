"""A project is compiled with the commands of `pio run`, or left to it."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from avr_tools import needs_avr_gcc
from model_factory import random_model

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.toolchain import direct, platformio
from protonn_edge.chips.toolchain.platformio import build_firmware, run_pio
from protonn_edge.codegen.projects.project import build
from protonn_edge.system.errors import CheckFailed
from protonn_edge.system.files import resource

pytestmark = needs_avr_gcc

OWN_PROJECT = """
[platformio]
default_envs = uno
[env:uno]
platform = atmelavr@5.0.0 ; a comment
board = uno
board_build.mcu = atmega328p
board_build.f_cpu = 16000000L
monitor_speed = 9600
"""
FLAGS = """
build_unflags = -flto -fno-fat-lto-objects -std=gnu11 -Wall
build_flags =
    -std=gnu99 -O3 -Wextra # a comment
    -DANSWER=42 -DNAMED=other -DSET
    -fstack-usage -Wl,--defsym=somewhere=0x10
"""
MAIN = "int main(void) { return 0; }\n"
_COMPILED = ("elf", "hex", "su")


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROTONN_EDGE_PLATFORMIO", "offline")


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a project of one source, in a folder with an unusual name."""

    def written(settings: str, **files: str) -> Path:
        folder = tmp_path / "größe & so 'n"
        for name, text in {"platformio.ini": settings, "src/main.c": MAIN, **files}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        return folder

    return written


def made(project: Path, environment: str) -> dict[str, bytes]:
    """Return a build's program and notes on the stack."""
    folder = project / ".pio" / "build" / environment
    files = [path for end in _COMPILED for path in folder.rglob(f"*.{end}")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def assert_as_platformio(project: Path, environment: str) -> None:
    """Compare the commands, and what they make, with those of PlatformIO."""
    variables = {"PLATFORMIO_BUILD_DIR": str(project / ".pio" / "build")}
    said = run_pio(project, "run", "-v", "-e", environment, variables=variables).stdout
    lines = [line for line in said.splitlines() if line.startswith(("avr-gcc ", "avr-objcopy "))]
    printed = [shlex.split(line) for line in lines]
    wanted = made(project, environment)
    settings = direct.known_settings(project, environment)
    assert settings is not None
    assert sorted(settings.commands(f".pio/build/{environment}")) == sorted(printed)
    assert direct.build(project, environment, 60)
    assert made(project, environment) == wanted != {}


@pytest.mark.parametrize("name", ["leonardo", "mega2560"])
def test_a_board_is_compiled_as_by_platformio(name: str, tmp_path: Path) -> None:
    build(random_model(0), load_board(name), tmp_path)
    assert_as_platformio(tmp_path, name)


@pytest.mark.parametrize("flags", ["", FLAGS], ids=["none", "own"])
def test_a_project_of_a_user_is_compiled_as_by_platformio(
    flags: str, write: Callable[..., Path]
) -> None:
    assert_as_platformio(write(OWN_PROJECT + flags), "uno")


@pytest.mark.parametrize(
    "more",
    [
        "framework = arduino",
        "lib_deps = symlink://../..",
        "extra_scripts = pre.py",
        "build_type = debug",
        "platform = atmelavr",
        "build_src_filter = +<*.c>",
        "extends = env:other\n[env:other]\nbuild_type = debug",
        "[env]\nbuild_type = debug",
        "[platformio]\nsrc_dir = ../elsewhere",
        *(f"build_flags = {flag}" for flag in ("-Iheaders", "-lc", "-DF_CPU=1", "-DTEN=010")),
        *(f"build_flags = {flag}" for flag in ("-flto", "${sysenv.HOME}", "!echo -O3", "x.o")),
        *(f"build_flags = {flag}" for flag in ("-include x.h", '-DTEXT="a b"', "@words", "-Wa,-a")),
        "no option",
    ],
)
def test_settings_that_only_platformio_knows_are_left_to_it(
    more: str, write: Callable[..., Path]
) -> None:
    settings = OWN_PROJECT
    for line in (line for line in more.splitlines() if line in ("[platformio]",)):
        settings = settings.replace(f"{line}\ndefault_envs = uno\n", "")
    own = "platform = atmelavr@5.0.0 ; a comment\n"
    settings = settings.replace(own * more.startswith("platform ="), "")
    assert direct.known_settings(write(f"{settings}{more}\n"), "uno") is None


@pytest.mark.parametrize(
    "name",
    ["lib/x/x.c", "include/x.h", "boards/uno.json", "src/x.cpp", "src/x.S", "src/x.ino", "src/x.s"],
)
def test_files_that_only_platformio_knows_are_left_to_it(
    name: str, write: Callable[..., Path]
) -> None:
    assert direct.known_settings(write(OWN_PROJECT, **{name: "\n"}), "uno") is None


def test_what_is_left_out_of_the_firmware_is_not_compiled(write: Callable[..., Path]) -> None:
    more = {"src/host/main.c": "no C", "src/host/x.cpp": "no C", "src/deep/er.c": "int x;\n"}
    folder = write(OWN_PROJECT + "build_src_filter = +<*> -<host/>\n", **more)
    settings = direct.known_settings(folder, "uno")
    assert settings is not None
    assert [words[-1] for words in settings.commands("made")[:-2]] == [
        "src/deep/er.c",
        "src/main.c",
    ]


def test_notes_on_the_stack_of_a_source_that_is_gone_are_removed(
    write: Callable[..., Path],
) -> None:
    folder = write(OWN_PROJECT + FLAGS, **{"src/more.c": "int more(void) { return 1; }\n"})
    build_firmware(folder)
    (folder / "src" / "more.c").unlink()
    build_firmware(folder)
    assert [*made(folder, "uno")] == ["firmware.elf", "firmware.hex", "src/main.su"]


def test_a_message_of_the_compiler_is_left_to_platformio(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """PlatformIO compiles it again, and shows the message in its own way."""
    folder = write(OWN_PROJECT, **{"src/main.c": f"#warning Look at this\n{MAIN}"})
    ran = []
    monkeypatch.setattr(platformio, "run_pio", lambda *_, **__: ran.append(1))
    assert not direct.build(folder, "uno", 60)
    with pytest.raises(CheckFailed, match="without writing"):
        build_firmware(folder)
    assert ran == [1]


def test_platformio_compiles_anew_what_was_compiled_without_it(write: Callable[..., Path]) -> None:
    """Its notes of the last build would say that nothing has changed since."""
    settings = resource("platformio.ini").read_text("utf-8").replace("src_dir = firmware ", ";")
    folder = write(settings)
    source = folder / "src" / "main.c"

    def by_platformio() -> bytes:
        run_pio(folder, "run", "-e", "uno")
        return made(folder, "uno")["firmware.elf"]

    first = by_platformio()
    source.write_text('int main(void) { for (;;) __asm__("nop"); }\n')
    assert build_firmware(folder).read_bytes() != first
    source.write_text(MAIN)
    assert by_platformio() == first
