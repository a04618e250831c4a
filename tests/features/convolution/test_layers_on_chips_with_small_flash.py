"""Convolutions that could not be built for chips with less flash than an Uno.

An ATmega88 has no JMP, which layers and unrolled weights used.
"""

from __future__ import annotations

from pathlib import Path

from avr_tools import needs_emulated_avr
from convolution_factory import random_convolution, random_images_of, random_model

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedBoard
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.codegen.verification.agreement import verify_device
from protonn_edge.features.convolution.making import layered
from protonn_edge.model.quantization import quantize

pytestmark = needs_emulated_avr

ATMEGA88 = """
title = "A board with 1 kB of SRAM"
mcu = "atmega88p"
core = "avr4"
clock_hz = 8_000_000
flash_bytes = 8_192
sram_bytes = 1_024
baud = 38_400
power_watts = 0.03
"""


def test_layers_of_eleven_channels_give_the_reference_scores(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(ATMEGA88)
    board = load_board(str(tmp_path / "small.toml"))
    stage = layered((random_convolution(0, (5, 5, 1), 11),))
    model = random_model(stage)
    integers = quantize(model)
    images = integers.quantize(random_images_of(1, 12, stage))
    with trial_build(model, board) as trial, EmulatedBoard(trial.elf, board=board) as chip:
        agreement, results = verify_device(board.name, chip.url, integers, images)
    assert (agreement.mismatches, agreement.lost) == (0, 0), agreement.first
    assert trial.possible.outside(results) == []
