"""What the conversions of all regressors share: scales, figures, and the rule of an estimator."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, ClassVar, Self

from protonn_edge.extensions.conversion.answered import NUMBERS, Answered
from protonn_edge.extensions.conversion.search import ModelSearch, Rule
from protonn_edge.policy.value.rule import Value


class NumberRule(Rule):
    """A base, before that of classes, for the rules of regressors."""

    answered: ClassVar[Answered] = NUMBERS
    not_tuned: ClassVar[str] = "predicts numbers"

    def for_numbers(self, _name: str) -> Self:
        """See `Rule.for_numbers`."""
        return self


def scale_of(search: ModelSearch) -> Value:
    """Return how scores of the models of a search become numbers."""
    value = search.policy.find(Value)
    assert value is not None
    return value


def as_numbers(rule: Any, kind: type[Any]) -> Any:
    """Return a rule of a single score as the class of its kind that answers with numbers."""
    return kind(**{each.name: getattr(rule, each.name) for each in fields(rule)})
