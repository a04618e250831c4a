"""Each stage as a few calls of functions in machine code, and the tables that they read.

Tables are of bytes where possible: MicroPython keeps a literal of bytes once, in the heap or in
flash, and an array a second time. What `templates/micropython/kernels.j2` calls `high` undoes a
trap: on a computer with 64 bits, MicroPython's machine code reads signed numbers of 32 bits as if
they had no sign.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from protonn_edge.extensions.micropython.literals import (
    array_literal,
    bytes_literal,
    signed_literal,
)
from protonn_edge.features.window_features.integers import IntegerWindowFeatures
from protonn_edge.kinds.dense.integers import IntegerDense
from protonn_edge.kinds.forest.integers import IntegerForest
from protonn_edge.kinds.linear.integers import IntegerLinear
from protonn_edge.kinds.projection.integers import IntegerProjection
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes
from protonn_edge.model.integer_stage import IntegerStage
from protonn_edge.model.matvec import IntegerMatvec
from protonn_edge.model.raw_inputs import RawQuantizer
from protonn_edge.system.errors import InputError

Row = tuple[int, ...]


@dataclass(frozen=True)
class PythonStage:
    """A stage in Python."""

    output: str  # the name of the table of its values
    tables: Mapping[str, str]  # literals by their names
    calls: tuple[str, ...]
    kernels: Mapping[str, object] = field(default_factory=dict)  # macros, and what they need


def unsupported(what: str) -> InputError:
    """Return the error about a part of a model that has no form in Python."""
    return InputError(
        f"--micropython does not support {what}, which the model has; train a model without it, or "
        "give --arduino, --platformio or --c"
    )


def python_stage(stage: IntegerStage, number: int, inputs: str) -> PythonStage:
    """Return a stage, the `number`-th of its model, that reads the table `inputs`.

    Raises `InputError` if there is no form of it in Python.
    """
    translate = _STAGES.get(type(stage))
    if translate is None:
        raise unsupported(f"the stage '{stage.kind.replace('_', ' ')}'")
    return translate(stage, number, inputs)


def scale_rows(raw: RawQuantizer) -> list[Row]:
    """Return the numbers by which `_convert` converts features: different rows, sorted."""
    return [
        (s.first, int(s.mirrored), s.span, s.shift, s.multiplier, s.offset, s.fraction)
        for s in raw.scales
    ]


def chosen(rows: Sequence[Row]) -> tuple[list[Row], list[int]]:
    """Return the different rows, sorted, and which of them each feature has.

    If all features have the same row, they share one choice, too.
    """
    different = sorted(set(rows))
    place = {row: index for index, row in enumerate(different)}
    return different, [0] if len(different) == 1 else [place[row] for row in rows]


def _product(stage: IntegerMatvec, number: int, inputs: str) -> tuple[dict[str, str], str]:
    """Return the tables and the call that make the sums ``_A`` of a layer."""
    tables = {
        f"_W{number}": signed_literal(stage.weights),
        f"_B{number}": array_literal("i", stage.bias),
        f"_A{number}": f'array("i", [0] * {stage.n_sums})',
    }
    sizes = f"{stage.n_sums}, {stage.n_inputs}"
    return tables, f"_product(_W{number}, _B{number}, {inputs}, _A{number}, {sizes})"


def _linear(stage: IntegerLinear, number: int, inputs: str) -> PythonStage:
    tables, call = _product(stage, number, inputs)
    calls, output = [call], f"_A{number}"
    if stage.n_outputs != stage.n_sums:  # two classes
        calls += [f"_S[0], _S[1] = -{output}[0], {output}[0]"]
        tables["_S"], output = 'array("i", [0, 0])', "_S"
    return PythonStage(output, tables, tuple(calls), {"product": None})


def _layer(stage: IntegerDense | IntegerProjection, number: int, inputs: str) -> PythonStage:
    tables, call = _product(stage, number, inputs)
    output, scale = f"_Q{number}", stage.scale.raised(-stage.scale.low)
    tables[output] = f"bytearray({stage.n_sums})"
    tables[f"_O{number}"] = array_literal("i", scale.offsets)
    numbers = f"{stage.n_sums}, {scale.dropped}, {scale.multiplier}, {scale.shift}"
    convert = f"_values(_A{number}, _O{number}, {output}, {numbers}, _HIGH)"
    return PythonStage(output, tables, (call, convert), {"product": None, "values": None})


def _prototypes(stage: IntegerPrototypes, _number: int, inputs: str) -> PythonStage:
    if stage.voters is not None:
        raise unsupported("what votes beside the prototypes")
    sizes = [stage.n_prototypes, stage.n_inputs, stage.n_outputs, stage.distance_shift, 0]
    tables = {
        "_P": signed_literal(stage.prototypes.T),
        "_Z": signed_literal(stage.labels.T),
        "_E": bytes_literal(stage.table),
        "_S": f'array("i", [0] * {stage.n_outputs})',
        "_N": array_literal("i", sizes),
    }
    call = f"_vote(_P, _Z, _E, {inputs}, _S, _N)"
    return PythonStage("_S", tables, (call,), {"vote": None})


def _forest(stage: IntegerForest, _number: int, inputs: str) -> PythonStage:
    trees, inner, classes = stage.trees, stage.trees.inner, stage.table.classes
    right = trees.right.copy()  # of a leaf: what it adds to the score of its tree, or its row
    if classes is not None:
        right[~inner] = stage.table.values + (1 << 15)
        values = bytes_literal(classes)
    else:
        distinct, leaves = np.unique(stage.leaves, axis=0, return_inverse=True)
        right[~inner] = leaves.ravel()
        values = signed_literal(distinct.astype(np.int8))
    if len(right) > 1 << 16:
        raise unsupported(f"a forest of {len(right):,} nodes (at most {1 << 16:,})")
    wide = stage.n_features > 255
    features = np.where(inner, stage.features, stage.n_features)
    tables = {
        "_F": array_literal("H", features) if wide else bytes_literal(features),
        "_T": bytes_literal(trees.at_nodes(stage.thresholds)),
        "_R": bytes_literal(right & 255),
        "_H": bytes_literal(right >> 8),
        "_V": values,
        "_B": array_literal("i", stage.bias),
        "_S": f'array("i", [0] * {stage.n_outputs})',
        "_N": array_literal("i", [len(trees.roots), stage.n_outputs, stage.n_features]),
        "_G": array_literal("i", trees.roots),
    }
    call = f"_walk(_F, _T, _R, _H, _V, {inputs}, _S, _N, _G)"
    how = {"bits": 16 if wide else 8, "one_score": classes is not None}
    return PythonStage("_S", tables, ("_S[:] = _B", call), {"walk": how})


def _window(stage: IntegerWindowFeatures, number: int, inputs: str) -> PythonStage:
    quantizer, n = stage.quantizer, stage.n_outputs
    assert quantizer is not None
    rows = scale_rows(quantizer)
    choice = [0] if len(rows) == 1 else quantizer.choice.tolist()
    tables = {
        f"_X{number}": f'array("i", [0] * {n})',
        f"_Y{number}": array_literal("i", rows),
        f"_C{number}": array_literal("H", choice),
        f"_Q{number}": f"bytearray({n})",
        "_D": f'array("i", [0] * {stage.window.window})',
    }
    features = f"_window({inputs}, _X{number}, _D, _ring[0], _HIGH)"
    numbers = f"_C{number}, {len(choice)}, _Y{number}, {quantizer.maximum}"
    convert = f"_convert(_X{number}, _Q{number}, 0, {n}, {numbers}, _HIGH)"
    return PythonStage(f"_Q{number}", tables, (features, convert), {"window": stage.window})


_STAGES: dict[type[IntegerStage], Callable[..., PythonStage]] = {
    IntegerDense: _layer,
    IntegerForest: _forest,
    IntegerLinear: _linear,
    IntegerPrototypes: _prototypes,
    IntegerProjection: _layer,
    IntegerWindowFeatures: _window,
}
