"""Choose the kernels of a generated program and say what their tables weigh.

Today there is one portable kernel per stage; the plan decides how the projection's outputs are
blocked and how wide the sums are. It takes both from the integer model's proven ranges.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from protonn_edge.quantization import PROJECTION_CLAMP, IntegerModel
from protonn_edge.reduction import Reduction

# By the width of the accumulators: how many of them stay in registers, and bounds of the cycles
# that a push takes: for a multiplication, a block's look at a feature, a call with what it loads
# and stores for each output. With 16 bits they follow from the assembly in templates/c/avr.j2, with
# 32 they were read off the emulator for avr-gcc at -O2 and 1 to 40 outputs.
_OUTPUTS_AT_ONCE = {16: 10, 32: 4}
_MULTIPLICATION_CYCLES = {16: 7, 32: 21}
_FEATURE_CYCLES = {16: 13, 32: 20}
_CALL_CYCLES = {16: 70, 32: 120}
_CALL_CYCLES_PER_OUTPUT = {16: 15, 32: 30}

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
    """Outputs of the projection that are accumulated in registers at once.

    Attributes
    ----------
    first : int
        The first output of the block.
    size : int
        How many outputs it has.
    """

    first: int
    size: int


@dataclass(frozen=True)
class Plan:
    """What will be generated, and a lower bound of what it takes.

    Attributes
    ----------
    blocks : tuple of Block
        The projection's passes over the inputs.
    score_bits : int
        16 or 32, from the range of the scores.
    clamp : bool
        Whether some input could push a projection beyond 16 bits.
    table_bytes : int
        Flash of the constant tables that a prediction reads; the linked program adds its code.
    state_bytes : int
        SRAM of the model's own variables.
    push_cycles, push_zero_cycles, push_call_cycles : int
        Bounds of what ``pnn_push_many`` takes: for each feature, for one that is 0, for each call.
    """

    blocks: tuple[Block, ...]
    score_bits: int
    clamp: bool
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
    low, high = model.score_range()
    score_bits = 16 if low >= -(1 << 15) and high < 1 << 15 else 32
    p_low, p_high = model.projection_range()
    bits = model.accumulator_bits
    blocks = _blocks(d, _OUTPUTS_AT_ONCE[bits])
    constants = bits // 8 + 4  # start and offset of one output
    push = _push_cycles(model, blocks)
    if model.reduction is not None:
        push = _reducing(push, model.reduction)
    return Plan(
        blocks=blocks,
        score_bits=score_bits,
        clamp=p_low < -PROJECTION_CLAMP or p_high > PROJECTION_CLAMP,
        table_bytes=model.model_bytes + model.table.nbytes + d * constants,
        state_bytes=d * bits // 8 + classes * score_bits // 8 + 2 + _reduction_bytes(model),
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
    d, bits = model.n_projections, model.accumulator_bits
    return _PushCycles(
        feature=_MULTIPLICATION_CYCLES[bits] * d + _FEATURE_CYCLES[bits] * len(blocks),
        zero=_FEATURE_CYCLES[bits] * len(blocks),
        call=_CALL_CYCLES[bits] + _CALL_CYCLES_PER_OUTPUT[bits] * d,
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


def _blocks(outputs: int, at_most: int) -> tuple[Block, ...]:
    """Split `outputs` into as few blocks as possible, of nearly equal size."""
    number = -(-outputs // at_most)
    bounds = [outputs * i // number for i in range(number + 1)]
    return tuple(Block(low, high - low) for low, high in pairwise(bounds))
