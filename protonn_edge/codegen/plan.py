"""The plan of a generated program: its kernels, and what each stage takes.

The plan follows from the integer model's proven ranges, what its kernels cost (`kernels`), and how
much there is to do on the points that the model is for (`Activity`).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.boards.cores import UNO_CORE, Core
from protonn_edge.codegen.kernels import (
    ACCIDENT_CYCLES,
    BEGIN_BY_COMPILER,
    FINISH_BY_COMPILER,
    GROUP,
    GROUP_CYCLES,
    GROUPS_BY_COMPILER,
    PUSH_BLOCK_BY_COMPILER,
    PUSH_CALL_BY_COMPILER,
    SCORE_BY_COMPILER,
    WAITING_BY_COMPILER,
    Block,
    Comparison,
    FeatureCycles,
    KernelName,
    comparison,
    feature_cycles,
    projection_bytes,
    rejection_bytes,
    rejection_cycles,
    rescaling_cycles,
    vote_cycles,
)
from protonn_edge.codegen.reach import near_at_most
from protonn_edge.codegen.slants import most_with_slants
from protonn_edge.quantization import PROJECTION_MAXIMUM, PROJECTION_MINIMUM, Activity, IntegerModel
from protonn_edge.reduction import Reduction

# Sums of 2 bytes fill r2..r21; where they are wider, r20 holds a product's sign.
_REGISTERS = {2: 20, 3: 18, 4: 16}

# Near prototypes that are listed before they vote: more take more SRAM, fewer take longer.
_NEIGHBOURS_AT_LEAST, _NEIGHBOURS_AT_MOST = 10, 40
_NEIGHBOURS_SHARE = 16
_NEIGHBOUR_BYTES = 3

# Prototypes of which all pairs are looked at to choose between checks.
_PROTOTYPES_COMPARED = 200

# Flash of the firmware beside the projection and the tables, and SRAM beside the model's variables,
# with the stack; read off linked programs.
_CODE_BYTES = 3_300
_STREAMING_CODE_BYTES = 120
_REDUCTION_CODE_BYTES = 800
_CODE_BYTES_PER_COORDINATE = 18
_CODE_BYTES_PER_SCORE = 16
_FIRMWARE_SRAM_BYTES = 200

# What the reduction adds to these bounds: for a pixel, for an area that a pixel completes, for the
# end of an image's row, and for a call. The first two follow from the assembly, the others were
# read off the emulator.
_PIXEL_CYCLES = 12
_AREA_CYCLES = 62
_ROW_CYCLES = 100
_REDUCTION_CALL_CYCLES = 60
_ROW_CALLS = 3  # for a row or a call, at most

# The same where a push brings all pixels: a row that has whole areas, its last one with averages.
_WHOLE_ROW_CYCLES = 106
_AVERAGE_CYCLES = 17

# Averages that are kept until all are complete, at most, and are then projected in one pass.
_KEPT_AVERAGES = 512

# The same of images most of whose areas are 0, about; for the mean.
_MEAN_PIXEL_CYCLES = 9
_MEAN_AREA_CYCLES = 15
_MEAN_ROW_CYCLES = 30

# What setting an image upright takes: once, for a row's moments, for a row and a pixel that move.
# Of an image that was set upright, rows come whole, with less around them.
_UPRIGHT_CODE_BYTES = 900
_MOMENT_CYCLES = 1_650
_MOMENT_ROW_CYCLES = 85
_MOMENT_PIXEL_CYCLES = 14
_MOMENT_ZERO_CYCLES = 9
_MOVED_ROW_CYCLES = 80
_MOVED_PIXEL_CYCLES = 7
_MOVED_ROWS_SHARE = 0.15  # of digits; for the mean
_UPRIGHT_ROW_CYCLES = 70
_UPRIGHT_CALLS = 6  # for a row, at most

# What the firmware lets a push take with interrupts disabled: at 115,200 baud a byte arrives every
# 1,389 cycles, and the fourth after the first would be lost.
CHUNK_CYCLES = 2_500

# Pixels whose averages are projected in one pass, as many as the firmware has in a chunk.
PIXELS_AT_ONCE = 32

# The most features that the firmware collects before it pushes them, where it does not hold all.
_CHUNK_FEATURES = 64
_COUNTED_IN_A_BYTE = 255


_REJECTION = "rejection"


@dataclass(frozen=True)
class Stage:
    """One stage of a prediction.

    Attributes
    ----------
    name, kernel : str
        What it does, and how.
    flash_bytes : int
        Its constants and, about, its code.
    mean : float or None
        Cycles on points of the activity that the plan was made for; None if that is not known.
    worst : int
        Cycles that no input exceeds.
    """

    name: str
    kernel: str
    flash_bytes: int
    mean: float | None
    worst: int


@dataclass(frozen=True)
class Plan:
    """What will be generated, and what it takes.

    Attributes
    ----------
    kernel : {"columns", "masked", "unrolled"}
        How the projection reads its weights.
    n_features : int
        What a prediction is fed.
    blocks : tuple of Block
        The projection's passes over the inputs.
    votes : tuple of Block
        The passes of the scores over the near prototypes.
    comparison : Comparison
        How a point is compared with a prototype.
    neighbours_at_once : int
        Near prototypes that vote together.
    keeps_averages : bool
        Whether all averages of a reduction wait for the last one before they are projected.
    chunk_features : int
        Features that the firmware collects before it pushes them; if all, it needs one call.
    table_bytes : int
        Flash of the constant tables that a prediction reads; a lower bound of what is linked.
    state_bytes : int
        SRAM of the model's own variables.
    flash_bytes, sram_bytes : int
        What the firmware will take, about; SRAM with the stack.
    push_cycles, push_zero_cycles, push_call_cycles : int
        Bounds of what ``pnn_push_many`` takes: for each feature, for one that is 0, for each call.
    stages : tuple of Stage
        The stages of a prediction.
    apart_cycles : int
        How many cycles of the stages' bounds no input takes together.
    core : Core
        The kind of chip that cycles are counted for. Where it has no multiplier, the loops are the
        compiler's, and cycles are an estimate.
    """

    kernel: KernelName
    n_features: int
    blocks: tuple[Block, ...]
    votes: tuple[Block, ...]
    comparison: Comparison
    neighbours_at_once: int
    keeps_averages: bool
    chunk_features: int
    table_bytes: int
    state_bytes: int
    flash_bytes: int
    sram_bytes: int
    push_cycles: int
    push_zero_cycles: int
    push_call_cycles: int
    stages: tuple[Stage, ...]
    apart_cycles: int = 0
    core: Core = UNO_CORE

    @property
    def estimated(self) -> bool:
        """Whether nobody knows more of the cycles than their order of magnitude."""
        return not self.core.multiplies

    @property
    def fed_feature_cycles(self) -> float:
        """Bound of the cycles that a feature takes when features arrive over the serial line."""
        if self.buffered:
            return 0.0
        chunk = max(1, (CHUNK_CYCLES - self.push_call_cycles) // self.push_cycles)
        return self.push_cycles + self.push_call_cycles / chunk

    @property
    def buffered(self) -> bool:
        """Whether the firmware holds all features before it computes."""
        return self.chunk_features >= self.n_features

    @property
    def mean_cycles(self) -> float | None:
        """Cycles of a prediction, where the activity is known."""
        means = [stage.mean for stage in self.stages]
        return None if None in means else sum(mean for mean in means if mean is not None)

    def to_json(self) -> dict[str, Any]:
        """Return the kernel, the stages and their sums under the names of every JSON here."""
        return {
            "kernel": self.kernel,
            "cycles": {"mean": self.mean_cycles, "worst": self.worst_cycles},
            "estimated": self.estimated,
            "stages": [asdict(stage) for stage in self.stages],
        }

    @property
    def worst_cycles(self) -> int:
        """Cycles that no prediction exceeds."""
        return sum(stage.worst for stage in self.stages) - self.apart_cycles


def plan_with(
    model: IntegerModel,
    kernel: KernelName,
    activity: Activity | None = None,
    *,
    buffered: bool = True,
    keeps_averages: bool = True,
    core: Core = UNO_CORE,
) -> Plan:
    """Return the plan with a given kernel of the projection, with all features in SRAM or not.

    The same is asked about the averages of a reduction. Cycles are those of chips with this core.
    """
    reduction = model.reduction
    upright = reduction is not None and reduction.deskewed is not None
    keeps = keeps_averages and reduction is not None and reduction.n_outputs <= _KEPT_AVERAGES
    keeps = keeps or upright
    chunk_features = _chunk_features(model, buffered)
    d, classes = model.n_projections, model.n_classes
    width, score_bytes = model.accumulator_bits // 8, model.score_bits // 8
    blocks, votes = _blocks(d, width), _blocks(classes, score_bytes)
    compared = _comparison(model)
    neighbours = _neighbours_at_once(model.n_prototypes)
    features = feature_cycles(kernel, model.projection, blocks, model.inputs.maximum)
    push = _push_cycles(kernel, features, blocks, core)
    feed = _Feed(chunk_features, model.n_features, kernel, reduction, keeps, push.whole, core)
    if upright:
        push = _COPYING
    elif reduction is not None:
        push = _reducing(_NOT_PROJECTING if keeps else push, reduction, core)
    weights, code = projection_bytes(kernel, model.projection, blocks, model.inputs.maximum)
    constants = d * (width + 3 + 2 * model.clamps) + model.table.nbytes
    prototypes = int(model.prototypes.nbytes + model.labels.nbytes)
    pointers = {"columns": 0, "masked": 2 * len(blocks), "unrolled": GROUP + 1}[kernel]
    state = d * width + classes * score_bytes + 2 + _NEIGHBOUR_BYTES * neighbours + pointers
    state += _reduction_bytes(model, keeps)
    stages = (
        *(
            (_upright_stage(reduction, buffered, core),)
            if upright and reduction is not None
            else ()
        ),
        _projection_stage(
            kernel,
            features,
            blocks,
            push,
            activity,
            weights + code,
            feed,
        ),
        _rescaling_stage(model),
        _prototype_stage(model, votes, compared, neighbours, activity, core),
        *_rejection_stages(model, neighbours, activity),
    )
    if not core.multiplies:
        stages = tuple(map(without_multiplier, stages))
    # A firmware that holds an image leaves out the one into which pixels would be pushed.
    held = 0 if upright and buffered else chunk_features
    rest = _CODE_BYTES + _STREAMING_CODE_BYTES * (chunk_features < model.n_features)
    rest += _REDUCTION_CODE_BYTES * (reduction is not None) + _UPRIGHT_CODE_BYTES * upright
    rest += sum(stage.flash_bytes for stage in stages if stage.name == _REJECTION)
    rest += _CODE_BYTES_PER_COORDINATE * d + _CODE_BYTES_PER_SCORE * classes
    return Plan(
        kernel=kernel,
        n_features=model.n_features,
        blocks=blocks,
        votes=votes,
        comparison=compared,
        neighbours_at_once=neighbours,
        keeps_averages=keeps,
        chunk_features=chunk_features,
        table_bytes=weights + prototypes + constants,
        state_bytes=state,
        flash_bytes=weights + code + prototypes + constants + rest,
        sram_bytes=state + held + _FIRMWARE_SRAM_BYTES,
        push_cycles=push.feature,
        push_zero_cycles=push.zero,
        push_call_cycles=push.call,
        stages=stages,
        apart_cycles=_apart_cycles(reduction, features) if upright and reduction else 0,
        core=core,
    )


# What the compiler's loops take, without a multiplier, of what those in assembly take with one:
# seven models of 4 to 12 projections and 4 to 100 prototypes on the emulated ATtiny85 were within
# 15 % of it.
_WITHOUT_MULTIPLIER = {
    "projection": 8.2,
    "rescaling": 17.0,
    "prototypes": 10.1,
    "upright": 8.2,
    _REJECTION: 1.2,
}


def without_multiplier(stage: Stage) -> Stage:
    """Return a stage as portable C takes it on a chip that cannot multiply: an estimate."""
    factor = _WITHOUT_MULTIPLIER[stage.name]
    mean = None if stage.mean is None else factor * stage.mean
    return replace(stage, kernel="portable C", mean=mean, worst=math.ceil(factor * stage.worst))


@dataclass(frozen=True)
class _PushCycles:
    """What ``pnn_push_many`` takes: bounds for a feature, for one that is 0, for a call.

    `whole` is what a call takes, besides its features, if it brings all of them.
    """

    feature: int
    zero: int
    call: int
    whole: int


def _push_cycles(
    kernel: KernelName, features: FeatureCycles, blocks: tuple[Block, ...], core: Core
) -> _PushCycles:
    call = PUSH_CALL_BY_COMPILER + sum(PUSH_BLOCK_BY_COMPILER + block.moves for block in blocks)
    call += core.call_cycles * (2 + len(blocks))
    if kernel == "unrolled":
        call += core.tablejump_cycles * len(blocks)
    feature, zero = int(features.other.max()), int(features.zero.max())
    if kernel != "unrolled":
        return _PushCycles(feature, zero, call, call)
    # A group's end, the next groups, and the begin of one more: two calls, with features that wait.
    looking = len(blocks) * GROUP_CYCLES
    split = 2 * (call + looking) + GROUPS_BY_COMPILER + 2 * GROUP * WAITING_BY_COMPILER
    whole = call + GROUPS_BY_COMPILER
    return _PushCycles(feature + looking, zero + looking, split, whole)


# Where an image is set upright once it is complete, a push copies pixels.
_COPYING = _PushCycles(12, 12, 40, 40)


def _neighbours_at_once(prototypes: int) -> int:
    share = prototypes // _NEIGHBOURS_SHARE
    return min(prototypes, max(_NEIGHBOURS_AT_LEAST, min(share, _NEIGHBOURS_AT_MOST)))


# Where averages are kept until all are complete, a push projects none of them.
_NOT_PROJECTING = _PushCycles(0, 0, PUSH_CALL_BY_COMPILER, PUSH_CALL_BY_COMPILER)


def _chunk_features(model: IntegerModel, buffered: bool) -> int:
    if buffered:
        return model.n_features
    return _CHUNK_FEATURES if model.reduction is None else PIXELS_AT_ONCE


@dataclass(frozen=True)
class _Feed:
    """How features come to the kernel."""

    chunk_features: int
    n_features: int
    kernel: KernelName
    reduction: Reduction | None
    keeps_averages: bool
    projecting: int
    core: Core

    @property
    def buffered(self) -> bool:
        return self.chunk_features >= self.n_features

    @property
    def parts(self) -> int:
        """Calls of the projection for features that are there all at once."""
        if self.reduction is not None and not self.keeps_averages:
            return -(-self.n_features // PIXELS_AT_ONCE)
        return -(-self.n_features // _COUNTED_IN_A_BYTE) if self.kernel == "masked" else 1


def _projection_stage(
    kernel: KernelName,
    features: FeatureCycles,
    blocks: tuple[Block, ...],
    push: _PushCycles,
    activity: Activity | None,
    flash_bytes: int,
    feed: _Feed,
) -> Stage:
    """Return the stage from ``pnn_begin`` to the last ``pnn_push_many``, fed by the firmware."""
    begin = BEGIN_BY_COMPILER + feed.core.call_cycles + 3 * sum(block.bytes for block in blocks)
    if kernel == "unrolled":
        begin += len(blocks) * GROUP_CYCLES * -(-len(features.other) // GROUP)
    every = np.ones(len(features.other))
    worst = begin + int(features.other.sum()) + math.ceil(_calls_cycles(every, push, feed))
    mean = None
    if activity is not None:
        share = activity.inputs
        loops = float(features.zero @ (1 - share) + features.other @ share)
        mean = begin + loops + _calls_cycles(share, push, feed)
    return Stage("projection", kernel, flash_bytes, mean, worst)


def _calls_cycles(share: NDArray[np.float64], push: _PushCycles, feed: _Feed) -> float:
    """Return the cycles of the calls alone, where a feature is not 0 with this share."""
    if feed.reduction is not None:
        at_most = bool(share.min() == 1)
        whole = feed.buffered or feed.reduction.deskewed is not None
        if feed.keeps_averages and whole and has_whole_rows(feed.reduction):
            rows = _whole_rows_cycles(feed.reduction, share, feed.core)
            return rows + feed.projecting * feed.parts
        pixels = _reduction_cycles(feed.reduction, feed.core, at_most=at_most)
        if feed.keeps_averages:
            calls = -(-feed.n_features // feed.chunk_features)
            return pixels + push.whole * calls + feed.projecting * feed.parts
        return pixels + push.whole * feed.parts
    if feed.buffered:
        return push.whole * feed.parts
    return push.call * _calls(share, push, feed)


def _calls(share: NDArray[np.float64], push: _PushCycles, feed: _Feed) -> float:
    """Return how often features are pushed, where one is not 0 with this share."""
    calls, chunk, cycles = 0.0, 0, float(push.call)
    for each in (push.zero + share * (push.feature - push.zero)).tolist():
        chunk, cycles = chunk + 1, cycles + each
        if cycles + push.feature > CHUNK_CYCLES or chunk == feed.chunk_features:
            calls, chunk, cycles = calls + 1, 0, float(push.call)
    return calls + (chunk > 0)


def _upright_stage(reduction: Reduction, buffered: bool, core: Core) -> Stage:
    """Return the stage that finds the slant of an image and moves the rows that count."""
    rows, pixels = reduction.rows, reduction.n_features
    calls = core.call_cycles * _UPRIGHT_CALLS
    moments = _MOMENT_CYCLES + 2 * calls + (_MOMENT_ROW_CYCLES + calls) * rows.side
    moved = rows.pixels * (_moved_row_cycles(reduction) + calls)
    pushes = -(-pixels // PIXELS_AT_ONCE)
    copies = 0 if buffered else _COPYING.feature * pixels + _COPYING.call * pushes
    mean = moments + _MOMENT_ZERO_CYCLES * pixels + _MOVED_ROWS_SHARE * moved + copies
    worst = moments + _MOMENT_PIXEL_CYCLES * pixels + moved + copies
    return Stage("upright", "loop", _UPRIGHT_CODE_BYTES, mean, worst)


def _apart_cycles(reduction: Reduction, features: FeatureCycles) -> int:
    """Return what rows that move and inputs that are not 0 do not take together."""
    row = _moved_row_cycles(reduction)
    most = most_with_slants(reduction, row, features.other - features.zero)
    return reduction.rows.pixels * row - most


def _moved_row_cycles(reduction: Reduction) -> int:
    return _MOVED_ROW_CYCLES + _MOVED_PIXEL_CYCLES * reduction.columns.pixels


def moved_cycles(reduction: Reduction, shifts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the cycles (n,) of the rows that move too far to be read in place, at most.

    `shifts` (n, H) says by how many pixels to the left each row of an image moves.
    """
    rows, columns = reduction.rows, reduction.columns
    begin = columns.first + shifts[:, rows.first : rows.first + rows.pixels]
    moved = np.count_nonzero((begin < 0) | (begin > columns.side - columns.pixels), axis=1)
    cycles: NDArray[np.int64] = moved * _moved_row_cycles(reduction)
    return cycles


def input_cycles(model: IntegerModel, plan: Plan) -> NDArray[np.int64]:
    """Return the cycles (D,) that each input of the projection takes more if it is not 0."""
    features = feature_cycles(plan.kernel, model.projection, plan.blocks, model.inputs.maximum)
    return features.other - features.zero


def _rescaling_stage(model: IntegerModel) -> Stage:
    dropped = model.accumulator_bits // 8 - 2
    cycles = rescaling_cycles(model.n_projections, dropped, model.multiplier, model.clamps)
    flash = model.n_projections * (3 + 2 * model.clamps)
    return Stage("rescaling", "loop", flash, cycles, cycles)


def _prototype_stage(
    model: IntegerModel,
    votes: tuple[Block, ...],
    loop: Comparison,
    neighbours_at_once: int,
    activity: Activity | None,
    core: Core,
) -> Stage:
    """Return the stage of the distances and the votes, with what is around them."""
    call, each = vote_cycles(votes)
    call += core.call_cycles * (1 + len(votes))
    start = loop.start + core.call_cycles
    m = model.n_prototypes
    around = FINISH_BY_COMPILER + 3 * core.call_cycles + SCORE_BY_COMPILER * model.n_classes
    around += ACCIDENT_CYCLES * _accidents(model)
    at_most = near_at_most(model)
    rounds = int(at_most[-1]) // neighbours_at_once + 1
    costs = np.maximum.accumulate(_prototype_costs(loop, each))
    worst = around + int(m * costs[0] + at_most @ np.diff(costs)) + rounds * (start + call)
    mean = None
    if activity is not None:
        near = activity.neighbours
        left = m * (activity.coordinates - np.append(activity.coordinates[1:], near / m))
        rounds_mean = near / neighbours_at_once + 0.5
        mean = around + float(left @ loop.left_after) + near * (loop.near + each)
        mean += (rounds_mean + 0.5) * start + rounds_mean * call
    flash = int(model.prototypes.nbytes + model.labels.nbytes + model.table.nbytes)
    fetched = any(step.register is None for step in loop.steps)
    where = "partly in registers" if fetched else "in registers"
    return Stage("prototypes", f"point {where}, {model.score_bits}-bit scores", flash, mean, worst)


def _rejection_stages(
    model: IntegerModel, neighbours_at_once: int, activity: Activity | None
) -> tuple[Stage, ...]:
    """Return the stage that finds whether a point is unknown, in a model that asks for it."""
    if model.rejection is None:
        return ()
    by = model.rejection.statistics

    def cycles(near: float, rounds: float) -> float:
        return rejection_cycles(by, model.n_classes, model.score_bits // 8, near, rounds)

    at_most = int(near_at_most(model)[-1])
    worst = math.ceil(cycles(at_most, at_most // neighbours_at_once + 1))
    mean = None
    if activity is not None:
        mean = cycles(activity.neighbours, activity.neighbours / neighbours_at_once + 0.5)
    return (Stage(_REJECTION, ", ".join(by), rejection_bytes(by), mean, worst),)


def _accidents(model: IntegerModel) -> int:
    """Return how many prototypes end at an address whose lower byte is that of the last one's."""
    m, stride = model.n_prototypes, model.n_projections + model.n_classes
    return int(np.count_nonzero(np.arange(1, m) * stride % 256 == 0))


def _comparison(model: IntegerModel) -> Comparison:
    overflows = [coordinate.overflows for coordinate in coordinates_of(model)]
    return comparison(overflows, checked_coordinates(model), model.distance_shift)


def prototype_costs(plan: Plan) -> NDArray[np.int64]:
    """Return the cycles of a prototype that is far from 1..d coordinates on, and of a near one."""
    _, each = vote_cycles(plan.votes)
    return _prototype_costs(plan.comparison, each)


def _prototype_costs(loop: Comparison, vote: int) -> NDArray[np.int64]:
    return np.append(loop.left_after, loop.near + vote)


def checked_coordinates(model: IntegerModel) -> tuple[bool, ...]:
    """Return after which coordinates it pays to see whether a prototype is far.

    A check costs a cycle, leaving one more, and going on in vain a coordinate. How many prototypes
    are far by then is estimated by how far they are from each other. Between two checks squares
    must not leave 16 bits.
    """
    d, limit = model.n_projections, model.distance_limit
    left = _share_within_reach(model)
    squares = [coordinate.largest_square for coordinate in coordinates_of(model)]
    cost, following = [math.inf] * d + [0.0], [d] * d
    for k in reversed(range(d)):
        room = (1 << 15) if k else (1 << 15) + limit - 1
        for end in range(k + 1, d + 1):
            room -= squares[end - 1]
            if room < 0:
                break
            spent = left[k] * (8 * (end - k) + 1) + (left[k] - left[end]) + cost[end]
            if spent < cost[k]:
                cost[k], following[k] = spent, end
    checks, k = set(), 0
    while k < d:
        k = following[k]
        checks.add(k - 1)
    return tuple(k in checks for k in range(d))


def _share_within_reach(model: IntegerModel) -> list[float]:
    """Return the share of pairs of prototypes that are near after 0..d coordinates."""
    m = model.n_prototypes
    some = model.prototypes[:, :: -(-m // _PROTOTYPES_COMPARED)].T.astype(np.int64)
    squares = np.square(some[:, None] - some).cumsum(axis=2)
    near = np.count_nonzero(squares < model.distance_limit, axis=(0, 1)) - len(some)
    return [1.0, *(near / max(1, len(some) * (len(some) - 1))).tolist()]


@dataclass(frozen=True)
class Coordinate:
    """What becomes of a coordinate of the point.

    Attributes
    ----------
    least, most : int
        Limits: beyond, it is far from all prototypes.
    overflows : bool
        Whether the difference from a prototype's may need more than a byte, and seem to be near if
        only a byte is kept.
    largest_square : int
        Of such a difference, or of the byte that is kept.
    """

    least: int
    most: int
    overflows: bool
    largest_square: int


def coordinates_of(model: IntegerModel) -> tuple[Coordinate, ...]:
    """Return what becomes of each coordinate."""
    radius = math.isqrt(model.distance_limit - 1) + 1
    coordinates = []
    for residuals in model.prototypes.tolist():
        least = max(PROJECTION_MINIMUM, min(residuals) - radius)
        most = min(PROJECTION_MAXIMUM, max(residuals) + radius)
        below, above = most - min(residuals), max(residuals) - least
        wraps = [256 - size for size, largest in ((below, 128), (above, 127)) if size > largest]
        overflows = any(size**2 < model.distance_limit for size in wraps)
        square = min(128, max(below, above)) ** 2
        coordinates.append(Coordinate(least, most, overflows, square))
    return tuple(coordinates)


def _reducing(projecting: _PushCycles, reduction: Reduction, core: Core) -> _PushCycles:
    """Return the bounds for pixels, given those for the averages that they complete.

    Of N pixels in a row of n that becomes k areas, at most N k/n + 1 complete one, whatever they
    are: a pixel that is 0 may be the last of an area that is not.
    """
    n, k = reduction.columns.pixels, reduction.columns.outputs
    area = _AREA_CYCLES + projecting.feature
    row = _ROW_CYCLES + _ROW_CALLS * core.call_cycles
    around = _REDUCTION_CALL_CYCLES + _ROW_CALLS * core.call_cycles
    pixel = _PIXEL_CYCLES - (-(area * k + row) // n)
    call = projecting.call + around + area + 2 * row
    return _PushCycles(pixel, pixel, call, projecting.whole + around)


def _reduction_cycles(reduction: Reduction, core: Core, *, at_most: bool) -> int:
    """Return the cycles that all pixels of an image take, but for those of the calls."""
    rows, columns = reduction.rows, reduction.columns
    pixel, area, row = _PIXEL_CYCLES, _AREA_CYCLES, _ROW_CYCLES
    if not at_most:
        pixel, area, row = _MEAN_PIXEL_CYCLES, _MEAN_AREA_CYCLES, _MEAN_ROW_CYCLES
    row += _ROW_CALLS * core.call_cycles
    return rows.pixels * (pixel * columns.pixels + area * columns.outputs + row)


def _whole_rows_cycles(reduction: Reduction, share: NDArray[np.float64], core: Core) -> float:
    """Return the cycles of an image that comes at once, if averages are not 0 with this share."""
    rows, width = reduction.rows.pixels, reduction.columns.output_units
    last, areas = reduction.rows.outputs, reduction.columns.outputs
    first = last * areas * (4 * width + 6)
    middle = (rows - 2 * last) * areas * (4 * width + 12)
    complete = float(
        last * areas * (3 * width + 15) + share.sum() * (2 * width + 3 + _AVERAGE_CYCLES)
    )
    row = _WHOLE_ROW_CYCLES if reduction.deskewed is None else _UPRIGHT_ROW_CYCLES
    row += _ROW_CALLS * core.call_cycles
    return first + middle + complete + rows * row + _REDUCTION_CALL_CYCLES


def has_whole_rows(reduction: Reduction) -> bool:
    """Whether a row whose pixels come at once has a loop of its own."""
    rows, columns = reduction.rows, reduction.columns
    return (
        rows.pixel_units == columns.pixel_units == 1
        and rows.output_units > 1
        and columns.output_units <= _WHOLE_AREA_PIXELS
        and columns.pixels <= _COUNTED_IN_A_BYTE
    )


# Pixels of an area's row that are in registers at once.
_WHOLE_AREA_PIXELS = 4


def _reduction_bytes(model: IntegerModel, keeps_averages: bool) -> int:
    """Return the bytes of the variables that the reduction needs."""
    if model.reduction is None:
        return 0
    rows, columns = model.reduction.rows, model.reduction.columns
    cropped = model.reduction.cropped_shape != model.reduction.image_shape
    sums = 3 + 2 * columns.outputs if rows.output_units > 1 else 0
    counted = 1 if columns.pixels < 256 else 2
    if model.reduction.deskewed is not None:  # the image, and a row that moved
        under_way = 0 if has_whole_rows(model.reduction) else 5
        return under_way + sums + model.n_inputs + model.n_features + columns.pixels
    kept = model.n_inputs + 2 if keeps_averages else averages_at_once(model.reduction)
    return 5 + counted + 2 * cropped + sums + kept


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
