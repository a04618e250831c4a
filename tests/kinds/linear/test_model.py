"""The float linear model: what its two arrays must be together."""

from __future__ import annotations

import numpy as np
from chains import replace
from linear_factory import random_linear_model
from refusals import refused_by


def test_a_row_that_no_class_has_is_refused() -> None:
    with refused_by("classes"):
        replace(random_linear_model(), weights=np.ones((3, 12)), bias=np.zeros(3))
