"""Scikit-learn's scalers and its PCA as one affine map of features, for any number of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from protonn_edge.conversion.reading import flag_of, numbers_of
from protonn_edge.errors import InputError

Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AffineMap:
    """Maps raw features x (D,) to an estimator's, ``axes @ ((x - offset) * scale) + shift``.

    Attributes
    ----------
    offset, scale : ndarray of shape (D,), float64
        In the unit of the feature, and one over it.
    axes : ndarray of shape (k, D), float64, or None
        None is the identity.
    shift : ndarray of shape (k,), float64
    """

    offset: Float64
    scale: Float64
    axes: Float64 | None
    shift: Float64

    @classmethod
    def identity(cls, n_features: int) -> Self:
        """Return the identity of D features."""
        zeros = np.zeros(n_features)
        return cls(zeros, np.ones(n_features), None, zeros)

    @property
    def n_outputs(self) -> int:
        """k, the number of the estimator's own features."""
        return len(self.shift)

    def apply(self, X: NDArray[Any]) -> Float64:
        """Return the estimator's features (n, k) of points (n, D)."""
        scaled: Float64 = (X - self.offset) * self.scale
        return (scaled if self.axes is None else scaled @ self.axes.T) + self.shift

    def weights(self, W: Float64) -> Float64:
        """Return W (d, k), a matrix for the estimator's features, for raw ones: (d, D)."""
        return (W if self.axes is None else W @ self.axes) * self.scale

    def scaled(self, offset: Float64, scale: Float64) -> Self:
        """Return this map with ``(z - offset) * scale`` after it."""
        if self.axes is None:
            # (((x - o) s + t) - offset) scale; a feature that s makes constant stays so in `shift`.
            return replace(self, scale=self.scale * scale, shift=(self.shift - offset) * scale)
        return replace(self, axes=self.axes * scale[:, None], shift=(self.shift - offset) * scale)

    def turned(self, axes: Float64, centre: Float64) -> Self:
        """Return this map with ``axes @ (z - centre)`` after it."""
        return replace(
            self,
            axes=axes if self.axes is None else axes @ self.axes,
            shift=axes @ (self.shift - centre),
        )


def affine_map(transformers: list[tuple[str, Any]], n_features: int) -> AffineMap:
    """Return the affine map of the fitted transformers of a pipeline.

    Raises
    ------
    InputError
        If one is not fitted, of another kind, or not affine.
    """
    found = AffineMap.identity(n_features)
    for name, transformer in transformers:
        if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
            continue
        then = _READERS.get(type(transformer))
        if then is None:
            known = ", ".join(sorted(each.__name__ for each in _READERS))
            raise InputError(
                f"the pipeline's step {str(name)[:40]!r} is a {type(transformer).__name__}; a step "
                f"before the classifier can be one of {known}"
            )
        found = then(found, transformer)
    return found


def _standard(before: AffineMap, scaler: Any) -> AffineMap:
    k = before.n_outputs
    mean = numbers_of(scaler, "mean_", (k,)) if flag_of(scaler, "with_mean") else np.zeros(k)
    scale = numbers_of(scaler, "scale_", (k,)) if flag_of(scaler, "with_std") else np.ones(k)
    return before.scaled(mean, _inverse(scale, scaler))


def _minmax(before: AffineMap, scaler: Any) -> AffineMap:
    if flag_of(scaler, "clip"):
        raise InputError(
            "the MinMaxScaler clips, which a matrix cannot do; fit one with clip=False"
        )
    scale = numbers_of(scaler, "scale_", (before.n_outputs,))
    return before.scaled(-numbers_of(scaler, "min_", scale.shape) * _inverse(scale, scaler), scale)


def _maxabs(before: AffineMap, scaler: Any) -> AffineMap:
    scale = numbers_of(scaler, "scale_", (before.n_outputs,))
    return before.scaled(np.zeros_like(scale), _inverse(scale, scaler))


def _robust(before: AffineMap, scaler: Any) -> AffineMap:
    k = before.n_outputs
    centred, scaled = flag_of(scaler, "with_centering"), flag_of(scaler, "with_scaling")
    centre = numbers_of(scaler, "center_", (k,)) if centred else np.zeros(k)
    scale = numbers_of(scaler, "scale_", (k,)) if scaled else np.ones(k)
    return before.scaled(centre, _inverse(scale, scaler))


def _pca(before: AffineMap, analysis: Any) -> AffineMap:
    axes = numbers_of(analysis, "components_", (None, before.n_outputs))
    centre = numbers_of(analysis, "mean_", (before.n_outputs,))
    found = before.turned(axes, centre)
    if not flag_of(analysis, "whiten"):
        return found
    variance = numbers_of(analysis, "explained_variance_", (len(axes),))
    deviation = np.maximum(np.sqrt(np.maximum(variance, 0.0)), np.finfo(np.float64).eps)
    return found.scaled(np.zeros(len(axes)), 1.0 / deviation)


def _inverse(scale: Float64, scaler: Any) -> Float64:
    if not (scale != 0).all():
        raise InputError(
            f"the {type(scaler).__name__} divides feature {int(np.argmin(scale != 0)):,} by 0; fit "
            "it again"
        )
    return 1.0 / scale


_READERS: dict[type, Callable[[AffineMap, Any], AffineMap]] = {
    StandardScaler: _standard,
    MinMaxScaler: _minmax,
    MaxAbsScaler: _maxabs,
    RobustScaler: _robust,
    PCA: _pca,
}
