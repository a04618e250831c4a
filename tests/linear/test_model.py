"""The float linear model: what its two arrays must be together."""

from __future__ import annotations

import numpy as np
import pytest
from chains import replace
from linear_factory import random_linear_model

from protonn_edge.errors import InputError


def test_a_row_that_no_class_has_is_refused() -> None:
    with pytest.raises(InputError, match="array 'classes' has 4 names instead of 3"):
        replace(random_linear_model(), weights=np.ones((3, 12)), bias=np.zeros(3))
