"""The store of a board with an EEPROM of 4 kB is longer than any other reply."""

from __future__ import annotations

import numpy as np
from avr_tools import needs_emulated_avr
from chains import replace
from extensions.teaching.test_teacher import live
from model_factory import random_model

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedBoard
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.device.connection import LONGEST_REPLY_BYTES
from protonn_edge.device.protocol import encode_message
from protonn_edge.device.session import Session
from protonn_edge.extensions.sensing.listener import AnswerStream
from protonn_edge.extensions.teaching import board as teaching
from protonn_edge.extensions.teaching import session as device
from protonn_edge.extensions.teaching.examples import Taught
from protonn_edge.extensions.teaching.listener import TaughtStream
from protonn_edge.extensions.teaching.messages import StoreReply
from protonn_edge.model.quantization import quantize

MEGA = load_board("mega2560")


@needs_emulated_avr
def test_a_mega_keeps_200_examples() -> None:
    floats = replace(random_model(projections=5, features=6, classes=3), teachable=200)
    model, rng = quantize(floats), np.random.default_rng(0)
    points = rng.integers(-128, 128, (200, 5)).astype(np.int8)
    taught = Taught(points, rng.integers(0, 3, 200).astype(np.uint8))
    assert teaching.store_of(model).size > LONGEST_REPLY_BYTES
    with (
        trial_build(floats, MEGA) as trial,
        EmulatedBoard(trial.elf, board=MEGA) as board,
        Session(board.url, board=MEGA) as session,
    ):
        device.write_store(session, teaching.stored(model, taught))
        assert teaching.recalled(model, device.read_store(session)) == taught


def test_a_listener_reads_it_too() -> None:
    stream, content = AnswerStream(), bytes(range(256)) * 16
    stream.feed(encode_message(live(), 0) + encode_message(StoreReply(content), 1))
    examples = stream.parts["teaching"]
    assert isinstance(examples, TaughtStream)
    assert examples.store == content
