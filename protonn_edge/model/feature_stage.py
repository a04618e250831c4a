"""A stage of features: what it needs between raw points, other such stages and a classifier."""

from __future__ import annotations

from typing import Self

import numpy as np

from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_stage import IntegerStage, check_holds
from protonn_edge.model.point_format import PointFormat
from protonn_edge.model.statistics import InputStatistics


class FeatureStage(IntegerStage):
    """A stage that computes features, or a part of them."""

    def among(
        self, _before: FeatureStage | PointFormat, _behind: tuple[FeatureStage, ...], /
    ) -> Self:
        """Return the stage as it is between others, or behind raw points.

        Raises `InputError` if generated code cannot compute it there.
        """
        return self

    def ranged(self, statistics: InputStatistics) -> InputStatistics:
        """Return the statistics of its values, as features, with the ranges that these need.

        By default values are integers, which a classifier takes unchanged.
        """
        return statistics.of_whole_numbers(self.output.ends[1])

    def feeding(self, inputs: InputQuantizer) -> Self:
        """Return the stage whose values are a classifier's inputs; `inputs` converts features.

        Raises `InputError` if generated code cannot hold the numbers.
        """
        zero = np.zeros(self.n_outputs)
        wanted = self.ranged(InputStatistics(zero, zero, zero, zero, zero)).upper
        same = not inputs.zero.any() and bool((inputs.step == 1).all())
        what = f"a classifier that rescales values of 0 to {int(wanted[0])}"
        check_holds(
            same and inputs.maximum == wanted[0], what, "classifiers that take them unchanged"
        )
        return self
