"""What an estimator answers: a class, unless its rule answers something else."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from protonn_edge.data.naming import label_text
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.learn.points import Float32
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.policy import FloatPolicy
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check_shape
from protonn_edge.system.errors import InvalidValue

Answers = Array


class Answered:
    """Classes, whose indices (n,) are the answers to points."""

    read_as: ClassVar[Literal["value"] | None] = None  # what labels are; None as they seem to be

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


CLASSES = Answered()
