"""Layers of quantized networks as functions of sums of tables.

A program multiplies a wide sum byte by byte. Its lowest byte and the number above are variables of
their own: the product is a sum of tables of both, and a value is a function of its upper bytes.
"""

from __future__ import annotations

import numpy as np

from protonn_edge.extensions.conversion.features.int8_layer.integers import IntegerInt8Layer
from protonn_edge.extensions.proof.forms import SumForm, Unproven, plus, single
from protonn_edge.extensions.proof.reference import Reference, forms
from protonn_edge.model.formulas import Operand, arrays_of


@forms.register(IntegerInt8Layer)
def _(stage: IntegerInt8Layer, inputs: list[SumForm], reference: Reference) -> list[SumForm]:
    """Return the values of images; each channel has numbers of its own."""
    channels = [_Channel(stage, number, reference) for number in range(len(stage.weights))]
    sums = reference.affine(stage.sums, inputs)
    return [channels[number % len(channels)].value(each) for number, each in enumerate(sums)]


class _Channel:
    """The requantization of one channel."""

    def __init__(self, stage: IntegerInt8Layer, number: int, reference: Reference) -> None:
        self._stage, self._number, self._reference = stage, number, reference
        self._multiplier, self._shift = int(stage.multipliers[number]), int(stage.shifts[number])

    def value(self, form: SumForm) -> SumForm:
        """Return the value for a sum."""
        if self._shift > 0 and self._reference.algebra.spread(form) > self._reference.algebra.WIDE:
            return self._of_wide(form)
        return self._reference.function(form, self._values)

    def _values(self, sums: Operand) -> Operand:
        values = self._stage.scale.values(sums.op("Unsqueeze", [1]))
        return values[slice(self._number, self._number + 1),].op("Reshape", [-1])

    def _of_wide(self, form: SumForm) -> SumForm:
        """Return the value for a sum, by a product without its lowest byte."""
        algebra, stage, multiplier = self._reference.algebra, self._stage, self._multiplier
        low, (above, upper) = algebra.lowest(form), algebra.cut(form, 8)
        bit = 23 + self._shift  # from which on the product's bits are the value
        higher, lower = multiplier * upper + (1 << bit - 1), multiplier * low.values >> 8
        if not stage.rounds_once:  # a product that is negative is rounded down, as its half is
            rectified = stage.offset <= stage.limits[0]
            higher = higher + (1 << 22) - (0 if rectified else (upper < 0) << 23)
        product = plus(single(low, lower), single(above, higher))
        dropped = min(bit, algebra.dropped(product.high - product.low, bit))
        root, values = algebra.cut(product, dropped)
        made = np.clip((values >> bit - dropped) + stage.offset, *stage.limits)
        first = int(values[0])
        for byte, part in enumerate(lower):  # all sums
            reached = made[(higher + part >> dropped) - first]
            if (reached != arrays_of(self._values, 256 * upper + byte)).any():
                raise Unproven("the model rounds in another way")
        return algebra.reduced(single(root, made))
