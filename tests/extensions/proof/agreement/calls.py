"""How functions with assembly that are not `proven` are called: with any values in their ranges.

Such a function of the templates needs a line in `CALLS`. Those of a kind of stage may be in a
module of this folder that is named after it.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from extensions.proof.agreement.call import Call, To
from extensions.proof.agreement.case import Case, Stage, ends_of
from laws.conformance.instances import KINDS

from protonn_edge.features.gradients.loop import COUNT, NEXT_CELL, SHARED

Calls = Callable[[Stage, str], Iterator[Case]]
Number = tuple[str, int, int]
"""A number: of which variable or argument, from which byte on, and its bytes."""

# ---- products of a matrix ----


def _add(stage: Stage, function: str) -> Iterator[Case]:
    """One input and its weights may be any at a time; only the input if sums become bytes.

    The limits of those, and their bits, are of the sums that the model's own weights lead to.
    """
    number, n = int(function.rpartition("_")[2]), stage.kernel.stage.n_inputs
    assert stage.kernel.name == "columns", "write how its inputs and weights are passed"
    table, row = f"{stage.name}_weights_{number}", len(stage.kernel.passes[number].rows[0])
    arguments, buffers = [(To("inputs"), 2)], {"inputs": n}
    makes_bytes = f"{stage.name}_bytes" in stage.forms.assembly.functions
    called = f"{stage.name}_bytes" if makes_bytes else function
    for place in {0, n - 1}:
        fixed = {"inputs": [None if k == place else 0 for k in range(n)]}
        tables = {} if makes_bytes else {table: [None] * (n * row)}
        call = Call(called, arguments, 0, fixed, {}, buffers, tables)
        yield Case(call, long=number > 0 or place > 0)
    yield Case(Call(called, arguments, buffers=buffers), proven=False)


# ---- prototypes ----


_FEW = 2  # prototypes


def _near(stage: Stage, centres: np.ndarray, limit: int) -> dict[str, np.ndarray]:
    """Return points near some, (n, d)."""
    of = stage.kernel.stage
    rng = np.random.default_rng(0)
    which = rng.integers(0, len(centres), 2000)
    far = rng.integers(0, 1 + int(np.sqrt(2 * limit / of.n_inputs)), (2000, 1))
    near = centres[which].astype(int) + rng.integers(-far, far + 1, (2000, of.n_inputs))
    low, high = np.array(ends_of(of.feed, of.n_inputs)).T
    return {stage.previous: np.clip(near, low, high)}


def _add_votes(stage: Stage, function: str) -> Iterator[Case]:
    of = stage.kernel.stage
    ignored = [f"{stage.name}_list"]
    returns = int(of.gives_nearest)
    ends = ends_of(of.feed, of.n_inputs)
    ranges = {(stage.previous, k, 1): each for k, each in enumerate(ends)}
    points = _near(stage, of.prototypes.T, of.distance_limit)
    call = Call(function, returns=returns, ignored=ignored, ranges=ranges, points=points)
    yield Case(call, proven=False)
    # one input may be any, the others are those of the first prototype
    near = np.clip(of.prototypes.T[0].astype(int), *np.array(ends).T) & 255
    for place in (0, of.n_inputs - 1) if of.n_prototypes <= _FEW else ():
        known = {stage.previous: [None if k == place else v for k, v in enumerate(near.tolist())]}
        own = {key: value for key, value in ranges.items() if key[1] == place}
        yield Case(Call(function, (), returns, known, own, {}, {}, ignored), long=True)


# ---- features ----


def _pool_row(stage: Stage, function: str) -> Iterator[Case]:
    areas, n = stage.kernel.stage.pooling, stage.name
    columns, rows = areas.columns, areas.rows
    count, tall = columns.pixels, rows.output_units > 1
    wide = columns.pixel_units > 1 or rows.pixel_units > 1
    function = re.sub("_(add|complete)_row$", "_pool_row", function)
    arguments, buffers = [(To("pixels"), 2)], {"pixels": count}
    for below in sorted({1, rows.pixel_units, rows.pixel_units + 1, rows.output_units}):
        if below > rows.output_units:
            continue
        fixed: dict[str, Any] = {f"{n}_next_average": To(f"{n}_values")}
        ranges = {}
        if tall:
            area = 255 * columns.output_units * (rows.output_units - below)
            fixed |= {f"{n}_units_below": below}
            ranges = {(f"{n}_area_sums", 2 * k, 2): (0, area) for k in range(columns.outputs)}
        call = Call(function, arguments, 0, fixed, ranges, buffers)
        yield Case(call, proven=count < 7, long=count > 1 or wide)
        yield Case(call, proven=False)
        for place in (0, count // 2, count - 1):  # the others are 0
            one = {"pixels": [None if k == place else 0 for k in range(count)]}
            of_row = Call(function, arguments, 0, fixed | one, ranges, buffers)
            yield Case(of_row, long=True)


def _sum_row(stage: Stage, function: str) -> Iterator[Case]:
    width = stage.kernel.stage.image.columns.side
    call = Call(function, [(To("pixels"), 2)], 6, buffers={"pixels": width})
    yield Case(call, proven=width < 9, long=True)
    yield Case(call, proven=False)


_PIXEL, _SUM = 100, 200  # bytes, in the middle and so that additions have carries


def _with_all(call: Call, every: Mapping[Number, np.ndarray]) -> Call:
    """Let two numbers, of known bytes, be each of some with each of others."""
    pairs = [each.ravel() for each in np.meshgrid(*every.values())]
    together = {
        (name, offset + byte): values >> 8 * byte & 255
        for (name, offset, size), values in zip(every, pairs, strict=True)
        for byte in range(size)
    }
    fixed = {name: [*known] if isinstance(known, list) else known
             for name, known in call.fixed.items()}  # fmt: skip
    for name, offset in together:
        if name in fixed:
            fixed[name][offset] = None
    return replace(call, fixed=fixed, together=together)


def _add_runs(stage: Stage, function: str) -> Iterator[Case]:
    n, of = stage.name, stage.kernel.stage
    runs, line = f"{n}_column_runs", of.cells.columns.pixels + 2
    pixels: list[tuple[int | To | str, int]] = [(To(n), 2), (To("below"), 2), (To("below"), 2)]
    pixels += [(To("below", line), 2), (To(f"{n}_lines", line + 1), 2), (To(f"{n}_lines"), 2)]
    buffers = {"below": line}
    left, right, above = ((f"{n}_lines", at, 1) for at in (0, 2, line + 1))
    under = "below", 0, 1
    pixel_pairs = (left, above), (left, under), (right, above), (right, under)
    known = {f"{n}_lines": [_PIXEL] * stage.size("_lines"), "below": [_PIXEL] * line,
             n: [_SUM] * stage.size("")}  # fmt: skip
    both = SHARED | 2 | NEXT_CELL * (of.cells.cells[1] > 2)  # where there is a cell behind it
    for shared in (0, 1):
        fixed = {f"{n}_row_shared": shared}
        for run in (1, SHARED | 1, NEXT_CELL | 1, 2, both):
            arguments = [*pixels, (run, 1), (To(runs), 2)]
            call = Call(function, arguments, 0, fixed, {}, buffers, {runs: [0]})
            yield Case(call, proven=False)
            for pair in pixel_pairs if run & COUNT < 2 else ():
                every = dict.fromkeys(pair, np.arange(256))
                yield Case(_with_all(replace(call, fixed=fixed | known), every), long=True)
        table = [SHARED | 1, NEXT_CELL | 1, 0]
        arguments = [*pixels, (3, 1), (To(runs), 2)]
        call = Call(function, arguments, 0, fixed, {}, buffers, {runs: table})
        yield Case(call, proven=False)


def _take_roots(stage: Stage, function: str) -> Iterator[Case]:
    """One sum may be any at a time."""
    most = stage.kernel.stage.cells.most.ravel().tolist()
    different = np.random.default_rng(0).permutation(256).tolist()  # each tells where it was read
    tables = {f"{stage.name}_roots": different}
    for place in (0, len(most) - 1):
        known = [None if at // 2 == place else 0 for at in range(2 * len(most))]
        ranges = {(stage.name, 2 * place, 2): (0, most[place])}
        yield Case(Call(function, fixed={stage.name: known}, ranges=ranges, tables=tables))
    ranges = {(stage.name, 2 * k, 2): (0, each) for k, each in enumerate(most)}
    yield Case(Call(function, ranges=ranges, tables=tables), proven=False)


_FIELD = re.compile(r"^\s*(u?)int(\d+)_t +(\w+)(\[)?", re.M)


def _take_sample(stage: Stage, function: str) -> Iterator[Case]:
    """The variables of a channel are those of a window of the greatest values."""
    n, k = stage.name, stage.kernel
    window, bands = k.stage.window.window, k.features.bands
    body = stage.forms.text.split(f"static struct {n}_channel {{")[1].split("}")[0]
    ranges, offset = {}, 0
    most = {
        "sum": (-128 * (window - 1), 127 * (window - 1)),
        "squares": (0, 128 * 128 * (window - 1)),
        "changes": (0, 255 * (window - 2)),
        "level": (-128 * k.level_scale, 127 * k.level_scale),
        "side": (-1, 1),
        "crossings": (0, window - 2),
    }
    for sign, bits, name, array in _FIELD.findall(body):
        for level in range(bands if array else 1):
            size = int(bits) // 8
            pair = (255 << level) ** 2
            of_band = {
                "first": (-128 << level, 127 << level),
                "squared": (0, max(0, (window >> level + 1) - 1) * pair),
            }
            whole = (0, 256**size - 1) if sign else (-(128**size), 128**size - 1)
            ranges[f"{n}_channels", offset, size] = (of_band | most).get(name, whole)
            offset += size
    assert offset == k.channel_bytes
    greatest: list[int | None] = [None] * stage.size("_channels")
    for (_, at, size), (_, end) in ranges.items():
        greatest[at : at + size] = (end % 256**size).to_bytes(size, "little")
    for number in sorted({min((1 << ones) - 1, window - 1) for ones in range(bands + 2)}):
        fixed = {f"{n}_sample_number": number}
        call = Call(function, [(To(f"{n}_channels"), 2), ("x", 1)], 0, fixed, ranges)
        yield Case(call, proven=False)
        for field, ends in ranges.items() if number < 2 else ():
            known = fixed | {f"{n}_channels": greatest}
            last = np.arange(max(ends[0], ends[1] - 255), ends[1] + 1)
            every = {("x", 0, 1): np.arange(256), field: last}
            alone = _with_all(replace(call, fixed=known, ranges={}), every)
            yield Case(alone, long=number > 0)


def _filter(stage: Stage, function: str) -> Iterator[Case]:
    ranges = {("v", 0, 2): (-255, 255), ("w", 0, 2): (-255, 255)}
    call = Call(function, [("v", 2), ("w", 2)], ranges=ranges)
    yield Case(call, proven=False)


CALLS: dict[str, Calls] = {
    "add": _add, "add_votes": _add_votes,
    "add_row": _pool_row, "complete_row": _pool_row,
    "sum_row": _sum_row, "add_runs": _add_runs, "take_roots": _take_roots,
    "take_sample": _take_sample, "filter": _filter,
}  # fmt: skip

LISTINGS = {
    "codegen.kernels.matvec.loops.columns": "add",
    "codegen.kernels.matvec.loops.packed": "add",
    "codegen.kernels.matvec.loops.instructions": "add",
    "kinds.protonn.prototypes.loops.clearing": "clear_scores",
    "kinds.protonn.prototypes.loops.code": "add_votes",
    "kinds.protonn.prototypes.loops._compared": "add_votes",
    "kinds.protonn.prototypes.loops._looped": "add_votes",
    "kinds.protonn.prototypes.loops._unrolled": "add_votes",
    "kinds.protonn.prototypes.loops.unrolled": "add_votes",
    "extensions.teaching.protonn.loop.comparing": "add_taught",
    "extensions.sound.features.audio.kernels.band_loop": "filter",
    "features.pooling.loops.averaging": "complete_row",
    "features.pooling.loops.part": "pool_row",
    "features.pooling.loops.summing": "add_row",
    "features.convolution.kernels.listing": "compute",
    "features.deskew.kernels": "sum_row",
    "features.gradients.loop.pixel_loop": "add_runs",
    "features.gradients.loop.root_loop": "take_roots",
    "extensions.conversion.features.int8_layer.sums.listing": "add_up",
    "extensions.conversion.features.int8_layer.values.listing": "make_values",
    "features.pooling.kernels.average_loop": "average",
    "features.pooling.kernels.loop": "add_row",
    "features.window_features.kernels.sample": "take_sample",
    "extensions.research.kinds.bonsai.kernels.listing": "walk",
    "kinds.forest.if_else.written": "score",
    "kinds.forest.packed_kernel.listing": "score",
    "kinds.forest.walk.listing": "score",
}
"""Where the package makes a `Listing`, and the functions that it is a part of, proven or called."""

OF_KINDS = {
    kind: importlib.import_module(f"extensions.proof.agreement.{kind}")
    for kind in KINDS
    if importlib.util.find_spec(f"extensions.proof.agreement.{kind}")
}
"""The modules of kinds of stages, with their own `CALLS`."""


def calls_of(kind: str, what: str) -> Calls:
    """Return how a function of a kind of stage is called, given its name without the stage's."""
    own: dict[str, Calls] = getattr(OF_KINDS.get(kind), "CALLS", {})
    return own.get(what) or CALLS[what]


def all_calls() -> set[str]:
    """Return the names of all functions, without those of their stages."""
    return {*CALLS, *(name for module in OF_KINDS.values() for name in module.CALLS)}
