"""Layers of quantized networks as functions of sums of tables.

A program multiplies a wide sum byte by byte. Its lowest byte and the number above are variables of
their own: the product is a sum of tables of both, and a value is a function of its upper bytes.
"""

from __future__ import annotations

import numpy as np

from protonn_edge.features.int8_layer.integers import IntegerInt8Layer
from protonn_edge.proof.forms import Integers, SumForm, Unproven, plus, single
from protonn_edge.proof.reference import Reference


def forms(stage: IntegerInt8Layer, inputs: list[SumForm], reference: Reference) -> list[SumForm]:
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
        wide = form.high - form.low > self._reference.algebra.WIDE
        if wide and self._stage.rounds_once and self._shift >= 0:
            return self._of_wide(form)
        return self._reference.function(form, self._values)

    def _values(self, sums: Integers) -> Integers:
        return self._stage.requantized(sums[:, None])[:, self._number]

    def _of_wide(self, form: SumForm) -> SumForm:
        """Return the value for a sum, by ``4 * floor(product / 256)``."""
        algebra, stage = self._reference.algebra, self._stage
        low, (above, upper) = algebra.lowest(form), algebra.cut(form, 1)
        lower = 4 * (self._multiplier * low.values >> 8)
        product = plus(single(low, lower), single(above, 4 * self._multiplier * upper))
        dropped = algebra.dropped(product.high - product.low)
        left = 24 + self._shift - 8 * dropped
        if left < 0:
            raise Unproven("a product of a wide sum that is shifted by few bits")
        root, values = algebra.cut(product, dropped)
        made = np.clip(((values >> left) + 1 >> 1) + stage.offset, *stage.limits)
        for byte, part in enumerate(lower):  # all sums
            reached = (4 * self._multiplier * upper + part) >> 8 * dropped
            if (made[reached - values[0]] != self._values(256 * upper + byte)).any():
                raise Unproven("the model rounds in another way")
        return algebra.reduced(single(root, made))
