"""The loops that multiply a matrix by bytes that are pushed, in assembly, with their cycles.

The compiler wastes cycles on an 8-bit chip: it keeps fewer sums in registers, copies every product
out of r1:r0 and clears r1 after each. Here sums are in r2..r21, a weight is in r22, an input in
r23; X points to the next input, Z to the next weights. The template's loops in C give the same
integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from protonn_edge.codegen.kernels.listing import Listing, repeated
from protonn_edge.codegen.kernels.matvec.products import (
    SumRegisters,
    added,
    loop,
    multiplied,
)

# Sums of 2 bytes fill r2..r21; if they are wider, r20 holds a product's sign.
_REGISTERS = {2: 20, 3: 18, 4: 16}
COUNTED_IN_A_BYTE = 255  # inputs that are counted in a byte


@dataclass(frozen=True)
class Block:
    """Sums that are kept in registers at once."""

    number: int  # the number of the block, from 0
    first: int  # the first output of the block
    size: int  # the number of its outputs
    width: int  # bytes of a sum

    @property
    def last(self) -> int:
        """The last output of the block."""
        return self.first + self.size - 1

    @property
    def outputs(self) -> slice:
        """The outputs."""
        return slice(self.first, self.first + self.size)

    @property
    def bytes(self) -> int:
        """Bytes of all its sums."""
        return self.size * self.width

    @property
    def sums(self) -> range:
        """The first register of each sum."""
        return range(2, 2 + self.bytes, self.width)

    @property
    def registers(self) -> SumRegisters:
        """The registers of a loop."""
        return SumRegisters(self.sums, "r23", "r22", "r25", self.width, "r20")

    @property
    def clobbered(self) -> str:
        """The registers that its loop changes, for the compiler."""
        registers = [*range(2, 2 + self.bytes), *[20] * (self.width > 2), 22, 23]
        return ", ".join(f'"r{register}"' for register in registers)


def blocks_of(outputs: int, width: int, together: int = 1) -> tuple[Block, ...]:
    """Split `outputs` into as few blocks as possible, of nearly equal size.

    A number of outputs, `together`, are kept in one block; it divides the maximum block size.
    """
    at_most = _REGISTERS[width] // width
    number = -(-outputs // at_most)
    groups = -(-outputs // together)
    bounds = [min(together * (groups * i // number), outputs) for i in range(number + 1)]
    return tuple(Block(i, low, high - low, width) for i, (low, high) in enumerate(pairwise(bounds)))


def columns(block: Block, begin: str, end: str) -> Listing:
    """Return the loop for weights one after the other, between the begin and the end of the sums.

    The lower byte of `left` reaches 0 once for each unit of the upper byte.
    """
    of = block.registers
    lines = _looped(of, multiplied(of), block.size)
    return Listing("\n".join([begin, *lines, end, "clr  __zero_reg__"]))


def _looped(of: SumRegisters, products: list[str], skipped: int) -> list[str]:
    lines = loop(of, products, skipped, "dec  %A[left]", ("input", "zero", "counted"))
    return [*lines, "counted:", "dec  %B[left]", "brne input"]


def packed(block: Block, begin: str, end: str) -> Listing:
    """Return the loop for two weights u and v a byte, each with 8 added to it.

    A whole byte, u + 16 v, times x is added to the sum of u, and v x to the sum of v; at the end,
    16 times the second is subtracted from the first. The 8 x are subtracted, too: their sum is in
    r29:r28, or r21:r29:r28, with the other sign. All of that is exact: sums wrap around, and the
    last one fits. A C compiler may have its frame in r29:r28.
    """
    of, wide, width = block.registers, block.width > 2, block.width
    offset = ["sub  r28, r23", "sbci r29, 0", *["sbci r21, 0"] * wide]
    pairs = list(zip(of.sums[::2], of.sums[1::2], strict=False))
    products = [line for low in of.sums[::2] for line in _pair(block, low)]
    subtracted = "\n".join(line for low in of.sums for line in added(of, low, "r28", "r29", "r21"))
    looped = "\n".join(_looped(of, [*offset, *products], -(-block.size // 2)))
    return Listing(
        f"""
            push r28
            push r29
            {begin}
            clr  r28
            clr  r29
            {repeated((21, 20) * wide, "clr r{0}")}
            ldi  r22, 16
            {"".join(_sixteen_times("add", "adc", *pair, width) for pair in pairs)}
            {looped}
            ldi  r22, 16
            {"".join(_sixteen_times("sub", "sbc", *pair, width) for pair in pairs)}
            {repeated(range(3), "lsl r28", "rol r29", *["rol r21"] * wide)}
            {subtracted}
            {end}
            clr  __zero_reg__
            pop  r29
            pop  r28
        """
    )


def _pair(block: Block, low: int) -> list[str]:
    """Multiply an input by a byte with one or two weights."""
    of, high = block.registers, low + block.width
    lines = ["lpm  r22, Z+", "mul  r22, r23", *added(of, low, "r0", "r1", "r20")]
    if high in block.sums:
        lines += ["swap r22", "andi r22, 0x0f", "mul  r22, r23"]
        lines += added(of, high, "r0", "r1", "r20")
    return lines


def _sixteen_times(add: str, adc: str, first: int, second: int, width: int) -> str:
    """Add 16 times the second sum to the first, or take it off; r22 is 16."""
    lines = []
    for k in range(width):
        lines += [f"mul r{second + k}, r22", f"{add} r{first + k}, r0"]
        lines += [
            f"{adc} r{first + upper}, {'r1' if upper == k + 1 else 'r20'}"
            for upper in range(k + 1, width)
        ]
    return "\n".join(lines) + "\n"


def instructions(begin: str, end: str, products: Sequence[str] = ()) -> Listing:
    """Return the statement of weights that are instructions, `products`; r25 is 0."""
    return Listing("\n".join([begin, "clr  r25", *products, end, "clr  __zero_reg__"]))
