"""The parameters of convolutions, which are learned before the classifier behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.chain.feature_stage import FeatureStage
from protonn_edge.chain.input_quantizer.saturation import BYTE_MAXIMUM
from protonn_edge.chain.statistics import common_range
from protonn_edge.errors import InputError
from protonn_edge.features.average_pooling.areas import Areas
from protonn_edge.features.average_pooling.integers import IntegerAveragePooling
from protonn_edge.features.convolution.integers import WEIGHT_BITS
from protonn_edge.features.convolution.stage import Convolutions
from protonn_edge.features.convolution.train.learning import (
    LearnedNetwork,
    Wanted,
    learned_network,
    untrained_layers,
)
from protonn_edge.features.convolution.train.notation import read_network
from protonn_edge.features.convolution.train.rounding import ACTIVATION_BITS, Bits
from protonn_edge.features.convolution.train.training import PassReport, Schedule, reporting
from protonn_edge.features.deskew.deskew import PixelScale
from protonn_edge.features.images.train import ImageParameters
from protonn_edge.training.parameters import PASSES, Choices, Number, parameter
from protonn_edge.training.points import Float32, Indices
from protonn_edge.training.refusals import (
    IN_BLOCKS,
    LABEL_SETS,
    OTHER_FEATURES,
    SPARSE,
    Refusal,
    all_at_once,
    but,
    models_all_at_once,
)

KIND = Convolutions.kind

_CONVOLVED = Refusal(lambda case: KIND in case.kinds, "images are convolved")


@dataclass(kw_only=True, eq=False, repr=False)
class ConvolutionParameters(ImageParameters):
    """Parameters of convolutions, beside those of images.

    Parameters
    ----------
    convolutions : str or Convolutions, default=None
        Layers of a small network over the image, such as ``"average2,5x3,8x3,11x3,max2"``: see
        `protonn_edge.features.convolution.train.notation`. It is trained first, behind a head
        of its own: prototypes for a ProtoNN, as many and of as many projections as that has, else
        weighted sums. The classifier is then trained on the bytes that its last layer gives. Or
        the `feature_stage` of another model, whose layers are taken as they are.
    convolution_bits : {8, 4, 2}, default=8
        Of a weight; those of 2 bits are -1, 0 and 1.
    activation_bits : {8, 4}, default=8
        Of a layer's values.
    network_epochs : int, default=30
        Passes over the images in which the network is trained, the last 40 % of them on integers.
    network_moved_share : float in [0, 1], default=0.5
        Of the images of such a pass, those that are moved at random: see
        `protonn_edge.training.augmentation`.
    network_still_epochs : int, default=0
        The last of these passes, in which none are moved.
    network_callback : callable, default=None
        Called with a `PassReport` after each of these passes, and after those of a teacher. If it
        raises `TrainingStopped`, the layers remain as the last pass left them, and a linear
        classifier takes the head that they were trained with.
    """

    convolutions: str | Convolutions | None = parameter(
        None,
        str,
        Convolutions,
        None,
        help="Learn these layers first, such as 8x3,max2; or use a .npz model's.",
        option="--convolutions",
    )
    convolution_bits: int = parameter(
        8,
        Choices(WEIGHT_BITS),
        help="Bits of a convolution's weight: 8, 4 or 2.",
        option="--convolution-bits",
    )
    activation_bits: int = parameter(
        8,
        Choices(ACTIVATION_BITS),
        help="Bits of a convolution's value: 8 or 4.",
        option="--activation-bits",
    )
    network_epochs: int = parameter(
        30, PASSES, help="Passes over the images for learning convolutions."
    )
    network_moved_share: float = parameter(
        0.5,
        Number(float, 0, 1),
        help="Share of the images that are moved at random.",
    )
    network_still_epochs: int = parameter(
        0,
        Number(int, 0, 1_000_000),
        help="The last passes over the images, in which none are moved.",
    )
    network_callback: Callable[[PassReport], object] | None = parameter(None, callable, None)

    asked_by: ClassVar[dict[str, str]] = {KIND: "convolutions"}
    refusals: ClassVar[tuple[Refusal, ...]] = (
        all_at_once("convolutions"),
        models_all_at_once(KIND, "convolutions"),
        Refusal(
            lambda case: case.settings.convolutions is not None and case.model is not None,
            "convolutions are to be learned, but the model to start from has its own features or "
            "none; leave {convolutions} out",
        ),
        Refusal(
            lambda case: (
                case.settings.convolutions is not None and case.settings.image_shape is None
            ),
            "convolutions are to be learned, but the shape of the image is not given; give its "
            "height and width with {image_shape}",
        ),
        Refusal(
            lambda case: (
                isinstance(case.settings.convolutions, str)
                and case.settings.cropped_shape not in (None, case.settings.image_shape)
                and read_network(case.settings.convolutions)[0] == 1
            ),
            "convolutions use the whole image unless it is pooled, but {cropped_shape} is "
            "{settings.cropped_shape}; let the layers begin with average2, or leave "
            "{cropped_shape} out",
        ),
        *but(
            lambda case: KIND in case.kinds,
            "convolutions are to be learned, but <but>; leave {convolutions} out",
            SPARSE,
            LABEL_SETS,
            OTHER_FEATURES,
            IN_BLOCKS,
        ),
        Refusal(
            lambda case: case.settings.convolutions is not None and case.settings.deskew,
            "convolutions are to be learned, but only {reduced_shape} and {gradients} can deskew "
            "images; leave {deskew} out",
        ),
        *but(
            lambda case: case.settings.dead_zone > 0,
            "{dead_zone} is {settings.dead_zone:g}, but <but>, whose values are read as they are; "
            "leave {dead_zone} out",
            _CONVOLVED,
        ),
        *but(
            lambda case: case.settings.clip > 0 and not case.clips_on,
            "{clip} is {settings.clip:g}, but <but>, which gives bytes; leave {clip} out",
            _CONVOLVED,
        ),
        *but(
            lambda case: case.clips_on,
            "the model to start from clips outliers, but <but>; take another one",
            _CONVOLVED,
        ),
    )

    def feature_stage_for(self, points: Float32, weights: Float32 | None) -> FeatureStage | None:
        """Return convolutions with random weights where convolutions are asked for."""
        if self.convolutions is None:
            return super().feature_stage_for(points, weights)
        if isinstance(self.convolutions, Convolutions):
            return _fitting(self.convolutions, points)
        wanted = self._network(points, weights)
        return Convolutions(untrained_layers(wanted), wanted.averages, wanted.pixels)

    def learned_stage_for(
        self, points: Float32, y: Indices, weights: Float32 | None, *, seed: int
    ) -> FeatureStage | None:
        """Return convolutions that are learned, where they are asked for."""
        if self.convolutions is None:
            return super().learned_stage_for(points, y, weights, seed=seed)
        if isinstance(self.convolutions, Convolutions):
            return _fitting(self.convolutions, points)
        wanted = self._network(points, weights)
        told = reporting(self.network_callback, "layers", self.network_epochs)
        network = learned_network(wanted, points, y, weights, seed=seed, callback=told)
        self.keep_network(network)
        return Convolutions(network.layers, wanted.averages, wanted.pixels)

    def keep_network(self, network: LearnedNetwork) -> None:
        """Keep what was learned, where the classifier takes more of it than its layers."""

    def _network(self, points: Float32, weights: Float32 | None) -> Wanted:
        assert isinstance(self.convolutions, str)
        assert self.image_shape is not None  # or it is refused
        side, layouts = read_network(self.convolutions)
        cropped = self.cropped_shape or self.image_shape
        averages, (rows, columns) = None, (-(-pixels // side) for pixels in cropped)
        if side > 1:
            areas = Areas(self.image_shape, cropped, (rows, columns))
            averages = IntegerAveragePooling(areas, BYTE_MAXIMUM)
        return Wanted(
            self.image_shape,
            averages,
            PixelScale.between(*common_range(points, weights)),
            layouts,
            Bits(self.convolution_bits, self.activation_bits),
            Schedule(
                self.network_epochs,
                moved_share=float(self.network_moved_share),
                still_epochs=self.network_still_epochs,
            ),
            self._prototypes,
        )

    @property
    def _prototypes(self) -> tuple[int, int] | None:
        """Projections and prototypes of a ProtoNN whose sizes are said: what the network meets."""
        d: int | None = getattr(self, "n_projections", None)
        m: int | None = getattr(self, "n_prototypes", None)
        return (d, m) if d and m else None


def _fitting(stage: Convolutions, points: Float32) -> Convolutions:
    """Return layers that were learned before, for points (n, features) like those."""
    if stage.n_features != points.shape[1]:
        raise InputError(
            f"the layers are for images with {stage.n_features:,} pixels, but the points have "
            f"{points.shape[1]:,} features; use points like those they were trained on"
        )
    return stage
