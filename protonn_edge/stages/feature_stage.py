"""What comes before a classifier: the float form of a stage that makes features of raw points.

A kind of feature is a folder of `protonn_edge.stages` with a subclass of `FeatureStage`, a line in
`protonn_edge.stages.feature_registry`, and the parameters that train it in a module of
`protonn_edge.training.features`. All that a model, its file, its integers, the generated code, an
export and a report want to know of it, they ask here.

A layout without circles, as the kinds that there are have it: the arithmetic (`areas.py`,
`windows.py`), its integer stage (`integers.py`), and this form, which makes integer stages.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.stages.activity import Sizes
from protonn_edge.stages.array_checks import Arrays
from protonn_edge.stages.example_points import drawings, signals
from protonn_edge.stages.input_quantizer.quantizer import InputQuantizer
from protonn_edge.stages.input_quantizer.saturation import BYTE_MAXIMUM
from protonn_edge.stages.integer_stage import IntegerStage

Shape = tuple[int, int]
Facts = tuple[tuple[str, str], ...]
Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class Signal:
    """Samples that come one after the other: so many of each channel, at so many a second.

    The rate is None where nobody has said it. Those that begin where ``pnn_onset`` of the generated
    C says so are `from_onset`; others begin anywhere.
    """

    samples: int
    channels: int
    rate: float | None
    from_onset: bool = False


@dataclass(frozen=True, eq=False)
class Seen:
    """What a stage looks at in a point that is an image, for a picture; places are in pixels.

    Attributes
    ----------
    image : ndarray of shape (h, w), float64
        What counts of the image as the stage has it, 0 (paper) to 1 (ink).
    rows, columns : tuple of float
        Where lines part the areas that the stage tells apart.
    strokes : ndarray of shape (n, 4), float64
        What it finds there: lines from (x, y) by (dx, dy), the longer the stronger.
    words : str
        What the strokes are, in a sentence.
    """

    image: Float64
    rows: tuple[float, ...]
    columns: tuple[float, ...]
    strokes: Float64
    words: str


class FeatureStage(ABC):
    """From raw points to the inputs of a classifier.

    A subclass is a frozen dataclass that refuses, when it is made, what generated code could not
    compute. Its fields are its arithmetic: a model's hash has all of them that are in its `repr`.

    Attributes
    ----------
    kind : str
        Its name in the registry, and in a model's hash.
    ARRAYS : tuple of str
        Names of its arrays in a model file.
    ABSENT : mapping of str to ndarray
        What a model file has where there is no such stage; nothing in files of newer kinds.
    n_features : int
        Values of a raw point.
    n_outputs : int
        Values that it gives, D inputs of the classifier.
    does : str
        What it does, as the end of a sentence that begins with "the model": "pools images".
    """

    kind: ClassVar[str]
    ARRAYS: ClassVar[tuple[str, ...]]
    ABSENT: ClassVar[Arrays] = {}

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Values of a raw point: what the device is sent, a byte each."""

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """Values that it gives, D."""

    @property
    @abstractmethod
    def does(self) -> str:
        """What it does, after "the model": "pools images"."""

    @property
    @abstractmethod
    def scale(self) -> InputQuantizer | None:
        """How raw values become the bytes that the device is fed, for each channel in turn.

        None where its values are in the unit and the range of a raw point's, which is one for all,
        as averages of pixels are: then both follow from the classifier's inputs. All other kinds
        choose it in training, and make the classifier's bytes of their features by the
        `RawQuantizer` of these.
        """

    @abstractmethod
    def apply(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return features (n, D) of raw points (n, features): float32 for float32, else float64.

        They are exactly what the integer stages compute before a byte is made of it, so that a
        model is trained on what the device sees.
        """

    @abstractmethod
    def integer_stages(self, inputs: InputQuantizer) -> tuple[IntegerStage, ...]:
        """Return what computes it on a device: from bytes of `device_inputs` to those of `inputs`.

        Parameters
        ----------
        inputs : InputQuantizer
            From features to the inputs of the classifier's own stages.

        Raises
        ------
        InputError
            If generated code cannot hold them.
        """

    @abstractmethod
    def to_arrays(self) -> Arrays:
        """Return its part of a model file, by `ARRAYS`."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Arrays) -> Self | None:
        """Return the stage of a model file's arrays, or None if these have none of this kind.

        Raises
        ------
        InputError
            If an array has another type or shape, or there is no such stage.
        """

    @abstractmethod
    def describe(self, names: Sequence[str]) -> dict[str, Any]:
        """Return what it is, for JSON; `names` are those of a raw point's values, or none."""

    def facts(self, names: Sequence[str]) -> Facts:  # noqa: ARG002  (for those that show them)
        """Return rows for people: what a point has, and what becomes of it."""
        return (
            ("features", f"{self.n_features:,}"),
            ("features D", f"{self.n_outputs:,}: the model {self.does}"),
        )

    @property
    def signal(self) -> Signal | None:
        """What a raw point is where it is samples of a signal."""
        return None

    @property
    def drawn_shape(self) -> Shape | None:
        """Height and width as which a raw point is drawn: an image's, or of one channel 1 high."""
        one = self.signal is not None and self.signal.channels == 1
        return (1, self.n_features) if one else None

    def seen(self, x: NDArray[Any]) -> Seen | None:  # noqa: ARG002
        """Return what it looks at in a raw point (features,); None where it has no picture."""
        return None

    @property
    def matrix(self) -> Float64 | None:
        """What it is as a matrix (D, features), or None where no matrix does the same."""
        return None

    def fed_for(self, x: NDArray[Any], inputs: InputQuantizer) -> NDArray[np.uint8] | None:  # noqa: ARG002
        """Return what the device is fed, (n, features), that becomes inputs x, (n, D), or nearly.

        Parameters
        ----------
        x : ndarray of shape (n, D)
            Inputs of the classifier's own stages, 0..``inputs.maximum``.
        inputs : InputQuantizer
            As for `integer_stages`.

        Returns
        -------
        ndarray or None
            None where nobody knows such points; an export then tests itself with `examples`.
        """
        return None

    def examples(self, count: int) -> NDArray[np.uint8]:
        """Return what a device may be fed, (count, features), the same ones each time.

        They are drawings where points are images, else windows of a signal.
        """
        shape = self.drawn_shape
        if shape is not None and min(shape) > 1:
            return drawings(*shape, count)
        channels = self.n_channels or 1
        return signals(self.n_features // channels, channels, count)

    @property
    def keeps_range(self) -> bool:
        """Whether its values have the one range of a raw point's; see `scale`."""
        return self.scale is None

    @property
    def whole_maximum(self) -> int | None:
        """The largest of its features where these are whole numbers from 0 on.

        They are then the inputs of classifiers as they are. None where those choose bits for them.
        """
        return None

    @property
    def one_range(self) -> bool:
        """Whether all of its features become bytes alike, by one range.

        That is the one of raw points where it keeps that, else that of all features together, which
        rest at its begin.
        """
        return self.keeps_range

    @property
    def activity_sizes(self) -> Sizes:
        """How many shares its integer stages tell of; see `Activity`."""
        return {}

    @property
    def n_channels(self) -> int | None:
        """Channels that a raw point's values are of in turn, each with a range of its own.

        None where all values have one range, which is that of the classifier's inputs.
        """
        return None if self.scale is None else len(self.scale.zero)

    def raw_ends(self, *ends: Float64) -> tuple[Float64, ...]:
        """Return the ends of raw values of each channel, or of all, of those of features (D,)."""
        if self.scale is None:
            return tuple(end[:1] for end in ends)
        zero, end = self.scale.zero, self.scale.end
        return np.minimum(zero, end), np.maximum(zero, end)

    def device_inputs(self, inputs: InputQuantizer) -> InputQuantizer:
        """Return what makes the bytes that the device is fed, (features,), of raw points.

        Parameters
        ----------
        inputs : InputQuantizer
            As for `integer_stages`.
        """
        n = self.n_features
        if self.scale is not None:
            zeros, steps = (np.resize(each, n) for each in (self.scale.zero, self.scale.step))
            return InputQuantizer(zeros, steps, self.scale.maximum)
        finer = inputs.maximum / BYTE_MAXIMUM
        zero, step = float(inputs.zero[0]), float(inputs.step[0]) * finer
        return InputQuantizer(np.full(n, zero), np.full(n, step), BYTE_MAXIMUM)
