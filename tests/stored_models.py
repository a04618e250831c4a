"""Small models of every kind, feature and rule, as files may have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import MISSING, fields
from functools import cache
from typing import Any

from chains import replace
from convolution_factory import random_layers
from convolution_factory import random_model as random_convolutional_model
from extension_parts import additions
from kinds.kind import kind_of, kinds_with_models
from model_factory import (
    drawn_kernels_of,
    random_gradients_model,
    random_model,
    random_pooling_model,
    random_window_model,
    window_features_of,
)

from protonn_edge.features.gradients.making import gradient_features
from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.model import Model
from protonn_edge.model.policy import FloatRule, with_rules, without_rules
from protonn_edge.model.rule_kinds import rule_kinds
from protonn_edge.model.statistics import Normalizer
from protonn_edge.system.errors import InputError

RULES: dict[str, Any] = {kind.name: kind.rule() for kind in rule_kinds()}
NUMBERS = (0.5, 1.0, 1)
RECORD = {
    "note": "\u202e \U0001f600 ü",
    "settings": {"image_shape": [3, 4], "projection_dim": 5, "seed": 0},
    "accuracy": 0.5,
}


@cache
def rules_of(name: str) -> tuple[FloatRule, ...]:
    """Return a rule with a number in each field and, if it differs, one with those needed alone."""
    rule = RULES[name]
    needed = [each.name for each in fields(rule) if each.default is MISSING]
    every = [each.name for each in fields(rule)]
    return tuple(dict.fromkeys([_made_with(rule, every), _made_with(rule, needed or every[:1])]))


def _made_with(rule: Any, names: list[str]) -> FloatRule:
    for number in NUMBERS:
        with suppress(InputError):
            return rule(**dict.fromkeys(names, number))  # type: ignore[no-any-return]
    raise AssertionError(f"{rule.__name__} accepts none of {NUMBERS} in its fields")


@cache
def model_with(*rules: FloatRule) -> Model:
    """Return a model with rules; `InputError` if no model may have them."""
    refusals: list[InputError] = []
    for classes in (4, 1):
        model = random_model(features=20, prototypes=20, classes=classes)
        try:
            return with_rules(without_rules(model), *rules)  # type: ignore[no-any-return]
        except InputError as error:
            refusals.append(error)
    raise refusals[0]


def _windows(rate: float | None) -> Model:
    features = window_features_of("mean,deviation,max,change,crossings:3,bands:2", 16, 2)
    return random_window_model(replace(features, points=replace(features.points, rate=rate)))


def _made() -> Iterator[tuple[str, Model]]:
    plain = random_model(1)
    names = tuple(f"feature {i}" for i in range(12))
    yield "prototypes", replace(plain, record=RECORD, feature_names=names)
    yield "one of each", random_model(2, features=1, projections=1, prototypes=1, classes=2)
    yield "four bits", replace(plain, projection_bits=4)
    yield "floats alone", replace(plain, normalizer=Normalizer.identity(12, "l2"))
    yield "few near", replace(plain, clipped=True, cutoff=1 / 128)
    for kind in kinds_with_models():
        yield kind, kind_of(kind).random_model(3)
    yield "averages", random_pooling_model(average_pooling((5, 6), (3, 4), (2, 3)))
    deskewed = average_pooling((5, 6), (5, 6), (2, 3), PixelScale(255.0, -1.0), deskew=True)
    yield "deskewed images", random_pooling_model(deskewed)
    gradients = gradient_features((5, 6), (5, 5), (2, 1), 4, deskew=True)
    yield "gradients", random_gradients_model(gradients)
    yield "layers", random_convolutional_model(random_layers(3))
    yield "windows", _windows(None)
    yield "kernels", random_window_model(drawn_kernels_of(16, 2, 3))
    yield "windows at a rate", _windows(50.0)
    for name in RULES:
        for number, rule in enumerate(rules_of(name)):
            yield f"{name} {number}", model_with(rule)


@cache
def stored_models() -> dict[str, Model]:
    """Return the models by what is special about them."""
    others: dict[str, Callable[[], Model]] = additions("stored models")
    return {**dict(_made()), **{name: made() for name, made in others.items()}}
