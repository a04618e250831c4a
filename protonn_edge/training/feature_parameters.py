"""What the parameters of every kind of feature share, as a part of a classifier and of settings.

A kind of feature is a dataclass like `FeatureParameters`: declared fields, what they do not go
with, and what makes the stage of them. It is a base of `SharedParameters`, and so of every
classifier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from protonn_edge.chain.feature_stage import FeatureStage
from protonn_edge.training.parameters import Parameterized
from protonn_edge.training.points import Float32, Indices
from protonn_edge.training.refusals import Refusal

NO_FEATURES = "none"
"""What a search calls the classifier of raw points."""


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureParameters(Parameterized):
    """No parameters, and no features.

    A subclass says what is its own; what its bases have is added.

    Attributes
    ----------
    asked_by : dict of str to str
        The parameter that asks for a kind of feature if it is not None, by the kind.
    refusals : tuple of Refusal
        What cannot be combined, beside the rows of `protonn_edge.training.compatibility`.
    """

    asked_by: ClassVar[dict[str, str]] = {}
    refusals: ClassVar[tuple[Refusal, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        merged: dict[str, str] = {}
        for table in _own_first(cls, "asked_by"):
            merged |= {key: value for key, value in table.items() if key not in merged}
        cls.asked_by = merged
        rows = chain(*reversed(list(_own_first(cls, "refusals"))))  # the general ones first
        cls.refusals = tuple(dict.fromkeys(rows))

    @property
    def kinds_asked(self) -> tuple[str, ...]:
        """The kinds of features that the parameters ask for."""
        given = ((kind, getattr(self, name)) for kind, name in self.asked_by.items())
        return tuple(kind for kind, value in given if value is not None)

    def alternatives(self) -> Mapping[str, Mapping[str, Any]]:
        """Return what a search tries where the parameters ask for no features, by a name each.

        They are settings, with those that do not go with the features at what they then must be. A
        kind that has some of its own adds them to what ``super()`` has.
        """
        return {NO_FEATURES: {}}

    def feature_stage_for(
        self,
        points: Float32,  # noqa: ARG002
        weights: Float32 | None,  # noqa: ARG002
    ) -> FeatureStage | None:
        """Return the stage that the parameters ask for, or None.

        A kind that is not asked for calls ``super()``: so one after the other has its turn.

        Parameters
        ----------
        points : ndarray of shape (n, features), float32
            Raw points, whose ranges decide.
        weights : ndarray of shape (n,), float32, or None
            What each point counts.

        Raises
        ------
        InputError
            If the parameters do not fit the points.
        """
        return None

    def learned_stage_for(
        self,
        points: Float32,
        y: Indices,  # noqa: ARG002
        weights: Float32 | None,
        *,
        seed: int,  # noqa: ARG002
    ) -> FeatureStage | None:
        """Return the stage that the parameters ask for, learned if there is something to learn.

        A kind whose stage is not chosen by ranges alone has this method, too; what
        `feature_stage_for` returns then has the same shapes, but has learned nothing.

        Parameters
        ----------
        points, weights
            As of `feature_stage_for`.
        y : ndarray of shape (n,), int64
            Class indices; points of no class have the one behind the last.
        seed : int
            Everything random follows from it.

        Raises
        ------
        InputError
            If the parameters do not fit the points.
        """
        return self.feature_stage_for(points, weights)


def _own_first(cls: type, name: str) -> Iterator[Any]:
    """Yield what a class has of a name, and then what its bases have."""
    if name in vars(cls):
        yield vars(cls)[name]
    yield from (getattr(base, name) for base in cls.__bases__ if hasattr(base, name))
