"""Parameters and points rounded as the integer model has them, for quantization-aware training.

The loss and its gradient are computed with the floats that the integers would represent, with
inputs rounded as on the device and the RBF read from its table. The step is applied to the
parameters themselves, as if rounding were the identity (the straight-through estimator of Bengio et
al., 2013). Only the steps of the integers are computed here, not an integer model at every step:
the quantizer makes the model in the end, in the same steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from protonn_edge.kinds.projection.integers import MAXIMUM_MULTIPLIER
from protonn_edge.kinds.protonn import quantize
from protonn_edge.kinds.protonn.head import ProtoNNHead
from protonn_edge.kinds.protonn.prototypes.integers import distance_step
from protonn_edge.learn.objective import Matrix, Parameters
from protonn_edge.model.folding import input_quantizer
from protonn_edge.model.integer_stage import check_counts
from protonn_edge.model.model import Model
from protonn_edge.model.statistics import InputStatistics, Normalizer
from protonn_edge.system.errors import InputError

_TRIED_UNITS = 8
_ROWS_AT_ONCE = 4_096  # rows that are temporarily in float64, to bound memory


@dataclass(eq=False)
class QuantizationAware:
    """Rounds parameters and points like the quantizer."""

    gamma: float  # already folded into the parameters
    normalizer: Normalizer
    inputs: InputStatistics  # of the raw features or their averages
    projection_bits: int = 8  # of a weight of W: 8 or 4

    def choose_widths(self, parameters: Parameters) -> bool:
        """Choose the bits of inputs and accumulators; return False if no integer model fits."""
        try:
            (d, D), (L, m) = parameters.projection.shape, parameters.labels.shape
            check_counts(features=D, projections=d, prototypes=m, classes=L)
            widths = quantize.widths_for(self._model(parameters))
        except InputError:
            return False
        self._inputs = input_quantizer(self.inputs, widths.input_bits)
        # V times this is the change of a coordinate per step of an input
        self._grid = (self.normalizer.scale * self._inputs.step).astype(np.float32)
        self._ungrid = np.where(self._grid == 0, 0, 1 / np.where(self._grid == 0, 1, self._grid))
        self._ungrid = self._ungrid.astype(np.float32)
        self._row_limit = ((1 << widths.accumulator_bits) - 2) / self._inputs.maximum
        self._units = 1 << widths.accumulator_bits  # the finest unit is one of these parts
        self._label_maximum = widths.label_maximum
        return True

    def rounded_points(self, X: Matrix) -> Matrix:
        """Return normalized points (n, D), float32, rounded as on the device."""
        quantizer, normalizer = self._inputs, self.normalizer
        scale = np.where(normalizer.scale == 0, 1.0, normalizer.scale)
        rounded = np.empty(X.shape, dtype=np.float32)
        for start in range(0, len(X), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            raw = X[rows] / scale + normalizer.offset
            rounded[rows] = normalizer.apply(quantizer.restore(quantizer.quantize(raw)))
        return rounded

    def rounded(self, parameters: Parameters) -> Parameters | None:
        """Return `parameters` rounded as in the integer model; None if they do not fit it."""
        V, C, Z, sharpness = parameters
        shift = quantize.finest_shift(float(np.ptp(C, axis=1).max()))
        largest = float(np.abs(Z).max())
        if shift is None or not largest > 0:
            return None
        step = np.float32(distance_step(shift))
        weights = self._rounded_weights(V * (self._grid / step))
        if weights is None:
            return None
        coordinates = C / step
        centre = quantize.centre_of(coordinates)
        unit = np.float32(largest / self._label_maximum)
        return Parameters(
            weights * (self._ungrid * step),
            (np.rint(coordinates - centre) + centre) * step,
            np.rint(Z / unit) * unit,
            sharpness,
        )

    def _rounded_weights(self, weights: Matrix) -> Matrix | None:
        """Return weights (d, D), in steps of coordinates, in the finest unit that fits."""
        most, limit = quantize.weight_limits(weights, self.projection_bits)
        sizes = np.minimum(np.abs(weights), np.float32(limit))
        unit = max(float(sizes.max()) / most, float(sizes.sum(axis=1).max()) / self._row_limit)
        if not unit * self._units <= MAXIMUM_MULTIPLIER:
            return None
        first = max(1, math.ceil(unit * self._units))
        for multiplier in range(first, first + _TRIED_UNITS):  # rounding may enlarge a sum
            rounded = np.rint(weights * np.float32(self._units / multiplier))
            np.clip(rounded, -most, most, out=rounded)
            if np.abs(rounded).sum(axis=1).max() <= self._row_limit:
                rounded *= np.float32(multiplier / self._units)
                return rounded
        return None

    def with_its_labels(self, parameters: Parameters) -> Parameters:
        """Return the parameters with the labels for which the loss was computed, if it matters.

        The quantizer chooses the steps of labels again. If they are coarse, others than those of
        the training could change the answers.
        """
        rounded = self.rounded(parameters)
        if rounded is None or not quantize.has_coarse_labels(self._model(parameters)):
            return parameters
        return replace(parameters, labels=rounded.labels)

    def _model(self, parameters: Parameters) -> Model:
        V, C, Z, _ = parameters
        gamma = np.float32(self.gamma)
        head = ProtoNNHead(
            projection=(V / gamma).astype(np.float32),
            prototypes=(C / gamma).astype(np.float32),
            labels=Z,
            gamma=float(gamma),
            projection_bits=self.projection_bits,
        )
        return Model(
            head=head,
            normalizer=self.normalizer,
            inputs=self.inputs,
            classes=tuple(f"class {index}" for index in range(len(Z))),
        )
