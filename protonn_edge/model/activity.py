"""The inputs for which cycles are estimated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Shares = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Activity:
    """How many of the points have a property that costs cycles, as shares 0..1."""

    # (D,): for each input of the classifier's own stages, the share of points where it is not 0
    inputs: Shares
    # the activity that each stage reports, by the stage's name
    stages: Mapping[str, tuple[Shares, ...]] = field(default_factory=dict)
