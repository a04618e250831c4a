"""The example in floats: its part of a model and of a model file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.checks import Arrays, check_finite, check_type
from protonn_edge.chain.features import Features
from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM, InputQuantizer
from protonn_edge.chain.integer_stage import IntegerStage
from protonn_edge.errors import InputError
from scale.integers import FACTOR_BITS, IntegerScale


@dataclass(frozen=True)
class Scale(Features):
    """Multiplies each feature's distance from its resting value by its own factor.

    Attributes
    ----------
    factors : tuple of D float
        0..1.
    zero : float
        The resting value, which no factor changes: one end of the range of all features.

    Raises
    ------
    InputError
        If a factor is not within 0..1.
    """

    kind: ClassVar[str] = "scale"
    ARRAYS: ClassVar[tuple[str, ...]] = ("scale",)

    factors: tuple[float, ...]
    zero: float

    def __post_init__(self) -> None:
        if not all(0 <= factor <= 1 for factor in self.factors):
            raise InputError("array 'scale' has a factor that is not within 0..1; train it again")

    @property
    def n_features(self) -> int:
        """D."""
        return len(self.factors)

    @property
    def n_outputs(self) -> int:
        """D."""
        return len(self.factors)

    @property
    def does(self) -> str:
        """Its effect, for error messages."""
        return "scales features"

    @property
    def scale(self) -> None:
        """None: scaled features have the unit and the common range of the raw features."""

    def features_of(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the scaled features (n, D) of raw points (n, D)."""
        return self.zero + (X - self.zero) * np.array(self.factors)

    def integer_stages(self, inputs: InputQuantizer) -> tuple[IntegerStage, ...]:
        """Return the stage that scales bytes to inputs of 0..maximum."""
        unit = inputs.maximum * (1 << FACTOR_BITS) / BYTE_MAXIMUM
        factors = np.minimum(np.rint(unit * np.array(self.factors)), BYTE_MAXIMUM)
        return (IntegerScale(factors.astype(np.uint8), BYTE_MAXIMUM),)

    def to_arrays(self) -> Arrays:
        """Return the resting value and the factors, (1 + D,)."""
        return {"scale": np.array([self.zero, *self.factors])}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self | None:
        """Return the stage in a model file's arrays, or None."""
        if "scale" not in arrays:
            return None
        array = arrays["scale"]
        check_type(array, "scale", "f8")
        check_finite(array, "scale")
        if array.ndim != 1 or array.size < 2:
            raise InputError(f"array 'scale' has the shape {array.shape}; train the model again")
        zero, *factors = array.tolist()
        return cls(tuple(factors), zero)

    def describe(self, names: Sequence[str]) -> dict[str, Any]:  # noqa: ARG002  (it lists no names)
        """Return the factors."""
        return {"factors": list(self.factors)}
