"""How much of its work a model does on given points, which is what mean cycles depend on.

Training measures it on its own points and leaves it in the model file, so that a plan's mean is
known where no points are at hand.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError
from protonn_edge.stages.array_checks import Arrays, check_type


@dataclass(frozen=True, eq=False)
class Activity:
    """Shares of points, each 0..1.

    Attributes
    ----------
    inputs : ndarray of shape (D,), float64
        Of points whose input is not 0, for each input of the projection.
    coordinates : ndarray of shape (d,), float64
        Of points and prototypes that are compared up to each coordinate.
    prototypes : ndarray of shape (m,), float64
        Of points that each prototype is near to.
    """

    inputs: NDArray[np.float64]
    coordinates: NDArray[np.float64]
    prototypes: NDArray[np.float64]

    @property
    def neighbours(self) -> float:
        """Near prototypes of a point, on average."""
        return float(self.prototypes.sum())

    def to_array(self) -> NDArray[np.float64]:
        """Return all shares in one vector, as a model file has them."""
        return np.concatenate([getattr(self, field.name) for field in fields(self)])

    @classmethod
    def of_array(cls, array: NDArray[np.float64], sizes: tuple[int, int, int]) -> Activity:
        """Return the activity of a vector, given D, d and m.

        Raises
        ------
        InputError
            If the vector is not as long, or has numbers that are no shares.
        """
        if array.shape != (sum(sizes),):
            raise InputError(
                f"array 'activity' has the shape {array.shape}; it must be a vector of "
                f"{sum(sizes):,} shares; train the model again"
            )
        if not ((array >= 0) & (array <= 1)).all():
            raise InputError(
                "array 'activity' has numbers that are not 0 to 1; train the model again"
            )
        return cls(*np.split(array, np.cumsum(sizes)[:2]))


def to_arrays(activity: Activity | None) -> Arrays:
    """Return the part of a model file; nothing without activity."""
    return {} if activity is None else {"activity": activity.to_array()}


def from_arrays(arrays: Arrays, sizes: tuple[int, int, int]) -> Activity | None:
    """Return the activity of a model file's arrays, given D, d and m, or None.

    Raises
    ------
    InputError
        If the array has another type, or does not fit; see `Activity.of_array`.
    """
    if "activity" not in arrays:
        return None
    check_type(arrays["activity"], "activity", "f8")
    return Activity.of_array(arrays["activity"], sizes)
