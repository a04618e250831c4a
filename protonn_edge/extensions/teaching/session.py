"""Teach a device over its serial line: it learns, forgets, shows and changes its examples."""

from __future__ import annotations

from protonn_edge.device.session import Session
from protonn_edge.extensions.teaching import messages
from protonn_edge.system.errors import CheckFailed

ALL_CLASSES = 0xFF


def learn(session: Session, label: int) -> int:
    """Let the device store the point of its last prediction; return the number of examples.

    - `label`: the class of the example, 0..L - 1.

    The device learns a point only once, even if the request is repeated after a lost reply. Raises
    `CheckFailed` if there is no point or no such class, or the model cannot be taught.
    """
    reply = session.ask(messages.LearnRequest(label), messages.LearnReply)
    if not reply.learned:
        raise CheckFailed(
            f"the device has no prediction to learn from, or no class {label}; first request a "
            "prediction, and name a class of the model"
        )
    return reply.examples


def forget(session: Session, label: int = ALL_CLASSES) -> int:
    """Let the device forget the examples of a class, or all; return the number of those left."""
    return session.ask(messages.ForgetRequest(label), messages.ForgetReply).examples


def read_store(session: Session) -> bytes:
    """Return the device's store in EEPROM, for `protonn_edge.extensions.teaching.board`."""
    return session.ask(messages.StoreRequest(), messages.StoreReply).content


def write_store(session: Session, content: bytes) -> None:
    """Replace the device's examples by these, in the form that `stored` returns.

    Byte 0 is written last, so an interrupted transfer leaves the device without examples.
    """
    size = messages.MOST_STORED_BYTES
    parts = [(at, content[at : at + size]) for at in range(1, len(content), size)]
    for place, part in [(0, b"\xff"), *parts, (0, content[:1])]:
        reply = session.ask(messages.StoreRequest(place, part), messages.StoreReply)
    if reply.content != content:
        raise CheckFailed(
            "the device's EEPROM did not store the data and may be worn out; use another board"
        )
