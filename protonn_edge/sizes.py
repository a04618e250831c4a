"""The size of a model as the ProtoNN paper counts it, to compare with its tables.

A value takes 4 bytes, and 4 more for its index where a matrix is stored sparse; a matrix is stored
whichever way is smaller (Gupta et al., 2017, section 5). What a model takes on a board is another
number: `IntegerModel.model_bytes` and the budget gate have it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model import ProtoNNModel

_VALUE_BYTES = 4


def paper_bytes(model: ProtoNNModel) -> int:
    """Return ``4 (S_W + S_B + S_Z)`` with ``S = min(1, 2 lambda) size``, in bytes."""
    return sum(
        _matrix_bytes(matrix) for matrix in (model.projection, model.prototypes, model.labels)
    )


def _matrix_bytes(matrix: NDArray[Any]) -> int:
    stored = min(matrix.size, 2 * int(np.count_nonzero(matrix)))
    return _VALUE_BYTES * stored
