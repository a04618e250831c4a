"""Messages about the examples of a device; ``firmware/PROTOCOL.md`` is the specification."""

from __future__ import annotations

from protonn_edge.device.protocol import REPLY, U8, U16, Bytes, Message, U8s

MOST_STORED_BYTES = 16  # that a STORE writes

LEARN, FORGET, STORE = 6, 7, 8


class LearnRequest(Message, number=LEARN):
    """Teach the last prediction's point, at most once for each prediction."""

    label: U8  # the class of the example


class ForgetRequest(LearnRequest, number=FORGET):
    """Forget the examples of a class, or of all with 255."""


class StoreRequest(Message, number=STORE):
    """Request the device's store of examples; first write a part of it, or nothing."""

    place: U16 = 0  # of the first byte in the store
    content: Bytes = b""  # at most `MOST_STORED_BYTES`


class LearnReply(Message, number=REPLY | LEARN):
    """The answer to LEARN."""

    learned: U8  # 1 if the last prediction's point has been learned, 0 if there was none
    examples: U8  # how many there are now


class ForgetReply(LearnReply, number=REPLY | FORGET):
    """The answer to FORGET."""


class StoreReply(Message, number=REPLY | STORE):
    """The answer to STORE, which `protonn_edge.extensions.teaching.board.recalled` reads."""

    content: Bytes


class TaughtMessage(Message, number=0x97):
    """How many examples a board was taught of each class."""

    room: U8  # the most of all classes
    counts: U8s


class TeachRequest(LearnRequest, number=LearnRequest.TYPE):
    """Teach the point of a window, unless the board has classified another one since."""

    window: U16  # its number


MESSAGES = (LearnRequest, ForgetRequest, StoreRequest, LearnReply, ForgetReply, StoreReply)
