"""Cascades whose second model never answers, and whose scores are added at the ends of ranges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from forest_factory import random_chain
from linear_factory import random_linear_model
from model_factory import random_points

from protonn_edge.extensions.cascades.kinds.cascade.integers import (
    IntegerCascade,
    PartStages,
)
from protonn_edge.extensions.cascades.kinds.cascade.train import joined
from protonn_edge.system.errors import InputError, InvalidValue


def _forest(seed: int, bias: int) -> PartStages:
    """Return a forest whose scores are near a number."""
    stage = random_chain(seed, trees=3, features=6, classes=2, share=0).own_stages[0]
    return PartStages((replace(stage, bias=np.full(2, bias)),), 0)


def test_a_second_model_that_would_never_answer_is_refused() -> None:
    """Its parameters took flash, and the comparison with a margin of 0 made compilers warn."""
    first, second = (random_linear_model(seed) for seed in (0, 1))
    X = random_points(2, 60, 12)
    with pytest.raises(InputError, match="the second model would answer none of the 60 points"):
        joined(first, second, X, first.predict(X))


def test_a_product_that_is_added_fits_though_the_sum_is_smaller() -> None:
    """Twice a score near 23,000 exceeded the 16 bits of an int, which is undefined."""
    stage = IntegerCascade(_forest(1, -20_000), _forest(2, 23_000), 1000, 1, 2, adds=True)
    assert stage.output.ends[1] < 1 << 15
    assert stage.output.bits == 32


@pytest.mark.parametrize("margin", [0, 1 << 16])
def test_a_margin_that_no_difference_can_decide_is_refused(margin: int) -> None:
    with pytest.raises(InvalidValue, match="the cascade's margin"):
        IntegerCascade(_forest(1, 0), _forest(2, 0), margin, 1, 1)
