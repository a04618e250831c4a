"""How sums begin in registers, with their biases, and how they end as bytes in SRAM."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from protonn_edge.model.formulas import arrays_of
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.layer import Scale

_LOADED_FROM = 16  # the first register that takes an immediate
_SHIFTS = 8, 16  # those that take whole bytes


def started(sums: Sequence[int], width: int, biases: Iterable[int], through: int) -> list[str]:
    """Return the instructions that load the biases of sums of `width` bytes.

    - `sums`: the lowest register of each.
    - `through`: a pair of registers, r16 or above, through which others are loaded.
    """
    lines, held = list[str](), dict[int, int]()  # what the pair holds
    numbers = [each.to_bytes(width, "little", signed=True) for each in biases]
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
    """The instructions from sums, of which two bytes are used, to bytes from 0 on."""

    scale: Scale
    value: str  # the register of a byte, r16 or above
    factor: str  # of the multiplier, r16 or above
    limit: tuple[str, str]  # r16 or above: of the least sum that gives the largest value, or of 0
    place: str  # the pointer to the next byte, such as "X+"

    @property
    def _overflows(self) -> bool:
        """Whether a value above the largest is one that does not fit a byte."""
        whole = self.scale.shift == _SHIFTS[0] and not self.scale.to_even
        return whole and self.scale.high == BYTE_MAXIMUM

    @property
    def begin(self) -> list[str]:
        """The instructions before the first sum."""
        numbers = {self.factor: self.scale.multiplier}
        if self.scale.clips[1]:
            least = 0 if self._overflows else _least_of_largest(self.scale)
            numbers |= dict(zip(self.limit, (least & 0xFF, least >> 8), strict=True))
        return [f"ldi  {register}, {number}" for register, number in numbers.items()]

    def of(self, sum_: int, name: str) -> list[str]:
        """Return the instructions for a sum from this register on; `name` is of its labels."""
        low, high, value = f"r{sum_}", f"r{sum_ + 1}", self.value
        lines = [f"clr  {value}", f"tst  {high}", f"brmi small_{name}"]
        if self.scale.clips[1] and not self._overflows:
            lines += [f"ldi  {value}, {self.scale.high}", f"cp   {low}, {self.limit[0]}"]
            lines += [f"cpc  {high}, {self.limit[1]}", f"brcc large_{name}"]
        lines += self._scaled(low, high, name)
        if self.scale.clips[1] and self._overflows:
            lines += [f"adc  r1, {self.limit[1]}", f"breq fits_{name}", f"ldi  {value}, 255"]
            lines.append(f"fits_{name}:")
        return [*lines, f"small_{name}:", f"large_{name}:", f"st   {self.place}, {value}"]

    def _scaled(self, low: str, high: str, name: str) -> list[str]:
        """Return the instructions for a sum that is neither below 0 nor at the limit."""
        value, right = self.value, self.scale.shift - _SHIFTS[0]
        if self.scale.to_even:
            lines = [f"mul  {high}, {self.factor}", f"mov  {value}, r0"]
            lines += [f"mul  {low}, {self.factor}", f"add  {value}, r1"]
            return [*lines, *_rounded(value, name)]
        lines = [f"mul  {low}, {self.factor}", f"mov  {value}, r1"]
        lines += [f"mul  {high}, {self.factor}", f"add  {value}, r0"]
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
