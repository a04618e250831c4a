"""What symbolic values are for given inputs, by the plain meaning of forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from protonn_edge.extensions.proof.forms import Bit, Byte, Order, Root, SumChoice, SumForm
from protonn_edge.extensions.proof.machine import Machine
from protonn_edge.extensions.proof.state import ChipState

Inputs = dict[Root, int]
"""The index of each input's value, and those of choices that are known."""


def index_of(root: Root, inputs: Inputs) -> int:
    """Return which of its values a root has."""
    if root not in inputs:
        inputs[root] = _index_of(root, inputs)
    return inputs[root]


def _index_of(root: Root, inputs: Inputs) -> int:
    if root.factors:
        one, other = root.factors
        return index_of(one, inputs) * other.size + index_of(other, inputs)
    if root.largest_of:
        parts = (SumForm(number, dict(tables)) for number, tables in root.largest_of)
        return max(value_of(each, inputs) for each in parts) - int(root.values[0])
    if root.part_of is not None:
        return _index_of_part(root, *root.part_of, inputs)
    if root.low_of is not None:
        return value_of(root.low_of, inputs) & 255
    if root.of is not None:
        value = value_of(root.of, inputs) >> root.dropped
        (index,) = np.flatnonzero(root.values == value)
        return int(index)
    (index,) = [k for k, box in enumerate(root.boxes) if is_within(box, inputs)]
    return index


def _index_of_part(root: Root, choice: SumChoice, bit: int, inputs: Inputs) -> int:
    is_less = value_of(choice.difference, inputs) < 0
    number = value_of(choice.less if is_less else choice.other, inputs) >> bit
    return (number - int(root.values[0])) % 256


def is_within(masks: Mapping[Root, Any], inputs: Inputs) -> bool:
    """Whether inputs are within masks."""
    return all(bool(mask[index_of(root, inputs)]) for root, mask in masks.items())


def value_of(form: SumForm, inputs: Inputs) -> int:
    """Return a form's value."""
    tables = form.tables.items()
    return form.constant + sum(int(t.array[index_of(root, inputs)]) for root, t in tables)


def byte_of(value: int | Byte, inputs: Inputs) -> int:
    """Return a byte's value."""
    if isinstance(value, int):
        return value
    return value_of(value.form, inputs) >> value.bit & 255


def bit_of(bit: int | Bit | Order, inputs: Inputs) -> int:
    """Return a bit's value."""
    if isinstance(bit, int):
        return bit
    if isinstance(bit, Bit):
        return int(bit.mask[index_of(bit.root, inputs)])
    x, y = (value_of(each, inputs) for each in (bit.x, bit.y))
    return int(x == y if bit.equal else x < y)


def holds(machine: Machine, state: ChipState, inputs: Inputs) -> bool:
    """Whether a state is what these inputs lead to."""
    forms = machine.algebra.sums.forms
    for fact in state.facts:
        x, y = (value_of(forms[number], inputs) for number in fact[:2])
        if not (x < y or (x == y and not fact.strict)):
            return False
    return is_within(state.masks, inputs)
