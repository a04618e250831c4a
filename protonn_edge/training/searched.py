"""What a search may draw for a kind of classifier, said without the library that searches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Among:
    """One of some values."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Between:
    """A number from `low` to `high`, drawn by its logarithm; whole if both ends are."""

    low: float
    high: float


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


def shown(value: Any) -> str:
    """Return a setting for people."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


FEATURES_SEARCHED: Mapping[str, Among | Between] = {
    "normalization": Among(("standard", "minmax")),
    "dead_zone": Among((0.0, 0.15)),
    "clip": Among((0.0, 0.02)),
}
"""What is drawn of the parameters that every kind of classifier has."""
