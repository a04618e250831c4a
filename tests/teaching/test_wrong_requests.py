"""Requests about what a board was taught that name no class, or lack a number, change nothing."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
import pytest
from chains import replace
from model_factory import random_inputs, random_model

from protonn_edge.boards import load_board
from protonn_edge.device import protocol
from protonn_edge.device.session import Session
from protonn_edge.emulator import EmulatedUno
from protonn_edge.errors import CheckFailed
from protonn_edge.projects.project import trial_build
from protonn_edge.quantization import quantize
from protonn_edge.teaching import messages
from protonn_edge.teaching import session as teaching

FLOATS = replace(random_model(projections=3, features=6, classes=3), teachable=4)


@pytest.fixture(scope="module")
def uno() -> Iterator[EmulatedUno]:
    with trial_build(FLOATS, load_board("uno")) as trial, EmulatedUno(trial.elf) as board:
        yield board


def taught(session: Session) -> None:
    """Teach two examples, of the classes 0 and 1."""
    for label, features in enumerate(np.asarray(random_inputs(0, 2, quantize(FLOATS)))):
        session.predict(features)
        teaching.learn(session, label)


def test_a_class_that_is_not_there_is_not_forgotten(uno: EmulatedUno) -> None:
    with Session(uno.url) as session:
        taught(session)
        assert [teaching.forget(session, label) for label in (3, 100, 254)] == [2, 2, 2]
        assert [teaching.forget(session, label) for label in (1, 255)] == [1, 0]


class ShortStore(protocol.Message, number=messages.STORE):
    """A STORE without a place, or with half of one, or with too many bytes."""

    content: protocol.Bytes = b""


@pytest.mark.parametrize(
    "content", [b"", b"0", bytes(19), struct.pack("<H", 60_000) + b"1"], ids=len
)
def test_a_store_of_another_length_writes_nothing(uno: EmulatedUno, content: bytes) -> None:
    with Session(uno.url) as session:
        taught(session)
        before = teaching.read_store(session)
        with pytest.raises(CheckFailed):
            session.ask(ShortStore(content), messages.StoreReply)
        assert teaching.read_store(session) == before
