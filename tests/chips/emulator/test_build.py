"""The emulator is compiled once, and what is missing is named."""

from __future__ import annotations

import contextlib
import sys

import pytest
from checkout import CHECKOUT
from programs import started
from refusals import refused_by

from protonn_edge.chips.emulator import EmulatedUno, programs

FIRMWARE = "int main(void) { idle_for_ever(); }"


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    return cache / "protonn-edge"


def put_compiler(folder, name, script):
    folder.mkdir()
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_it_is_built_once(compile_firmware, empty_cache):
    firmware = compile_firmware(FIRMWARE)
    EmulatedUno(firmware)
    (product,) = empty_cache.iterdir()
    built = product.stat().st_mtime_ns
    EmulatedUno(firmware)
    assert [file.stat().st_mtime_ns for file in empty_cache.iterdir()] == [built]


def test_processes_may_build_it_at_the_same_time(compile_firmware, empty_cache):
    program = """
import sys
from pathlib import Path
from protonn_edge.chips.emulator import EmulatedUno
with EmulatedUno(Path(sys.argv[1])) as uno:
    assert uno.stats().faults == ()
"""
    command = [sys.executable, "-c", program, compile_firmware(FIRMWARE)]
    with contextlib.ExitStack() as stack:
        racers = [stack.enter_context(started(*command, cwd=CHECKOUT)) for _ in range(3)]
        assert [racer.wait() for racer in racers] == [0] * 3
    assert len(list(empty_cache.iterdir())) == 1


@pytest.mark.usefixtures("empty_cache")
def test_a_missing_compiler_is_named(compile_firmware, tmp_path, monkeypatch):
    firmware = compile_firmware(FIRMWARE)
    monkeypatch.setenv("PATH", str(tmp_path))
    with refused_by("chips.emulator.programs"):
        EmulatedUno(firmware, emulator="simavr")


@pytest.mark.usefixtures("empty_cache")
def test_missing_headers_are_named(compile_firmware, tmp_path, monkeypatch):
    firmware = compile_firmware(FIRMWARE)
    complaint = "uno.h:12: fatal error: simavr/sim_avr.h: No such file or directory"
    put_compiler(tmp_path / "bin", "gcc", f"echo '{complaint}' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    with refused_by("chips.emulator.programs"):
        EmulatedUno(firmware, emulator="simavr")


def test_a_cache_that_cannot_be_written_is_named(compile_firmware, tmp_path, monkeypatch):
    firmware = compile_firmware(FIRMWARE)
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with refused_by("chips.emulator.programs"):
        EmulatedUno(firmware)


def test_an_emulator_that_does_not_start_is_reported(compile_firmware, empty_cache):
    firmware = compile_firmware(FIRMWARE)
    EmulatedUno(firmware)
    (product,) = empty_cache.iterdir()
    product.write_text("#!/bin/sh\necho 'libsimavr.so.2: cannot open' >&2\nexit 127\n")
    with (
        refused_by("chips.emulator.board", kind=Exception),
        EmulatedUno(firmware),
    ):
        pass


def test_missing_source_of_the_bootloader_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(programs, "_OPTIBOOT", tmp_path / "optiboot.c")
    with refused_by("chips.emulator.programs"):
        EmulatedUno(None, bootloader=True)
