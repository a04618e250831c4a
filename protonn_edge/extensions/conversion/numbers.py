"""What the conversions of all regressors share: scales, figures, and the rule of an estimator."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.extensions.conversion.answered import Answered
from protonn_edge.extensions.conversion.search import ModelSearch, Rule
from protonn_edge.learn.points import Float32
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.policy import FloatPolicy, with_rules
from protonn_edge.policy.value.figures import Interval, explained_share
from protonn_edge.policy.value.rule import Value
from protonn_edge.policy.value.train import value_of_scale
from protonn_edge.system.checks import check_shape
from protonn_edge.system.errors import InputError, InvalidValue

Numbers = NDArray[np.float64]

_MOST_DIGITS = 1e-9  # relative deviation of numbers that differ only by rounding


class NumberAnswers(Answered):
    """Numbers (n,) that are predicted for points."""

    read_as = "value"

    def policy(self, answers: Numbers) -> FloatPolicy:
        """Return a scale by which scores have the mean 0 and the deviation 1 for the points."""
        mean, deviation = float(answers.mean()), float(answers.std())
        if not deviation > _MOST_DIGITS * abs(mean):
            raise InvalidValue(
                "the estimator",
                f"it predicts {mean:g} for all points",
                "give points like those it was fitted on, or fit it again",
            )
        return FloatPolicy((value_of_scale(deviation, mean),))

    def of_integers(self, chain: IntegerChain, X: Float32) -> Numbers:
        """Return the numbers that an integer model predicts for raw points X (n, D)."""
        values = chain.policy.values(chain.scores(chain.quantize(X)))
        assert values is not None
        return values

    def of_labels(self, _estimator: object, y: ArrayLike, n: int) -> Numbers:
        """Return labels of n points as numbers (n,)."""
        labels = np.asarray(y)
        check_shape("labels", labels.shape, (n,))
        try:
            numbers: Numbers = labels.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"the labels are not numbers ({error}); give numbers") from error
        if labels.dtype.kind in "mM" or not np.isfinite(numbers).all():
            row = int(np.argmin(np.isfinite(numbers)))
            raise InvalidValue(f"label {row:,}", "not a finite number", "correct or drop the point")
        return numbers

    def quality(self, answers: Numbers, expected: Numbers) -> float:
        """Return R2: the share of the variance of the expected numbers."""
        share = explained_share(answers, expected)
        return float((answers == expected).all()) if share is None else share

    def line(self, agreement: float, quality: float | None) -> str:
        """Return the figures of a step of the conversion as text."""
        of_labels = "" if quality is None else f", R2 {quality:.4f}"
        return f"agreement {agreement:.4f}{of_labels}"

    def change(self, lost: float) -> str:
        """Return by how much R2 fell, as text."""
        return f"{'lost' if lost >= 0 else 'gained'} {abs(lost):.4f} of R2"

    def completed(self, model: Model, answers: Numbers, expected: Numbers) -> Model:
        """Return the model with its interval, from points that it was not made of."""
        value = model.policy.find(Value)
        assert value is not None
        width = Interval.of(answers - expected).half_width
        measured: Model = with_rules(model, replace(value, half_width=width))
        return measured


class NumberRule(Rule):
    """A base, before that of classes, for the rules of regressors."""

    answered: ClassVar[Answered] = NumberAnswers()
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
