"""What the templates see: numbers computed, names escaped, nothing left to do but layout."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from protonn_edge import __version__
from protonn_edge.codegen.first_stage import CHUNK_CYCLES, splits
from protonn_edge.codegen.kernels import (
    GROUP,
    Block,
    KernelName,
    Multiple,
    Step,
    multiples_of,
)
from protonn_edge.codegen.plan import Plan, coordinates_of
from protonn_edge.codegen.pooling import PIXELS_AT_ONCE, averages_at_once, has_whole_rows
from protonn_edge.codegen.sending import Sending, as_it_is, sendings
from protonn_edge.codegen.stage import Stage
from protonn_edge.codegen.windows import WindowContext, window_context
from protonn_edge.quantization import (
    FEATURE_MAXIMUM,
    MODEL_HASH_BYTES,
    RAW_SHIFT,
    DeviceModel,
    IntegerModel,
    RawScale,
)
from protonn_edge.stages.average_pooling.pooling import AveragePooling, shape_text
from protonn_edge.stages.decision.rejection import UNKNOWN, IntegerRejection
from protonn_edge.stages.deskew.deskew import CENTRE_BITS, MOMENT_BITS, SLOPE_BITS

API_VERSION = 1

Rows = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class BlockContext:
    """Sums of outputs `first` to `last` that are in registers at once, `width` bytes each."""

    number: int
    first: int
    last: int
    size: int
    width: int
    bytes: int


@dataclass(frozen=True)
class ProjectionContext(BlockContext):
    """One pass of the projection: `rows` holds the weights, a row per input, as the kernel does.

    Where weights are instructions, `multiples` has what they are made of.
    """

    rows: Rows
    multiples: tuple[tuple[Multiple, ...], ...]


@dataclass(frozen=True)
class CoordinateContext:
    """One coordinate of a point, from `least` on; its offset is less that."""

    offset_low: int
    offset_high: int
    span: int
    least: int


@dataclass(frozen=True)
class ComparisonContext:
    """The loop over the prototypes, and its constants; `distant` if its begin is out of reach.

    `saved_registers` are those of the caller that it and the votes use.
    """

    steps: tuple[Step, ...]
    saved_registers: tuple[int, ...]
    distant: bool
    stride: int
    distance_shift: int
    limit_high: int


@dataclass(frozen=True)
class PoolingContext:
    """The stage that pools areas: sides in pixels; widths and heights in units."""

    image: str
    cropped: str
    pooled: str
    is_cropped: bool
    pixels: int
    row_pixels: int
    pixels_before: int
    pixels_between: int
    pixel_width: int
    area_width: int
    pixel_height: int
    area_height: int
    areas_in_row: int
    multiplier: int
    sum_maximum: int
    pixels_at_once: int
    averages_at_once: int
    whole_rows: bool


@dataclass(frozen=True)
class DeskewContext:
    """The image that is deskewed, the part of it that counts, and the moments' units."""

    height: int
    width: int
    first_row: int
    first_column: int
    rows: int
    centre_bits: int
    moment_bits: int
    slope_bits: int


@dataclass(frozen=True)
class ClassName:
    """A class name as a C string literal's inside, and as text that is safe in a comment."""

    literal: str
    comment: str


@dataclass(frozen=True)
class FloatScaleContext:
    """What turns a raw float into an input, as C literals; see `quantization.raw_inputs`."""

    edge: str
    slope: str


@dataclass(frozen=True)
class RawContext:
    """What turns raw values into inputs; a `choice` is empty where all features have one scale.

    `sendings` has what raw integers are multiples of; it is empty where they are the data's own.
    """

    scales: tuple[RawScale, ...]
    choice: Rows
    choice_bits: int
    shift: int
    fine: bool
    floats: tuple[FloatScaleContext, ...]
    float_choice: Rows
    float_choice_bits: int
    sendings: tuple[Sending, ...]


@dataclass(frozen=True)
class RenderContext:
    """All that `templates/c` needs; see the templates for what each value becomes."""

    tool_version: str
    chip: str
    estimated: bool
    far_calls: bool
    stages: tuple[Stage, ...]
    api_version: int
    model_sha256: str
    hash_bytes: tuple[str, ...]
    kernel: KernelName
    splits: bool
    keeps_averages: bool
    group: int
    projecting: str
    n_features: int
    n_inputs: int
    n_projections: int
    n_prototypes: int
    n_classes: int
    input_maximum: int
    average_maximum: int
    accumulator_bits: int
    accumulator_range: tuple[int, int]
    projection_range: tuple[int, int]
    clamps: bool
    score_bits: int
    score_range: tuple[int, int]
    bias: tuple[int, ...]
    multiplier: int
    distance_shift: int
    distance_limit: int
    neighbours_at_once: int
    coordinates: tuple[CoordinateContext, ...]
    comparison: ComparisonContext
    blocks: tuple[ProjectionContext, ...]
    votes: tuple[BlockContext, ...]
    prototypes: Rows
    table: Rows
    class_names: tuple[ClassName, ...]
    model_bytes: int
    table_bytes: int
    state_bytes: int
    chunk_cycles: int
    chunk_features: int
    push_cycles: int
    push_zero_cycles: int
    push_call_cycles: int
    pooling: PoolingContext | None
    deskew: DeskewContext | None
    windows: WindowContext | None
    raw: RawContext
    rejection: IntegerRejection | None
    unknown: int


def render_context(model: IntegerModel, plan: Plan) -> RenderContext:
    """Lay the integer model out in the order in which the generated program reads it."""
    columns = model.projection.T.tolist()
    blocks = tuple(
        ProjectionContext(
            **_place(block),
            rows=_part(columns, block, plan.kernel),
            multiples=_multiples(model, block) if plan.kernel == "unrolled" else (),
        )
        for block in plan.blocks
    )
    table = model.table.tolist()
    return RenderContext(
        tool_version=__version__,
        chip=plan.core.chip,
        estimated=plan.estimated,
        far_calls=plan.core.return_bytes > 2,
        stages=plan.stages,
        api_version=API_VERSION,
        model_sha256=model.model_sha256,
        hash_bytes=hash_bytes(model.model_sha256),
        kernel=plan.kernel,
        splits=splits(plan.kernel, model.n_inputs),
        keeps_averages=plan.keeps_averages,
        group=GROUP,
        projecting="project_groups" if plan.kernel == "unrolled" else "project",
        n_features=model.n_features,
        n_inputs=model.n_inputs,
        n_projections=model.n_projections,
        n_prototypes=model.n_prototypes,
        n_classes=model.n_classes,
        input_maximum=model.features.maximum,
        average_maximum=model.inputs.maximum,
        accumulator_bits=model.accumulator_bits,
        accumulator_range=model.accumulator_range(),
        projection_range=model.projection_range(),
        clamps=model.clamps,
        score_bits=model.score_bits,
        score_range=model.score_range(),
        bias=tuple(model.bias.tolist()),
        multiplier=model.multiplier,
        distance_shift=model.distance_shift,
        distance_limit=model.distance_limit,
        neighbours_at_once=plan.neighbours_at_once,
        coordinates=_coordinates(model),
        comparison=ComparisonContext(
            steps=plan.comparison.steps,
            saved_registers=plan.saved_registers,
            distant=plan.comparison.steps[-1].far != "1b",
            stride=model.n_projections + model.n_classes,
            distance_shift=model.distance_shift,
            limit_high=model.distance_limit >> 8,
        ),
        blocks=blocks,
        votes=tuple(BlockContext(**_place(block)) for block in plan.votes),
        prototypes=_rows(np.concatenate([model.prototypes, model.labels]).T.tolist()),
        table=_rows([table[i : i + 16] for i in range(0, len(table), 16)]),
        class_names=class_names(model.classes),
        model_bytes=model.model_bytes,
        table_bytes=plan.table_bytes,
        state_bytes=plan.state_bytes,
        chunk_cycles=CHUNK_CYCLES,
        chunk_features=plan.chunk_features,
        push_cycles=plan.push_cycles,
        push_zero_cycles=plan.push_zero_cycles,
        push_call_cycles=plan.push_call_cycles,
        pooling=None if model.pooling is None else _pooling_context(model, model.pooling),
        deskew=_deskew_context(model.pooling),
        windows=window_context(model),
        raw=raw_context(model),
        rejection=model.rejection,
        unknown=UNKNOWN,
    )


def _place(block: Block) -> dict[str, int]:
    last = block.first + block.size - 1
    return {**asdict(block), "last": last, "bytes": block.bytes}


def _coordinates(model: IntegerModel) -> tuple[CoordinateContext, ...]:
    contexts = []
    for offset, place in zip(model.offset.tolist(), coordinates_of(model), strict=True):
        least = place.least if model.clamps else 0
        low = offset >> 8 & 0xFF
        contexts.append(
            CoordinateContext(low, (offset >> 16) - least, place.most - place.least, least)
        )
    return tuple(contexts)


def _pooling_context(model: IntegerModel, pooling: AveragePooling) -> PoolingContext:
    rows, columns = pooling.rows, pooling.columns
    return PoolingContext(
        image=shape_text(pooling.image_shape),
        cropped=shape_text(pooling.cropped_shape),
        pooled=shape_text(pooling.shape),
        is_cropped=pooling.cropped_shape != pooling.image_shape,
        pixels=(rows.first + rows.pixels - 1) * columns.side + columns.first + columns.pixels,
        row_pixels=columns.pixels,
        pixels_before=rows.first * columns.side + columns.first,
        pixels_between=columns.side - columns.pixels,
        pixel_width=columns.pixel_units,
        area_width=columns.output_units,
        pixel_height=rows.pixel_units,
        area_height=rows.output_units,
        areas_in_row=columns.outputs,
        multiplier=model.pooling_multiplier,
        sum_maximum=FEATURE_MAXIMUM * pooling.area,
        pixels_at_once=PIXELS_AT_ONCE,
        averages_at_once=averages_at_once(pooling),
        whole_rows=has_whole_rows(pooling),
    )


def _deskew_context(pooling: AveragePooling | None) -> DeskewContext | None:
    if pooling is None or pooling.deskewed is None:
        return None
    rows, columns = pooling.rows, pooling.columns
    return DeskewContext(
        height=rows.side,
        width=columns.side,
        first_row=rows.first,
        first_column=columns.first,
        rows=rows.pixels,
        centre_bits=CENTRE_BITS,
        moment_bits=MOMENT_BITS,
        slope_bits=SLOPE_BITS,
    )


def raw_context(model: DeviceModel) -> RawContext:
    """Lay out what `raw_inputs.j2` needs; of windows, what a sample's channels have."""
    raw, floats = model.raw_inputs, model.float_inputs
    chosen = model.n_features if model.window_features is None else model.window_features.channels
    sent = () if as_it_is(model) else sendings(model)
    return RawContext(
        scales=raw.scales,
        choice=_choice(raw.choice[:chosen], len(raw.scales)),
        choice_bits=_choice_bits(len(raw.scales)),
        shift=RAW_SHIFT,
        fine=raw.fine,
        floats=tuple(
            FloatScaleContext(c_float(scale.edge), c_float(scale.slope)) for scale in floats.scales
        ),
        float_choice=_choice(floats.choice[:chosen], len(floats.scales)),
        float_choice_bits=_choice_bits(len(floats.scales)),
        sendings=tuple(replace(each, name=c_comment(each.name)) for each in sent),
    )


def _choice(choice: NDArray[np.int64], scales: int) -> Rows:
    """Return which of the scales each feature has, in rows; none where there is one scale."""
    numbers = choice.tolist() if scales > 1 else []
    return _rows([numbers[i : i + 16] for i in range(0, len(numbers), 16)])


def _choice_bits(scales: int) -> int:
    return 8 if scales <= 256 else 16


def c_float(number: float | np.float32) -> str:
    """Return a float of 32 bits as a C literal, the shortest that reads back as the same float."""
    return f"{np.format_float_scientific(np.float32(number), unique=True, trim='0')}f"


def hash_bytes(sha256: str) -> tuple[str, ...]:
    """Return as much of a model's hash as its firmware knows it by, as C literals."""
    return tuple(f"0x{byte:02x}" for byte in bytes.fromhex(sha256)[:MODEL_HASH_BYTES])


def class_names(names: tuple[str, ...]) -> tuple[ClassName, ...]:
    """Return names that come from data, made safe for C."""
    return tuple(ClassName(c_string(name), c_comment(name)) for name in names)


def c_string(text: str) -> str:
    """Return the inside of a C string literal for any text, in UTF-8.

    Everything but plain characters becomes a three-digit octal escape, which, unlike a hexadecimal
    one, cannot swallow the character that follows; so no quote, backslash, trigraph or line end
    that comes from data reaches the compiler.
    """
    return "".join(
        chr(byte) if re.match(rb"[A-Za-z0-9 _.,:;+*/=()<>#&-]", bytes([byte])) else f"\\{byte:03o}"
        for byte in text.encode()
    )


def c_comment(text: str) -> str:
    """Return text for a C comment: letters, digits and ``_.-`` stay, the rest becomes ``_``."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", text)


def _part(columns: list[list[int]], block: Block, kernel: KernelName) -> Rows:
    """Return the outputs of one block, a row per input."""
    part = [column[block.first : block.first + block.size] for column in columns]
    return _rows([_masked(row) for row in part] if kernel == "masked" else part)


def _multiples(model: IntegerModel, block: Block) -> tuple[tuple[Multiple, ...], ...]:
    part = model.projection[block.first : block.first + block.size]
    return tuple(multiples_of(part, model.inputs.maximum))


def _masked(row: list[int]) -> list[int]:
    """Return the bytes that follow; for each 8 weights a mask, and those that are not 0."""
    content: list[int] = []
    for first in range(0, len(row), 8):
        part = row[first : first + 8]
        mask = sum(1 << k for k, weight in enumerate(part) if weight != 0)
        content += [mask - 256 if mask > 127 else mask, *(weight for weight in part if weight != 0)]
    return [len(content), *content]


def _rows(rows: list[list[int]]) -> Rows:
    return tuple(tuple(row) for row in rows)
