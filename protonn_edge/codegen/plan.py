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
from protonn_edge.codegen.first_stage import CHUNK_CYCLES, FirstStage, PushCycles, splits
from protonn_edge.codegen.kernels import (
    ACCIDENT_CYCLES,
    BEGIN_BLOCK_CYCLES,
    BEGIN_BY_COMPILER,
    CLAMPING_SPREAD,
    FINISH_BY_COMPILER,
    GROUP,
    GROUP_CYCLES,
    GROUPS_BY_COMPILER,
    PUSH_BLOCK_BY_COMPILER,
    PUSH_CALL_BY_COMPILER,
    REQUANTIZE_SPREAD,
    ROUND_CYCLES,
    SAVED_REGISTER_CYCLES,
    SPLIT_BY_COMPILER,
    VOTES_CYCLES,
    WAITING_BY_COMPILER,
    Block,
    Comparison,
    FeatureCycles,
    KernelName,
    class_cycles,
    comparison,
    feature_cycles,
    projection_bytes,
    rejection_bytes,
    rejection_cycles,
    requantize_cycles,
    saved_registers,
    vote_cycles,
)
from protonn_edge.codegen.pooling import AveragePoolingStage, DeskewStage
from protonn_edge.codegen.reach import near_at_most
from protonn_edge.codegen.stage import Stage
from protonn_edge.codegen.windows import WindowStage
from protonn_edge.quantization import PROJECTION_MAXIMUM, PROJECTION_MINIMUM, Activity, IntegerModel

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
_CODE_BYTES_PER_COORDINATE = 18
_CODE_BYTES_PER_SCORE = 16
_FIRMWARE_SRAM_BYTES = 200

_REJECTION = "rejection"

# Registers that a function saves beside those of its loops, and in all, at most.
_SAVED_BESIDES, _SAVED_AT_MOST = 6, 18


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
        Whether all averages wait for the last one before they are projected.
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
    def saved_registers(self) -> tuple[int, ...]:
        """Registers of the caller that the loops over the prototypes use."""
        return saved_registers(self.comparison, self.votes)

    @property
    def mean_cycles(self) -> float | None:
        """Cycles of a prediction, where the activity is known."""
        means = [stage.mean for stage in self.stages]
        return None if None in means else sum(mean for mean in means if mean is not None)

    def to_json(self) -> dict[str, Any]:
        """Return the kernel, the stages and their sums under the names of every JSON here."""
        return {
            "kernel": self.kernel,
            "cycles": {
                "least": self.least_cycles,
                "mean": self.mean_cycles,
                "worst": self.worst_cycles,
            },
            "estimated": self.estimated,
            "stages": [asdict(stage) for stage in self.stages],
        }

    @property
    def least_cycles(self) -> int:
        """Cycles that no prediction goes below; 0 where cycles are an estimate.

        Every stage takes its cheapest way: inputs that are 0, or not if that takes less, and
        prototypes that are left at the first coordinate that may tell. Of what the compiler makes
        nothing is counted.
        """
        return 0 if self.estimated else sum(stage.least for stage in self.stages)

    @property
    def worst_cycles(self) -> int:
        """Cycles that no prediction exceeds; an estimate where `estimated` says so."""
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

    The same is asked about the averages of pooled images. Cycles are those of chips with this core.
    """
    d, classes = model.n_projections, model.n_classes
    width, score_bytes = model.accumulator_bits // 8, model.score_bits // 8
    blocks, votes = _blocks(d, width), _blocks(classes, score_bytes)
    compared = _comparison(model)
    neighbours = _neighbours_at_once(model.n_prototypes)
    features = feature_cycles(kernel, model.projection, blocks, model.inputs.maximum)
    push = _push_cycles(kernel, features, blocks, core)
    kept = keeps_averages
    first = _first_stage(model, kernel, push, core, buffered=buffered, keeps=kept)
    weights, code = projection_bytes(kernel, model.projection, blocks, model.inputs.maximum)
    constants = d * (width + 3 + 2 * model.clamps) + model.table.nbytes
    prototypes = int(model.prototypes.nbytes + model.labels.nbytes)
    pointers = {"columns": 0, "masked": 2 * len(blocks), "unrolled": GROUP + 1}[kernel]
    state = d * width + classes * score_bytes + 2 + _NEIGHBOUR_BYTES * neighbours + pointers
    state += first.state_bytes
    tables = weights + prototypes + constants + first.table_bytes
    rejection = _rejection_stages(model, activity)
    stages = (
        *first.stages,
        _projection_stage(kernel, features, blocks, activity, weights + code, first),
        _requantize_stage(model),
        _prototype_stage(model, votes, compared, neighbours, activity, core),
        *rejection,
    )
    if not core.multiplies:
        stages = tuple(map(_without_multiplier, stages))
    rest = code + first.code_bytes + _CODE_BYTES
    rest += sum(stage.flash_bytes for stage in rejection)
    rest += _CODE_BYTES_PER_COORDINATE * d + _CODE_BYTES_PER_SCORE * classes
    return Plan(
        kernel=kernel,
        n_features=model.n_features,
        blocks=blocks,
        votes=votes,
        comparison=compared,
        neighbours_at_once=neighbours,
        keeps_averages=first.keeps_averages,
        chunk_features=first.chunk_features,
        table_bytes=tables,
        state_bytes=state,
        flash_bytes=tables + rest,
        sram_bytes=state + first.held_bytes + _FIRMWARE_SRAM_BYTES,
        push_cycles=first.push.feature,
        push_zero_cycles=first.push.zero,
        push_call_cycles=first.push.call,
        stages=stages,
        apart_cycles=first.apart_cycles(features.other - features.zero),
        core=core,
    )


# What the compiler's loops take, without a multiplier, of what those in assembly take with one:
# seven models of 4 to 12 projections and 4 to 100 prototypes on the emulated ATtiny85 were within
# 15 % of it. Windows of two sets of features took a quarter and a third less.
_WITHOUT_MULTIPLIER = {
    "projection": 8.2,
    "requantize": 17.0,
    "prototypes": 10.1,
    "deskew": 8.2,
    "windows": 4.0,
    _REJECTION: 4.0,
}


def _without_multiplier(stage: Stage) -> Stage:
    """Return a stage as portable C takes it on a chip that cannot multiply: an estimate."""
    factor = _WITHOUT_MULTIPLIER[stage.name]
    mean = None if stage.mean is None else factor * stage.mean
    worst = math.ceil(factor * stage.worst)
    return replace(stage, kernel="portable C", mean=mean, worst=worst, least=0)


def _first_stage(
    model: IntegerModel,
    kernel: KernelName,
    projecting: PushCycles,
    core: Core,
    *,
    buffered: bool,
    keeps: bool,
) -> FirstStage:
    """Return what comes before the projection."""
    pooling = model.pooling
    if model.window_features is not None:
        return WindowStage(model, kernel, projecting, buffered, core, model.window_features)
    if pooling is None:
        return FirstStage(model, kernel, projecting, buffered, core)
    kind = AveragePoolingStage if pooling.deskewed is None else DeskewStage
    return kind(model, kernel, projecting, buffered, core, pooling, keeps)


def _push_cycles(
    kernel: KernelName, features: FeatureCycles, blocks: tuple[Block, ...], core: Core
) -> PushCycles:
    call = PUSH_CALL_BY_COMPILER + sum(PUSH_BLOCK_BY_COMPILER + block.moves for block in blocks)
    call += core.call_cycles * (2 + len(blocks))
    if kernel == "unrolled":
        call += core.tablejump_cycles * len(blocks)
    if splits(kernel, len(features.other)):
        call += SPLIT_BY_COMPILER
    feature, zero = int(features.other.max()), int(features.zero.max())
    if kernel != "unrolled":
        return PushCycles(feature, zero, call, call)
    # A group's end, the next groups, and the begin of one more: two calls, with features that wait.
    looking = len(blocks) * GROUP_CYCLES
    split = 2 * (call + looking) + GROUPS_BY_COMPILER + 2 * GROUP * WAITING_BY_COMPILER
    whole = call + GROUPS_BY_COMPILER
    return PushCycles(feature + looking, zero + looking, split, whole)


def _neighbours_at_once(prototypes: int) -> int:
    share = prototypes // _NEIGHBOURS_SHARE
    return min(prototypes, max(_NEIGHBOURS_AT_LEAST, min(share, _NEIGHBOURS_AT_MOST)))


def _projection_stage(
    kernel: KernelName,
    features: FeatureCycles,
    blocks: tuple[Block, ...],
    activity: Activity | None,
    flash_bytes: int,
    first: FirstStage,
) -> Stage:
    """Return the stage from ``pnn_begin`` to the last ``pnn_push_many``, fed by the firmware."""
    begin = BEGIN_BY_COMPILER + first.core.call_cycles + 3 * sum(block.bytes for block in blocks)
    if kernel == "masked":
        begin += BEGIN_BLOCK_CYCLES * len(blocks)
    if kernel == "unrolled":
        begin += len(blocks) * GROUP_CYCLES * -(-len(features.other) // GROUP)
    every = np.ones(len(features.other))
    costliest = np.maximum(features.zero, features.other)
    worst = begin + int(costliest.sum()) + math.ceil(first.calls_cycles(every))
    mean = None
    if activity is not None:
        share = activity.inputs
        loops = float(features.zero @ (1 - share) + features.other @ share)
        mean = begin + loops + first.calls_cycles(share)
    cheapest = np.minimum(features.zero, features.other)
    least = first.least_cycles + (0 if first.skips_zeros else int(cheapest.sum()))
    return Stage("projection", kernel, flash_bytes, mean, worst, least)


def input_cycles(model: IntegerModel, plan: Plan) -> NDArray[np.int64]:
    """Return the cycles (D,) that each input of the projection takes more if it is not 0."""
    features = feature_cycles(plan.kernel, model.projection, plan.blocks, model.inputs.maximum)
    return features.other - features.zero


def _requantize_stage(model: IntegerModel) -> Stage:
    dropped = model.accumulator_bits // 8 - 2
    cycles = requantize_cycles(model.n_projections, dropped, model.multiplier, model.clamps)
    least = cycles - REQUANTIZE_SPREAD - CLAMPING_SPREAD * model.clamps * model.n_projections
    flash = model.n_projections * (3 + 2 * model.clamps)
    return Stage("requantize", "loop", flash, cycles, cycles, least)


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
    call += loop.start
    m = model.n_prototypes
    saved = min(len(saved_registers(loop, votes)) + _SAVED_BESIDES, _SAVED_AT_MOST)
    around = FINISH_BY_COMPILER + 3 * core.call_cycles + SAVED_REGISTER_CYCLES * saved
    around += VOTES_CYCLES + ACCIDENT_CYCLES * _accidents(model)
    class_least, class_worst = class_cycles(model.score_bits // 8)
    around += class_worst * model.n_classes
    at_most = near_at_most(model)
    full, rest = divmod(int(at_most[-1]), neighbours_at_once)
    votes_worst = (full + 1) * call if rest else full * call + loop.start + ROUND_CYCLES
    costs = np.maximum.accumulate(_prototype_costs(loop, each))
    worst = around + int(m * costs[0] + at_most @ np.diff(costs)) + votes_worst
    mean = None
    if activity is not None:
        near = activity.neighbours
        left = m * (activity.coordinates - np.append(activity.coordinates[1:], near / m))
        mean = around + float(left @ loop.left_after) + near * (loop.near + each)
        mean += (near / neighbours_at_once + 0.5) * call
    flash = int(model.prototypes.nbytes + model.labels.nbytes + model.table.nbytes)
    fetched = any(step.register is None for step in loop.steps)
    where = "partly in registers" if fetched else "in registers"
    least = m * loop.least + loop.start + class_least * model.n_classes
    kernel = f"point {where}, {model.score_bits}-bit scores"
    return Stage("prototypes", kernel, flash, mean, worst, least)


def _rejection_stages(model: IntegerModel, activity: Activity | None) -> tuple[Stage, ...]:
    """Return the stage that rejects points, in a model that does."""
    if model.rejection is None:
        return ()
    by = model.rejection.statistics

    def cycles(near: float) -> float:
        return rejection_cycles(by, model.n_classes, model.score_bits // 8, near)

    worst = math.ceil(cycles(int(near_at_most(model)[-1])))
    mean = None if activity is None else cycles(activity.neighbours)
    return (Stage(_REJECTION, ", ".join(by), rejection_bytes(by), mean, worst, 0),)


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
        Limits: where it has any, it is far from all prototypes beyond them.
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
    """Return what becomes of each coordinate.

    Where coordinates have limits, these are as far from the prototypes as an RBF reaches. Others
    are wherever the inputs take them.
    """
    radius = math.isqrt(model.distance_limit - 1) + 1
    coordinates = []
    lows, highs = (ends.tolist() for ends in model.coordinate_ranges())
    for residuals, low, high in zip(model.prototypes.tolist(), lows, highs, strict=True):
        least, most = low, high
        if model.clamps:
            least = max(PROJECTION_MINIMUM, min(residuals) - radius)
            most = min(PROJECTION_MAXIMUM, max(residuals) + radius)
        below, above = most - min(residuals), max(residuals) - least
        wraps = [256 - size for size, largest in ((below, 128), (above, 127)) if size > largest]
        overflows = any(size**2 < model.distance_limit for size in wraps)
        square = min(128, max(below, above)) ** 2
        coordinates.append(Coordinate(least, most, overflows, square))
    return tuple(coordinates)


def _blocks(outputs: int, width: int) -> tuple[Block, ...]:
    """Split `outputs` into as few blocks as possible, of nearly equal size."""
    at_most = _REGISTERS[width] // width
    number = -(-outputs // at_most)
    bounds = [outputs * i // number for i in range(number + 1)]
    return tuple(Block(i, low, high - low, width) for i, (low, high) in enumerate(pairwise(bounds)))
