"""Trees that test raw floats as they are, in place of the bytes that these would become.

The byte of a raw value grows, or falls, with the value. So a byte is at most a threshold exactly
where the value is on one side of a float, which is found here by bisection of all floats, with the
quantizer itself. Floats of one sign are ordered as their bits are, which is how instructions
compare them.

NaN becomes byte 0, and goes left in every test. Its bits lie beyond those of the infinity of its
sign, so one of the right sign goes left like a number. On an AVR, all features that are tested are
looked through first, and a NaN of the other sign is given the right one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chips.cores import Core
from protonn_edge.codegen.kernels.listing import Facts, Passed, moved
from protonn_edge.kinds.forest.if_else import Asked, ByteTests, IfElse
from protonn_edge.kinds.forest.integers import IntegerForest
from protonn_edge.kinds.forest.layout import REACH, SCRATCH, Held, Reading
from protonn_edge.kinds.forest.leaves import LeafCode
from protonn_edge.kinds.forest.words import lines_of_trees
from protonn_edge.model.raw_inputs import FloatQuantizer
from protonn_edge.system.arrays import Array

_INFINITY = 0x7F800000  # in bits; the sign is the bit above
_SIGN = 1 << 31
_BITS = (1 << 32) - 1
_SIGNED = ("brlt", "brge")
_NEAR = 56  # words of comparisons that branch to the same place
# of instructions on an AVR, about
_TEST_BYTES, _LEAF_BYTES, _TREE_BYTES, _FEATURE_BYTES = 24, 6, 6, 6
_FLASH = 0x8000  # of an Uno: assumed if there is no limit, and the most, as large C compiles slowly
_SHARE = 0.8  # of the flash


@dataclass(frozen=True, eq=False)
class FloatTests(ByteTests):
    """Each inner node compares a float, as 32 bits from the lowest byte on."""

    quantizer: FloatQuantizer  # of the bytes that the table tests
    size: ClassVar[int] = 4

    @cached_property
    def falls(self) -> NDArray[np.bool_]:
        """Return for which features bytes fall as floats grow, (D,)."""
        return _falls(self.quantizer)

    @cached_property
    def _comparisons(self) -> list[tuple[int, str, str]]:
        """The number that each node subtracts, and its branches to the left and to the right."""
        trees, tests = self.table.trees, list[tuple[int, str, str]]()
        features = trees.features[trees.inner]
        limits = last_to_the_left(self.quantizer, features, self.table.thresholds)
        for limit, falls in zip(
            bits_of(limits, self.falls[features]), self.falls[features], strict=True
        ):
            if limit < _SIGN:  # below which all negative numbers are, too, as signed ones
                tests.append((limit, "brge", "brlt") if falls else (limit + 1, "brlt", "brge"))
            else:
                tests.append(
                    (limit + 1 & _BITS, "brcs", "brcc") if falls else (limit, "brcc", "brcs")
                )
        numbers = np.cumsum(trees.inner) - 1
        return [tests[number] for number in numbers.tolist()]

    def ask(self, node: int, reading: Reading, held: Held) -> Asked:
        """Return the test of an inner node."""
        feature = int(self.table.trees.features[node])
        lines, pointer, at, window = reading.near(4 * feature, held)
        number, left, right = self._comparisons[node]
        signed, parts = left in _SIGNED, number.to_bytes(4, "little")
        upper, compared = self._byte("cpi ", pointer, at, 3, parts)
        lines += [upper, f"{compared} ; @feature {feature}", f"brne decided_{node}"]
        lower = f"lower_{node}" if signed else f"decided_{node}"
        lines += [*self._byte("cpi ", pointer, at, 2, parts), f"brne {lower}"]
        lines += self._byte("subi", pointer, at, 0, parts)
        lines += self._byte("sbci", pointer, at, 1, parts)
        if signed:  # lower bytes have no sign
            lines += [f"lower_{node}:", f"sbc  r{SCRATCH}, r{SCRATCH}"]
        return Asked([*lines, f"decided_{node}:"], left, right, Held(window))

    @staticmethod
    def _byte(mnemonic: str, pointer: str, at: int, byte: int, parts: bytes) -> list[str]:
        loading = f"ldd  r{SCRATCH}, {pointer}+{at + byte}"
        return [loading, f"{mnemonic} r{SCRATCH}, {parts[byte]}"]

    def begin(self) -> Iterator[str]:
        """Yield the instructions that look for NaN; X and Z then point to the features."""
        yield "movw r26, r30"
        yield from self._look()
        yield from (*self._turn(), "sane:", "movw r30, r26")

    def _look(self) -> Iterator[str]:
        """Yield the comparisons of upper bytes, which those of NaN share with few numbers."""
        at, words, part = 0, 0, 0
        for feature in self.tested:
            place = 4 * feature + 3
            move = [] if place - at < REACH else moved(30, place - at)
            at = place if move else at
            if words + len(move) > _NEAR:
                yield from (f"rjmp look_{part + 1}", f"odd_{part}:", f"rjmp odd_{part + 1}")
                words, part = 0, part + 1
                yield f"look_{part}:"
            upper = 0xFF if self.falls[feature] else 0x7F
            yield from (*move, f"ldd  r{SCRATCH}, Z+{place - at}", f"cpi  r{SCRATCH}, {upper}")
            yield f"breq odd_{part}"
            words += len(move) + 3
        yield from ("rjmp sane", f"odd_{part}:")

    def _turn(self) -> Iterator[str]:
        """Yield the loops that give each NaN the sign with which it goes left."""
        at = 0
        yield "movw r30, r26"
        for number, (first, count, falls) in enumerate(self._runs):
            yield from moved(30, 4 * first - at)
            yield from (f"ldi  r24, lo8({count})", f"ldi  r25, hi8({count})", f"turn_{number}:")
            nan = (_INFINITY | _SIGN * falls) + 1  # the first one, of the sign that goes right
            for byte, part in enumerate(nan.to_bytes(4, "little")):
                yield f"ldd  r{20 + byte}, Z+{byte}"
                yield f"{'sbci' if byte else 'subi'} r{20 + byte}, {part}"
            yield f"{'brcs' if falls else 'brlt'} number_{number}"
            yield from ("ldd  r23, Z+3", "andi r23, 127" if falls else "ori  r23, 128")
            yield from ("std  Z+3, r23", f"number_{number}:")
            yield from ("adiw r30, 4", "sbiw r24, 1", f"brne turn_{number}")
            at = 4 * (first + count)

    @property
    def facts(self) -> Facts:
        """How often loops are passed, if there is a NaN or a number that resembles it."""
        return {f"turn_{number}": Passed(run[1]) for number, run in enumerate(self._runs)}

    @property
    def _runs(self) -> list[tuple[int, int, bool]]:
        """Runs of features: the first, their number, and whether their bytes fall."""
        groups = groupby(self.tested, key=lambda feature: bool(self.falls[feature]))
        runs = [(falls, [*features]) for falls, features in groups]
        return [(run[0], run[-1] + 1 - run[0], falls) for falls, run in runs]

    @cached_property
    def tested(self) -> list[int]:
        """Features that are tested, in ascending order."""
        trees = self.table.trees
        return [*map(int, np.unique(trees.features[trees.inner]))]


@dataclass(frozen=True, eq=False)
class FloatTrees:
    """Trees of a stage that take raw floats: instructions of an AVR, or C for chips of 32 bits.

    Only these take long: their limits are searched for.
    """

    stage: IntegerForest
    quantizer: FloatQuantizer  # of the bytes that the stage tests

    @cached_property
    def tests(self) -> FloatTests:
        """The tests."""
        return FloatTests(self.stage.table, self.quantizer)

    @property
    def tested(self) -> list[int]:
        """Features that are tested, in ascending order."""
        return self.tests.tested

    def code(self, leaves: LeafCode) -> IfElse:
        """Return the instructions, with the leaves of those that take bytes."""
        return IfElse(leaves, self.tests)

    @cached_property
    def falls(self) -> list[bool]:
        """For each test, whether bytes fall as floats grow."""
        return [*map(bool, self.tests.falls[self._features])]

    @property
    def _features(self) -> Array:
        return self.stage.features[self.stage.trees.inner]

    @property
    def n_bytes(self) -> int:
        """Flash on an AVR, about."""
        tests, leaves, trees = map(len, (self._features, self.stage.leaves, self.stage.trees.roots))
        of_nodes = _TEST_BYTES * tests + _LEAF_BYTES * leaves
        return of_nodes + _TREE_BYTES * trees + _FEATURE_BYTES * len(self.tested)

    @property
    def kilobytes(self) -> int:
        """The same in kB, at least 1."""
        return max(1, round(self.n_bytes / 1000))

    @cached_property
    def trees(self) -> list[list[str]]:
        """The lines of each tree's function in C."""
        limits = last_to_the_left(self.quantizer, self._features, self.stage.thresholds)
        bits = bits_of(limits, np.array(self.falls, np.bool_))
        tests = (
            f"{'at_least' if falls else 'at_most'}(x[{feature}], 0x{each:08x}UL /* {limit:.9g} */)"
            " != 0u"
            for feature, limit, each, falls in zip(
                self._features.tolist(), limits, bits, self.falls, strict=True
            )
        )
        return lines_of_trees(self.stage, tests)

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


def bits_of(limits: NDArray[np.float32], falls: NDArray[np.bool_]) -> list[int]:
    """Return the bits of limits (n,), of features whose bytes may fall as floats grow.

    -0 is below 0 where bits are compared: what is at least 0 is at least -0.
    """
    bits = limits.view(np.uint32).astype(np.int64)
    found: list[int] = np.where((bits == 0) & falls, _SIGN, bits).tolist()
    return found


def _falls(quantizer: FloatQuantizer) -> NDArray[np.bool_]:
    """Return for which features bytes fall as floats grow, (D,)."""
    slopes = np.array([scale.slope for scale in quantizer.scales])
    return np.asarray(slopes[quantizer.choice] < 0)


def _floats(orders: Array) -> NDArray[np.float32]:
    """Return floats by their order, (n,): 0 is 0, and each next number the next float."""
    bits = np.where(orders < 0, _SIGN - orders, orders)
    return bits.astype(np.uint32).view(np.float32)
