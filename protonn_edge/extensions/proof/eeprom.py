"""The EEPROM of a chip under proof, which is read through I/O registers, and never written.

Its registers are those of the ATmega328P. What a proof does not put into `Machine.eeprom` is not
read. No byte is being written: this is a condition of the claim.
"""

from __future__ import annotations

from collections.abc import Mapping

from protonn_edge.extensions.proof.data_space import DataSpace
from protonn_edge.extensions.proof.forms import Unproven, Value
from protonn_edge.extensions.proof.state import ChipState

CONTROL, READ, WRITING = 0x1F, 0, 1
"""An I/O register, and two of its bits."""
DATA, ADDRESS = 0x40, (0x41, 0x42)
"""Where registers are in the data space; a state has them in its memory."""


def read(space: DataSpace, state: ChipState, content: Mapping[int, Value]) -> None:
    """Let the data register be the byte at the address."""
    place = space.address(*(state.memory.pop(each, None) for each in ADDRESS))
    if not isinstance(place, int) or place not in content:
        raise Unproven("it reads the EEPROM at an unknown place")
    state.memory[DATA] = content[place]


def taken(state: ChipState) -> Value:
    """Return the byte in the data register, once."""
    if DATA not in state.memory:
        raise Unproven("it reads the EEPROM's data before an address")
    byte: Value = state.memory.pop(DATA)
    return byte
