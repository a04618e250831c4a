"""The kernels of a matrix product: ways of storing weights, and their costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.chain.matvec import NIBBLE_MAXIMUM, IntegerMatvec, packed
from protonn_edge.kernels.kernel import Feed, Kernel, Push, Step
from protonn_edge.kernels.matvec.cycles import (
    BEGIN_BLOCK_CYCLES,
    BEGIN_BY_COMPILER,
    BEGIN_WAITING_CYCLES,
    COUNTED_IN_A_BYTE,
    FRAME_BY_COMPILER,
    FREE_REGISTERS_CYCLES,
    GROUP,
    GROUP_CYCLES,
    GROUPS_BY_COMPILER,
    KERNELS,
    MEAN_WAITING_BY_COMPILER,
    PUSH_BLOCK_BY_COMPILER,
    PUSH_CALL_BY_COMPILER,
    SAVED_BY_CALLEE,
    SAVED_REGISTER_CYCLES,
    SPLIT_BY_COMPILER,
    UPPER_BYTE_CYCLES,
    WAITING_BY_COMPILER,
    Block,
    FeatureCycles,
    KernelName,
    Line,
    blocks_of,
    feature_cycles,
    lines_of,
    projection_bytes,
    unpacking_cycles,
)

Rows = tuple[tuple[int, ...], ...]

# What the compiler's loops take, without a multiplier, of what those in assembly take with one:
# seven models of 4 to 12 projections on the emulated ATtiny85 were within 15 % of it.
_PORTABLE_PRODUCT = 8.2


@dataclass(frozen=True)
class BlockContext:
    """Sums of outputs `first` to `last` that are kept in registers, `width` bytes each."""

    number: int
    first: int
    last: int
    size: int
    width: int
    bytes: int

    @classmethod
    def of(cls, block: Block) -> BlockContext:
        """Lay out a block."""
        return cls(**_place(block))


@dataclass(frozen=True)
class WeightsContext(BlockContext):
    """One pass over the inputs: `rows` holds the weights as the kernel stores them, one per input.

    If weights are instructions, `lines` has their contents.
    """

    rows: Rows
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class MatvecContext:
    """The context of ``templates/c/matvec`` of a matrix product."""

    kernel: KernelName
    n_inputs: int
    n_outputs: int
    input_maximum: int
    accumulator_bits: int
    accumulator_range: tuple[int, int]
    bias: tuple[int, ...]
    blocks: tuple[WeightsContext, ...]
    group: int
    splits: bool
    far_calls: bool


@dataclass(frozen=True, eq=False)
class Matvec:
    """The product of weights (d, D) and inputs of at most `maximum`, in sums of `width` bytes."""

    weights: NDArray[np.int8]
    width: int
    maximum: int
    kernel: KernelName
    core: Core

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The passes over the inputs."""
        together = 2 if self.kernel == "packed" else 1
        return blocks_of(len(self.weights), self.width, together)

    @cached_property
    def features(self) -> FeatureCycles:
        """Cycles of each input."""
        return feature_cycles(self.kernel, self.weights, self.blocks, self.maximum)

    @property
    def splits(self) -> bool:
        """Whether all inputs may need more than one pass."""
        return self.kernel == "masked" and self.weights.shape[1] > COUNTED_IN_A_BYTE

    @property
    def _call(self) -> int:
        """Upper bound of the cycles of a call that adds to all sums, without its inputs."""
        blocks = self.blocks
        call = PUSH_CALL_BY_COMPILER + sum(PUSH_BLOCK_BY_COMPILER + block.moves for block in blocks)
        call += self.core.call_cycles * (2 + len(blocks))
        if self.kernel == "unrolled":
            call += self.core.tablejump_cycles * len(blocks)
        if self.kernel == "packed":
            call += sum(map(unpacking_cycles, blocks))
        return call + SPLIT_BY_COMPILER * self.splits

    @property
    def _mean_call(self) -> int:
        """The approximate mean of `_call`: few sums need fewer registers to be saved."""
        free = len(SAVED_BY_CALLEE) - max(block.bytes for block in self.blocks)
        spared = SAVED_REGISTER_CYCLES * free + FREE_REGISTERS_CYCLES
        return self._call - (spared if free >= 0 else 0)

    @cached_property
    def push(self) -> Push:
        """The cost of pushing inputs."""
        blocks, features, n = self.blocks, self.features, self.weights.shape[1]
        call = self._call + FRAME_BY_COMPILER * (self.kernel != "unrolled")
        value, zero = int(features.other.max()), int(features.zero.max())
        whole = call * (-(-n // COUNTED_IN_A_BYTE) if self.splits else 1)
        whole += UPPER_BYTE_CYCLES * len(blocks) * (n // (COUNTED_IN_A_BYTE + 1))
        if self.kernel == "unrolled":
            # A group's end, the next groups, and the begin of one more: two calls, with features
            # that wait.
            whole = call + GROUPS_BY_COMPILER
            looking = len(blocks) * GROUP_CYCLES
            call = 2 * (call + looking) + GROUPS_BY_COMPILER + 2 * GROUP * WAITING_BY_COMPILER
            value, zero = value + looking, zero + looking
        return Push(
            value=value,
            zero=zero,
            call=call,
            whole=whole,
            more=features.other - features.zero,
            least=int(np.minimum(features.zero, features.other).sum()),
            skips_zeros=self.kernel in ("columns", "packed"),
            whole_mean=self.mean_calls(Feed(n, n), np.zeros(n)),
        )

    @property
    def begin(self) -> int:
        """Cycles to set the sums and pointers."""
        cycles = BEGIN_BY_COMPILER + self.core.call_cycles
        cycles += 3 * sum(block.bytes for block in self.blocks)
        return cycles + (BEGIN_BLOCK_CYCLES * len(self.blocks) if self.kernel == "masked" else 0)

    @property
    def begin_at_most(self) -> int:
        """Upper bound of the cycles of ``pnn_begin`` for it."""
        return self.begin + BEGIN_WAITING_CYCLES

    @property
    def _groups(self) -> int:
        """Cycles between groups of inputs."""
        groups = -(-self.features.zero.size // GROUP)
        return len(self.blocks) * GROUP_CYCLES * groups if self.kernel == "unrolled" else 0

    @property
    def worst(self) -> int:
        """Maximum cycles of all inputs."""
        return (
            self.begin
            + self._groups
            + int(np.maximum(self.features.zero, self.features.other).sum())
        )

    def mean(self, share: NDArray[np.float64]) -> float:
        """Return the cycles of all inputs, each of which is not 0 with this share, (D,)."""
        around = self.begin + self._groups
        return around + float(self.features.zero @ (1 - share) + self.features.other @ share)

    def calls(self, feed: Feed) -> int:
        """Bound the cycles of the firmware's calls, without those of the inputs."""
        if feed.whole:
            return self.push.whole
        return self.push.call * feed.calls(self.push, [self.push.value] * feed.values)

    def mean_calls(self, feed: Feed, share: NDArray[np.float64]) -> float:
        """Return the same, about, for inputs that are not 0 with this share, (D,)."""
        chunks = [feed.values]
        if not feed.whole:
            costs = self.push.zero + share * (self.push.value - self.push.zero)
            chunks = feed.chunks(self.push, costs.tolist())
        if self.kernel == "unrolled":
            return self._mean_calls_in_groups(chunks, feed.chunk)
        most = COUNTED_IN_A_BYTE if self.splits else feed.values
        return self._mean_call * sum(-(-chunk // most) for chunk in chunks)

    def _mean_calls_in_groups(self, chunks: Sequence[int], full: int) -> float:
        """Return the cycles of calls with so many inputs, `full` at most, which push whole groups.

        Where inputs decide on a chunk's end, it may be anywhere in a group.
        """
        adds, waits, phases = 0.0, 0.0, range(1)
        for place, chunk in enumerate(chunks, 1):
            each = [_grouped(waiting, chunk, place == len(chunks)) for waiting in phases]
            more = np.mean(each, axis=0)
            adds, waits = adds + more[0], waits + more[1]
            phases = phases if chunk == full else range(GROUP)
        again = (adds - 1) * (self._mean_call + len(self.blocks) * GROUP_CYCLES)
        around = len(chunks) * GROUPS_BY_COMPILER + waits * MEAN_WAITING_BY_COMPILER
        return self._mean_call + again + around

    def step(self, name: str, feed: Feed | None, activity: Activity | None) -> Step:
        """Return the step of this name from ``pnn_begin`` to the last input; see `Kernel.cost`."""
        worst, mean = self.worst, None
        if feed is not None:
            worst += self.calls(feed)
        if activity is not None:
            mean = self.mean(activity.inputs)
            mean += 0.0 if feed is None else self.mean_calls(feed, activity.inputs)
        step = Step(name, self.kernel, sum(self.bytes), mean, worst, self.push.least)
        return step.on(self.core, _PORTABLE_PRODUCT)

    @cached_property
    def bytes(self) -> tuple[int, int]:
        """Flash of the weights, and of the code that reads them."""
        return projection_bytes(self.kernel, self.weights, self.blocks, self.maximum)

    @property
    def sum_bytes(self) -> int:
        """Bytes of all sums."""
        return len(self.weights) * self.width

    @property
    def state(self) -> int:
        """SRAM of the sums, and of where the next weights are."""
        kept = {"masked": 2 * len(self.blocks), "unrolled": 2 + GROUP + 1}
        return self.sum_bytes + kept.get(self.kernel, 2)

    def context(self, bias: NDArray[np.int64], ends: tuple[int, int]) -> MatvecContext:
        """Lay the product out as the generated program reads it; `ends` are those of all sums."""
        return MatvecContext(
            kernel=self.kernel,
            n_inputs=self.weights.shape[1],
            n_outputs=len(self.weights),
            input_maximum=self.maximum,
            accumulator_bits=8 * self.width,
            accumulator_range=ends,
            bias=tuple(bias.tolist()),
            blocks=tuple(
                WeightsContext(
                    **_place(block),
                    rows=self._rows(block),
                    lines=self._lines(block),
                )
                for block in self.blocks
            ),
            group=GROUP,
            splits=self.splits,
            far_calls=self.core.return_bytes > 2,
        )

    def _rows(self, block: Block) -> Rows:
        """Return the outputs of one block, a row per input."""
        part = self._part(block)
        rows = (packed(part) if self.kernel == "packed" else part.T).tolist()
        return tuple(tuple(_masked(row) if self.kernel == "masked" else row) for row in rows)

    def _lines(self, block: Block) -> tuple[Line, ...]:
        if self.kernel != "unrolled":
            return ()
        return tuple(lines_of(self._part(block), self.maximum))

    def _part(self, block: Block) -> NDArray[np.int8]:
        return self.weights[block.first : block.first + block.size]


@dataclass(frozen=True, eq=False)
class MatvecKernel(Kernel):
    """A kernel of a stage that begins with a product, for one way of storing weights."""

    names_plan: ClassVar[bool] = True

    stage: IntegerMatvec
    name: KernelName
    core: Core

    @cached_property
    def matvec(self) -> Matvec:
        """The product."""
        stage = self.stage
        width = stage.accumulator_bits // 8
        return Matvec(stage.weights, width, stage.input_maximum, self.name, self.core)

    def needed_for(self, name: str) -> str:
        """Return what its stage, or its chip, lacks for a kernel of this name."""
        if name == "packed":
            return f"weights of -{NIBBLE_MAXIMUM}..{NIBBLE_MAXIMUM}, which the model does not have"
        if name in KERNELS:
            return f"a hardware multiplier, which {self.core.chip} has not"
        return super().needed_for(name)

    @property
    def matvec_context(self) -> MatvecContext:
        """The context of ``templates/c/matvec``."""
        return self.matvec.context(self.stage.bias, self.stage.accumulators.ends)


def kernel_names(stage: IntegerMatvec, core: Core) -> tuple[KernelName, ...]:
    """Return the ways of storing weights: instructions only if the chip multiplies."""
    able = {"unrolled": core.multiplies, "packed": stage.packs}
    return tuple(name for name in KERNELS if able.get(name, True))


def _grouped(waiting: int, chunk: int, last: bool) -> tuple[int, int]:
    """Return how often a chunk of inputs makes groups be added, and how many of it wait for that.

    So many inputs of its first group are `waiting`; the `last` chunk's end is that of a group.
    """
    filling = min(chunk, -waiting % GROUP)
    rest = 0 if last else (chunk - filling) % GROUP
    completes = waiting > 0 and (last or waiting + filling == GROUP)
    return completes + (chunk > filling + rest), filling + rest


def _place(block: Block) -> dict[str, int]:
    last = block.first + block.size - 1
    return {**asdict(block), "last": last, "bytes": block.bytes}


def _masked(row: list[int]) -> list[int]:
    """Return the bytes: for each 8 weights a mask, and the non-zero ones."""
    content: list[int] = []
    for first in range(0, len(row), 8):
        part = row[first : first + 8]
        mask = sum(1 << k for k, weight in enumerate(part) if weight != 0)
        content += [mask - 256 if mask > 127 else mask, *(weight for weight in part if weight != 0)]
    return [len(content), *content]
