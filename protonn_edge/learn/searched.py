"""The search space of a kind of classifier, independent of the search library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Among:
    """One of several values."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Between:
    """A number from `low` to `high`, drawn log-uniformly; an integer if both ends are integers."""

    low: float
    high: float


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


FEATURES = "feature_stage"
"""The name of the features in a trial's settings."""


KIND = "classifier"
"""The name of the kind of classifier in a trial's settings, if several are searched."""


def settings_of_kind(settings: Mapping[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """Return the kind of a trial, if several are searched, and the settings that it has."""
    kind = settings.get(KIND)
    return kind, {name.rpartition(".")[2]: settings[name] for name in settings if name != KIND}


def described(settings: Mapping[str, Any], columns: Mapping[str, tuple[str, ...]]) -> str:
    """Return the settings of a trial that have a column each, its sizes, by their names."""
    alone = (names[0] for names in columns.values() if len(names) == 1)
    return ", ".join(f"{name} {shown(settings[name])}" for name in alone if name in settings)


def shown(value: object) -> str:
    """Return a setting as text."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


FEATURES_SEARCHED: Mapping[str, Among | Between] = {
    "clip": Among((0.0, 0.02)),
}
"""The search space of the parameters that all kinds of classifiers share."""

FEATURES_BEGUN: Mapping[str, object] = {"clip": 0.0}
"""Their values in the first trials."""
