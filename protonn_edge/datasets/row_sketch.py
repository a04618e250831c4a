"""A bottom-k sketch of a model's training rows, to recognize them and the rows held out from them.

The sketch keeps the `SKETCH_SIZE` smallest of the rows' hashes, a random sample of the distinct
rows (A. Broder, "On the resemblance and containment of documents", 1997; K. Beyer et al., "On
synopses for distinct-value estimation under multiset operations", 2007). Another row can be
compared if its hash is not above the largest one kept: this holds for all rows if no hash was
dropped, and the result is then exact; otherwise for one of n / `SKETCH_SIZE` rows. A share p of m
compared rows has the standard error sqrt(p (1 - p) / m).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.naming import Notice
from protonn_edge.errors import InputError

SKETCH_SIZE = 1_024
_BLOCK_VALUES = 2**18
_BY_CHANCE = 0.05  # share of rows of coarse data that may repeat

Hashes = NDArray[np.uint64]


def row_hashes(X: NDArray[Any]) -> Hashes:
    """Return a hash (n,) of the float32 of each row of X (n, D), the same on all machines.

    It is the sum of products with a random number per column, folded and mixed; -0 counts as 0.
    """
    factors = _mixed(np.arange(X.shape[1], dtype=np.uint64)) | np.uint64(1)
    hashes = np.empty(len(X), np.uint64)
    step = max(1, _BLOCK_VALUES // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        block = np.ascontiguousarray(X[start : start + step], np.float32) + np.float32(0)
        products = block.view(np.uint32) * factors
        products ^= products >> np.uint64(32)
        hashes[start : start + step] = products.sum(axis=1, dtype=np.uint64)
    return _mixed(hashes)


def _mixed(values: Hashes) -> Hashes:
    """Return 64-bit integers with all bits mixed by the finalizer of SplitMix64 (Steele, 2014)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


@dataclass(frozen=True)
class Overlap:
    """The number of rows that could be compared, and of known ones among them."""

    n: int
    compared: int
    known: int

    def __str__(self) -> str:
        share = self.known / max(1, self.compared)
        if self.compared == self.n:
            return f"{100 * share:.1f} % of the {self.n:,} points"
        error = math.sqrt(share * (1 - share) / max(1, self.compared))
        of = f"estimated from {self.compared:,} of them, standard error {100 * error:.1f} %"
        return f"about {100 * share:.0f} % of the {self.n:,} points ({of})"

    def notices(self) -> tuple[Notice, ...]:
        """Return a warning if more rows are known than can be explained by chance."""
        text = (
            f"the model was trained on {self}, so the accuracy on these points is higher than on "
            "new data; measure it on points held out with 'split', 'windows --test' or 'train "
            "--holdout', from data without repeated rows"
        )
        many = self.known > _BY_CHANCE * self.compared
        return (Notice("training_rows", text, warning=True),) if many else ()


@dataclass(frozen=True, eq=False)
class RowSketch:
    """The smallest distinct hashes of rows, (k,), rising; all of them if k < `SKETCH_SIZE`.

    If rows were held out for testing, `held_out` has a bit for each row of the data, packed as by
    `numpy.packbits`: 1 if it was held out.
    """

    hashes: Hashes
    held_out: NDArray[np.uint8] | None = None

    @classmethod
    def of(cls, blocks: Iterable[NDArray[Any]]) -> Self:
        """Return the sketch of all rows of matrices (n, D)."""
        kept = np.empty(0, np.uint64)
        for block in blocks:
            kept = np.union1d(kept, row_hashes(block))[:SKETCH_SIZE]
        return cls(kept)

    @classmethod
    def of_arrays(cls, array: NDArray[Any], held_out: NDArray[Any] | None) -> Self:
        """Return the sketch in a model file; check it."""
        fits = array.dtype.kind == "u" and array.dtype.itemsize == 8 and array.ndim == 1
        if not fits or not 0 < len(array) <= SKETCH_SIZE or not (array[:-1] < array[1:]).all():
            raise InputError(
                f"array 'training_rows' must contain 1 to {SKETCH_SIZE:,} hashes of 64 bits, in "
                "ascending order; train the model again"
            )
        if held_out is not None and (held_out.dtype != np.uint8 or held_out.ndim != 1):
            raise InputError("array 'held_out' must be a vector of bytes; train the model again")
        return cls(array.astype(np.uint64), held_out)

    def merged(self, other: RowSketch | None) -> RowSketch:
        """Return the sketch of the rows of both."""
        both = self if other is None else RowSketch(np.union1d(self.hashes, other.hashes))
        return RowSketch(both.hashes[:SKETCH_SIZE])

    def overlap(self, X: NDArray[Any]) -> Overlap:
        """Return how many rows of X (n, D) the sketch knows."""
        compared = row_hashes(X)
        if len(self.hashes) == SKETCH_SIZE:
            compared = compared[compared <= self.hashes[-1]]
        return Overlap(len(X), len(compared), int(np.isin(compared, self.hashes).sum()))

    def held_out_rows(self, n: int) -> NDArray[np.bool_] | None:
        """Return which of n rows of data were held out; None if these were not divided."""
        if self.held_out is None or len(self.held_out) != -(-n // 8):
            return None
        return np.unpackbits(self.held_out, count=n).astype(np.bool_)

    def held_out_of(self, X: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Return which rows of X (n, D) were held out; None if these are not the divided data."""
        chosen = self.held_out_rows(len(X))
        if chosen is None or not chosen.any():
            return None
        trained = self.overlap(X[~chosen])
        return chosen if trained.known == trained.compared > 0 else None
