"""An example in any slot, beside any point."""

from __future__ import annotations

from functools import reduce

import numpy as np

from protonn_edge.extensions.proof.forms import (
    Integers,
    Mask,
    Root,
    Unproven,
    byte_of,
    plus,
    single,
    variable,
)
from protonn_edge.extensions.teaching.protonn.proof.code import TaughtCode

_SECOND = 2  # where a record has its second coordinate


class Example:
    """An example in any slot, and any point: values of roots.

    A coordinate of both is one root, all pairs of their values.

    Attributes
    ----------
    distance : SumForm
        The squared distance, as programs compute it.
    is_wrapped, is_class : Mask
        Where a difference is no signed byte, so that its square alone is as large as any limit; and
        where a label is a class.
    slots, records : Root
        The addresses of its first coordinate in SRAM, and of its second one in the EEPROM less a
        record; the last ones are behind all slots.
    """

    def __init__(self, code: TaughtCode) -> None:
        machine, stage = code.machine, code.stage
        store, slots = code.voters.store(stage.n_inputs), code.voters.slots
        values = np.arange(1 << 16)
        self.coordinates = [
            machine.algebra.pair(*(Root(f"{of}{k}", np.arange(256)) for of in ("taught", "point")))
            for k in range(stage.n_inputs)
        ]
        taught, self.point = (
            [byte_of(single(each, part), 0) for each in self.coordinates]
            for part in (values >> 8, values & 255)
        )
        difference = _signed(values >> 8) - _signed(values & 255)
        squares = _signed(difference) ** 2
        self.is_wrapped: Mask = difference != _signed(difference)
        if (difference[self.is_wrapped] ** 2 < code.limit).any():
            raise Unproven("examples are near that differ by more than a signed byte")
        self.distance = reduce(plus, (single(each, squares) for each in self.coordinates))
        self.label = Root("label", np.arange(256))
        self.is_class: Mask = self.label.values < stage.n_outputs
        places = code.first.address + np.arange(slots + 1)
        self.slots, slot = machine.pointer("slot", places)
        second = store.header + _SECOND - store.record + store.record * np.arange(slots + 1)
        self.records, record = machine.pointer("record", second)
        record += store.record - _SECOND
        self.memory = {slot: taught[0]}
        machine.eeprom = {record + 1 + k: byte for k, byte in enumerate(taught) if k}
        machine.eeprom[record] = byte_of(variable(self.label), 0)
        self.stride = store.record


def _signed(array: Integers) -> Integers:
    """Return what bytes are as signed ones."""
    signed: Integers = (array + 128) % 256 - 128
    return signed
