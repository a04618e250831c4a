"""Requests for features, parsed from a text; see `protonn_edge.learn.requests`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from protonn_edge.learn.augmentation import SignalMovement
from protonn_edge.model.features import Features
from protonn_edge.model.registry import FEATURE_REQUESTS
from protonn_edge.model.shapes import Shape
from protonn_edge.system.checks import check
from protonn_edge.system.errors import InputError, shortened

if TYPE_CHECKING:
    from protonn_edge.data.naming import Notice
    from protonn_edge.data.points.dataset import Dataset
    from protonn_edge.learn.objective import Loss
    from protonn_edge.learn.points import Float32, Move
    from protonn_edge.learn.training_request import TrainingRequest

NO_FEATURES = "none"
"""The name of raw points, without features, in a search."""

AUTO = "auto"
"""The features of windows that `protonn_edge.learn.found_features` finds."""

Settings = Any
"""Stands for `FeatureParameters`, whose module imports this one."""

LONGEST_WINDOW = 256
"""The most samples of a window of which there are features; longer ones are sounds."""

# of arrays that are taken for windows without more evidence: samples, also for each channel
_LEAST_SAMPLES, _SAMPLES_A_CHANNEL = 8, 2

_TWO = re.compile(r"(\d{1,6})x(\d{1,6})(?:/(\d{1,2}))?")


class FeatureData(NamedTuple):
    """Raw points by which a stage is chosen and, if there are classes, from which it is learned."""

    points: Float32  # (n, features)
    weights: Float32 | None = None  # (n,): the weight of each point
    # (n,): class indices; points of no class have the index after the last one. Or numbers (n, 1)
    y: Any = None
    seed: int = 0  # of all random choices
    loss: Loss | None = None  # of numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class FeatureRequest:
    """A kind of feature, with the numbers of its text."""

    kind: ClassVar[str] = ""  # its name; empty if it computes nothing
    word: ClassVar[str] = ""  # the word at the beginning of its first term
    words: ClassVar[tuple[str, ...]] = ()  # the words that its first term may be, instead
    form: ClassVar[str] = ""  # the form of that term, with an example
    # the type of its points
    of_samples: ClassVar[bool] = False
    of_images: ClassVar[bool] = False
    learns_from_classes: ClassVar[bool] = False  # whether its stage is learned from labels
    can_be_clipped: ClassVar[bool] = False  # whether outliers of its values can be clamped
    # how copies of a signal are moved
    movement: ClassVar[SignalMovement] = SignalMovement(0.05, speed=1.2, gain=1.2, noise=0.1)

    @classmethod
    def read(cls, terms: Sequence[str], **image: object) -> Self:
        """Return the request in terms; the first one begins with `word`."""
        raise NotImplementedError

    @classmethod
    def alternatives(cls, _shape: Shape) -> Iterator[tuple[str, Mapping[str, object]]]:
        """Yield texts for images of a shape that a search tries, with the settings they need."""
        yield from ()

    @classmethod
    def of_windows(cls, _shape: Shape) -> Iterator[str]:
        """Yield texts for windows of a shape, samples by channels, that ``auto`` compares."""
        yield from ()

    def text_for(self, text: str, _dataset: Dataset, /) -> str:
        """Return the text of the request with what a data set states about its points.

        Raises `InputError` if the text states something else.
        """
        return text

    def refuse(self, case: TrainingRequest) -> None:
        """Refuse a training that these features cannot have; see `protonn_edge.learn.refusals`."""

    def augmentation(self, _share: float, /) -> Move | None:
        """Return what moves the features of a share of each step's points, if anything does."""
        return None

    def notices(self, _dataset: Dataset, /) -> Iterator[Notice]:
        """Yield what is assumed about the points of a data set."""
        yield from ()

    def continues(self, _stage: Features | None, _settings: Settings, /) -> bool:
        """Return whether it equals the features of the initial model."""
        return False

    def stage_for(self, settings: Settings, given: FeatureData) -> Features:
        """Return the stages; see `FeatureParameters.features_for`."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True, eq=False)
class ImageRequest(FeatureRequest):
    """Features of images, or their preparation."""

    of_images: ClassVar[bool] = True

    cropped_shape: Shape | None = None
    deskew: bool = False

    def shapes(self, settings: Settings) -> tuple[Shape, Shape]:
        """Return the shapes of images, or of windows, and of their crop."""
        shape = settings.image_shape or settings.window_shape
        assert shape is not None  # or it is refused
        return shape, self.cropped_shape or shape


@dataclass(frozen=True, kw_only=True, eq=False)
class GivenStage(FeatureRequest):
    """The stage of another model."""

    kind: ClassVar[str] = "given"

    stage: Features

    def stage_for(self, _settings: Settings, given: FeatureData) -> Features:
        """Return the stage, for points like its model's."""
        needed, n_features = self.stage.points.n_features, given.points.shape[1]
        check(
            needed == n_features,
            "the points",
            f"{n_features:,} values",
            f"{needed:,}, as the given model's features need",
            "use points like those that the model was trained on",
        )
        return self.stage


@dataclass(frozen=True, kw_only=True, eq=False)
class AutoRequest(FeatureRequest):
    """Features of windows that are still to be found; until then, the first ones of them."""

    word: ClassVar[str] = AUTO
    form: ClassVar[str] = AUTO
    of_samples: ClassVar[bool] = True
    can_be_clipped: ClassVar[bool] = True

    @classmethod
    def read(cls, terms: Sequence[str], **_: object) -> Self:
        """Read the request from its only term."""
        if only_term(terms).strip() != cls.word:
            raise unread(terms[0], f"must be {cls.form}")
        return cls()

    def stage_for(self, settings: Settings, given: FeatureData) -> Features:
        """Return the first features that are compared."""
        first = texts_for(settings, given.points)[0]
        stage: Features = settings.frozen(features=first).features_for(given)
        return stage


def texts_for(settings: Settings, points: Float32) -> Sequence[str]:
    """Return the texts that are compared for windows (n, features), the usual one first.

    Raises `InputError` if the windows are too long for features of windows.
    """
    shape = window_shape(settings, points)
    if shape[0] > LONGEST_WINDOW:
        raise InputError(
            f"the features '{AUTO}' are for windows of at most {LONGEST_WINDOW} samples, but these "
            f"have {shape[0]:,}; {in_place_of_long(shape)}"
        )
    requests = sorted(FEATURE_REQUESTS.values(), key=lambda each: bool(each.of_images))
    return list(dict.fromkeys(text for each in requests for text in each.of_windows(shape)))


def in_place_of_long(shape: Sequence[int]) -> str:
    """Return what to try for windows that are too long: features of sound, if there are any."""
    forms = [each.form for each in FEATURE_REQUESTS.values() if each.word == "audio"]
    sound = f"--features {forms[0]}" if forms and tuple(shape[1:]) == (1,) else ""
    return (sound and f"request features of sound with {sound}, or ") + "cut shorter windows"


def is_shaped_as_window(dataset: Dataset) -> bool:
    """Return whether an array has far more samples than channels; images are seldom so narrow."""
    if len(dataset.point_shape) != 2 or dataset.pixels:
        return False
    samples, channels = dataset.point_shape
    return samples >= max(_LEAST_SAMPLES, _SAMPLES_A_CHANNEL * channels)


def window_shape(settings: Settings, points: Float32) -> Shape:
    """Return the samples and channels of windows (n, features), by default of one channel."""
    shape: Shape | None = settings.window_shape
    return shape or (points.shape[1], 1)


def given_signals(case: TrainingRequest) -> bool:
    """Return whether features of samples are given, by themselves or by a model to start from."""
    given = [case.asked.stage] if isinstance(case.asked, GivenStage) else []
    given += [case.model.features] if case.model is not None and case.model.features else []
    return any(each.points.is_signal for each in given)


def is_of_windows(case: TrainingRequest) -> bool:
    """Return whether features of samples are requested or given; some can be of images, too."""
    asked = case.asked
    return given_signals(case) or (
        asked is not None
        and asked.of_samples
        and not (asked.of_images and case.settings.image_shape is not None)
    )


def sides_of(term: str, form: str) -> tuple[Shape, int | None]:
    """Return the numbers of a term such as "gradients:4x4/8", or refuse it."""
    match = _TWO.fullmatch(term.partition(":")[2].replace(" ", ""))
    if match is None or not int(match[1]) or not int(match[2]):
        raise unread(term, f"must look like {form}")
    return (int(match[1]), int(match[2])), None if match[3] is None else int(match[3])


def two_of(term: str, form: str) -> Shape:
    """Return the two numbers of a term without a third, as `sides_of`."""
    sides, more = sides_of(term, form)
    if more is not None:
        raise unread(term, f"must look like {form}")
    return sides


def only_term(terms: Sequence[str]) -> str:
    """Return the term of a kind of feature that takes only one."""
    first, *others = terms
    if others:
        raise unread(others[0], f"cannot be combined with {first}")
    return first


def unread(term: str, what: str) -> InputError:
    """Return the error for a term, as one sentence."""
    return InputError(
        f"the term {shortened(repr(term))} of the features {what}; correct or remove it"
    )
