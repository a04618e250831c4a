"""What the parameters of every kind of feature share, as a part of a classifier and of settings.

A kind of feature is a dataclass like `FeatureParameters`: fields with defaults, what they may be,
the command line's names for them, what they do not go with, and what makes the stage of them. It
is a base of `AllFeatures`, and so of every classifier and of `TrainingSettings`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from protonn_edge.stages.feature_stage import FeatureStage
from protonn_edge.training.points import Float32
from protonn_edge.training.refusals import Refusal


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureParameters:
    """No parameters, and no features.

    A subclass says what is its own; what its bases have is added.

    Attributes
    ----------
    asked_by : dict of str to str
        The parameter that asks for a kind of feature if it is not None, by the kind.
    refusals : tuple of Refusal
        What cannot be combined, beside the rows of `protonn_edge.training.compatibility`.
    flags : dict of str to tuple of two str
        What the command line calls the parameters that it has, and its help.
    """

    asked_by: ClassVar[dict[str, str]] = {}
    refusals: ClassVar[tuple[Refusal, ...]] = ()
    flags: ClassVar[dict[str, tuple[str, str]]] = {}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("asked_by", "flags", "_parameter_constraints"):
            tables = [vars(cls).get(name, {}), *(getattr(base, name, {}) for base in cls.__bases__)]
            merged = {key: value for table in reversed(tables) for key, value in table.items()}
            in_order = {key: merged[key] for table in tables for key in table}
            setattr(cls, name, in_order)
        rows = [vars(cls).get("refusals", ()), *(getattr(b, "refusals", ()) for b in cls.__bases__)]
        cls.refusals = tuple(dict.fromkeys(row for some in rows for row in some))

    @property
    def kinds_asked(self) -> tuple[str, ...]:
        """The kinds of features that the parameters ask for."""
        return tuple(kind for kind, name in self.asked_by.items() if getattr(self, name) is not None)

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
