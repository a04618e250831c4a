"""Gradients on chips of 32 bits: the cell of each row and column, and whether it is shared."""

from __future__ import annotations

import numpy as np

from protonn_edge.codegen.kernels.words import ConstantTable, Words
from protonn_edge.features.gradients.integers import IntegerGradients


def words(stage: IntegerGradients) -> Words:
    """Return the places of rows and columns, and the roots."""
    cells, table = stage.cells, stage.table
    assert table is not None
    about = "The cell of each of the {}, and whether the next one shares it"
    tables = {
        name: ConstantTable("uint8_t", np.array(axis.places, np.int64), about.format(name))
        for name, axis in (("rows", cells.rows), ("columns", cells.columns))
    }
    tables["roots"] = ConstantTable("uint8_t", table.reshape(-1, 16), "The root of each sum")
    return Words(tables, scratch_bytes=4 * stage.n_outputs)
