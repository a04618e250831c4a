"""The prototypes on chips of 32 bits: rows of coordinates, plus 128, and of words of labels."""

from __future__ import annotations

import numpy as np

from protonn_edge.codegen.kernels.words import ConstantTable, WordBlock, Words, in_pairs, modulo
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes


def words(stage: IntegerPrototypes) -> Words:
    """Return the rows, and the table of the RBF."""
    pairs = stage.output.bits == 16
    labels = (in_pairs if pairs else modulo)(stage.labels.T)
    points = stage.prototypes.T.astype(np.int64) + 128
    padded = -(-stage.n_inputs // 4) * 4
    return Words(
        {
            "table": ConstantTable(
                "uint8_t", stage.table.reshape(-1, 16), "127 exp(-t), t from 0 to ln(128)"
            )
        },
        (WordBlock(0, 0, labels.shape[1]),),
        pairs,
        other_bytes=stage.n_prototypes * padded + labels.nbytes,
        own_bytes=0 if stage.voters is None else stage.voters.state_bytes(stage.n_inputs),
        more={"rows": list(zip(points.tolist(), labels.tolist(), strict=True))},
    )
