"""The parameters of basis images, apart from the training so that help needs no scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from protonn_edge.features.convolution.train.notation import MOST_CHANNELS
from protonn_edge.kinds.dense.parameters import DenseParameters
from protonn_edge.learn.parameters import DEVIATION, IMAGE_SHAPE, PASSES, Number, parameter
from protonn_edge.learn.training_request import TrainingRequest
from protonn_edge.model.shapes import Shape


@dataclass(kw_only=True, eq=False, repr=False)
class BasisImagesParameters(DenseParameters):
    """The parameters for training a student and its basis images.

    Parameters
    ----------
    teacher : str, estimator or object, default=None
        Layers of the teacher, such as "16x3,max2"; None means the student's layers with four times
        as many channels, at most 128. Alternatively, a fitted `MLPClassifier` or linear classifier
        of scikit-learn, for raw images, or an object like `Teacher` of the module `train.images`
        beside this one. Wrap an estimator that is cloned, as in cross-validation, in a
        `sklearn.frozen.FrozenEstimator`. With the `taught_` of an earlier
        training, only the extension is trained.
    teacher_epochs : int, default=15
        Passes over the images to train a teacher.
    basis_images : int, default=32
        M. The student learns them in `network_epochs` passes.
    image_parts : tuple of two int, default=None
        P, Q: each image has a grid of P x Q parts, each with its own weight; None means one weight
        per image. At most 128 weights in all.
    similarity : float, default=0.1
        Weight of the similarity loss, relative to the cross-entropy.
    """

    hidden: str = "20,20"
    teacher: Any = parameter(
        None,
        str,
        None,
        object,
        help="Layers of the teacher, such as 16x3,max2,32x3.",
        option="--teacher",
    )
    teacher_epochs: int = parameter(15, PASSES, help="Passes for training the teacher.")
    basis_images: int = parameter(
        32,
        Number(int, 1, MOST_CHANNELS),
        help="Number of basis images, whose weights the student computes.",
        option="--basis-images",
    )
    image_parts: Shape | None = parameter(
        None, IMAGE_SHAPE, None, help="Grid of image parts, such as 2x2; each part has a weight."
    )
    similarity: float = parameter(0.1, DEVIATION, help="Weight of the similarity loss.")

    def refuse(self, case: TrainingRequest) -> None:
        """Refuse points that are no images."""
        super().refuse(case)
        if not case.asks_for("conv"):
            case.refuse(
                "basis images need a student; give its layers with --features, such as "
                "conv:8x3,max2"
            )
        if self.window_shape is not None:
            case.refuse(
                "basis images need images as points, but --window is given; leave --window out"
            )
