"""The features with which a classifier can be trained, and the text that requests them.

The text is a list of terms, separated by commas. ``deskew`` and ``crop:20x20`` prepare images; the
first other term begins with the word for a kind of features, or names features of windows. A kind's
`FeatureRequest` is in its folder, and declares its options and the options that exclude it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

from protonn_edge.learn import features
from protonn_edge.learn import refusals as rows
from protonn_edge.learn.parameters import FeatureParameters
from protonn_edge.model.features import Features
from protonn_edge.model.registry import FEATURE_REQUESTS

REQUESTS: list[type[features.FeatureRequest]] = [*FEATURE_REQUESTS.values()]
"""The requests of all kinds of features, in the order in which a search tries them."""


def _given_signals(case: rows.TrainingRequest) -> bool:
    """Return whether features of samples are given, by themselves or by a model to start from."""
    given = [case.asked.stage] if isinstance(case.asked, features.GivenStage) else []
    given += [case.model.features] if case.model is not None and case.model.features else []
    return any(each.points.is_signal for each in given)


def is_of_windows(case: rows.TrainingRequest) -> bool:
    """Return whether features of samples are requested or given."""
    return _given_signals(case) or (case.asked is not None and case.asked.of_samples)


def _are_windows_alone(case: rows.TrainingRequest) -> bool:
    """Return whether these features may not be of images."""
    asked = case.asked
    of_samples = asked is not None and asked.of_samples and not asked.of_images
    return _given_signals(case) or of_samples


IMAGES: tuple[rows.Refusal, ...] = (
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
    rows.Refusal(
        lambda case: (
            case.settings.image_shape is not None
            and (case.settings.window_shape is not None or _are_windows_alone(case))
        ),
        "points are either images or windows of samples, but {image_shape} is given with the shape "
        "or the features of windows; leave one of the two out",
    ),
)


COPIES: tuple[rows.Refusal, ...] = (
    rows.Refusal(
        lambda case: (
            case.settings.background_noise is not None
            and (
                case.settings.copies == 0
                or not is_of_windows(case)
                or case.settings.image_shape is not None
            )
        ),
        "{background_noise} is mixed only into copies of windows and clips; set {copies} above 0 "
        "and {features} to features of windows or clips, or leave {background_noise} out",
    ),
    rows.Refusal(
        lambda case: (
            case.settings.copies > 0
            and case.settings.image_shape is None
            and (case.asked is None or not case.asked.of_samples)
        ),
        "{copies} is {settings.copies}, but copies are moved at random, which is possible only for "
        "images, windows of samples and clips of sound; omit {copies}, or declare the points as "
        "one of these with {image_shape}, or with {window_shape} and {features}",
    ),
)


def read_features(given: str | Features) -> features.FeatureRequest:
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
    kind = next((each for each in REQUESTS if word in each.words or word == each.word), None)
    if kind is None:
        names = sorted(((*each.words, each.word) for each in REQUESTS), key=len, reverse=True)
        allowed = ", ".join([*filter(None, chain.from_iterable(names)), "deskew", "crop"])
        raise features.unread(terms[0], f"is not one of {allowed}")
    if image and not kind.of_images:
        term = next(each for each in map(str.strip, given.split(",")) if each not in terms)
        raise features.unread(term, f"is for images, but {terms[0]!r} is for windows of samples")
    return kind.read(terms, **image)


def refusals() -> tuple[rows.Refusal, ...]:
    """Return the refused combinations of all kinds of features, images first."""
    return (*IMAGES, *COPIES, *chain.from_iterable(each.refusals for each in REQUESTS))


def alternatives(settings: FeatureParameters) -> Mapping[str, Mapping[str, object]]:
    """Return the settings, by name, that a search tries unless features are requested.

    Parameters that are incompatible with the features get their only possible values.
    """
    variants: dict[str, Mapping[str, object]] = {features.NO_FEATURES: {}}
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
