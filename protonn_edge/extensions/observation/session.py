"""Read the counters that a board keeps of its answers, from test firmware or sensor firmware."""

from __future__ import annotations

from protonn_edge.device import protocol
from protonn_edge.device.connection import Deadline, Host, Link
from protonn_edge.device.message_reader import MessageReader
from protonn_edge.device.session import Session, Statement
from protonn_edge.extensions.observation.answers import Health, IntegerExpected
from protonn_edge.extensions.observation.messages import HealthReply, HealthRequest
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.errors import DeviceError

_DEADLINE_S = 15.0  # covers a bootloader, and the second between two messages
_EVERY_S = 0.5
_LONGEST_FRAME = 300

_ASKING = protocol.DELIMITER + protocol.encode_message(HealthRequest(), 0)


def read_health(line: Link, where: str, expected: IntegerExpected) -> Health:
    """Return the counters of the board at an open line, which must expect the same answers.

    A board with a sensor sends them; others are asked. Raises `DeviceError` if none arrive within
    15 s, or the board has another model or none that is observed.
    """
    reader = MessageReader((HealthReply, protocol.ErrorReply), _LONGEST_FRAME)
    deadline = Deadline(Host(), _DEADLINE_S)
    heard = b""
    while deadline.left_s > 0:
        if not heard:
            line.write(_ASKING)
        heard = line.read(_EVERY_S)
        for _, message in reader.messages(heard):
            if isinstance(message, protocol.ErrorReply):
                raise DeviceError(
                    f"the firmware of the board at {where} has no counters; build it with "
                    "--observe, and upload it"
                )
            assert isinstance(message, HealthReply)
            health = expected.recognized(message.content)
            if health is None:
                raise DeviceError(
                    f"the board at {where} runs another model, or the same model calibrated on "
                    "other data; name the file of the board's model, or upload this model"
                )
            return health
    raise DeviceError(
        f"no board at {where} sends counters; choose the right port with --port, or build the "
        "firmware with --observe and upload it"
    )


def measured_health(session: Session, reference: IntegerChain) -> Health | None:
    """Return the counters of a device that observes its answers and expects the same ones."""
    if not isinstance(reference.expected, IntegerExpected):
        return None
    return reference.expected.recognized(session.ask(HealthRequest(), HealthReply).content)


STATEMENT = Statement("health", measured_health)
"""What a measurement asks of a device at its end."""
