"""What the checks of every kind of classifier run on, and where each kind's part comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from extension_parts import modules

from protonn_edge.learn.base import CLASSIFIERS, DeviceClassifier
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model

EVERY = tuple(CLASSIFIERS)
KINDS = tuple(name for name in EVERY if name != "protonn")
"""Those without ProtoNN, which is what most other tests are about."""

Damage = tuple[str, Any]
"""The name of an array, and what takes its place."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Kind:
    """The part of a kind of classifier, in the module ``kinds.KIND``.

    Attributes
    ----------
    random_model : callable
        Returns a float model of 12 features, given a seed and the number of classes.
    drawn : callable
        Returns a chain of random sizes, given a generator of random numbers, the numbers of its
        inputs and classes, and the largest input; it need not make sense.
    extremes : sequence of mapping
        Settings of `random_chain` for chains at the ends of what counters and loops hold.
    random_chain : callable
        Returns a chain of integers, given a seed and settings.
    without_integers : mapping of str to float
        Arrays of a model that has no integers if one of them is multiplied by 0, or if so much is
        added to it.
    sizes : mapping of str to sequence
        Settings of `random_model`, and values of each.
    folder : str
        The folder of the kind, if that is not its name.
    has_branches : bool
        Whether a point near a threshold may go another way in integers.
    scores_of : callable
        Returns the scores (n, L) of a model for normalized points (n, D), by the formula's text.
    damages : sequence of Damage
        Of the arrays of ``random_model()``, which only this kind refuses.
    settings : mapping
        With which it is trained on digits in no time.
    accuracy : float
        Which it then surpasses on digits that it has not seen.
    own_settings : mapping
        Some more, which the record says, too.
    weak : mapping
        Settings with which a frequent class is preferred to a rare one.
    facts : mapping
        Of the record of what was trained with `settings`, with what each must be.
    variants : mapping of str to sequence of str
        Options of the command line for models that differ in kind, by a name each; the first is
        taken where one is enough.
    flags : mapping of str to str
        Options of the command line, and how the record has them.
    steps : sequence of str
        What `inspect` lists of its way into integers.
    tuning : sequence of str
        Options of a search.
    refused_settings : sequence of tuple
        What it is not trained with, and words of the sentence that says so.
    reads_weights : bool
        Whether it has a matrix product.
    rejecting, calibrated : sequence of str, mapping
        Options and settings of a model that rejects points, where scores must be finer.
    stage : str
        The kind of its own last stage, if that is not its name.
    agreement : float
        The least share of points to which integers and floats of a random model answer alike.
    accuracy_tolerance : float
        Of the accuracy of its last report, where the model is scaled afterwards.
    model : str
        The kind of its models, if that is another one's.
    images_only : bool
        Whether it makes its own features, of dense points that are images.
    """

    classifier: type[DeviceClassifier]
    random_model: Callable[..., Model]
    drawn: Callable[[np.random.Generator, int, int, int], IntegerChain]
    random_chain: Callable[..., IntegerChain]
    extremes: Sequence[Mapping[str, Any]]
    without_integers: Mapping[str, float]
    sizes: Mapping[str, Sequence[Any]]
    folder: str = ""
    has_branches: bool = False
    scores_of: Callable[[Any, np.ndarray], np.ndarray]
    damages: Sequence[Damage] = ()
    settings: Mapping[str, Any]
    accuracy: float
    own_settings: Mapping[str, Any]
    weak: Mapping[str, Any]
    facts: Mapping[str, Any]
    variants: Mapping[str, Sequence[str]]
    flags: Mapping[str, str]
    steps: Sequence[str]
    tuning: Sequence[str]
    refused_settings: Sequence[tuple[Mapping[str, Any], str]]
    reads_weights: bool = True
    rejecting: Sequence[str] = ()
    calibrated: Mapping[str, Any] = field(default_factory=dict)
    stage: str = ""
    agreement: float = 0.95
    accuracy_tolerance: float = 0.0
    model: str = ""
    images_only: bool = False


def largest_weight(rng: np.random.Generator) -> int:
    """Return the largest weight of a random chain."""
    return int(rng.choice([1, 3, 7, 12, 40, 127]))


def kind_of(name: str) -> Kind:
    """Return what a kind brings along."""
    module = name.replace("-", "_")
    found = modules("kinds", module)
    assert found, (
        f"the classifier {name!r} of the registry has no part in its checks; write "
        f"tests/kinds/{module}.py with KIND"
    )
    kind: Kind = found[0].KIND
    return kind


def kinds_with_models() -> tuple[str, ...]:
    """Return those that have a kind of model to themselves."""
    return tuple(kind for kind in KINDS if not kind_of(kind).model)


def kinds_of_any_features() -> tuple[str, ...]:
    """Return those that do not want images."""
    return tuple(kind for kind in KINDS if not kind_of(kind).images_only)


def pairs_of(name: str, kinds: Sequence[str] = KINDS) -> list[tuple[str, int]]:
    """Return each kind with a number for each entry of one of its sequences."""
    return [(kind, number) for kind in kinds for number in range(len(getattr(kind_of(kind), name)))]
