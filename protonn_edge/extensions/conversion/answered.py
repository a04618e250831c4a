"""What an estimator answers: a class, or a number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.data.naming import label_text
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.learn.points import Float32
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.policy import FloatPolicy, with_rules
from protonn_edge.policy.value.figures import Interval, explained_share
from protonn_edge.policy.value.rule import Value
from protonn_edge.policy.value.train import value_of_scale
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check_shape
from protonn_edge.system.errors import InputError, InvalidValue

Answers = Array
Numbers = NDArray[np.float64]

_MOST_DIGITS = 1e-9  # relative deviation of numbers that differ only by rounding


class ClassAnswers:
    """Classes, whose indices (n,) are the answers to points."""

    read_as: ClassVar[None] = None  # what labels are: what they seem to be

    def policy(self, _answers: Answers) -> FloatPolicy:
        """Return what a model concludes from scores, given the estimator's answers to points."""
        return FloatPolicy()

    def of_integers(self, chain: IntegerChain, X: Float32) -> Answers:
        """Return an integer model's answers to raw points X (n, D)."""
        return chain.predict(chain.quantize(X))

    def of_labels(self, estimator: Any, y: ArrayLike, n: int) -> Answers:
        """Return labels as answers to n points, or refuse labels that are no answers."""
        labels = np.asarray(y)
        check_shape("labels", labels.shape, (n,))
        numbers = {label_text(str(label)): index for index, label in enumerate(estimator.labels)}
        texts = [label_text(str(label)) for label in labels]
        for row, text in enumerate(texts):
            if text not in numbers:
                listed = ", ".join(repr(name[:40]) for name in list(numbers)[:12])
                raise InvalidValue(
                    f"row {row:,}",
                    f"the label is {text[:40]!r}, but the {estimator.name} has only the "
                    f"classes {listed}",
                    "give labels that it was fitted with",
                )
        return np.array([numbers[text] for text in texts], dtype=np.int64)

    def quality(self, answers: Answers, expected: Answers) -> float:
        """Return how near answers (n,) are to the expected ones: 1 if they are equal."""
        return share_right(answers, expected)

    def line(self, agreement: float, quality: float | None) -> str:
        """Return the figures of a step of the conversion as text."""
        right = "" if quality is None else f", accuracy {100 * quality:6.2f} %"
        return f"agreement {100 * agreement:6.2f} %{right}"

    def change(self, lost: float) -> str:
        """Return by how much the quality fell, as text."""
        word = "lost" if lost >= 0 else "gained"
        return f"{word} {100 * abs(lost):.2f} percentage points of accuracy"

    def completed(self, model: Model, _answers: Answers, _expected: Answers) -> Model:
        """Return the model with what its answers to points that it was not made of show."""
        return model


class NumberAnswers:
    """Numbers (n,) that are predicted for points."""

    read_as: ClassVar[Literal["value"]] = "value"

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


Answered = ClassAnswers | NumberAnswers
CLASSES, NUMBERS = ClassAnswers(), NumberAnswers()
