"""Firmware of a Pico: its start, what it answers, and what it learns."""

from __future__ import annotations

import struct
import subprocess

import numpy as np
import pytest
from chains import replace
from extensions.pico.conftest import BOARD
from fake_firmware import Line
from model_factory import random_inputs, random_model
from refusals import refused_by

from protonn_edge.codegen.families import family_of
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.device import protocol
from protonn_edge.device.session import Session
from protonn_edge.extensions.pico.emulator import EmulatedRP2040
from protonn_edge.extensions.pico.flash import (
    BOOT2_BYTES,
    FLASH_START,
    crc32,
    has_right_crc,
    uf2,
    with_crc,
)
from protonn_edge.extensions.pico.program import read_program
from protonn_edge.extensions.teaching import board as teaching
from protonn_edge.extensions.teaching import session as device
from protonn_edge.extensions.teaching.examples import Taught
from protonn_edge.model.integer_chain import coordinates
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed

AS_LONG_AS_IT_SAYS = """
#include "pnn_model.h"
uint8_t pnn_model_hash(uint8_t index) { return index; }
static int32_t scores[PNN_CLASSES];
const pnn_score_t *pnn_scores(void) { return scores; }
__attribute__((naked)) uint8_t pnn_predict(const pnn_input_t *features)
{
    (void)features;
    __asm__("push {r4, r5, lr}\\n pop {r4, r5, pc}\\n");
}
"""
"""A PUSH of three registers takes 4 cycles, a POP of two and PC 6."""


def hello(line: Line) -> protocol.HelloReply:
    answer = line.ask(protocol.HelloRequest(), 0)
    assert isinstance(answer, protocol.HelloReply)
    return answer


def stats(line: Line) -> protocol.StatsReply:
    answer = line.ask(protocol.StatsRequest())
    assert isinstance(answer, protocol.StatsReply)
    return answer


def test_it_starts_from_flash_and_says_what_it_is(line):
    answer = hello(line)
    assert (answer.features, answer.classes, answer.clock_hz) == (4, 3, 125_000_000)
    assert answer.window == 31
    assert (stats(line).reset_cause, stats(line).resets) == (1, 0)


def test_its_timer_agrees_with_the_emulator(pico, line):
    before = pico.stats()
    answer = line.ask(protocol.ScoresRequest(bytes([7, 0, 0, 255])))
    after = pico.stats()
    assert (answer.label, answer.scores) == (1, (262, 324, -14))
    assert after.marked_spans == before.marked_spans + 1
    counted = after.marked_cycles - before.marked_cycles
    assert 0 <= answer.cycles - counted <= 20


def test_repetitions_add_up_their_cycles(line):
    point = bytes([7, 0, 0, 255])
    once = line.ask(protocol.PredictRequest(point))
    many = line.ask(protocol.RepeatRequest(100, point))
    assert (many.label, many.cycles) == (once.label, 100 * once.cycles)


def test_push_with_lr_and_pop_with_pc_take_a_cycle_for_it(build):
    with EmulatedRP2040(build(AS_LONG_AS_IT_SAYS), BOARD) as board:
        line = Line(board.port)
        line.ask(protocol.PredictRequest(bytes(4)))
        line.close()
        assert (board.stats().marked_spans, board.stats().marked_cycles) == (1, 4 + 6)


def test_the_stack_is_that_of_the_emulator(pico, line):
    line.ask(protocol.ScoresRequest(bytes(4)))
    assert stats(line).stack_bytes == pico.stats().stack_bytes < 1_000


def test_damaged_frames_are_counted_and_not_answered(line):
    before = stats(line).frames_dropped
    line.send(bytes([3, 1, 2, 0]))
    assert stats(line).frames_dropped == before + 1


def test_requests_in_flight_wait_in_the_fifo(line):
    requests = [protocol.encode_message(protocol.StatsRequest(), n) for n in range(1, 5)]
    line.send(b"".join(requests))
    assert [line.receive()[0] for _ in requests] == [1, 2, 3, 4]
    assert stats(line).overruns == 0


def test_the_reset_button_keeps_the_count_of_resets(build):
    with EmulatedRP2040(build(), BOARD) as board:
        line = Line(board.port)
        assert stats(line).reset_cause == 1
        for n in (1, 2):
            board.reset()
            answer = line.ask_until_answered(protocol.StatsRequest())
            assert (answer.reset_cause, answer.resets) == (2, n)
        line.close()


def test_the_watchdog_restarts_a_program_that_hangs(build):
    with EmulatedRP2040(build(FAKE_HANGS_AT=10, FAKE_HANG_MASKED=0), BOARD) as board:
        line = Line(board.port)
        line.send(protocol.encode_message(protocol.PredictRequest(bytes([1, 2, 3, 4])), 1))
        answer = line.ask_until_answered(protocol.StatsRequest())
        assert (answer.reset_cause, answer.resets) == (8, 1)
        line.close()


def test_an_undefined_instruction_is_reported_with_its_place(build):
    model = AS_LONG_AS_IT_SAYS.replace("push {r4, r5, lr}", "udf 0")
    with EmulatedRP2040(build(model), BOARD) as board:
        line = Line(board.port)
        line.send(protocol.encode_message(protocol.PredictRequest(bytes(4)), 1))
        while not board.stats().faults:
            pass
        assert "pnn_predict" in board.stats().faults[0]
        assert board.stats().state == "crashed"
        line.close()


def test_programs_of_other_chips_are_refused(tmp_path):
    (tmp_path / "program.elf").write_bytes(b"\x7fELF")
    with refused_by("extensions.pico.program"):
        read_program(tmp_path / "program.elf")


def test_what_the_emulator_does_not_have_is_refused(build):
    with refused_by("chips.emulator.board"):
        EmulatedRP2040(build(), BOARD, bootloader=True)


def test_the_second_stage_is_small_and_calls_nothing(build):
    listing = subprocess.run(
        ["arm-none-eabi-objdump", "-d", "-j", ".boot2", build()],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    assert "\tbl\t" not in listing
    assert read_program(build()).sections.text == 256


@pytest.mark.parametrize("sent", [b"\x00", b"\xff" * 40 + b"\x00"])
def test_noise_before_a_request_does_no_harm(line, sent):
    line.send(sent)
    assert hello(line).features == 4


FLASH = bytes(n % 251 for n in range(1000))


def test_the_crc_is_that_of_the_boot_rom():
    assert crc32(b"123456789") == 0x0376E6E7  # CRC-32/MPEG-2


def test_the_crc_is_put_behind_the_second_stage():
    flash = with_crc(FLASH)
    assert has_right_crc(flash[:BOOT2_BYTES])
    assert flash[:252] + flash[256:] == FLASH[:252] + FLASH[256:]
    assert not has_right_crc(FLASH[:BOOT2_BYTES])


@pytest.mark.parametrize("size", [1, 256, 257, 1000])
def test_the_blocks_of_a_uf2_file_make_up_the_flash(size: int):
    contents = uf2(FLASH[:size])
    blocks = [contents[place : place + 512] for place in range(0, len(contents), 512)]
    flash = b""
    for number, block in enumerate(blocks):
        first, second, flags, address, length, its, count, family = struct.unpack("<8I", block[:32])
        assert (first, second) == (0x0A324655, 0x9E5D5157)
        assert struct.unpack("<I", block[508:]) == (0x0AB16F30,)
        assert (flags, family) == (0x2000, 0xE48BFF56)
        assert (address, length) == (FLASH_START + 256 * number, 256)
        assert (its, count) == (number, len(blocks))
        flash += block[32 : 32 + length]
    assert flash.rstrip(b"\0") == FLASH[:size].rstrip(b"\0")
    assert len(flash) < size + 256


FLOATS = replace(random_model(projections=3, features=6, classes=3), teachable=4)


def test_it_learns_and_gives_its_examples_back() -> None:
    model = quantize(FLOATS)
    Q, taught = random_inputs(0, 20, model), Taught.nothing(3)
    points = coordinates(model, Q)
    with (
        trial_build(FLOATS, BOARD) as trial,
        family_of(BOARD).emulated(trial.elf, BOARD) as board,
        Session(board.url) as session,
    ):
        with pytest.raises(CheckFailed, match="no prediction to learn"):
            device.learn(session, 0)
        for row, label in enumerate((0, 1, 2, 1, 1)):
            session.predict(Q[row])
            taught = taught.learn(points[row], label, room=4)
            assert device.learn(session, label) == len(taught)
        assert teaching.recalled(model, device.read_store(session)) == taught
        expected = teaching.with_taught(model, taught).scores(Q)
        found = [session.predict(q, with_scores=True).scores for q in Q]
        assert np.array_equal(found, expected)
        assert device.forget(session, 1) == int((taught.classes != 1).sum())
        assert board.stats().faults == ()
