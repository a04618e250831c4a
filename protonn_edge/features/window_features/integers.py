"""Window features in integers, from samples of a byte, quantized to bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.integer_stage import IntegerStage, Range
from protonn_edge.chain.raw_inputs import RawQuantizer
from protonn_edge.features.window_features.windows import Windows


@dataclass(frozen=True, eq=False)
class IntegerWindowFeatures(IntegerStage):
    """Maps the samples of a window to its features, quantized to bytes.

    Attributes
    ----------
    window : Windows
        The features.
    quantizer : RawQuantizer
        The quantizer of features.
    """

    kind: ClassVar[str] = "window_features"

    window: Windows
    quantizer: RawQuantizer

    @property
    def n_inputs(self) -> int:
        """Samples of all channels."""
        return self.window.n_features

    @property
    def n_outputs(self) -> int:
        """Features of all channels."""
        return self.window.n_outputs

    @property
    def output(self) -> Range:
        """The range of the bytes."""
        return Range.of_bytes(self.n_outputs, self.quantizer.maximum)

    def run(self, x: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the features (n, F), as bytes, of windows of bytes (n, N C)."""
        return self.quantizer.quantize(self.window.of_bytes(x))
