"""The kernels of a matrix product: ways of storing weights, and their costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.chain.matvec import NIBBLE_MAXIMUM, IntegerMatvec
from protonn_edge.chain.matvec import packed as packed_weights
from protonn_edge.kernels import kernel as base
from protonn_edge.kernels.listing import Facts, Listing, Passed
from protonn_edge.kernels.matvec import loops
from protonn_edge.kernels.matvec.unrolled import GROUP, GROUP_CYCLES, Unrolled

KernelName = Literal["columns", "masked", "unrolled", "packed"]
KERNELS: tuple[KernelName, ...] = ("columns", "masked", "unrolled", "packed")
_LOOPS = {"columns": loops.columns, "masked": loops.masked, "packed": loops.packed}

# The compiler's code around the loops (avr-gcc 5.4 at -O2): per call that pushes, and per block
# of sums in it; at most, for pointers on the stack where sums leave no registers for them, which a
# block may; what a mean is spared whose sums do not use r18..r21, or fewer registers of the caller,
# and for each block but one, as what is saved is saved once.
PUSH_CALL_BY_COMPILER = 56
_BLOCK_CYCLES = {"columns": 79, "packed": 79, "masked": 81, "unrolled": 80}
_FRAME_CYCLES = 10
_FREE_REGISTERS_CYCLES, _SAVED_ONCE_CYCLES = 14, 40

# Where inputs are counted in a byte, the product is called, not inlined; else, the upper byte's.
_SPLIT_CYCLES = 40
_UPPER_BYTE_CYCLES = 2

# For weights as instructions: around groups, and for an input that waits for the rest of its group,
# mean and maximum.
_GROUPS_CYCLES = 110
_WAITING_CYCLES = (34, 40)

# To begin: once, more if inputs wait, for each byte of a sum, and for a pointer to next weights.
_BEGIN_CYCLES, _BEGIN_WAITING_CYCLES = 20, 2
_BEGIN_BYTE_CYCLES, _BEGIN_POINTER_CYCLES = 3, 6

# Flash around a loop, and in front of groups.
_CODE_BYTES, _GROUPS_CODE_BYTES = 28, 100

# Cycles of the compiler's loops without a multiplier, per cycle of assembly with one:
# seven models of 4 to 12 projections on the emulated ATtiny85 were within 15 % of it.
_PORTABLE_PRODUCT = 8.2


@dataclass(frozen=True, eq=False)
class Pass:
    """A pass over the inputs: a block of sums, and its weights (size, D) as a kernel has them."""

    kernel: KernelName
    block: loops.Block
    weights: NDArray[np.int8]
    largest: int

    @cached_property
    def loop(self) -> Listing:
        """The loop over the inputs, if weights are data."""
        return _LOOPS[self.kernel](self.block)

    def facts(self, *, every: bool) -> Facts:
        """Return how often labels of the loop are passed, by whether `every` input is pushed."""
        n = self.weights.shape[1]
        least = n if every or self.kernel == "masked" else 0
        facts: Facts = {"begin": Passed(n), "input": Passed(n, least)}
        if self.kernel != "masked":
            counted = Passed(1, of="begin", base=n // (loops.COUNTED_IN_A_BYTE + 1))
            return {**facts, "counted": counted}
        others = np.count_nonzero(self.weights, axis=1).tolist()
        return {**facts, **{f"other{k}": Passed(count) for k, count in enumerate(others)}}

    @cached_property
    def code(self) -> Unrolled:
        """The weights as instructions."""
        return Unrolled(self.block, self.weights, self.largest)

    @cached_property
    def cycles(self) -> loops.Cycles:
        """Cycles of the inputs."""
        if self.kernel == "unrolled":
            return self.code.cycles
        return loops.cycles_of(self.loop, self.weights)

    @property
    def around(self) -> int:
        """Cycles of a call, besides the inputs and the compiler's code."""
        return self.code.around if self.kernel == "unrolled" else loops.around(self.loop)

    @property
    def rows(self) -> list[list[int]]:
        """The weights as data, a row per input."""
        if self.kernel == "packed":
            rows: list[list[int]] = packed_weights(self.weights).tolist()
            return rows
        plain = self.weights.T.tolist()
        return [_masked(row) for row in plain] if self.kernel == "masked" else plain

    @property
    def bytes(self) -> tuple[int, int]:
        """Flash of the weights, and of the code that reads them."""
        if self.kernel == "unrolled":
            return 0, self.code.code_bytes + _GROUPS_CODE_BYTES
        return sum(map(len, self.rows)), self.loop.code_bytes + _CODE_BYTES


@dataclass(frozen=True, eq=False)
class Matvec:
    """The product of weights (d, D) and inputs of at most `maximum`, in sums of `width` bytes."""

    weights: NDArray[np.int8]
    width: int
    maximum: int
    kernel: KernelName
    core: Core

    group: ClassVar[int] = GROUP

    @cached_property
    def passes(self) -> tuple[Pass, ...]:
        """The passes over the inputs."""
        together = 2 if self.kernel == "packed" else 1
        return tuple(
            Pass(self.kernel, block, self.weights[block.first : block.last + 1], self.maximum)
            for block in loops.blocks_of(len(self.weights), self.width, together)
        )

    @cached_property
    def cycles(self) -> loops.Cycles:
        """Cycles of each input, if it is 0 and if it is not."""
        cycles: loops.Cycles = np.sum([each.cycles for each in self.passes], axis=0)
        return cycles

    @property
    def splits(self) -> bool:
        """Whether all inputs may need more than one pass."""
        return self.kernel == "masked" and self.weights.shape[1] > loops.COUNTED_IN_A_BYTE

    @property
    def _call(self) -> int:
        """Upper bound of the cycles of a call that adds to all sums, without its inputs."""
        passes = self.passes
        call = PUSH_CALL_BY_COMPILER + sum(
            _BLOCK_CYCLES[self.kernel] + each.around for each in passes
        )
        call += self.core.call_cycles * (2 + len(passes))
        if self.kernel == "unrolled":
            call += self.core.tablejump_cycles * len(passes)
        return call + _SPLIT_CYCLES * self.splits

    @property
    def _mean_call(self) -> int:
        """The approximate mean of `_call`: few sums need fewer registers to be saved, and once."""
        free = len(base.SAVED_BY_CALLEE) - max(each.block.bytes for each in self.passes)
        spared = _SAVED_ONCE_CYCLES * (len(self.passes) - 1) * (self.kernel != "unrolled")
        if free >= 0:
            spared += base.SAVED_REGISTER_CYCLES * free + _FREE_REGISTERS_CYCLES
        return self._call - spared

    @cached_property
    def push(self) -> base.Push:
        """The cost of pushing inputs."""
        (zeros, others), n = self.cycles, self.weights.shape[1]
        call = self._call + _FRAME_CYCLES * (self.kernel != "unrolled")
        value, zero = int(others.max()), int(zeros.max())
        whole = call * (-(-n // loops.COUNTED_IN_A_BYTE) if self.splits else 1)
        whole += _UPPER_BYTE_CYCLES * len(self.passes) * (n // (loops.COUNTED_IN_A_BYTE + 1))
        if self.kernel == "unrolled":
            # A group's end, the next groups, and the begin of one more: two calls, with inputs
            # that wait.
            whole = call + _GROUPS_CYCLES
            looking = len(self.passes) * GROUP_CYCLES
            call = 2 * (call + looking) + _GROUPS_CYCLES + 2 * GROUP * _WAITING_CYCLES[True]
            value, zero = value + looking, zero + looking
        return base.Push(
            value=value,
            zero=zero,
            call=call,
            whole=whole,
            more=others - zeros,
            least=int(self.cycles.min(axis=0).sum()),
            whole_mean=self.mean_calls(base.Feed(n, n), np.zeros(n)),
        )

    @property
    def begin(self) -> int:
        """Cycles to set the sums and pointers."""
        pointers = len(self.passes) if self.kernel == "masked" else 0
        cycles = _BEGIN_CYCLES + self.core.call_cycles + _BEGIN_BYTE_CYCLES * self.sum_bytes
        return cycles + _BEGIN_POINTER_CYCLES * pointers

    @property
    def _groups(self) -> int:
        """Cycles between groups of inputs."""
        groups = -(-self.weights.shape[1] // GROUP)
        return len(self.passes) * GROUP_CYCLES * groups if self.kernel == "unrolled" else 0

    @property
    def worst(self) -> int:
        """Maximum cycles of all inputs."""
        return self.begin + self._groups + int(self.cycles.max(axis=0).sum())

    def mean(self, share: NDArray[np.float64]) -> float:
        """Return the cycles of all inputs; each is not 0 with this share, (D,)."""
        zeros, others = self.cycles
        return self.begin + self._groups + float(zeros @ (1 - share) + others @ share)

    def calls(self, feed: base.Feed) -> int:
        """Bound the cycles of the firmware's calls, without the inputs' cycles."""
        if feed.whole:
            return self.push.whole
        return self.push.call * feed.calls(self.push, [self.push.value] * feed.values)

    def mean_calls(self, feed: base.Feed, share: NDArray[np.float64]) -> float:
        """Return the same, about, for inputs that are not 0 with this share, (D,)."""
        chunks = [feed.values]
        if not feed.whole:
            costs = self.push.zero + share * (self.push.value - self.push.zero)
            chunks = feed.chunks(self.push, costs.tolist())
        if self.kernel == "unrolled":
            return self._mean_calls_in_groups(chunks, feed.chunk)
        most = loops.COUNTED_IN_A_BYTE if self.splits else feed.values
        return self._mean_call * sum(-(-chunk // most) for chunk in chunks)

    def _mean_calls_in_groups(self, chunks: Sequence[int], full: int) -> float:
        """Return the cycles of calls with this number of inputs, `full` at most, in whole groups.

        If inputs decide on a chunk's end, it may be anywhere in a group.
        """
        adds, waits, phases = 0.0, 0.0, range(1)
        for place, chunk in enumerate(chunks, 1):
            each = [_grouped(waiting, chunk, place == len(chunks)) for waiting in phases]
            more = np.mean(each, axis=0)
            adds, waits = adds + more[0], waits + more[1]
            phases = phases if chunk == full else range(GROUP)
        again = (adds - 1) * (self._mean_call + len(self.passes) * GROUP_CYCLES)
        groups = len(chunks) * _GROUPS_CYCLES + waits * _WAITING_CYCLES[False]
        return self._mean_call + again + groups

    @cached_property
    def bytes(self) -> tuple[int, int]:
        """Flash of the weights, and of the code that reads them."""
        weights, code = zip(*(each.bytes for each in self.passes), strict=True)
        return sum(weights), sum(code)

    @property
    def sum_bytes(self) -> int:
        """Bytes of all sums."""
        return len(self.weights) * self.width


@dataclass(frozen=True, eq=False)
class MatvecKernel(base.Kernel):
    """A kernel of a stage that begins with a product, for one way of storing weights."""

    names_plan: ClassVar[bool] = True

    stage: IntegerMatvec
    name: KernelName

    @classmethod
    def of(cls, stage: IntegerMatvec, core: Core) -> tuple[base.Kernel, ...]:
        """Return a kernel for each way of storing W: instructions only if the chip multiplies."""
        able = {"unrolled": core.multiplies, "packed": stage.packs}
        return tuple(cls(stage, core, name) for name in KERNELS if able.get(name, True))

    @cached_property
    def matvec(self) -> Matvec:
        """The product."""
        stage = self.stage
        width = stage.accumulator_bits // 8
        return Matvec(stage.weights, width, stage.input_maximum, self.name, self.core)

    def _cost(
        self,
        feed: base.Feed | None,
        activity: Activity | None,
        *behind: base.Step,
        tables: int = 0,
        code: int = 0,
        state: int = 0,
    ) -> base.Cost:
        """Return the cost of the product, and of the steps after it, which take the rest."""
        product = self.matvec
        weights, code_of_product = product.bytes
        # SRAM besides the sums is of where the next weights are.
        kept = {"masked": 2 * len(product.passes), "unrolled": 2 + GROUP + 1}
        return base.Cost(
            steps=(self._product(feed, activity), *behind),
            tables=weights + product.sum_bytes + tables,
            code=code_of_product + code,
            state=product.sum_bytes + kept.get(self.name, 2) + state,
            push=product.push,
            begin=product.begin + _BEGIN_WAITING_CYCLES,
        )

    def _product(self, feed: base.Feed | None, activity: Activity | None) -> base.Step:
        """Return the step from ``pnn_begin`` to the last input; see `Kernel.cost`."""
        product, mean = self.matvec, None
        worst = product.worst + (0 if feed is None else product.calls(feed))
        if activity is not None:
            mean = product.mean(activity.inputs)
            mean += 0.0 if feed is None else product.mean_calls(feed, activity.inputs)
        flash, least = sum(product.bytes), product.push.least
        step = base.Step(self.kind, self.name, flash, mean, worst, least)
        return step.on(self.core, _PORTABLE_PRODUCT)

    @property
    def facts(self) -> Facts:
        """The passes of a loop over the finished sums."""
        return {"sum": Passed(self.stage.n_sums, self.stage.n_sums)}

    def needed_for(self, name: str) -> str:
        """Return the missing property of its stage or chip for a kernel of this name."""
        if name == "packed":
            most = NIBBLE_MAXIMUM
            return f"weights from -{most} to {most}, but the model has weights outside this range"
        if name in KERNELS:
            return f"a hardware multiplier, which {self.core.chip} does not have"
        return super().needed_for(name)


def _grouped(waiting: int, chunk: int, last: bool) -> tuple[int, int]:
    """Return how often groups are added in a chunk of inputs, and how many inputs wait for that.

    `waiting` is the number of inputs of its first group; the `last` chunk ends a group.
    """
    filling = min(chunk, -waiting % GROUP)
    rest = 0 if last else (chunk - filling) % GROUP
    completes = waiting > 0 and (last or waiting + filling == GROUP)
    return completes + (chunk > filling + rest), filling + rest


def _masked(row: list[int]) -> list[int]:
    """Return the bytes: for each 8 weights a mask, and the non-zero ones."""
    content: list[int] = []
    for first in range(0, len(row), 8):
        part = row[first : first + 8]
        mask = sum(1 << k for k, weight in enumerate(part) if weight != 0)
        content += [mask - 256 if mask > 127 else mask, *(weight for weight in part if weight != 0)]
    return [len(content), *content]
