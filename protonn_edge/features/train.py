"""The features that a classifier can be trained with, and how a text asks for them.

A text is a list of terms, separated by commas. ``deskew`` and ``crop:20x20`` are about images; the
first of the others begins with the word of a kind of features, or names features of windows.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

from protonn_edge.chain.feature_stage import FeatureStage
from protonn_edge.features.audio.train import AudioRequest
from protonn_edge.features.average_pooling.train import PoolingRequest
from protonn_edge.features.convolution.train.request import ConvolutionRequest
from protonn_edge.features.gradients.train import GradientRequest
from protonn_edge.features.window_features.train import WindowRequest
from protonn_edge.features.window_features.windows import KINDS
from protonn_edge.training.features import (
    NO_FEATURES,
    FeatureRequest,
    GivenStage,
    ImageRequest,
    two_of,
    unread,
)
from protonn_edge.training.parameters import FeatureParameters
from protonn_edge.training.refusals import IN_BLOCKS, SPARSE, Case, Refusal, but


def _deskewed(case: Case) -> bool:
    return isinstance(case.asked, ImageRequest) and case.asked.deskew


IMAGES: tuple[Refusal, ...] = (
    *but(
        _deskewed,
        "images are to be deskewed, which needs dense images that fit in memory, but <but>; leave "
        "deskew out, or train on fewer points",
        SPARSE,
        IN_BLOCKS,
    ),
    Refusal(
        lambda case: type(case.asked) is ImageRequest,
        "{features} is {settings.features}, but no features are to be computed from the image; "
        "add some, such as pool:4x4 or gradients:4x4",
    ),
    Refusal(
        lambda case: (
            case.asked is not None and case.asked.of_images and case.settings.image_shape is None
        ),
        "{features} is {settings.features}, but the shape of the image is not given; give its "
        "height and width with {image_shape}",
    ),
)


REQUESTS: list[type[FeatureRequest]] = [
    GradientRequest,
    PoolingRequest,
    ConvolutionRequest,
    AudioRequest,
    WindowRequest,
]


def read_features(given: str | FeatureStage) -> FeatureRequest:
    """Return what a text asks for, or a stage.

    Raises `InputError` if a term cannot be read, or does not go with the others; it names the term.
    """
    if not isinstance(given, str):
        return GivenStage(stage=given)
    image: dict[str, Any] = {}
    terms = []
    for term in map(str.strip, given.split(",")):
        if term == "deskew":
            image["deskew"] = True
        elif term.startswith("crop:"):
            image["cropped_shape"] = two_of(term, "crop:20x20")
        else:
            terms.append(term)
    if not terms:
        return ImageRequest(**image)
    word = terms[0].partition(":")[0].strip()
    kind = next((each for each in REQUESTS if each.word == word), WindowRequest)
    if kind is WindowRequest and word not in KINDS:
        words = ", ".join(
            (*KINDS, *(each.word for each in REQUESTS if each.word), "deskew", "crop")
        )
        raise unread(terms[0], f"is none of {words}")
    if image and not kind.of_images:
        term = next(each for each in map(str.strip, given.split(",")) if each not in terms)
        raise unread(term, f"is for images, and {terms[0]} for windows of samples")
    return kind.read(terms, **image)


def refusals() -> tuple[Refusal, ...]:
    """Return the rows of all kinds of features, those of images first."""
    return (*IMAGES, *chain.from_iterable(each.refusals for each in REQUESTS))


def alternatives(settings: FeatureParameters) -> Mapping[str, Mapping[str, Any]]:
    """Return what a search tries; see `FeatureParameters.alternatives`."""
    found: dict[str, Mapping[str, Any]] = {NO_FEATURES: {}}
    asked = settings.asked
    if settings.image_shape is None:
        return found
    cropped = asked.cropped_shape if isinstance(asked, ImageRequest) else None
    before = f"{settings.features}," if asked is not None else ""
    if asked is not None:
        found.clear()  # something is to be done to images, so features are to be computed
    for kind in REQUESTS:
        for text, others in kind.alternatives(cropped or settings.image_shape):
            found[text] = {"features": before + text, **others}
    return found
