"""The search space of a kind of classifier, independent of the search library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any


@dataclass(frozen=True)
class Among:
    """One of several values."""

    values: tuple[Any, ...]

    def joined(self, other: Among) -> Among:
        """Return a choice among the values of both."""
        return Among(tuple(dict.fromkeys((*self.values, *other.values))))


@dataclass(frozen=True)
class Between:
    """A number from `low` to `high`, drawn log-uniformly; an integer if both ends are integers."""

    low: float
    high: float

    def joined(self, other: Between) -> Between:
        """Return the range that spans both."""
        return Between(min(self.low, other.low), max(self.high, other.high))


@dataclass(frozen=True)
class SearchTask:
    """The constraints of a search: the data, the size limit and the fixed settings."""

    # training points of a fold; inputs and classes of the classifier
    n_points: int
    n_inputs: int
    n_classes: int
    parameter_bytes: int  # approximate size limit of the parameters
    # settings of the classifier that all trials share
    fixed: Mapping[str, object] = field(default_factory=dict)
    in_groups: bool = False  # whether the points come in groups, between which they can be shifted


@dataclass(frozen=True)
class SearchSpec:
    """The search space of a kind of classifier."""

    parameters: Mapping[str, Among | Between]  # ranges by the names of the classifier's parameters
    # the settings of the first trials; may include parameters that are not searched
    starts: tuple[Mapping[str, object], ...] = ()
    # settings that train a model of the same size quickly
    sketch: Mapping[str, object] = field(default_factory=dict)
    # training points that a sketch needs per unit of a parameter
    sketch_points: Mapping[str, int] = field(default_factory=dict)
    # headings for tables of trials with the parameters of each column, sizes first
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def described(self, settings: Mapping[str, object]) -> str:
        """Return the sizes of a trial, by the parameters' names."""
        alone = (names[0] for names in self.columns.values() if len(names) == 1)
        return ", ".join(f"{name} {shown(settings[name])}" for name in alone if name in settings)


FEATURES = "feature_stage"
"""The name of the features in a trial's settings."""


def among_features(each: Mapping[str, SearchSpec]) -> SearchSpec:
    """Add a choice among several kinds of features, by name, to their search spaces.

    The search begins with the first trial of each kind, followed by the others in turn.
    """
    first, *others = each.values()
    parameters: dict[str, Any] = {FEATURES: Among(tuple(each))}
    for searched in (first, *others):
        for name, drawn in searched.parameters.items():
            parameters[name] = drawn.joined(parameters.get(name, drawn))
    begun = [
        [{FEATURES: name, **start} for start in searched.starts] for name, searched in each.items()
    ]
    starts = [starts[0] for starts in begun if starts]
    for number, some in enumerate(zip_longest(*(starts[1:] for starts in begun))):
        start = some[number % len(some)]
        starts += [] if start is None else [start]
    columns = {**first.columns, "features": (FEATURES,)}
    return replace(first, parameters=parameters, starts=tuple(starts), columns=columns)


def with_class_weights(searched: SearchSpec) -> SearchSpec:
    """Return the search space including a choice of class weights, beginning with balanced ones."""
    weights = {"class_weight": Among(("balanced", None))}
    starts = tuple({**start, "class_weight": "balanced"} for start in searched.starts)
    return replace(searched, parameters={**searched.parameters, **weights}, starts=starts)


KIND = "classifier"
"""The name of the kind of classifier in a trial's settings, if several are searched."""

ANY = "any"
"""The name of all kinds together."""

BEST = "best"
"""The name of the best of all kinds, found in a limited time."""


def among_kinds(each: Mapping[str, SearchSpec]) -> SearchSpec:
    """Return the search space including the kind of classifier, by name.

    Parameters are prefixed with the name of their kind and a dot. The search begins with the starts
    of each kind, in turn.
    """
    parameters: dict[str, Among | Between] = {KIND: Among(tuple(each))}
    sketch: dict[str, Any] = {}
    points: dict[str, int] = {}
    begun: dict[str, list[dict[str, Any]]] = {}
    for kind, searched in each.items():
        parameters |= _of_kind(kind, searched.parameters)
        sketch |= _of_kind(kind, searched.sketch)
        points |= _of_kind(kind, searched.sketch_points)
        begun[kind] = [_of_kind(kind, start) for start in searched.starts]
    others = {name: value for starts in begun.values() for name, value in starts[0].items()}
    in_turn = zip_longest(*([{KIND: kind, **start} for start in begun[kind]] for kind in each))
    starts = [{**others, **start} for some in in_turn for start in some if start is not None]
    return SearchSpec(parameters, tuple(starts), sketch, points, {KIND: (KIND,)})


def _of_kind(kind: str, named: Mapping[str, object]) -> dict[str, Any]:
    return {f"{kind}.{name}": value for name, value in named.items()}


def settings_of_kind(settings: Mapping[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """Return the kind of a trial, if several are searched, and the settings that it has."""
    kind = settings.get(KIND)
    named = ((name.partition("."), value) for name, value in settings.items() if name != KIND)
    own = {
        (name if dot else owner): value
        for (owner, dot, name), value in named
        if not dot or owner == kind
    }
    return kind, own


def shown(value: object) -> str:
    """Return a setting as text."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


FEATURES_SEARCHED: Mapping[str, Among | Between] = {
    "clip": Among((0.0, 0.02)),
}
"""The search space of the parameters that all kinds of classifiers share."""

FEATURES_BEGUN: Mapping[str, object] = {"clip": 0.0}
"""Their values in the first trials."""
