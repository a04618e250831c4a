"""Features before a classifier: parameters of all classifiers, and what they ask for.

What the text asks for is a `FeatureRequest`: see `protonn_edge.features.train`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from protonn_edge.chain.feature_stage import FeatureStage, Shape
from protonn_edge.chain.statistics import common_range
from protonn_edge.errors import InputError, shortened
from protonn_edge.features.deskew.deskew import PixelScale
from protonn_edge.features.window_features.stage import SAMPLE_RATES
from protonn_edge.system.lazy import later
from protonn_edge.training.parameters import (
    IMAGE_SHAPE,
    PASSES,
    WINDOW_SHAPE,
    Number,
    Parameterized,
    parameter,
)

if TYPE_CHECKING:
    from protonn_edge.training.points import Float32, Indices
    from protonn_edge.training.refusals import Refusal

_read_features = later("protonn_edge.features.train", "read_features")
_alternatives = later("protonn_edge.features.train", "alternatives")

NO_FEATURES = "none"
"""What a search calls the classifier of raw points."""

_TWO = re.compile(r"(\d{1,6})x(\d{1,6})(?:/(\d{1,2}))?")


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureParameters(Parameterized):
    """What is computed of a point, on the device too, before anything else.

    Parameters
    ----------
    features : str or FeatureStage, default=None
        Features to compute, as terms separated by commas; the model then has an input for each of
        them. Of images, ``"pool:4x4"`` averages them over areas, ``"gradients:4x4"`` sums gradients
        by direction over cells (``"gradients:4x4/4"``: 4 directions, which do not tell light from
        dark, instead of 8); either may begin with ``"deskew"`` and ``"crop:20x20"``, the part in
        the middle that counts. ``"conv:average2,5x3,8x3,max2"`` first learns the layers of a small
        network, see `protonn_edge.features.convolution.train.notation`; ``"bits:4/8"`` behind them
        are those of a weight, 8, 4 or 2, and of a value, 8 or 4. Of windows of samples,
        ``"mean,deviation,min,max,change,crossings,bands:4"``, or some of them; of clips of sound
        ``"audio:12x20"``, the energies of 12 bands in 20 frames, where ``"onset:6"`` is the mean
        difference of samples, in steps of a byte, above which a clip begins (4). Or the
        `feature_stage` of another model, which is taken as it is.
    image_shape : tuple of two int, default=None
        Height and width, where the features are the pixels of an image, row by row; a signal is an
        image of height 1.
    window_shape : tuple of two int, default=None
        Samples of a channel in a window, and channels; None is one channel.
    sample_rate : float, default=None
        Samples of a channel a second, kept in the model for sketches; of sound, None is 8,000.
    network_epochs : int, default=30
        Passes over the images in which layers are learned, the last 40 % of them on integers.
        Prototypes for a ProtoNN, as many and of as many projections as that has, else weighted
        sums are then their head; the classifier is trained on the bytes that the last layer gives.
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

    features: str | FeatureStage | None = parameter(
        None,
        str,
        FeatureStage,
        None,
        help="Features for the device to compute: of images pool:4x4, gradients:4x4 or "
        "conv:8x3,max2, with deskew or crop:20x20 before; of windows mean,max,bands:4; of sound "
        "audio:12x20; or those of a .npz model.",
        option="--features",
        common=True,
    )
    image_shape: Shape | None = parameter(
        None,
        IMAGE_SHAPE,
        None,
        help="Height and width of images, whose pixels are the points.",
        option="--image-shape",
        common=True,
    )
    window_shape: Shape | None = parameter(
        None,
        WINDOW_SHAPE,
        None,
        help="Samples and channels of a window, such as 128x3.",
        option="--window",
        common=True,
    )
    sample_rate: float | None = parameter(
        None,
        Number(float, *SAMPLE_RATES),
        None,
        help="Samples a second, for sketches.",
        option="--sample-rate",
        common=True,
    )
    network_epochs: int = parameter(
        30, PASSES, help="Passes over the images for learning convolutions."
    )
    network_moved_share: float = parameter(
        0.5, Number(float, 0, 1), help="Share of the images that are moved at random."
    )
    network_still_epochs: int = parameter(
        0,
        Number(int, 0, 1_000_000),
        help="The last passes over the images, in which none are moved.",
    )
    network_callback: Callable[[Any], object] | None = parameter(None, callable, None)

    @property
    def asked(self) -> FeatureRequest | None:
        """What the text asks for, if anything.

        Raises
        ------
        InputError
            If the text cannot be read.
        """
        if self.features is None:
            return None
        request: FeatureRequest = _read_features(self.features)
        return request

    def alternatives(self) -> Mapping[str, Mapping[str, Any]]:
        """Return what a search tries where no features are asked for, by a name each.

        They are settings, with those that do not go with the features at what they then must be.
        """
        found: Mapping[str, Mapping[str, Any]] = _alternatives(self)
        return found

    def feature_stage_for(self, points: Float32, weights: Float32 | None) -> FeatureStage | None:
        """Return the stage that is asked for, or None; one that is learned has learned nothing.

        Parameters
        ----------
        points : ndarray of shape (n, features), float32
            Raw points, whose ranges decide.
        weights : ndarray of shape (n,), float32, or None
            What each point counts.

        Raises
        ------
        InputError
            If the parameters do not fit the points.
        """
        asked = self.asked
        return None if asked is None else asked.stage_for(self, points, weights)

    def learned_stage_for(
        self, points: Float32, y: Indices, weights: Float32 | None, *, seed: int
    ) -> FeatureStage | None:
        """Return the stage that is asked for, learned if there is something to learn.

        Parameters
        ----------
        points, weights
            As of `feature_stage_for`.
        y : ndarray of shape (n,), int64
            Class indices; points of no class have the one behind the last.
        seed : int
            Everything random follows from it.

        Raises
        ------
        InputError
            If the parameters do not fit the points.
        """
        asked = self.asked
        return None if asked is None else asked.learned_for(self, points, y, weights, seed=seed)

    def keep_network(self, network: Any) -> None:
        """Keep the network that was learned, for a classifier that takes more than its layers."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FeatureRequest:
    """A kind of feature, with the numbers of its text.

    Attributes
    ----------
    all_at_once : bool
        Whether it needs all points of a training, which `partial_fit` does not have.
    """

    kind: ClassVar[str] = ""  # of its stage, in the registry
    word: ClassVar[str] = ""  # with which its first term begins
    form: ClassVar[str] = ""  # of that term, with an example
    # what points it is of
    of_samples: ClassVar[bool] = False
    of_images: ClassVar[bool] = False
    # what it cannot be combined with, beside the rows of `protonn_edge.training.compatibility`
    refusals: ClassVar[tuple[Refusal, ...]] = ()

    @property
    def all_at_once(self) -> bool:
        """Whether it needs all points of a training at once."""
        return True

    @classmethod
    def read(cls, terms: Sequence[str], **image: Any) -> Self:
        """Return what terms ask for, the first of which begins with `word`."""
        raise NotImplementedError

    @classmethod
    def alternatives(
        cls,
        shape: Shape,  # noqa: ARG003
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield texts for images of a shape that a search tries, with the settings they need."""
        yield from ()

    def continues(self, stage: FeatureStage | None, settings: FeatureParameters) -> bool:  # noqa: ARG002
        """Return whether it is what a model to start from has."""
        return False

    def stage_for(
        self, settings: FeatureParameters, points: Float32, weights: Float32 | None
    ) -> FeatureStage:
        """Return the stage; see `FeatureParameters.feature_stage_for`."""
        raise NotImplementedError

    def learned_for(
        self,
        settings: FeatureParameters,
        points: Float32,
        y: Indices,  # noqa: ARG002
        weights: Float32 | None,
        *,
        seed: int,  # noqa: ARG002
    ) -> FeatureStage:
        """Return the stage, learned; see `FeatureParameters.learned_stage_for`."""
        return self.stage_for(settings, points, weights)


@dataclass(frozen=True, kw_only=True, eq=False)
class ImageRequest(FeatureRequest):
    """Features of images, or what is done to images before."""

    of_images: ClassVar[bool] = True

    cropped_shape: Shape | None = None
    deskew: bool = False

    def shapes(self, settings: FeatureParameters) -> tuple[Shape, Shape]:
        """Return the shape of images, and that of the part that counts."""
        assert settings.image_shape is not None  # or it is refused
        return settings.image_shape, self.cropped_shape or settings.image_shape


@dataclass(frozen=True, kw_only=True, eq=False)
class GivenStage(FeatureRequest):
    """The stage of another model."""

    stage: FeatureStage

    @property
    def kind(self) -> str:  # type: ignore[override]
        """That of the stage."""
        return self.stage.kind

    def stage_for(
        self,
        settings: FeatureParameters,  # noqa: ARG002
        points: Float32,
        weights: Float32 | None,  # noqa: ARG002
    ) -> FeatureStage:
        """Return the stage, for points (n, features) like those of its model."""
        if self.stage.n_features != points.shape[1]:
            raise InputError(
                f"the features are of points with {self.stage.n_features:,} values, but these have "
                f"{points.shape[1]:,}; use points like those of the model that the features are of"
            )
        return self.stage


def pixel_scale(points: Float32, weights: Float32 | None) -> PixelScale:
    """Return how pixels of raw points become bytes."""
    return PixelScale.between(*common_range(points, weights))


def sides_of(term: str, form: str) -> tuple[Shape, int | None]:
    """Return the numbers of a term such as "gradients:4x4/8".

    Raises
    ------
    InputError
        If they are not given like that.
    """
    found = _TWO.fullmatch(term.partition(":")[2].replace(" ", ""))
    if found is None or not int(found[1]) or not int(found[2]):
        raise unread(term, f"has to be like {form}")
    return (int(found[1]), int(found[2])), None if found[3] is None else int(found[3])


def two_of(term: str, form: str) -> Shape:
    """Return the two numbers of a term that has no third, as `sides_of`."""
    sides, more = sides_of(term, form)
    if more is not None:
        raise unread(term, f"has to be like {form}")
    return sides


def only_term(terms: Sequence[str]) -> str:
    """Return the only term of a kind of feature that has no more."""
    first, *others = terms
    if others:
        raise unread(others[0], f"does not go with {first}")
    return first


def unread(term: str, what: str) -> InputError:
    """Return the error for a term, as one sentence."""
    return InputError(f"the term {shortened(repr(term))} of the features {what}; correct it")
