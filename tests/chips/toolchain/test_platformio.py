"""PlatformIO builds with and without its registry, from the same platformio.ini."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import requests
from avr_tools import AVR_GCC, needs_avr_gcc, skip_without
from refusals import refused_by

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.toolchain import platformio
from protonn_edge.chips.toolchain.platformio import (
    build_firmware,
    pio_environment,
    pio_variables,
    run_pio,
)
from protonn_edge.system.errors import CheckFailed
from protonn_edge.system.files import resource

MAIN = "#include <avr/io.h>\nint main(void) { DDRB = 1; for (;;) PINB = 1; }\n"


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch, tmp_path):
    """Start from a user who has set nothing, with an empty home, and no registry asked yet."""
    for name in [*os.environ]:
        if name.startswith(("PLATFORMIO_", "PROTONN_EDGE_")):
            monkeypatch.delenv(name)
    monkeypatch.setattr(platformio, "_has_address", lambda _: True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    platformio._registry_is_reachable.cache_clear()
    yield
    platformio._registry_is_reachable.cache_clear()


@pytest.fixture
def registry(monkeypatch):
    """Return a function that sets what every mirror of the registry answers."""

    def set_answer(answer):
        def get(address, **_):
            asked.append(address)
            result = answer() if callable(answer) else answer
            if isinstance(result, Exception):
                raise result
            response = requests.Response()
            response.status_code = result
            response.raw = io.BytesIO()
            return response

        asked: list[str] = []
        monkeypatch.setattr(requests, "get", get)
        return asked

    return set_answer


@pytest.fixture
def project(tmp_path):
    """Return a function that writes a project with the stock platformio.ini and one source."""

    def write(source):
        folder = tmp_path / "project"
        (folder / "firmware").mkdir(parents=True, exist_ok=True)
        shutil.copy(resource("platformio.ini"), folder)
        (folder / "firmware" / "main.c").write_text(source)
        return folder

    return write


@pytest.fixture
def offline(monkeypatch):
    """Take the registry for out of reach, without asking."""
    skip_without(*AVR_GCC)
    monkeypatch.setenv("PROTONN_EDGE_PLATFORMIO", "offline")


# --- when the shim is used -----------------------------------------------------------------------


INSTALLED = ("platforms/atmelavr", "packages/toolchain-atmelavr", "packages/tool-scons")
CHOSEN = "PROTONN_EDGE_PLATFORMIO"
GONE = requests.ConnectionError()
OURS = '{"version": "5.0.0"}'


@needs_avr_gcc
@pytest.mark.parametrize(
    ("answers", "variables", "installed", "manifest", "uses_shim"),
    [
        (200, {}, (), "", False),
        (404, {}, (), "", True),
        (503, {}, (), "", True),
        (GONE, {}, (), "", True),
        (requests.Timeout(), {}, (), "", True),
        ([GONE, 200].pop, {}, (), "", False),  # one mirror is enough
        (GONE, {}, INSTALLED[:1], OURS, True),  # without its compiler
        (GONE, {}, INSTALLED, '{"version": "4.2.0"}', True),
        (GONE, {}, INSTALLED, "[]", True),
        (GONE, {}, INSTALLED, "no JSON", True),
        # which decide without a question:
        (None, {}, INSTALLED, OURS, False),
        (None, {"PLATFORMIO_PLATFORMS_DIR": "/somewhere"}, (), "", False),
        (None, {CHOSEN: "stock"}, (), "", False),
        (None, {CHOSEN: "offline"}, (), "", True),
    ],
)
def test_the_shim_is_used_where_platformio_has_no_platform_and_cannot_get_one(
    registry, monkeypatch, tmp_path, answers, variables, installed, manifest, uses_shim
):
    asked = registry(answers)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    home = tmp_path / "home" / ".platformio"
    for folder in installed:
        (home / folder).mkdir(parents=True)
        (home / INSTALLED[0] / "platform.json").write_text(manifest)
    core = pio_variables().get("PLATFORMIO_CORE_DIR")
    assert bool(core) == uses_shim
    assert bool(asked) == (answers is not None)
    assert core is None or (Path(core) / "platforms" / "atmelavr" / "platform.json").is_file()
    assert pio_environment().get("PLATFORMIO_CORE_DIR") == core


@pytest.mark.parametrize(("own", "expected"), [(None, "no"), ("yes", "yes")])
def test_telemetry_is_off_unless_the_user_wants_it(monkeypatch, own, expected):
    name = "PLATFORMIO_SETTING_ENABLE_TELEMETRY"
    monkeypatch.setenv(CHOSEN, "stock")
    if own is not None:
        monkeypatch.setenv(name, own)
    assert pio_environment()[name] == expected


CHANGING = {
    **dict.fromkeys(("PLATFORMIO_BUILD_FLAGS", "PLATFORMIO_SRC_BUILD_FLAGS"), "-include {}/evil.h"),
    **dict.fromkeys(("PLATFORMIO_BUILD_UNFLAGS", "PLATFORMIO_SRC_BUILD_UNFLAGS"), "-O2"),
    "PLATFORMIO_BUILD_SRC_FILTER": "-<*>",
    "PLATFORMIO_BUILD_SRC_FLAGS": "-include {}/evil.h",
    "PLATFORMIO_BUILD_TYPE": "debug",
    "PLATFORMIO_DEBUG_BUILD_FLAGS": "-include {}/evil.h",
    "PLATFORMIO_EXTRA_SCRIPTS": "{}/evil.py",
    **dict.fromkeys(("PLATFORMIO_LIB_EXTRA_DIRS", "PLATFORMIO_GLOBALLIB_DIR"), "{}"),
    **{f"PLATFORMIO_{each}_DIR": "{}" for each in ("SRC", "INCLUDE", "LIB", "BOARDS", "BUILD")},
    **{f"PLATFORMIO_{each}_DIR": "{}" for each in ("WORKSPACE", "SHARED", "LIBDEPS", "DATA")},
    "PLATFORMIO_BUILD_CACHE_DIR": "{}/cached",
    "PLATFORMIO_DEFAULT_ENVS": "mega2560",
    "PLATFORMIO_UPLOAD_FLAGS": "-Uflash:w:{}/evil.hex:i",
    "PLATFORMIO_LIB_DEPS": "evil",
    **dict.fromkeys(("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH"), "{}"),
    **dict.fromkeys(("GCC_EXEC_PREFIX", "COMPILER_PATH", "LIBRARY_PATH"), "{}/"),
    **dict.fromkeys(("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES"), "{}/depends"),
    "SOURCE_DATE_EPOCH": "1",
    "SCONSFLAGS": "--clean",
    "LDFLAGS": "-nostdlib",
    "CFLAGS": "-include {}/evil.h",
    "COLLECT_GCC_OPTIONS": "-O0",
    "LD_RUN_PATH": "{}",
    "LDEMULATION": "avr2",
    "GNUTARGET": "elf32-little",
    "AVR_HOME": "{}",
}
"""Variables with which PlatformIO or a compiler would make another program, or none."""


def test_no_variable_that_changes_a_program_is_passed_on(monkeypatch):
    for name, value in CHANGING.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv(CHOSEN, "stock")
    assert not CHANGING.keys() & pio_environment().keys()


@needs_avr_gcc
def test_a_registry_that_never_answers_is_not_waited_for(registry, monkeypatch):
    answered = threading.Event()

    def wait():
        answered.wait(60)
        return 200

    monkeypatch.setattr(platformio, "_PROBE_SECONDS", 0.1)
    registry(wait)
    assert "PLATFORMIO_CORE_DIR" in pio_variables()
    answered.set()


@needs_avr_gcc
def test_the_registry_is_asked_once_in_a_process(registry):
    asked = registry(requests.ConnectionError())
    first = pio_variables()
    count = len(asked)
    assert pio_variables() == first
    assert len(asked) == count > 0


def test_another_choice_is_refused(monkeypatch):
    monkeypatch.setenv("PROTONN_EDGE_PLATFORMIO", "sometimes")
    with refused_by("chips.toolchain.platformio"):
        pio_variables()


def test_neither_a_registry_nor_a_compiler_is_said(registry, monkeypatch):
    registry(requests.ConnectionError())
    monkeypatch.setenv("PATH", "")
    with refused_by("chips.toolchain.platformio"):
        pio_variables()


def test_a_cache_that_cannot_be_written_is_said(offline, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "below"))
    with refused_by("system.folders"):
        pio_variables()


def test_the_shim_is_made_once_and_left_alone(offline):
    core = Path(pio_variables()["PLATFORMIO_CORE_DIR"])
    before = {path: path.stat().st_mtime_ns for path in core.rglob("*")}
    assert pio_variables()["PLATFORMIO_CORE_DIR"] == str(core)
    assert {path: path.stat().st_mtime_ns for path in core.rglob("*")} == before
    assert [path.name for path in core.parent.iterdir()] == [core.name]


# --- building ------------------------------------------------------------------------------------


@pytest.fixture(params=["without PlatformIO", "by PlatformIO"])
def built(request, monkeypatch):
    """Return what builds a project, each of both ways."""
    if request.param == "by PlatformIO":
        monkeypatch.setattr(platformio.direct, "build", lambda *_: False)
    return build_firmware


def test_a_project_is_built_without_a_registry(offline, project, built):
    elf = built(project(MAIN))
    assert elf.name == "firmware.elf"
    assert read_program(elf).sections.flash_bytes > 100
    assert [path.name for path in elf.parent.rglob("*.su")] == ["main.su"]


def test_the_same_sources_give_the_same_bytes_whatever_a_user_has(
    offline, project, built, monkeypatch, tmp_path
):
    """No variable adds a file, a flag or a path; a folder of tests makes pio fetch nothing."""
    folder = project(MAIN)
    first = built(folder).read_bytes()
    shutil.rmtree(folder / ".pio")
    (tmp_path / "avr").mkdir()
    for header in ("evil.h", "avr/io.h", "evil.py"):
        (tmp_path / header).write_text("#error included\nraise SystemExit('run')\n")
    for name, value in CHANGING.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    (folder / "test" / "test_of_the_user").mkdir(parents=True)
    assert built(folder).read_bytes() == first


def test_build_flags_of_platformio_ini_are_used(offline, project):
    folder = project(MAIN)
    output = run_pio(folder, "run", "--verbose", deadline_s=120).stdout
    command = next(line for line in output.splitlines() if " -c " in line).split()
    assert {"-O2", "-std=gnu99", "-Wpedantic", "-fstack-usage", "-DF_CPU=16000000L"} <= {*command}
    assert not {"-Os", "-flto", "-std=gnu11"} & {*command}


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("int main(void) { return unknown; }\n", "main.c:1:25: error: "),
        ("#error Regenerate\n", "#error Regenerate"),
        ("void f(void);\nint main(void) { f(); return 0; }\n", "undefined reference to `f'"),
    ],
)
def test_what_is_refused_is_said_in_the_compilers_words(offline, project, source, words):
    with pytest.raises(CheckFailed, match="'pio run --environment uno' failed: ") as caught:
        build_firmware(project(source))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_firmware_that_is_too_large_is_linked_for_the_budget_gate_to_judge(offline, project):
    source = """
        #include <avr/pgmspace.h>
        #include <stdint.h>
        static const uint8_t table[32400] PROGMEM = {1};
        int main(void) {
            uint16_t i = 0;
            for (;;) GPIOR0 = pgm_read_byte(&table[i++ % 32400]);
        }
    """
    elf = build_firmware(project("#include <avr/io.h>\n" + source))
    assert read_program(elf).sections.flash_bytes > 32256


def test_a_folder_that_is_no_project_is_refused(tmp_path):
    with refused_by("chips.toolchain.platformio"):
        build_firmware(tmp_path)


def test_an_unknown_environment_is_refused(offline, project):
    with refused_by("chips.toolchain.platformio"):
        build_firmware(project(MAIN), "due")


def test_past_the_deadline_pio_is_stopped(offline, project):
    with refused_by("chips.toolchain.process", kind=CheckFailed):
        run_pio(project(MAIN), "run", deadline_s=0.01)


def test_a_shell_gets_what_it_needs_to_run_pio_itself(offline, project, monkeypatch):
    folder = project(MAIN)
    script = f"""
        set -eu
        variables=$('{sys.executable}' -m protonn_edge.chips.toolchain)
        unset PROTONN_EDGE_PLATFORMIO
        eval "$variables"
        cd '{folder}'
        '{sys.executable}' -m platformio run
    """
    checkout = str(Path(platformio.__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": checkout}
    subprocess.run(["sh", "-c", script], check=True, timeout=120, env=environment)
    assert (folder / ".pio" / "build" / "uno" / "firmware.hex").is_file()


def test_a_shell_is_told_what_is_wrong():
    command = [sys.executable, "-m", "protonn_edge.chips.toolchain"]
    environment = {**os.environ, "PROTONN_EDGE_PLATFORMIO": "sometimes"}
    done = subprocess.run(
        command, timeout=120, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("PROTONN_EDGE_PLATFORMIO: 'sometimes', expected 'stock'")
