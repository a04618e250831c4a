"""How sums begin in registers, with their biases, and how they end as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from protonn_edge.model.formulas import arrays_of
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.layer import Pair, Scale

_LOADED_FROM = 16  # the first register that takes an immediate
_SHIFTS = 8, 16  # those that take whole bytes


def started(sums: Sequence[int], width: int, biases: Iterable[int], through: int) -> list[str]:
    """Return the instructions that load the biases of sums of `width` bytes, modulo 256**width.

    - `sums`: the lowest register of each.
    - `through`: a pair of registers, r16 or above, through which others are loaded.
    """
    lines, held = list[str](), dict[int, int]()  # what the pair holds
    numbers = [(each % 256**width).to_bytes(width, "little") for each in biases]
    loaded = {
        low + k: byte
        for low, each in zip(sums, numbers, strict=True)
        for k, byte in enumerate(each)
    }
    while loaded:
        register = min(loaded)
        size = 2 if register % 2 == 0 and register + 1 in loaded else 1
        own = [loaded.pop(register + k) for k in range(size)]
        if register >= _LOADED_FROM or not any(own):
            name = "ldi  r{}, {}" if register >= _LOADED_FROM else "clr  r{}"
            lines += [name.format(register + k, byte) for k, byte in enumerate(own)]
            continue
        for k, byte in enumerate(own):
            if held.get(k) != byte:
                lines.append(f"ldi  r{through + k}, {byte}")
                held[k] = byte
        lines.append(f"mov{'w' * (size > 1)} r{register}, r{through}")
    return lines


@dataclass(frozen=True)
class ByteCode:
    """The instructions from sums, of which two bytes are used, to bytes, as their `Scale` states.

    A scale for sums that may be negative either gives 0 for them, or has offsets. These take the
    products in `others` and `value`, of unsigned sums, which exceed the stage's by `excess`.
    """

    scale: Scale
    value: str  # the register of a byte, r16 or above, as are the next ones
    factor: Sequence[str]  # of the multiplier's bytes
    # of the least sum that gives the largest value, or of 0; with offsets, of a product's bits 8 to
    # 15 and, if values are limited, 24 to 31
    others: Sequence[str]
    zero: str = ""  # a register that is 0, for offsets other than a half

    @property
    def excess(self) -> int:
        """What makes sums with offsets unsigned."""
        signed = self.scale.offset is not None and self.scale.sums.ends[0] < 0
        return int(signed) << 15 + self.scale.dropped

    @property
    def _factors(self) -> list[str]:
        """The registers of the multiplier's bytes that are not all 0."""
        return list(self.factor)[: 1 + (self.scale.multiplier > BYTE_MAXIMUM)]

    @property
    def _overflows(self) -> bool:
        """Whether a value above the largest is one that does not fit a byte."""
        whole = self.scale.shift == _SHIFTS[0] and not self.scale.to_even
        return whole and self.scale.high == BYTE_MAXIMUM

    @property
    def begin(self) -> list[str]:
        """The instructions before the first sum."""
        numbers = zip(self._factors, self.scale.multiplier.to_bytes(2, "little"), strict=False)
        lines = [f"ldi  {register}, {number}" for register, number in numbers]
        if self.scale.offset is None and self.scale.clips[1]:
            least = 0 if self._overflows else _least_of_largest(self.scale)
            lines += [f"ldi  {self.others[0]}, {least & 0xFF}"]
            lines += [f"ldi  {self.others[1]}, {least >> 8}"]
        return lines

    def of(self, sum_: int, name: str, output: int = 0, limits: Pair = (0, 0)) -> list[str]:
        """Return the instructions for a sum from this register on.

        - `name`: of its labels.
        - `output`: its number among the offsets.
        - `limits`: of its value, if the scale has offsets and clips.
        """
        low, high, value = f"r{sum_}", f"r{sum_ + 1}", self.value
        if self.scale.offset is not None:
            clips, (least, most) = any(self.scale.clips), limits
            lines = self._added(low, high, output, least * clips)
            return [*lines, *self._limited(name, least, most)] if clips else lines
        lines = [f"clr  {value}", f"tst  {high}", f"brmi small_{name}"]
        if self.scale.clips[1] and not self._overflows:
            lines += [f"ldi  {value}, {self.scale.high}", f"cp   {low}, {self.others[0]}"]
            lines += [f"cpc  {high}, {self.others[1]}", f"brcc large_{name}"]
        lines += self._scaled(low, high, name)
        if self.scale.clips[1] and self._overflows:
            lines += [f"adc  r1, {self.others[1]}", f"breq fits_{name}", f"ldi  {value}, 255"]
            lines.append(f"fits_{name}:")
        return [*lines, f"small_{name}:", f"large_{name}:"]

    def _added(self, low: str, high: str, output: int, least: int) -> list[str]:
        """Return the instructions that add the products to an offset: the value less `least`."""
        scale, zero, (first, *rest) = self.scale, self.zero, (self.others[0], self.value)
        rest += self.others[1:] if any(scale.clips) else ()
        offset = int(scale.offsets[output]) - (least << scale.shift)
        offset -= (self.excess >> scale.dropped) * scale.multiplier
        part, *parts = (offset >> bits & 0xFF for bits in (8, 16, 24))
        lines = [f"mul  {low}, {self.factor[0]}", f"ldi  {first}, {part}", f"add  {first}, r1"]
        for register, part in zip(rest, parts, strict=False):  # to load one leaves the carry
            load = [f"ldi  {register}, {part}", f"adc  {register}, {zero}"]
            lines += load if zero else [f"clr  {register}", f"rol  {register}"]
        products = [(low, factor, [first, *rest]) for factor in self._factors[1:]]
        products += [(high, self.factor[0], [first, *rest])]
        products += [(high, factor, rest) for factor in self._factors[1:]]
        for one, other, to in products:
            lines.append(f"mul  {one}, {other}")
            carried = enumerate(zip(to, ("r0", "r1", zero), strict=False))
            lines += [f"{'adc' if k else 'add'}  {each}, {part}" for k, (each, part) in carried]
        return lines

    def _limited(self, name: str, least: int, most: int) -> list[str]:
        """Return the instructions that limit a value less `least`, of two bytes."""
        value, upper, span = self.value, self.others[1], most - least
        fits = [f"tst  {upper}", f"breq within_{name}"]
        if span < BYTE_MAXIMUM:
            fits = [
                f"cpi  {value}, {span + 1}",
                f"cpc  {upper}, {self.zero}",
                f"brcs within_{name}",
            ]
        lines = [*fits, f"ldi  {value}, {span}", f"sbrc {upper}, 7", f"clr  {value}"]
        return [*lines, f"within_{name}:", *[f"subi {value}, {-least & 0xFF}"] * (least != 0)]

    def _scaled(self, low: str, high: str, name: str) -> list[str]:
        """Return the instructions for a sum that is neither below 0 nor at the limit."""
        value, right = self.value, self.scale.shift - _SHIFTS[0]
        if self.scale.to_even:
            lines = [f"mul  {high}, {self.factor[0]}", f"mov  {value}, r0"]
            lines += [f"mul  {low}, {self.factor[0]}", f"add  {value}, r1"]
            return [*lines, *_rounded(value, name)]
        lines = [f"mul  {low}, {self.factor[0]}", f"mov  {value}, r1"]
        lines += [f"mul  {high}, {self.factor[0]}", f"add  {value}, r0"]
        if not right:
            return lines
        lines += ["clr  r0", "adc  r1, r0"]
        left = _SHIFTS[1] - self.scale.shift
        if right < left:
            return lines + ["lsr  r1", f"ror  {value}"] * right
        return [*lines, *[f"lsl  {value}", "rol  r1"] * left, f"mov  {value}, r1"]


def _rounded(value: str, name: str) -> list[str]:
    """Return the instructions that round by the remainder in r0, halves to even."""
    down, up = f"down_{name}", f"up_{name}"
    even = [f"sbrc {value}, 0", f"{up}:", f"inc  {value}", f"{down}:"]
    return ["lsl  r0", f"brcc {down}", f"brne {up}", *even]


def _least_of_largest(scale: Scale) -> int:
    """Return the smallest sum, of the bits that are used, that gives the largest value."""
    sums = np.arange(1 << 15, dtype=np.int64) << scale.dropped
    return int(np.searchsorted(arrays_of(scale.values, sums), scale.high))
