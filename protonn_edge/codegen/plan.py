"""Choose the kernels of a generated program and say what their tables weigh.

Today there is one portable kernel per stage; the plan decides how the projection's outputs are
blocked and how wide the sums are. It takes both from the integer model's proven ranges.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from protonn_edge.quantization import IntegerModel
from protonn_edge.reduction import Reduction

# Sums of 2 bytes fill r2..r21; where they are wider, r20 holds a product's sign.
_REGISTERS = {2: 20, 3: 18, 4: 16}

# Coordinates of a point that fit registers, without and with a pointer to the others.
_COORDINATES_IN_REGISTERS = 16
_COORDINATES_BEFORE_TAIL = 14

# Near prototypes that are listed before they vote: more take more SRAM, fewer take longer.
_NEIGHBOURS_AT_ONCE = 12

# Bounds of what a push takes: a multiplication, by the bytes of a sum; a block's look at a feature;
# saving registers; entering a block; loading and storing a byte of a sum.
_MULTIPLICATION_CYCLES = {2: 7, 3: 9}
_FEATURE_CYCLES = 10
_SAVING_CYCLES = 64
_BLOCK_CYCLES = 80
_SUM_BYTE_CYCLES = 4

# What the reduction adds to these bounds: for a pixel, for an area that a pixel completes, for the
# end of an image's row, and for a call. The first two follow from the assembly, the others were
# read off the emulator.
_PIXEL_CYCLES = 12
_AREA_CYCLES = 62
_ROW_CYCLES = 100
_REDUCTION_CALL_CYCLES = 60

# What the firmware lets a push take with interrupts disabled: at 115,200 baud a byte arrives every
# 1,389 cycles, and the fourth after the first would be lost.
CHUNK_CYCLES = 2_500

# Pixels whose averages are projected in one pass, as many as the firmware has in a chunk.
PIXELS_AT_ONCE = 32


@dataclass(frozen=True)
class Block:
    """Sums that are kept in registers at once.

    Attributes
    ----------
    number : int
        Of the block, from 0 on.
    first : int
        The first output of the block.
    size : int
        How many outputs it has.
    width : int
        Bytes of a sum.
    """

    number: int
    first: int
    size: int
    width: int

    @property
    def bytes(self) -> int:
        """Bytes of all its sums."""
        return self.size * self.width


@dataclass(frozen=True)
class Plan:
    """What will be generated, and a lower bound of what it takes.

    Attributes
    ----------
    blocks : tuple of Block
        The projection's passes over the inputs.
    votes : tuple of Block
        The passes of the scores over the near prototypes.
    head : int
        Coordinates of the point that are in registers while prototypes are compared with it.
    neighbours_at_once : int
        Near prototypes that vote together.
    table_bytes : int
        Flash of the constant tables that a prediction reads; the linked program adds its code.
    state_bytes : int
        SRAM of the model's own variables.
    push_cycles, push_zero_cycles, push_call_cycles : int
        Bounds of what ``pnn_push_many`` takes: for each feature, for one that is 0, for each call.
    """

    blocks: tuple[Block, ...]
    votes: tuple[Block, ...]
    head: int
    neighbours_at_once: int
    table_bytes: int
    state_bytes: int
    push_cycles: int
    push_zero_cycles: int
    push_call_cycles: int

    @property
    def fed_feature_cycles(self) -> float:
        """Bound of the cycles that a feature takes when features arrive over the serial line."""
        chunk = max(1, (CHUNK_CYCLES - self.push_call_cycles) // self.push_cycles)
        return self.push_cycles + self.push_call_cycles / chunk


def make_plan(model: IntegerModel) -> Plan:
    """Return the plan for an integer model: a function of the model alone."""
    d, classes = model.n_projections, model.n_classes
    width, score_bytes = model.accumulator_bits // 8, model.score_bits // 8
    blocks = _blocks(d, width)
    in_registers = d <= _COORDINATES_IN_REGISTERS
    neighbours = min(_NEIGHBOURS_AT_ONCE, model.n_prototypes)
    push = _push_cycles(model, blocks)
    if model.reduction is not None:
        push = _reducing(push, model.reduction)
    constants = width + 4 + 2 * model.clamps  # of one output
    state = d * width + classes * score_bytes + 2 + 3 * neighbours
    return Plan(
        blocks=blocks,
        votes=_blocks(classes, score_bytes),
        head=d if in_registers else _COORDINATES_BEFORE_TAIL,
        neighbours_at_once=neighbours,
        table_bytes=model.model_bytes + model.table.nbytes + d * constants,
        state_bytes=state + _reduction_bytes(model),
        push_cycles=push.feature,
        push_zero_cycles=push.zero,
        push_call_cycles=push.call,
    )


@dataclass(frozen=True)
class _PushCycles:
    """Bounds of what ``pnn_push_many`` takes: for a feature, for one that is 0, for a call."""

    feature: int
    zero: int
    call: int


def _push_cycles(model: IntegerModel, blocks: tuple[Block, ...]) -> _PushCycles:
    d, width = model.n_projections, model.accumulator_bits // 8
    looking = _FEATURE_CYCLES * len(blocks)
    return _PushCycles(
        feature=_MULTIPLICATION_CYCLES[width] * d + looking,
        zero=looking,
        call=_SAVING_CYCLES + _BLOCK_CYCLES * len(blocks) + _SUM_BYTE_CYCLES * width * d,
    )


def _reducing(projecting: _PushCycles, reduction: Reduction) -> _PushCycles:
    """Return the bounds for pixels, given those for the averages that they complete.

    Of N pixels in a row of n that becomes k areas, at most N k/n + 1 complete one, whatever they
    are: a pixel that is 0 may be the last of an area that is not.
    """
    n, k = reduction.columns.pixels, reduction.columns.outputs
    area = _AREA_CYCLES + projecting.feature
    pixel = _PIXEL_CYCLES - (-(area * k + _ROW_CYCLES) // n)
    call = projecting.call + _REDUCTION_CALL_CYCLES + area + 2 * _ROW_CYCLES
    return _PushCycles(pixel, pixel, call)


def _reduction_bytes(model: IntegerModel) -> int:
    """Return the bytes of the variables that the reduction needs."""
    if model.reduction is None:
        return 0
    rows, columns = model.reduction.rows, model.reduction.columns
    cropped = model.reduction.cropped_shape != model.reduction.image_shape
    sums = 3 + 2 * columns.outputs if rows.output_units > 1 else 0
    counted = 1 if columns.pixels < 256 else 2
    return 5 + counted + 2 * cropped + sums + averages_at_once(model.reduction)


def averages_at_once(reduction: Reduction) -> int:
    """Return how many averages `PIXELS_AT_ONCE` pixels can complete."""
    columns = reduction.columns
    return -(-PIXELS_AT_ONCE * columns.outputs // columns.pixels)


def _blocks(outputs: int, width: int) -> tuple[Block, ...]:
    """Split `outputs` into as few blocks as possible, of nearly equal size."""
    at_most = _REGISTERS[width] // width
    number = -(-outputs // at_most)
    bounds = [outputs * i // number for i in range(number + 1)]
    return tuple(Block(i, low, high - low, width) for i, (low, high) in enumerate(pairwise(bounds)))
