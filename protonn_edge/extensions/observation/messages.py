"""Messages about the counters of a device; ``firmware/PROTOCOL.md`` is the specification."""

from __future__ import annotations

from protonn_edge.device.protocol import REPLY, Bytes, Message

HEALTH = 9


class HealthRequest(Message, number=HEALTH):
    """Request the counters of the answers."""


class HealthReply(Message, number=REPLY | HEALTH):
    """The answer to HEALTH, which `Health.of_bytes` reads; boards with a sensor send it unasked."""

    content: Bytes


MESSAGES = (HealthRequest, HealthReply)
