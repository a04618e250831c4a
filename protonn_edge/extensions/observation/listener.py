"""What a board with a sensor sends about its answers."""

from __future__ import annotations

from typing import ClassVar

from protonn_edge.device.protocol import Message, ProtocolError
from protonn_edge.extensions.observation.answers import Health
from protonn_edge.extensions.observation.messages import HealthReply
from protonn_edge.extensions.sensing.listener import StreamPart
from protonn_edge.extensions.sensing.sensor_board import LiveDescription


class HealthStream(StreamPart):
    """The counters of a board that observes its answers."""

    KINDS: ClassVar[tuple[type[Message], ...]] = (HealthReply,)

    def __init__(self) -> None:
        self.health: Health | None = None  # the latest one
        self._drifted = False

    def take(self, message: Message, description: LiveDescription) -> None:
        """Keep the counters."""
        assert isinstance(message, HealthReply)
        health = Health.of_bytes(message.content, description.n_classes)
        if health is None:
            raise ProtocolError("the counters belong to another model")
        self.health = health

    def take_warning(self) -> str | None:
        """Return a sentence, once, about a drift."""
        drifts = self.health is not None and self.health.verdict == "drift"
        began, self._drifted = drifts and not self._drifted, drifts
        return str(self.health) if began else None

    @property
    def summary(self) -> str | None:
        """The verdict."""
        return None if self.health is None else f"health: {self.health}"
