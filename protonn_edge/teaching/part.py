"""The part of a device's firmware that learns examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.chain.integer_chain import IntegerChain
from protonn_edge.extensions import Part
from protonn_edge.teaching.examples import Store, Teaching


@dataclass(frozen=True)
class TeachingPart(Part):
    """The examples of a device, and what its firmware and sketches do with them."""

    name: ClassVar[str] = "teaching"
    header: ClassVar[str] = "teaching/examples.j2"

    teaching: Teaching
    store: Store  # its layout

    @classmethod
    def of(cls, chain: IntegerChain) -> TeachingPart | None:
        """Return the part of a model's firmware; None if the model cannot be taught."""
        last = chain.own_stages[-1]
        teaching = getattr(last, "voters", None)
        if not isinstance(teaching, Teaching):
            return None
        return cls(teaching, teaching.store(last.n_inputs))


part_of = TeachingPart.of
