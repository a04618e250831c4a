"""Window features as a scikit-learn transformer, with the same integers as on the device."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from protonn_edge.features.window_features.making import fitted_to, names_of
from protonn_edge.features.window_features.windows import FeatureSet
from protonn_edge.learn.constraints import check_parameters
from protonn_edge.learn.parameters import Number, Parameter
from protonn_edge.model.features import Features
from protonn_edge.system.arrays import Array
from protonn_edge.system.scikit import BaseEstimator, TransformerMixin


class WindowFeatures(TransformerMixin, BaseEstimator):
    """Features of windows of samples, in integers; `window_features.windows` defines them.

    For a model on a device, pass the same text to `ProtoNNClassifier` as `features`: the model then
    includes the stage, and the device computes it.

    Parameters
    ----------
    features : str, default="mean,deviation,min,max,crossings"
        Some of ``mean deviation min max change crossings bands``, separated by commas; a number
        after a colon is the number of bands, or the hysteresis of crossings in steps of a sample.
    channels : int, default=1
        Channels per sample. A window is a sequence of samples, each with all channels.
    rate : float, default=None
        Samples per second of a channel; no feature depends on it.

    Attributes
    ----------
    stage_ : Features
        The features, with the range of each channel found in `fit`.
    n_features_in_ : int
        Samples per window times channels.

    Examples
    --------
    >>> import numpy as np
    >>> from protonn_edge import WindowFeatures
    >>> windows = np.array([[0, 0, 0, 0], [0, 255, 0, 255]])
    >>> WindowFeatures(features="mean,deviation,max").fit_transform(windows)
    array([[-512,    0, -128],
           [  -2,  510,  127]])
    """

    parameters: ClassVar[dict[str, Parameter]] = {
        "features": Parameter((str,)),
        "channels": Parameter((Number(int, 1, closed="left"),)),
        "rate": Parameter((Number(float, 0, closed="neither"), None)),
    }

    def __init__(
        self,
        *,
        features: str = "mean,deviation,min,max,crossings",
        channels: int = 1,
        rate: float | None = None,
    ) -> None:
        self.features = features
        self.channels = channels
        self.rate = rate

    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002  (scikit-learn's)
        """Find the range of each channel in raw windows X, (n, window * channels)."""
        check_parameters(self, self.parameters)
        windows = validate_data(self, X, dtype="numeric")
        shape = windows.shape[1] // self.channels, self.channels
        self.stage_: Features = fitted_to(windows, FeatureSet.of(self.features), shape, self.rate)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the features (n, F), int64, of raw windows X, (n, window * channels)."""
        check_is_fitted(self)
        windows = validate_data(self, X, dtype="numeric", reset=False)
        return self.stage_.apply(windows).astype(np.int64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # features are integers
        return tags

    def get_feature_names_out(
        self,
        input_features: ArrayLike | None = None,  # noqa: ARG002  (scikit-learn's)
    ) -> Array:
        """Return the features' names, such as ``channel0_mean``, (F,)."""
        check_is_fitted(self)
        return np.array(names_of(self.stage_), dtype=object)
