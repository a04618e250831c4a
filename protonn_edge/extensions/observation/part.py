"""The part of a device's firmware that counts its answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.extensions.observation.answers import IntegerExpected
from protonn_edge.extensions.proof.additions import ProofAddition
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.extensions import FirmwarePart


@dataclass(frozen=True)
class ObservationPart(FirmwarePart):
    """The counters of a device's answers."""

    name: ClassVar[str] = "observation"
    header: ClassVar[str] = "observation/counters.j2"
    live: ClassVar[str] = "observation/live.j2"

    expected: IntegerExpected

    @property
    def status_bytes(self) -> int:
        """Bytes of the body of the message with the counters."""
        return 2 + self.expected.n_bytes


def part_of(model: IntegerChain) -> ObservationPart | None:
    """Return the part of a model's firmware; None if its answers are not observed."""
    expected = model.expected
    return ObservationPart(expected) if isinstance(expected, IntegerExpected) else None


class CountersProof(ProofAddition):
    """The calls of the counters."""

    function: ClassVar[str] = "health"
    calls: ClassVar[str] = "observation/proof.j2"
