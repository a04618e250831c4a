"""Window features on chips of 32 bits."""

from __future__ import annotations

from protonn_edge.codegen.kernels.words import Words
from protonn_edge.features.window_features.integers import IntegerWindowFeatures
from protonn_edge.features.window_features.kernels import SCALE_BYTES


def words(stage: IntegerWindowFeatures) -> Words:
    """Return the size of the scales, and of the sums of samples from which bands are computed."""
    window = stage.window
    sums = 4 * window.window if window.features.bands else 0
    return Words(scratch_bytes=sums, other_bytes=SCALE_BYTES * stage.n_outputs)
