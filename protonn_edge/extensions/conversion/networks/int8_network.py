"""A network of int8 layers from another program, as a rule to convert."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.extensions.conversion.affine import rows_in_order
from protonn_edge.extensions.conversion.answered import Answers
from protonn_edge.extensions.conversion.search import Candidate, ModelNames, ModelSearch, Rule
from protonn_edge.features.convolution.making import layered
from protonn_edge.features.images.image_rows import ImageStage
from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.kinds.linear.head import LinearHead
from protonn_edge.model.head import Remedies
from protonn_edge.model.model import Model
from protonn_edge.model.policy import FloatPolicy
from protonn_edge.model.rule_kinds import policy_of
from protonn_edge.model.shapes import image_text
from protonn_edge.model.statistics import InputStatistics, Normalizer
from protonn_edge.system.arrays import Array

INT8_ZERO = 128  # the byte of an int8 value of 0

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Int8Network(Rule):
    """The layers of a network, and the scales of its input and output; a `Rule`."""

    layers: tuple[ImageStage, ...]
    pixels: PixelScale  # from real values to the bytes of its input
    output_step: float  # the real value of a step of its output
    output_zero: int  # the byte of the output's zero point
    order: NDArray[np.intp]  # (D,): the places of a point's values in the network's own input
    plain: bool = False  # as of a `FloatNetwork`
    landmarks = None
    not_tuned: ClassVar[str] = "has int8 layers"

    @property
    def n_inputs(self) -> int:
        """The number of values of a point."""
        return self.layers[0].n_inputs

    @property
    def n_classes(self) -> int:
        """L, which is 2 if there is one output."""
        return max(2, self.layers[-1].n_outputs)

    def rows(self, X: ArrayLike) -> ArrayLike:
        """Return points with several axes, as the network takes them, as rows (n, D)."""
        return rows_in_order(X, self.order)

    def outputs(self, X: Array) -> NDArray[np.uint8]:
        """Return the output of points X (n, D): q + 128 of the network's own int8 values q."""
        values = self.pixels.to_bytes(X)
        for layer in self.layers:
            values = layer.run(values)
        return values

    def answers(self, Z: Array) -> Answers:
        """Return the class of each point Z (n, D), the first one with the largest output."""
        outputs = self.outputs(Z)
        if outputs.shape[1] == 1:
            return (outputs[:, 0] > self.output_zero).astype(np.int64)
        first: NDArray[np.int64] = outputs.argmax(axis=1)
        return first

    def best(self, search: ModelSearch) -> Candidate:
        """Return the model of the layers, unchanged."""
        limited = search.advising(self.remedies)
        return limited.candidate(("exact", self.model(search.X, search.names)))

    def model(self, X: Array, names: ModelNames) -> Model:
        """Return the model, whose scores are the outputs' int8 values; X are some points."""
        stage = layered(self.layers, pixels=self.pixels)
        head, policy = self.ending(names["policy"])
        return Model(
            head=head,
            normalizer=Normalizer.identity(stage.n_outputs),
            inputs=InputStatistics.of(stage.apply(X)).with_one_range(),
            features=stage,
            classes=names["classes"],
            feature_names=names["feature_names"],
            policy=policy,
        )

    def ending(self, policy: FloatPolicy) -> tuple[LinearHead, FloatPolicy]:
        """Return the head and the policy, given the policy for scores of deviation 1."""
        D = self.layers[-1].n_outputs
        bias = np.full(D, -float(self.output_zero if D == 1 else INT8_ZERO))
        policy = policy_of({"sharpness": np.array([float(self.output_step)])})
        return LinearHead(np.eye(D, dtype=np.float32), bias), policy

    @property
    def remedies(self) -> Remedies:
        """The advice for a network that does not fit: on the layer that takes the most memory."""

        def smaller(size: Callable[[ImageStage], int]) -> str:
            layer = max(self.layers, key=size)
            shapes = f"{image_text(layer.shape)} to {image_text(layer.output_shape)}"
            number = self.layers.index(layer) + 1
            return f"a smaller layer {number} (the largest: {shapes})"

        def buffered(layer: ImageStage) -> int:
            return layer.n_inputs if layer is self.layers[0] else layer.lines * layer.line_bytes

        parameters = smaller(lambda layer: sum(array.nbytes for array in layer.parameters()))
        return Remedies.only(parameters)._replace(sram=smaller(buffered))
