"""Trees that test raw floats as they are, in place of the bytes that these would become.

The byte of a raw value grows, or falls, with the value. So a byte is at most a threshold exactly
where the value is on one side of a float, which is found here by bisection of all floats, with the
quantizer itself. Floats of one sign are ordered as their bits are, which is how the C compares
them. NaN becomes byte 0, and goes left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chips.cores import Core
from protonn_edge.kinds.forest.integers import IntegerForest
from protonn_edge.kinds.forest.words import is_single, lines_of_trees, returned
from protonn_edge.model.raw_inputs import FloatQuantizer
from protonn_edge.system.arrays import Array

_INFINITY = 0x7F800000  # in bits; the sign is the bit above
_SIGN = 1 << 31
_TEST_BYTES, _LEAF_BYTES, _TREE_BYTES = 34, 4, 38  # of instructions on an AVR, about
_FLASH = 0x8000  # of an Uno: assumed if there is no limit, and the most, as large C compiles slowly
_SHARE = 0.8  # of the flash


@dataclass(frozen=True, eq=False)
class FloatTrees:
    """Trees of a stage, whose functions in C return what a leaf adds, or its number.

    Only their lines take long: their limits are searched for.
    """

    stage: IntegerForest
    quantizer: FloatQuantizer  # of the bytes that the stage tests

    @cached_property
    def single(self) -> bool:
        """Whether each leaf adds to one score."""
        return is_single(self.stage)

    @property
    def vote(self) -> int:
        """What every leaf adds; 0 if they differ."""
        return self.stage.table.vote

    @property
    def leaves(self) -> Array:
        """What leaves add, if they return their number, (leaves, L)."""
        return self.stage.leaves[: 0 if self.single else None]

    @cached_property
    def features(self) -> Array:
        """The feature of each test, (n,)."""
        return self.stage.features[self.stage.trees.inner]

    @property
    def tested(self) -> list[int]:
        """Features that are tested, in ascending order."""
        return [*map(int, np.unique(self.features))]

    @cached_property
    def falls(self) -> list[bool]:
        """For each test, whether bytes fall as floats grow."""
        return [*map(bool, _falls(self.quantizer)[self.features])]

    @property
    def n_bytes(self) -> int:
        """Flash on an AVR, about."""
        tests, leaves, trees = map(len, (self.features, self.stage.leaves, self.stage.trees.roots))
        instructions = _TEST_BYTES * tests + _LEAF_BYTES * leaves + _TREE_BYTES * trees
        return instructions + self.leaves.size

    @property
    def kilobytes(self) -> int:
        """The same in kB, at least 1."""
        return max(1, round(self.n_bytes / 1000))

    @cached_property
    def trees(self) -> list[list[str]]:
        """The lines of each tree's function."""
        numbers = [[f"return {leaf};"] for leaf in range(len(self.stage.leaves))]
        limits = last_to_the_left(self.quantizer, self.features, self.stage.thresholds)
        tests = map(_test, self.features.tolist(), limits, self.falls)
        return lines_of_trees(self.stage, tests, returned(self.stage) if self.single else numbers)

    def fits(self, core: Core, limit_bytes: int | None) -> bool:
        """Whether they leave room for a sketch in the flash of a chip, which may be limited."""
        flash = core.wraps_at or _FLASH
        return self.n_bytes <= _SHARE * min(flash, limit_bytes or flash)


def last_to_the_left(
    quantizer: FloatQuantizer, features: Array, thresholds: Array
) -> NDArray[np.float32]:
    """Return the float of each test, (n,), that is next to those whose byte exceeds a threshold.

    Where bytes grow with floats, it is the largest whose byte is at most the threshold; otherwise,
    the smallest. It is infinite if no byte exceeds the threshold.
    """
    each = replace(quantizer, choice=quantizer.choice[features])
    sign = np.where(_falls(each), -1, 1)  # of floats in the order of their bytes
    left, right = np.full((2, len(features)), -_INFINITY) * [[1], [-1]]

    def is_left(orders: Array) -> NDArray[np.bool_]:
        return np.asarray(each.quantize(_floats(sign * orders)[None])[0] <= thresholds)

    left = np.where(is_left(right), right, left)
    while (far := right - left > 1).any():
        middle = (left + right) // 2
        lies = is_left(middle)
        left, right = np.where(far & lies, middle, left), np.where(far & ~lies, middle, right)
    return _floats(sign * left)


def _test(feature: int, limit: np.float32, falls: bool) -> str:
    """Return the condition in C under which a point goes left."""
    # -0 is below 0 where bits are compared: what is at least 0 is at least -0
    bits = int(limit.view(np.uint32)) or _SIGN * falls
    call = "at_least" if falls else "at_most"
    return f"{call}(x[{feature}], 0x{bits:08x}ul /* {limit:.9g} */)"


def _falls(quantizer: FloatQuantizer) -> NDArray[np.bool_]:
    """Return for which features bytes fall as floats grow, (D,)."""
    slopes = np.array([scale.slope for scale in quantizer.scales])
    return np.asarray(slopes[quantizer.choice] < 0)


def _floats(orders: Array) -> NDArray[np.float32]:
    """Return floats by their order, (n,): 0 is 0, and each next number the next float."""
    bits = np.where(orders < 0, _SIGN - orders, orders)
    return bits.astype(np.uint32).view(np.float32)
