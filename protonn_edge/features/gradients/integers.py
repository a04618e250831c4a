"""Sums of gradients in integers: from bytes of pixels to bytes of roots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.integer_stage import IntegerStage, Range, check_holds
from protonn_edge.features.gradients.cells import Bytes, Cells

LEVELS = 256
"""Number of distinct sums after the shift."""

SHIFTS = range(1, 9)
"""The range of the shift, in bits."""


@dataclass(frozen=True, eq=False)
class IntegerGradients(IntegerStage):
    """Maps pixels b to the roots of sums of gradients.

    ::

        v_i = sum of the magnitudes of gradients in cell and direction i    16 bits
        q_i = table[min(v_i >> shift, 255)]

    See `cells` for cells, magnitudes and directions.

    Attributes
    ----------
    cells : Cells
        The cells of the image, which is not deskewed here.
    shift : int
        Shift of sums to the right, 1..8 bits.
    table : ndarray of shape (256,), uint8
        Roots, in ascending order.
    by_rows : bool
        Whether the previous stage passes whole rows of pixels.
    """

    kind: ClassVar[str] = "gradients"

    cells: Cells
    shift: int
    table: Bytes
    by_rows: bool = False

    def __post_init__(self) -> None:
        """Refuse a table for which `output` would be wrong."""
        fits = self.table.shape == (LEVELS,) and self.table.dtype == np.uint8
        check_holds(fits and bool((np.diff(self.table.astype(int)) >= 0).all()), "roots that fall")
        check_holds(self.shift in SHIFTS, f"sums that are shifted by {self.shift} bits")

    @property
    def n_inputs(self) -> int:
        """Pixels of the image."""
        return self.cells.n_features

    @property
    def n_outputs(self) -> int:
        """Roots."""
        return self.cells.n_outputs

    @property
    def output(self) -> Range:
        """The range of the roots."""
        most = self.table[levels(self.cells.most, self.shift)].astype(np.int64)
        return Range(np.full(self.n_outputs, self.table[0], np.int64), most)

    def run(self, x: NDArray[Any]) -> Bytes:
        """Return the roots (n, D) of images of bytes (n, H W)."""
        images = x.reshape(-1, *self.cells.image_shape).astype(np.uint8)
        roots: Bytes = self.table[levels(self.cells.sums(images), self.shift)]
        return roots

    def activity(self, x: NDArray[Any]) -> tuple[NDArray[np.float64], ...]:
        """Return the sum of the shares of pixels with a gradient, for each `Cells.sharing`."""
        return (self.cells.active(x.reshape(-1, *self.cells.image_shape).astype(np.uint8)),)


def levels(sums: NDArray[Any], shift: int) -> NDArray[Any]:
    """Return the indices into the table for sums."""
    places: NDArray[Any] = np.minimum(sums >> shift, LEVELS - 1)
    return places
