"""Convolutions requested as features, "conv:8x3,max2", and learned before the classifier."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from protonn_edge.features.convolution.integers import WEIGHT_BITS
from protonn_edge.features.convolution.train.notation import read_network
from protonn_edge.features.convolution.train.rounding import ACTIVATION_BITS, Bits
from protonn_edge.features.images.train import pixel_scale
from protonn_edge.features.pooling.areas import Areas
from protonn_edge.features.pooling.integers import IntegerAveragePooling
from protonn_edge.features.window_features.scale import ChannelScale
from protonn_edge.learn.features import FeatureData, ImageRequest, unread
from protonn_edge.learn.parameters import FeatureParameters
from protonn_edge.learn.training_request import TrainingRequest
from protonn_edge.model.features import Features
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM

if TYPE_CHECKING:
    from protonn_edge.features.convolution.train import learning

_BITS = re.compile(r"bits:(\d)(?:/(\d))?")


@dataclass(frozen=True, kw_only=True, eq=False)
class ConvolutionRequest(ImageRequest):
    """The layers of a small network to learn, with the bits of its weights and values.

    Its points are windows of samples if `window_shape` is given, otherwise images.
    """

    kind: ClassVar[str] = "convolutions"
    word: ClassVar[str] = "conv"
    form: ClassVar[str] = "conv:8x3,max2"
    of_samples: ClassVar[bool] = True
    learns_from_classes: ClassVar[bool] = True
    layers: str
    bits: Bits = field(default_factory=Bits)

    def refuse(self, case: TrainingRequest) -> None:
        """Refuse what cannot be prepared for convolutions."""
        settings = case.settings
        is_cropped = self.cropped_shape not in (None, settings.image_shape)
        of_window = settings.window_shape is not None
        if case.has_points and is_cropped and (of_window or read_network(self.layers)[0] == 1):
            case.refuse(
                f"--features is {settings.features}, but convolutions can use a crop only if they "
                "begin with averages of an image; leave crop out, or, for images, begin with "
                "average2"
            )
        if self.deskew:
            case.refuse_given("deskew", "it applies to pool and gradients, not to convolutions")

    @classmethod
    def read(cls, terms: Sequence[str], **image: Any) -> Self:
        """Read the layers from terms; the last term may give bits."""
        match, bits = _BITS.fullmatch(terms[-1]), Bits()
        if match is not None:
            bits = Bits(int(match[1]), int(match[2] or 8))
            if bits.weights not in WEIGHT_BITS or bits.activations not in ACTIVATION_BITS:
                what = "must have 8, 4 or 2 bits per weight, and 8 or 4 per value"
                raise unread(terms[-1], what)
            terms = terms[:-1]
        return cls(layers=",".join(terms).partition(":")[2], bits=bits, **image)

    def stage_for(self, settings: FeatureParameters, given: FeatureData) -> Features:
        """Return convolutions; the settings keep the whole network if they are learned."""
        from protonn_edge.features.convolution.train import learning  # imports scikit-learn

        wanted = self.network(settings, given)
        if given.y is None:
            return wanted.stage(learning.untrained_layers(wanted))
        done = learning.reporting(settings.network_callback, "layers", settings.network_epochs)
        network = learning.learned_network(
            wanted,
            given.points,
            given.y,
            given.weights,
            seed=given.seed,
            callback=done,
            loss=given.loss,
        )
        settings.keep_head(network.head)
        return wanted.stage(network.layers)

    def network(self, settings: FeatureParameters, given: FeatureData) -> learning.NetworkSpec:
        """Return the network that is to be learned from raw points (n, H W)."""
        from protonn_edge.features.convolution.train import learning  # imports scikit-learn

        window = settings.window_shape
        side, layouts = read_network(self.layers, signal=window is not None)
        image_shape, cropped = self.shapes(settings) if window is None else (window, window)
        averages, (height, width) = None, (-(-pixels // side) for pixels in cropped)
        if side > 1:
            areas = Areas(image_shape, cropped, (height, width if window is None else window[1]))
            averages = IntegerAveragePooling(areas, BYTE_MAXIMUM)
        # The sizes of the ProtoNN that is the network's head, if they are given.
        d: int | None = getattr(settings, "n_projections", None)
        m: int | None = getattr(settings, "n_prototypes", None)
        return learning.NetworkSpec(
            image_shape,
            averages,
            pixel_scale(given) if window is None else ChannelScale.of_windows(given.points, window),
            layouts,
            self.bits,
            learning.Schedule(
                settings.network_epochs,
                moved_share=float(settings.network_moved_share),
                still_epochs=settings.network_still_epochs,
            ),
            (d, m) if d and m else None,
            None if window is None else self.movement,
            settings.sample_rate,
        )
