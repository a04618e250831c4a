"""The parameters that all kinds of classifiers share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from protonn_edge.chain.model import Model
from protonn_edge.chain.statistics import NORMALIZER_KINDS
from protonn_edge.training.features import FeatureParameters
from protonn_edge.training.parameters import (
    BATCH_SIZE,
    EPOCHS,
    INPUT_NOISE,
    LEARNING_RATE,
    Choices,
    Number,
    parameter,
)

if TYPE_CHECKING:
    from protonn_edge.training.progress import Callback
    from protonn_edge.training.weighting import ClassWeight


@dataclass(kw_only=True, eq=False, repr=False)
class SharedParameters(FeatureParameters):
    """What every classifier has, beside the parameters of features.

    Parameters
    ----------
    normalization : {"standard", "minmax", "none", "l2"}, default="standard"
        Affine map of each feature, which is part of the model: zero mean and unit deviation (with a
        floor, see `protonn_edge.training.normalization`), range 0 to 1, or nothing. "l2" scales
        points to unit norm, as the paper does for sets of labels; devices do not support it. "none"
        and "l2" keep sparse points sparse; the others make them dense, up to 1 GiB.
    dead_zone : float in [0, 1), default=0.0
        Share of each feature's range, next to its most frequent value, that the device reads as
        that value, which takes no time to process. Training takes it into account.
    clip : float in [0, 0.5), default=0.0
        Share of the training points at either end of each feature's range that are treated as
        outliers: values beyond are clamped to the range of the others, in training and on the
        device. Use it for sensors with spikes, which would otherwise determine the scale of a
        feature.
    class_weight : dict, "balanced" or None, default=None
        Weight of the points of a class, by its label; "balanced" is one over the class size.
    random_state : int, RandomState instance or None, default=None
        The same int gives the same model with the same machine and libraries.
    callback : callable, default=None
        Called with an `EpochReport` after every epoch: epoch, epochs, objective, accuracy, test
        accuracy if `fit` was given points. If it raises `TrainingStopped`, of
        `protonn_edge.training.progress`, `fit` ends with the best epoch so far.
    """

    normalization: str = parameter(
        "standard",
        Choices(NORMALIZER_KINDS),
        help="Normalization of the features; free on the device, which does not support l2.",
        option="--normalization",
        common=True,
    )
    dead_zone: float = parameter(
        0.0,
        Number(float, 0, 1, "left"),
        help="Share of a feature's range, next to its most frequent value, to read as that value.",
        option="--dead-zone",
    )
    clip: float = parameter(
        0.0,
        Number(float, 0, 0.5, "left"),
        help="Share of points at either end of a feature's range to clamp as outliers.",
        option="--clip",
    )
    class_weight: ClassWeight = parameter(
        None,
        dict,
        Choices(("balanced",)),
        None,
        help="Give every class the same weight.",
        option="--class-weight",
        common=True,
    )
    random_state: int | np.random.RandomState | None = parameter(None, "random_state")
    callback: Callback | None = parameter(None, callable, None)

    # Parameters of ProtoNN that the preparation of points reads, as they are for other kinds.
    augment: bool = field(init=False, default=False)
    group_shift: float = field(init=False, default=0.0)
    strangers: float = field(init=False, default=0.0)
    one_class: bool = field(init=False, default=False)
    initial_model: Model | None = field(init=False, default=None)

    @property
    def normalizer_kind(self) -> str:
        """The kind of normalizer; that of the model to start from, if any."""
        given = self.initial_model
        return self.normalization if given is None else given.normalizer.kind


@dataclass(kw_only=True, eq=False, repr=False)
class MiniBatchParameters(SharedParameters):
    """What every kind that is trained by mini-batches has; its docstring describes them."""

    epochs: int = EPOCHS(200)
    batch_size: int | str = BATCH_SIZE("auto")
    learning_rate: float = LEARNING_RATE(0.01)
    input_noise: float | str = INPUT_NOISE("auto")
