"""Requests about what a board was taught that name no class, or lack a number, change nothing."""

from __future__ import annotations

import struct

import pytest
from extensions.teaching.test_device import Q, uno

from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.device import protocol
from protonn_edge.device.session import Session
from protonn_edge.extensions.teaching import messages
from protonn_edge.extensions.teaching import session as teaching
from protonn_edge.system.errors import CheckFailed

__all__ = ["uno"]


def taught(session: Session) -> None:
    """Teach two examples, of the classes 0 and 1."""
    for label, features in enumerate(Q[:2]):
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
