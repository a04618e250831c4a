"""One kernel for each stage, for chips with registers of 32 bits: its tables and variables.

The quantizer proves that most sums fit 16 bits, so two of them share a word. A word of weights is
``w_2k + (w_2k+1 << 16)`` modulo 2^32: its product with an input is both products, and the sum of
such products both sums. Read as a signed number, the lower half is the first sum; where it is
negative, the upper half is one less than the second sum.

The C of a stage is the macro `functions` of ``words.j2`` beside its other template, and that of a
layer is ``layer/words.j2``. The function ``words`` in the module `words` of the stage's folder, if
there is one, returns its `Words`, and ``small_words`` those of a slower form in less flash.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.integer_stage import IntegerStage
from protonn_edge.model.layer import LayerStage, Requantization, Scale
from protonn_edge.model.registry import module_of_stage
from protonn_edge.system.arrays import Array

_MOST_SUMMED = 5  # words whose sums stay in the registers of a Cortex-M0


@dataclass(frozen=True, eq=False)
class ConstantTable:
    """A constant array: rows of numbers, and what they are."""

    type: str  # in C
    rows: Array  # (rows, values)
    about: str

    @property
    def n_bytes(self) -> int:
        """Its size."""
        return int(self.rows.size) * int(self.type.strip("uint_")) // 8


@dataclass(frozen=True)
class WordBlock:
    """Words, or sums, that a pass over the inputs adds up."""

    number: int
    first: int
    size: int


@dataclass(frozen=True, eq=False)
class Words:
    """The constants of a stage by their names, and its variables."""

    tables: Mapping[str, ConstantTable] = field(default_factory=dict)
    blocks: tuple[WordBlock, ...] = ()  # of a product
    pairs: bool = True  # whether two sums share a word
    scale: Requantization | None = None  # of a layer
    scratch_bytes: int = 0  # variables while the stage computes
    own_bytes: int = 0  # of variables in its template
    other_bytes: int = 0  # of constants in its template
    more: Mapping[str, object] = field(default_factory=dict)  # what else the template needs

    @property
    def n_words(self) -> int:
        """The number of words, or sums."""
        return sum(block.size for block in self.blocks)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of blocks."""
        return tuple(sorted({block.size for block in self.blocks}))

    @property
    def n_bytes(self) -> int:
        """Bytes of constants."""
        return sum(table.n_bytes for table in self.tables.values()) + self.other_bytes


def words_of(stage: IntegerStage, *, small: bool = False) -> Words:
    """Return what the template of a stage needs; if `small`, in its form that takes less flash."""
    module = module_of_stage(stage.kind, "words")
    if module is not None:
        form = getattr(module, "small_words", module.words) if small else module.words
        found: Words = form(stage)
        return found
    if isinstance(stage, LayerStage):
        return _of_layer(stage, pairs=stage.accumulators.bits == 16 and not small)
    return Words()


def _of_layer(stage: LayerStage, *, pairs: bool) -> Words:
    """Return what a layer needs; in pairs, weights take two bytes each."""
    layer, scale = stage.layer, stage.scale
    if isinstance(scale, Scale) and scale.low < 0:  # values are bytes between stages
        scale = scale.raised(-scale.low)
    rows = np.moveaxis(layer.weights, 0, -1).reshape(-1, len(layer.weights))
    if layer.channels:
        about = "Weights, a row of all channels for each pixel"
        bias = ConstantTable("uint32_t", modulo(stage.bias)[None], "The initial value of each sum")
        made = Words({"bias": bias, "weights": ConstantTable("int8_t", rows, about)})
    else:
        made = _product(rows, stage.bias, pairs=pairs)
    numbers = {
        name: ConstantTable(f"{each.dtype}_t", each[None], f"{name.capitalize()} of outputs")
        for name, each in (scale.numbers if scale else {}).items()
    }
    tables = {**made.tables, **numbers}
    return replace(made, tables=tables, scale=scale, scratch_bytes=stage.padded_bytes)


def in_pairs(values: Array) -> NDArray[np.uint32]:
    """Return pairs of neighbours of values (..., n) as words (..., ceil(n / 2)); see above."""
    wide = values.astype(np.int64)
    wide = np.pad(wide, [(0, 0)] * (wide.ndim - 1) + [(0, wide.shape[-1] % 2)])
    return ((wide[..., ::2] + (wide[..., 1::2] << 16)) & 0xFFFFFFFF).astype(np.uint32)


def modulo(values: Array) -> NDArray[np.uint32]:
    """Return values modulo 2^32."""
    return (values.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32)


def _product(weights: NDArray[np.int8], bias: Array, *, pairs: bool) -> Words:
    """Return the tables of sums of products of inputs and weights (inputs, sums)."""
    rows = in_pairs(weights) if pairs else weights
    start = (in_pairs if pairs else modulo)(bias)
    n = rows.shape[1]
    parts = -(-n // _MOST_SUMMED)
    ends = [n * part // parts for part in range(parts + 1)]
    blocks = tuple(
        WordBlock(number, first, end - first) for number, (first, end) in enumerate(pairwise(ends))
    )
    each = "of each pair of sums" if pairs else "of each sum"
    tables = {"bias": ConstantTable("uint32_t", start[None], f"The initial value {each}")}
    for block in blocks:
        of = rows[:, block.first : block.first + block.size]
        about = f"Weights {each}, a row for each input" + f", part {block.number}" * (parts > 1)
        tables[f"weights_{block.number}"] = ConstantTable(
            "uint32_t" if pairs else "int8_t", of, about
        )
    return Words(tables, blocks, pairs)
