"""What a search may draw for a kind of classifier, said without the library that searches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any


@dataclass(frozen=True)
class Among:
    """One of some values."""

    values: tuple[Any, ...]

    def joined(self, other: Among) -> Among:
        """Return one of the values of either."""
        return Among(tuple(dict.fromkeys((*self.values, *other.values))))


@dataclass(frozen=True)
class Between:
    """A number from `low` to `high`, drawn by its logarithm; whole if both ends are."""

    low: float
    high: float

    def joined(self, other: Between) -> Between:
        """Return what spans both."""
        return Between(min(self.low, other.low), max(self.high, other.high))


@dataclass(frozen=True)
class Room:
    """What a model is searched for.

    Attributes
    ----------
    n_points, n_inputs, n_classes : int
        Of the training points of a fold; inputs of the classifier.
    parameter_bytes : int
        About what there is room for.
    fixed : mapping
        Settings of the classifier that all trials share.
    in_groups : bool
        Whether the points come in groups, which they can be moved between.
    """

    n_points: int
    n_inputs: int
    n_classes: int
    parameter_bytes: int
    fixed: Mapping[str, Any] = field(default_factory=dict)
    in_groups: bool = False


@dataclass(frozen=True)
class Searched:
    """What is drawn for a kind of classifier.

    Attributes
    ----------
    parameters : mapping of str to Among or Between
        By the names of the classifier's parameters.
    starts : tuple of mapping
        The settings of the first trials; a parameter that is not drawn may be among them.
    sketch : mapping
        Settings with which a model that takes as much is trained at once.
    sketch_points : mapping of str to int
        Training points that a sketch needs for each unit of a parameter.
    columns : mapping of str to tuple of str
        Headings of tables of trials, and the parameters under each: sizes, alone, come first.
    """

    parameters: Mapping[str, Among | Between]
    starts: tuple[Mapping[str, Any], ...] = ()
    sketch: Mapping[str, Any] = field(default_factory=dict)
    sketch_points: Mapping[str, int] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def told(self, settings: Mapping[str, Any]) -> str:
        """Return the sizes of a trial, by the parameters' names."""
        alone = (names[0] for names in self.columns.values() if len(names) == 1)
        return ", ".join(f"{name} {shown(settings[name])}" for name in alone if name in settings)


FEATURES = "feature_stage"
"""What a trial calls the alternative that comes before its classifier."""


def among_features(each: Mapping[str, Searched]) -> Searched:
    """Return what is drawn where one of several kinds of features is, too.

    The search begins with the first start of each, and goes on with the others in turn.

    Parameters
    ----------
    each : mapping of str to Searched
        What is drawn for one kind of classifier with one alternative, by the alternatives' names;
        at least one.
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


KIND = "classifier"
"""What a trial calls its kind of classifier, where several are searched."""

ANY = "any"
"""The name of all kinds together."""


def among_kinds(each: Mapping[str, Searched]) -> Searched:
    """Return what is drawn where the kind of classifier is, too.

    Parameters have the name of their kind and a dot in front. The search begins with what it begins
    with for each kind, in turn.

    Parameters
    ----------
    each : mapping of str to Searched
        What is drawn for kinds of classifiers, by their names; at least one.
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
    return Searched(parameters, tuple(starts), sketch, points, {KIND: (KIND,)})


def _of_kind(kind: str, named: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{kind}.{name}": value for name, value in named.items()}


def settings_of_kind(settings: Mapping[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """Return the kind of a trial where several are searched, if it has any, and its own settings.

    Settings that have no kind in front are everyone's.
    """
    kind = settings.get(KIND)
    named = ((name.partition("."), value) for name, value in settings.items() if name != KIND)
    own = {
        (name if dot else owner): value
        for (owner, dot, name), value in named
        if not dot or owner == kind
    }
    return kind, own


def shown(value: Any) -> str:
    """Return a setting for people."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


FEATURES_SEARCHED: Mapping[str, Among | Between] = {
    "normalization": Among(("standard", "minmax")),
    "dead_zone": Among((0.0, 0.15)),
    "clip": Among((0.0, 0.02)),
}
"""What is drawn of the parameters that every kind of classifier has."""
