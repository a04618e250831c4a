"""Layers of convolutions and pooling, as a part of the model: a network without its last layer.

All of it is in integers, in training too: the features are the bytes of the last layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.activity import Sizes
from protonn_edge.chain.checks import Arrays
from protonn_edge.chain.feature_stage import Facts, FeatureStage, Shape
from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM, InputQuantizer
from protonn_edge.chain.integer_stage import IntegerStage, check_holds, stage_names
from protonn_edge.errors import InputError
from protonn_edge.features.average_pooling.pooling import IntegerAveragePooling
from protonn_edge.features.convolution import arrays as model_file
from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.features.deskew.deskew import BYTES, PixelScale
from protonn_edge.features.images.image_rows import ImageShape, image_text
from protonn_edge.features.pooling.integers import IntegerPooling

Layer = IntegerConvolution | IntegerPooling

_ROWS_AT_ONCE = 512


@dataclass(frozen=True)
class Convolutions(FeatureStage):
    """Layers of convolutions and pooling of an image, which may be made smaller by averages first.

    Raises
    ------
    InputError
        If the layers do not fit together.
    """

    kind: ClassVar[str] = "convolutions"
    ARRAYS: ClassVar[tuple[str, ...]] = model_file.NAMES
    smaller: ClassVar[tuple[str, ...]] = (
        "fewer channels in --features conv:",
        "a stride of 2 or averages in its first layer",
    )

    # at least one; each takes the image, and the largest value, that the one before it gives
    layers: tuple[Layer, ...] = field(repr=False)
    # what makes the image of the first layer of a larger one
    averages: IntegerAveragePooling | None = field(default=None, repr=False)
    pixels: PixelScale = BYTES  # how raw pixels become whole numbers
    digest: str = field(init=False)  # SHA-256 of all numbers but those of `pixels`, in hexadecimal

    def __post_init__(self) -> None:
        layers = self.layers
        if not layers:
            raise InputError("there are no layers of convolutions; give at least one")
        linked = tuple(
            replace(layer, by_rows=number > 0, behind=tuple(layers[number + 1 :]))
            for number, layer in enumerate(layers)
        )
        object.__setattr__(self, "layers", linked)
        _check_chain(self)
        object.__setattr__(self, "digest", model_file.digest(self.averages, linked))

    @property
    def image_shape(self) -> ImageShape:
        """Height, width and channels of the image that a raw point is."""
        if self.averages is None:
            return self.layers[0].shape
        return (*self.averages.pooling.image_shape, 1)

    @property
    def n_features(self) -> int:
        """Values of the image."""
        return prod(self.image_shape)

    @property
    def n_outputs(self) -> int:
        """Values of the last layer."""
        return self.layers[-1].n_outputs

    @property
    def does(self) -> str:
        """What it does."""
        return "has layers of convolutions"

    @property
    def scale(self) -> InputQuantizer:
        """How pixels become whole numbers, all in the same way."""
        return self.pixels.quantizer(
            BYTE_MAXIMUM if self.averages else self.layers[0].input_maximum
        )

    @property
    def whole_maximum(self) -> int:
        """The largest value of the last layer."""
        return self.layers[-1].maximum

    @property
    def drawn_shape(self) -> Shape | None:
        """That of an image of one channel."""
        height, width, channels = self.image_shape
        return (height, width) if channels == 1 else None

    @property
    def activity_sizes(self) -> Sizes:
        """What each convolution tells of: the values of its window, and its own."""
        names = stage_names(layer.kind for layer in self.layers)
        return {
            name: (layer.side * layer.side * layer.shape[2], 2)
            for name, layer in zip(names, self.layers, strict=True)
            if isinstance(layer, IntegerConvolution)
        }

    def apply(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the values (n, D) of images X (n, features): float32 for float32, else float64."""
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        features = np.empty((len(X), self.n_outputs), dtype)
        for start in range(0, len(X), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            values = self.to_bytes(X[rows])
            if self.averages is not None:
                values = self.averages.run(values)
            for layer in self.layers:
                values = layer.run(values)
            features[rows] = values
        return features

    def integer_stages(self, inputs: InputQuantizer) -> tuple[IntegerStage, ...]:
        """Return the layers, which a classifier has to take as they are."""
        same = not inputs.zero.any() and bool((inputs.step == 1).all())
        fits = same and inputs.maximum == self.whole_maximum
        check_holds(fits, f"values of a last layer up to {self.whole_maximum} that are changed")
        return self.layers if self.averages is None else (self.averages, *self.layers)

    def to_arrays(self) -> Arrays:
        """Return its part of a model file; see `convolution.arrays`."""
        return model_file.to_arrays(self.averages, self.layers, self.pixels)

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self | None:
        """Return the stage of a model file's arrays, or None."""
        if not any(name in arrays for name in cls.ARRAYS):
            return None
        averages, layers, pixels = model_file.from_arrays(arrays)
        return cls(layers, averages, pixels)

    def describe(self, names: Sequence[str]) -> dict[str, Any]:  # noqa: ARG002  (pixels have none)
        """Return the shapes of the image and of all layers, with their windows and weights."""
        averages = self.averages
        return {
            "image_shape": list(self.image_shape),
            "averaged_shape": None if averages is None else list(averages.pooling.shape),
            "layers": [_described(layer) for layer in self.layers],
        }

    def facts(self, names: Sequence[str]) -> Facts:  # noqa: ARG002  (pixels have none)
        """Return the size of the images, and what each layer makes of them."""
        averaged = self.averages
        image = f"{self.n_features:,}: {image_text(self.image_shape)}"
        if averaged is not None:
            image += f", averaged to {image_text((*averaged.pooling.shape, 1))}"
        layers = ", ".join(_layer_text(layer) for layer in self.layers)
        return (("features", image), ("layers", layers), ("values D", f"{self.n_outputs:,}"))


def _check_chain(stage: Convolutions) -> None:
    given: tuple[ImageShape, int] | None = None
    if stage.averages is not None:
        given = (*stage.averages.pooling.shape, 1), stage.averages.maximum
    for number, layer in enumerate(stage.layers, 1):
        if given not in (None, (layer.shape, layer.input_maximum)):
            assert given is not None
            raise InputError(
                f"layer {number} takes {image_text(layer.shape)} up to {layer.input_maximum}, "
                f"what comes before it gives {image_text(given[0])} up to {given[1]}; train "
                "the model again"
            )
        given = layer.output_shape, layer.maximum


def _described(layer: Layer) -> dict[str, Any]:
    own: dict[str, Any] = {"kind": layer.kind, "output_shape": list(layer.output_shape)}
    if isinstance(layer, IntegerPooling):
        return own | {"window": list(layer.window), "how": layer.how}
    return own | {
        "window": [layer.side, layer.side],
        "stride": layer.stride,
        "padding": layer.padding,
        "depthwise": layer.depthwise,
        "weight_bits": layer.weight_bits,
        "maximum": layer.maximum,
        "accumulator_range": list(layer.accumulators.ends),
    }


def _layer_text(layer: Layer) -> str:
    what = "largest" if isinstance(layer, IntegerPooling) and layer.how == "maximum" else "average"
    if isinstance(layer, IntegerConvolution):
        what = f"{'depthwise ' if layer.depthwise else ''}{layer.side}x{layer.side}"
    return f"{what} to {image_text(layer.output_shape)}"
