"""What a float model has for teaching: its room for examples, and how they vote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.teaching import MOST_SLOTS
from protonn_edge.extensions.teaching.protonn.votes import NearestExamples
from protonn_edge.kinds.protonn.head import protonn_head
from protonn_edge.kinds.protonn.voters import FloatVoters
from protonn_edge.model.model import Model
from protonn_edge.system.checks import check, check_range


@dataclass(frozen=True)
class Teachable(FloatVoters):
    """The room of a ProtoNN model for examples that a device learns."""

    kind: ClassVar[str] = "teaching"

    # maximum number of examples, at least 1
    room: int
    # vote of an example for its class, as a share of the largest entry of Z
    vote: float = 0.25
    # number of last classes that only the device's owner teaches
    new_classes: int = 0

    @property
    def settings(self) -> Mapping[str, float]:
        """Its numbers, named as the parameters of training."""
        return {
            "teachable": self.room,
            "taught_vote": self.vote,
            "new_classes": self.new_classes,
        }

    def check(self, n_classes: int) -> None:
        """Raise `InputError` if a number is out of range for this number of classes."""
        check_teachable(self.room, n_classes)
        check(0 < self.vote <= 1, "vote", self.vote, "above 0, and at most 1")  # false for NaN, too
        check_range("new_classes", self.new_classes, 0, n_classes - 1)

    def before_training(self, model: Model) -> Model:
        """Return a model without the classes that only its owner teaches."""
        head = protonn_head(model, "training from a model")
        kept = head.n_classes - self.new_classes
        head = replace(head, labels=head.labels[:kept], voters=replace(self, new_classes=0))
        return replace(model, head=head, classes=model.classes[:kept])

    def integers(self, label_maximum: int) -> NearestExamples:
        """Return the integers; the vote of an example depends on the largest label."""
        return NearestExamples(
            self.room, max(1, round(self.vote * label_maximum)), self.new_classes
        )

    def rounding_error(self, label_maximum: int) -> float:
        """Return the square of the error of a vote, in units of the labels."""
        return (self.integers(label_maximum).vote - self.vote * label_maximum) ** 2


def check_teachable(teachable: int, n_classes: int) -> None:
    """Raise `InputError` if no device has room for this many examples of this many classes."""
    most = max(0, MOST_SLOTS - 1 - n_classes)
    check_range(f"teachable with {n_classes} classes", teachable, 1, most)


def with_new_classes(labels: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Add rows for `count` classes to label vectors Z (L, m) and return (L + count, m).

    The new rows are 0, and each column of the others is shifted to a mean of 0. Differences between
    scores stay the same, but the largest one is then at least 0: since ties go to the first class,
    a new class without examples is never the answer.
    """
    if count == 0:
        return labels
    centred = labels - labels.mean(axis=0)
    return np.vstack([centred, np.zeros((count, labels.shape[1]), labels.dtype)])
