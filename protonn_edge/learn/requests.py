"""The features with which a classifier can be trained, and the text that requests them.

The text is a list of terms, separated by commas. ``deskew`` and ``crop:20x20`` prepare images; the
first other term begins with the word for a kind of features, or names features of windows. A kind's
`FeatureRequest` is in its folder, and declares its options and the options that exclude it.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from protonn_edge.learn import features
from protonn_edge.model.features import Features
from protonn_edge.model.registry import FEATURE_REQUESTS

REQUESTS: list[type[features.FeatureRequest]] = [*FEATURE_REQUESTS.values()]
"""The requests of all kinds of features, in the order in which a search tries them."""


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
    every: list[type[features.FeatureRequest]] = [*REQUESTS, features.AutoRequest]
    kind = next((each for each in every if word in each.words or word == each.word), None)
    if kind is None:
        names = sorted(((*each.words, each.word) for each in every), key=len, reverse=True)
        allowed = ", ".join([*filter(None, chain.from_iterable(names)), "deskew", "crop"])
        raise features.unread(terms[0], f"is not one of {allowed}")
    if image and not kind.of_images:
        term = next(each for each in map(str.strip, given.split(",")) if each not in terms)
        raise features.unread(term, f"is for images, but {terms[0]!r} is for windows of samples")
    return kind.read(terms, **image)
