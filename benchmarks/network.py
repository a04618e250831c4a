"""The common part of all rows of `networks.py`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rows import Row

from protonn_edge.data.dataset import Dataset
from protonn_edge.model.model import Model

Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Network(Row, ABC):
    """A network; `sram_bytes` is what it may take of SRAM, with the stack."""

    sram_bytes: int = 2_048

    @abstractmethod
    def models(self, dataset: Dataset, seeds: Sequence[int]) -> list[Model]:
        """Return it as models, one for each seed if it is trained here."""

    def scores(self, X: NDArray[Any]) -> Int64 | None:  # noqa: ARG002  (for those that know them)
        """Return what its authors' arithmetic gives, (n, L), of points (n, features), if any."""
        return None
