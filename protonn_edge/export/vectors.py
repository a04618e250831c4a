"""Test vectors: points, and what the integer model answers to them, for a device to check itself.

Where there is no data, they are made of the model alone (see `verification.tryout`).

They lie in flash with runs of zeros shortened: an image is mostly background.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.chain.model import Model
from protonn_edge.quantization import IntegerChain
from protonn_edge.verification.tryout import ends, examples

N_VECTORS = 20
_LONGEST_RUN = 255


@dataclass(frozen=True, eq=False)
class KnownAnswers:
    """Test vectors: quantized points and the integer model's answers."""

    inputs: NDArray[np.uint8]  # (n, features): what the device is fed
    scores: NDArray[np.int64]  # (n, L): what it must answer, exactly
    classes: NDArray[np.int64]  # (n,): the classes, each the first with the largest score
    score_bytes: int  # bytes of a score in flash

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def encoded(self) -> tuple[tuple[int, ...], ...]:
        """The bytes of each point as they lie in flash: a 0 is followed by how many there are."""
        return tuple(_without_runs(row) for row in self.inputs.tolist())

    def within(self, flash_bytes: int) -> KnownAnswers:
        """Return as many of the first vectors, but at least one, as so many bytes hold."""
        n = max(1, int(np.count_nonzero(np.cumsum(self._each_bytes) <= flash_bytes)))
        return KnownAnswers(self.inputs[:n], self.scores[:n], self.classes[:n], self.score_bytes)

    @property
    def flash_bytes(self) -> int:
        """Bytes of flash that they take."""
        return sum(self._each_bytes)

    @property
    def _each_bytes(self) -> list[int]:
        answer = 1 + self.score_bytes * self.scores.shape[1]
        return [len(row) + answer for row in self.encoded]


def vectors_from_data(model: IntegerChain, X: ArrayLike, count: int = N_VECTORS) -> KnownAnswers:
    """Return up to `count` of raw points (n, features), n >= 1, evenly spread over their rows."""
    points = np.asarray(X)
    n = min(count, len(points))
    return _answered(model, model.quantize(points[[i * len(points) // n for i in range(n)]]))


def vectors_from_model(
    model: Model, reference: IntegerChain, count: int = N_VECTORS
) -> KnownAnswers:
    """Return `count` vectors, at least 3, of a model whose data is not at hand.

    The first two are all features at either end of their range, the others are `examples`.
    """
    both = ends(reference)
    made = examples(model, reference, count - len(both))
    return _answered(reference, np.concatenate([both, made]))


def _answered(model: IntegerChain, Q: NDArray[np.uint8]) -> KnownAnswers:
    return KnownAnswers(Q, model.scores(Q), model.predict(Q), model.score_bits // 8)


def _without_runs(row: list[int]) -> tuple[int, ...]:
    encoded: list[int] = []
    for value, run in groupby(row):
        length = len(list(run))
        if value != 0:
            encoded += [value] * length
            continue
        while length > 0:
            encoded += [0, min(length, _LONGEST_RUN)]
            length -= _LONGEST_RUN
    return tuple(encoded)
