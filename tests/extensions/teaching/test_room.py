"""What teaching takes of a board: room beyond its EEPROM is refused before anything is compiled."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from subprocess import CalledProcessError

import numpy as np
import pytest
from avr_programs import compile_text
from avr_tools import needs_avr_gcc
from chains import replace as with_numbers
from command_line import run_json
from generated_programs import write_c
from model_factory import random_model

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.boards import Board, boards, load_board, load_export_board
from protonn_edge.codegen.export import export
from protonn_edge.codegen.projects.project import build
from protonn_edge.extensions.teaching import board as teaching
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed
from protonn_edge.system.extensions import check_memories

D = 8
MAIN = "int main(void) { return 0; }"


def with_room(room: int):
    return with_numbers(random_model(projections=D, features=8, classes=3), teachable=room)


@pytest.fixture
def _no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")


@pytest.mark.usefixtures("_no_compiler")
@pytest.mark.parametrize(("board", "most"), [("uno", 91), ("attiny85", 44)])
def test_the_largest_room_that_fits_is_named(tmp_path: Path, board: str, most: int) -> None:
    said = f"{board} has .*; train with --teachable {most}"
    for room in (most + 1, 200):
        if board == "uno":
            with pytest.raises(CheckFailed, match=said):
                build(with_room(room), board, tmp_path / "project")
        with pytest.raises(CheckFailed, match=said):
            export(with_room(room), "c", tmp_path / "library", board)
    assert list(tmp_path.iterdir()) == []
    check_memories(quantize(with_room(most)), load_export_board(board))


def test_what_is_refused_is_what_the_compiler_refuses(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for room, fits in ((91, True), (92, False)):
        write_c(quantize(with_room(room)), tmp_path)
        compiled = [MAIN, tmp_path / "main.elf", "pnn_model.c"]
        with nullcontext() if fits else pytest.raises(CalledProcessError):
            compile_text(*compiled)
        assert fits or "need more EEPROM than this chip has" in capfd.readouterr().err
    assert teaching.store_of(quantize(with_room(91))).size <= 1024


@pytest.mark.parametrize("board", boards(), ids=lambda board: board.name)
def test_the_file_of_a_board_has_the_eeprom_of_its_chip(board: Board, tmp_path: Path) -> None:
    same = f'#include <avr/io.h>\n_Static_assert(E2END + 1 == {board.eeprom_bytes}, "");\n'
    compile_text(same + MAIN, tmp_path / "main.elf", mcu=board.mcu)


def test_a_board_whose_eeprom_is_unknown_is_left_to_the_compiler() -> None:
    check_memories(quantize(with_room(200)), replace(load_board("uno"), eeprom_bytes=0))


def test_training_warns_before_it_begins(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "data.npz", X=rng.normal(size=(60, 4)), y=np.arange(60) % 3)
    words = ["train", tmp_path / "data.npz", "-o", tmp_path / "model.npz", "--epochs", 1]
    found = run_json(*words, "--teachable", 200, "--projection-dim", 4)
    (notice,) = [each for each in found["notices"] if each["kind"] == "eeprom"]
    assert (
        "the store of 200 taught examples needs 1,417 B of EEPROM, but uno has 1,024"
        in notice["text"]
    )
    for room in (0, 100):
        found = run_json(*words, "--teachable", room, "--projection-dim", 4)
        assert "eeprom" not in str(found["notices"])


SIZES = {"projections": 12, "features": 14, "classes": 6}
FLASH, SRAM, EEPROM = 1_256, 64, 640

_SKETCH = """
#include "pnn_model.h"
volatile uint8_t in;
int main(void)
{
    static pnn_input_t features[PNN_FEATURES];
#ifdef PNN_TEACHABLE
    in = pnn_recall();
#endif
    for (;;) {
        features[0] = in;
        in = pnn_predict(features);
#ifdef PNN_TEACHABLE
        pnn_learn(in);
        pnn_forget(in);
        pnn_forget_all();
        in = pnn_taught();
#endif
    }
}
"""


@needs_avr_gcc
def test_39_examples_of_12_coordinates_take_little_memory(tmp_path: Path) -> None:
    found = []
    for room in (0, 39):
        folder = tmp_path / str(room)
        folder.mkdir()
        write_c(quantize(with_numbers(random_model(**SIZES), teachable=room)), folder)
        flags = ("-Os", "-flto", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
        elf = compile_text(_SKETCH, folder / "sketch.elf", *flags, "-I.", "pnn_model.c")
        found.append(read_program(elf).sections)
    model = quantize(with_numbers(random_model(**SIZES), teachable=39))
    assert teaching.store_of(model).size <= EEPROM
    without, with_teaching = found
    assert with_teaching.flash_bytes - without.flash_bytes <= FLASH
    point = SIZES["projections"]
    assert with_teaching.sram_bytes - without.sram_bytes - point <= SRAM
