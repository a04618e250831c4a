"""The parameters of networks, apart from the training so that help needs no scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.learn import parameters as declared


@dataclass(kw_only=True, eq=False, repr=False)
class DenseParameters(declared.MiniBatchParameters):
    """The parameters for training a network.

    Parameters
    ----------
    hidden : str, default="20"
        Number of units of the hidden layer, or of two layers, such as "40,20"; at most 255 each.
    size_budget : int, default=16000
        Limit of the weights that pruning leaves; None means no limit. A matrix counts as a byte per
        weight or, if that is less, two per non-zero weight. A device has a table of all weights
        (``model_bytes``), or instructions for each non-zero one, if that is faster.
    epochs : int, default=200
        Passes over the training points, each of at most 200 steps, including those for pruning.
    batch_size : int or "auto", default="auto"
        Points per step; "auto" is 128, or less (at least 32) for fewer than 3,200 points.
    learning_rate : float, default=0.01
        The largest step; for a matrix with D inputs it is divided by ``sqrt(D / 16)``.
    input_noise : float or "auto", default=0.0
        Deviation of the noise added to normalized features, against overfitting to few points.
        "auto" is a tenth of the median distance between neighbouring points.
    augment : bool or float in (0, 1], default=False
        Whether images are randomly shifted, rotated, scaled and distorted slightly during training,
        and the features of sounds moved along the bands and in time; or the share of each step's
        points that is.
    """

    clip: float | str = declared.CLIP("auto")
    hidden: str = declared.parameter(
        "20",
        str,
        help="Units of the hidden layer or of two hidden layers, such as 20 or 40,20.",
        option="--hidden",
    )
    size_budget: int | None = declared.SIZE_BUDGET(16_000)
    input_noise: float | str = declared.INPUT_NOISE(0.0)
    augment: bool | float = declared.AUGMENT(False)
