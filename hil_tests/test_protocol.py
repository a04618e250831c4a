"""The device follows firmware/PROTOCOL.md, whatever it receives."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray

from protonn_edge.chips.boards import Board
from protonn_edge.device import protocol
from protonn_edge.device.protocol import (
    ErrorReply,
    HelloReply,
    HelloRequest,
    StatsReply,
    StatsRequest,
)
from protonn_edge.device.session import Session
from protonn_edge.model.integer_chain import IntegerChain

if TYPE_CHECKING:
    from conftest import Line


def test_hello_says_which_model_the_device_has(
    session: Session, reference: IntegerChain, pnn_target: Board
) -> None:
    assert session.device == HelloReply(
        protocol_version=protocol.PROTOCOL_VERSION,
        feature_type=protocol.FEATURE_TYPE_UINT8,
        features=reference.n_features,
        classes=reference.n_classes,
        model_hash=bytes.fromhex(reference.model_sha256)[:8],
        clock_hz=pnn_target.clock_hz,
        window=session.device.window,
    )


def test_requests_in_flight_have_the_same_answers_and_cycles_as_alone(
    session: Session, rows: NDArray[np.uint8]
) -> None:
    alone = [session.predict(row) for row in rows[:20]]
    together = dict(session.stream(enumerate(rows[:20])))
    assert list(together.values()) == alone


def test_the_same_input_has_the_same_answer_and_takes_the_same_cycles(
    session: Session, rows: NDArray[np.uint8]
) -> None:
    answers = {session.predict(rows[0], with_scores=True) for _ in range(5)}
    assert len(answers) == 1
    plain = session.predict(rows[0])
    assert {(plain.label, plain.cycles)} == {(a.label, a.cycles) for a in answers}


@pytest.mark.parametrize("kind", [0x00, 0x06, 0x7F, 0x81, 0xFF])
def test_an_unknown_type_is_refused(line: Line, kind: int) -> None:
    line.send(protocol.encode_frame(bytes([kind, 9])))
    assert line.receive() == (9, ErrorReply(1))


@pytest.mark.parametrize("kind", [0x01, 0x02, 0x03, 0x04, 0x05])
def test_a_wrong_length_is_refused(line: Line, reference: IntegerChain, kind: int) -> None:
    line.send(protocol.encode_frame(bytes([kind, 9]) + bytes(reference.n_features + 3)))
    assert line.receive() == (9, ErrorReply(2))


@pytest.mark.parametrize("seed", range(3))
def test_hello_is_answered_right_after_garbage(
    line: Line, reference: IntegerChain, seed: int
) -> None:
    line.send(random.Random(seed).randbytes(500) + b"\x00")
    line.send(protocol.encode_message(HelloRequest(), 7))
    message = line.receive()
    assert message is not None
    assert message[0] == 7
    assert isinstance(message[1], HelloReply)
    assert message[1].features == reference.n_features


def test_a_damaged_frame_is_counted_and_not_answered(line: Line) -> None:
    damaged = bytearray(protocol.encode_message(HelloRequest(), 5))
    damaged[3] ^= 0x10
    line.send(bytes(damaged))
    line.send(protocol.encode_message(StatsRequest(), 6))
    message = line.receive()
    assert message is not None
    assert message[0] == 6
    assert isinstance(message[1], StatsReply)
    assert message[1].frames_dropped == 1
