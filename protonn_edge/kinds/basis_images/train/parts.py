"""Sums of weighted images, whose parts may have weights of their own (equations 2 and 3.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from protonn_edge.chain.feature_stage import Shape
from protonn_edge.errors import InputError
from protonn_edge.training.points import Float32, Indices


@dataclass(frozen=True, eq=False)
class Parts:
    """A grid over images: which pixels each of its parts has."""

    pixels: tuple[Indices, ...]  # of each part, row by row

    @classmethod
    def of_grid(cls, shape: Shape, grid: Shape) -> Self:
        """Return the P x Q parts, of nearly one size, of images of H x W pixels.

        Raises `InputError` if there are more rows or columns of parts than of pixels.
        """
        if grid[0] > shape[0] or grid[1] > shape[1]:
            raise InputError(
                f"images have {grid[0]}x{grid[1]} parts, but only {shape[0]}x{shape[1]} pixels; "
                "use fewer parts"
            )
        places = np.arange(shape[0] * shape[1]).reshape(shape)
        rows = np.array_split(places, grid[0])
        parts = [part for row in rows for part in np.array_split(row, grid[1], axis=1)]
        return cls(tuple(part.ravel() for part in parts))

    def sums(self, A: Float32, Z: Float32) -> Float32:
        """Return the sums (n, D) of images Z (M, D) with weights A (n, M * parts).

        The weights of an image's parts are beside each other.
        """
        found = np.empty((len(A), Z.shape[1]), A.dtype)
        for part, pixels in enumerate(self.pixels):
            found[:, pixels] = A[:, part :: len(self.pixels)] @ Z[:, pixels]
        return found

    def backward(self, A: Float32, Z: Float32, slope: Float32) -> tuple[Float32, Float32]:
        """Return the derivatives by A and by Z of those by the sums."""
        of_weights, of_images = np.empty_like(A), np.empty_like(Z)
        for part, pixels in enumerate(self.pixels):
            of_weights[:, part :: len(self.pixels)] = slope[:, pixels] @ Z[:, pixels].T
            of_images[:, pixels] = A[:, part :: len(self.pixels)].T @ slope[:, pixels]
        return of_weights, of_images
