"""Quantization-aware training: optimize the accuracy of the integer model.

Before every step, the quantizer makes an integer model from the parameters. The loss and its
gradient are those of the floats that these integers represent, with inputs rounded as on the device
and the RBF read from its table; the step is applied to the parameters themselves, as if rounding
were the identity (the straight-through estimator of Bengio et al., 2013).
"""

from __future__ import annotations

import numpy as np

from protonn_edge.chain.model import Model
from protonn_edge.chain.statistics import InputStatistics, Normalizer
from protonn_edge.errors import InputError
from protonn_edge.kinds.protonn.head import ProtoNNHead
from protonn_edge.quantization import (
    Precision,
    check_counts,
    dequantize,
    input_quantizer,
    precision_for,
    quantize_in_order,
)
from protonn_edge.training.objective import Matrix, Parameters

_ROWS_AT_ONCE = 4_096  # temporarily in float64, which should not take much memory


class QuantizationAware:
    """Rounds parameters and points like the quantizer.

    - `gamma`: the gamma that is folded into the parameters.
    - `normalizer`: the normalizer of the training points.
    - `inputs`: statistics of the raw features, or of their averages.
    - `projection_bits` (8, 4): bits of a weight of W.
    """

    def __init__(
        self,
        gamma: float,
        normalizer: Normalizer,
        inputs: InputStatistics,
        projection_bits: int = 8,
    ) -> None:
        self._gamma = np.float32(gamma)
        self._projection_bits = projection_bits
        self._normalizer = normalizer
        self._inputs = inputs
        self._precision: Precision | None = None

    def choose_precision(self, parameters: Parameters) -> bool:
        """Fix the bits of inputs and accumulators; False if the integer model cannot hold them."""
        try:
            check_counts(**_counts_of(parameters))
            self._precision = precision_for(self._model(parameters))
        except InputError:
            return False
        return True

    def rounded_points(self, X: Matrix) -> Matrix:
        """Return normalized points (n, D) as quantized on the device, float32."""
        assert self._precision is not None
        return rounded_inputs(X, self._normalizer, self._inputs, self._precision.input_bits)

    def rounded(self, parameters: Parameters) -> Parameters | None:
        """Return `parameters` as rounded by the integer model; None if they do not fit it.

        The offset of the projection is subtracted from the prototypes: only differences matter.
        """
        try:
            integers = quantize_in_order(self._model(parameters), self._precision)
        except InputError:
            return None
        floats = dequantize(integers)
        # W applies to raw features, x / scale + offset; a feature of scale 0 has no weight.
        scale = np.where(self._normalizer.scale == 0, np.inf, self._normalizer.scale)
        bias = floats.bias + floats.projection @ self._normalizer.offset
        return Parameters(
            (floats.projection / scale).astype(np.float32),
            (floats.prototypes - bias[:, None]).astype(np.float32),
            floats.labels.astype(np.float32),
            parameters.sharpness,
        )

    def _model(self, parameters: Parameters) -> Model:
        V, C, Z, _ = parameters
        head = ProtoNNHead(
            projection=(V / self._gamma).astype(np.float32),
            prototypes=(C / self._gamma).astype(np.float32),
            labels=Z,
            gamma=float(self._gamma),
            projection_bits=self._projection_bits,
        )
        return Model(
            head=head,
            normalizer=self._normalizer,
            inputs=self._inputs,
            classes=tuple(f"class {index}" for index in range(len(Z))),
        )


def rounded_inputs(
    X: Matrix, normalizer: Normalizer, inputs: InputStatistics, input_bits: int
) -> Matrix:
    """Return normalized points (n, D) rounded to the device's input bits, float32.

    - `normalizer`, `inputs`: see `QuantizationAware`.
    - `input_bits`: 4..8.
    """
    quantizer = input_quantizer(inputs, input_bits)
    scale = np.where(normalizer.scale == 0, 1.0, normalizer.scale)
    rounded = np.empty(X.shape, dtype=np.float32)
    for start in range(0, len(X), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        raw = X[rows] / scale + normalizer.offset
        rounded[rows] = normalizer.apply(quantizer.restore(quantizer.quantize(raw)))
    return rounded


def _counts_of(parameters: Parameters) -> dict[str, int]:
    (d, D), (L, m) = parameters.projection.shape, parameters.labels.shape
    return {"features": D, "projections": d, "prototypes": m, "classes": L}
