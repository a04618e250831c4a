"""The features with which a classifier can be trained, and the text that requests them.

The text is a list of terms, separated by commas. ``deskew`` and ``crop:20x20`` prepare images; the
first other term begins with the word for a kind of features, or names features of windows. A kind's
`FeatureRequest` declares its options, and the options that exclude it; the request for convolutions
is in the folder of their training.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, Self

from protonn_edge.chain.feature_stage import FeatureStage, Shape
from protonn_edge.features.audio.clips import DEFAULT_RATE
from protonn_edge.features.audio.clips import fitted_to as audio_fitted_to
from protonn_edge.features.audio.integers import IntegerAudio
from protonn_edge.features.audio.onset import THRESHOLDS
from protonn_edge.features.average_pooling.integers import AveragePooling
from protonn_edge.features.convolution.train.request import ConvolutionRequest
from protonn_edge.features.gradients.integers import DIRECTIONS, IntegerGradients
from protonn_edge.features.gradients.making import fitted_to as with_fitted_shift
from protonn_edge.features.gradients.making import gradient_features
from protonn_edge.features.images.cropped_image import shape_text
from protonn_edge.features.window_features.integers import IntegerWindowFeatures
from protonn_edge.features.window_features.making import fitted_to
from protonn_edge.features.window_features.windows import KINDS, FeatureSet
from protonn_edge.training import features
from protonn_edge.training import refusals as rows
from protonn_edge.training.augmentation import SignalMovement, SoundMovement
from protonn_edge.training.parameters import FeatureParameters

_CELLS_SEARCHED = (4, 5, 3)  # numbers of cells per side
_SUMMED = rows.Refusal(lambda case: IntegerGradients.kind in case.kinds, "gradients are summed")


@dataclass(frozen=True, kw_only=True, eq=False)
class GradientRequest(features.ImageRequest):
    """Sums of gradients over `cells`, up to 8 rows and columns, in 4 or 8 `directions`."""

    kind: ClassVar[str] = IntegerGradients.kind
    word: ClassVar[str] = "gradients"
    form: ClassVar[str] = "gradients:4x4 or gradients:4x4/4"
    refusals: ClassVar[tuple[rows.Refusal, ...]] = (
        rows.models_all_at_once(IntegerGradients.kind, "gradients"),
        *rows.refuse_each(
            _SUMMED.when,
            "gradients cannot be summed, because <but>; leave {features} out",
            rows.SPARSE,
            rows.IN_BLOCKS,
        ),
        *rows.unclipped(_SUMMED, why=", and the bytes of their sums are not clipped"),
    )

    cells: Shape
    directions: int = 8

    @classmethod
    def read(cls, terms: Sequence[str], **image: Any) -> Self:
        """Read the request from its only term."""
        term = features.only_term(terms)
        cells, directions = features.sides_of(term, cls.form)
        if directions not in (None, *DIRECTIONS):
            raise features.unread(term, f"has {directions} directions, but must have 8 or 4")
        return cls(cells=cells, directions=directions or cls.directions, **image)

    @classmethod
    def alternatives(cls, shape: Shape) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield a few numbers of cells per side that the image can have."""
        for n in _CELLS_SEARCHED:
            cells = (min(shape[0], n), min(shape[1], n))
            yield f"{cls.word}:{shape_text(cells)}", {"clip": 0.0}

    def stage_for(self, settings: FeatureParameters, given: features.FeatureData) -> FeatureStage:
        """Return sums of gradients."""
        pixels = features.pixel_scale(given)
        numbers = *self.shapes(settings), self.cells, self.directions
        made = gradient_features(*numbers, pixels, deskew=self.deskew)
        return with_fitted_shift(given.points, made)


_PIXELS_SEARCHED = (2, 3)  # approximate side of an area
_POOLED = rows.Refusal(lambda case: AveragePooling.kind in case.kinds, "images are pooled")


@dataclass(frozen=True, kw_only=True, eq=False)
class PoolingRequest(features.ImageRequest):
    """Averages over areas of an image: `shape` is their number in height and width."""

    kind: ClassVar[str] = AveragePooling.kind
    word: ClassVar[str] = "pool"
    form: ClassVar[str] = "pool:4x4"
    refusals: ClassVar[tuple[rows.Refusal, ...]] = (
        rows.Refusal(
            lambda case: AveragePooling.kind in case.kinds and case.sparse,
            "the images are pooled to averages, but the points are sparse; give dense images",
        ),
        *rows.unclipped(_POOLED),
    )

    shape: Shape

    @property
    def all_at_once(self) -> bool:
        """Whether the request needs all training points at once."""
        return self.deskew

    @classmethod
    def read(cls, terms: Sequence[str], **image: Any) -> Self:
        """Read the request from its only term."""
        return cls(shape=features.two_of(features.only_term(terms), cls.form), **image)

    @classmethod
    def alternatives(cls, shape: Shape) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield areas of about 2x2 and 3x3 pixels."""
        for n in _PIXELS_SEARCHED:
            areas = tuple(-(-side // n) for side in shape)
            yield f"{cls.word}:{shape_text((areas[0], areas[1]))}", {"clip": 0.0}

    def continues(self, stage: FeatureStage | None, settings: FeatureParameters) -> bool:
        """Return whether the initial model pools its images in the same way."""
        if not isinstance(stage, AveragePooling) or settings.image_shape is None:
            return False
        there = (stage.image_shape, stage.cropped_shape, stage.shape)
        same = (*self.shapes(settings), self.shape) == there
        return same and self.deskew == (stage.deskewed is not None)

    def stage_for(self, settings: FeatureParameters, given: features.FeatureData) -> FeatureStage:
        """Return average pooling."""
        scale = features.pixel_scale(given) if self.deskew else None
        return AveragePooling(*self.shapes(settings), self.shape, scale)


_ONSET = "onset:"
_DEFAULT_ONSET = 4
_HEARD = rows.Refusal(
    lambda case: IntegerAudio.kind in case.kinds, "energies of sound are computed"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class AudioRequest(features.FeatureRequest):
    """Energies of sound in bands and frames, `sizes`; clips may begin at a level."""

    kind: ClassVar[str] = IntegerAudio.kind
    word: ClassVar[str] = "audio"
    form: ClassVar[str] = "audio:12x20"
    of_samples: ClassVar[bool] = True
    movement: ClassVar[SignalMovement] = SoundMovement(
        0.025, speed=1.35, gain=1.5, noise=0.0, equalizer=4.0
    )
    refusals: ClassVar[tuple[rows.Refusal, ...]] = (
        rows.models_all_at_once(IntegerAudio.kind, "clips of sound"),
        rows.Refusal(
            lambda case: (
                case.asked is not None
                and case.asked.kind == IntegerAudio.kind
                and case.settings.window_shape is not None
                and case.settings.window_shape[1] > 1
            ),
            "energies of sound need clips of one channel, but {window_shape} is "
            "{settings.window_shape[0]}x{settings.window_shape[1]}, with several channels; give "
            "clips of one channel",
        ),
        *rows.unclipped(_HEARD, why=", and energies are not clipped"),
    )

    sizes: Shape
    onset: int | None = None

    @classmethod
    def read(cls, terms: Sequence[str], **image: Any) -> Self:
        """Read the sizes, and the level at which clips begin, from terms."""
        onsets = [term for term in terms[1:] if term.startswith(_ONSET)][:1]
        term = features.only_term([each for each in terms if each not in onsets])
        sizes = features.two_of(term, cls.form)
        return cls(sizes=sizes, onset=_level(onsets[0]) if onsets else None, **image)

    @property
    def level(self) -> int:
        """The level at which clips begin."""
        return self.onset or _DEFAULT_ONSET

    def stage_for(self, settings: FeatureParameters, given: features.FeatureData) -> FeatureStage:
        """Return energies of sound."""
        rate = DEFAULT_RATE if settings.sample_rate is None else float(settings.sample_rate)
        return audio_fitted_to(given.points, *self.sizes, rate, self.level)


def with_onset(text: str, level: int) -> str:
    """Return the text that requests features of sound, with the level at which clips begin."""
    return f"{text},{_ONSET}{level}"


def _level(term: str) -> int:
    text, (low, high) = term.removeprefix(_ONSET).strip(), THRESHOLDS
    if not text.isdecimal() or not low <= int(text[:9]) <= high:
        raise features.unread(term, f"must have a level of {low} to {high}, such as onset:6")
    return int(text)


_OF_SAMPLES = frozenset((IntegerWindowFeatures.kind, IntegerAudio.kind))
_OF_WINDOWS = _OF_SAMPLES | {ConvolutionRequest.kind}


@dataclass(frozen=True, kw_only=True, eq=False)
class WindowRequest(features.FeatureRequest):
    """Some features of each channel of a window."""

    kind: ClassVar[str] = IntegerWindowFeatures.kind
    form: ClassVar[str] = "mean,max,bands:4"
    of_samples: ClassVar[bool] = True
    refusals: ClassVar[tuple[rows.Refusal, ...]] = (
        rows.models_all_at_once(IntegerWindowFeatures.kind, "windows of samples"),
        rows.Refusal(
            lambda case: case.settings.window_shape is not None and not case.kinds & _OF_WINDOWS,
            "{window_shape} is given, but no features of windows are requested; name features "
            "with {features}, or leave {window_shape} out",
        ),
        *rows.unused(
            "sample_rate",
            lambda case: case.asked is None or not case.asked.of_samples,
            "no features of windows are requested with {features}",
        ),
        *rows.refuse_each(
            lambda case: bool(case.kinds & _OF_SAMPLES),
            "features of windows cannot be computed, because <but>; leave {features} out",
            rows.SPARSE,
            rows.AUGMENTED,
            rows.IN_BLOCKS,
        ),
    )

    kinds: FeatureSet

    @classmethod
    def read(cls, terms: Sequence[str], **image: Any) -> Self:
        """Read the features that the terms name."""
        return cls(kinds=FeatureSet.of(",".join(terms)), **image)

    def stage_for(self, settings: FeatureParameters, given: features.FeatureData) -> FeatureStage:
        """Return features of windows."""
        shape = settings.window_shape or (given.points.shape[1], 1)
        return fitted_to(given.points, self.kinds, shape, settings.sample_rate)


IMAGES: tuple[rows.Refusal, ...] = (
    *rows.refuse_each(
        lambda case: isinstance(case.asked, features.ImageRequest) and case.asked.deskew,
        "only dense images that fit in memory can be deskewed, but <but>; leave deskew out, or "
        "give such images",
        rows.SPARSE,
        rows.IN_BLOCKS,
    ),
    rows.Refusal(
        lambda case: type(case.asked) is features.ImageRequest,
        "{features} is {settings.features}, which prepares images but computes no features; add "
        "features, such as pool:4x4 or gradients:4x4",
    ),
    rows.Refusal(
        lambda case: (
            case.asked is not None
            and case.asked.of_images
            and case.settings.image_shape is None
            and not (case.asked.of_samples and case.settings.window_shape)
        ),
        "{features} is {settings.features}, but the shape of the image is not given; give its "
        "height and width with {image_shape}",
    ),
)


COPIES: tuple[rows.Refusal, ...] = (
    rows.all_at_once("copies"),
    rows.Refusal(
        lambda case: (
            case.settings.background_noise is not None
            and (
                case.settings.copies == 0
                or not case.kinds & _OF_WINDOWS
                or case.settings.image_shape is not None
            )
        ),
        "{background_noise} is mixed only into copies of windows and clips; set {copies} above 0 "
        "and {features} to features of windows or clips, or leave {background_noise} out",
    ),
    *rows.refuse_each(
        lambda case: case.settings.copies > 0,
        "{copies} is {settings.copies}, but <but>; leave {copies} out",
        rows.LABEL_SETS,
        rows.SPARSE,
        rows.IN_BLOCKS,
        rows.AUGMENTED,
        rows.Refusal(
            lambda case: (
                case.settings.image_shape is None
                and (case.asked is None or not case.asked.of_samples)
            ),
            "copies are moved at random, which is possible only for images, windows of samples and "
            "clips of sound, and neither {image_shape} nor {features} declares the points as one "
            "of these",
        ),
    ),
)


REQUESTS: list[type[features.FeatureRequest]] = [
    GradientRequest,
    PoolingRequest,
    ConvolutionRequest,
    AudioRequest,
    WindowRequest,
]


def read_features(given: str | FeatureStage) -> features.FeatureRequest:
    """Return the request that a text describes, or that gives a stage.

    Raises `InputError`, with the term, if a term cannot be read or combined with the others.
    """
    if not isinstance(given, str):
        return features.GivenStage(stage=given)
    image: dict[str, Any] = {}
    terms = []
    for term in map(str.strip, given.split(",")):
        if term == "deskew":
            image["deskew"] = True
        elif term.startswith("crop:"):
            image["cropped_shape"] = features.two_of(term, "crop:20x20")
        else:
            terms.append(term)
    if not terms:
        return features.ImageRequest(**image)
    word = terms[0].partition(":")[0].strip()
    kind = next((each for each in REQUESTS if each.word == word), WindowRequest)
    if kind is WindowRequest and word not in KINDS:
        allowed = ", ".join(
            (*KINDS, *(each.word for each in REQUESTS if each.word), "deskew", "crop")
        )
        raise features.unread(terms[0], f"is not one of {allowed}")
    if image and not kind.of_images:
        term = next(each for each in map(str.strip, given.split(",")) if each not in terms)
        raise features.unread(term, f"is for images, but {terms[0]!r} is for windows of samples")
    return kind.read(terms, **image)


def refusals() -> tuple[rows.Refusal, ...]:
    """Return the refused combinations of all kinds of features, images first."""
    return (*IMAGES, *COPIES, *chain.from_iterable(each.refusals for each in REQUESTS))


def alternatives(settings: FeatureParameters) -> Mapping[str, Mapping[str, Any]]:
    """Return the settings, by name, that a search tries unless features are requested.

    Parameters that are incompatible with the features get their only possible values.
    """
    variants: dict[str, Mapping[str, Any]] = {features.NO_FEATURES: {}}
    asked = settings.asked
    if settings.image_shape is None:
        return variants
    cropped = asked.cropped_shape if isinstance(asked, features.ImageRequest) else None
    before = f"{settings.features}," if asked is not None else ""
    if asked is not None:
        variants.clear()  # images are to be prepared, which is only possible with features
    for kind in REQUESTS:
        for text, others in kind.alternatives(cropped or settings.image_shape):
            variants[text] = {"features": before + text, **others}
    return variants
