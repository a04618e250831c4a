"""Choose the sizes of a model for a budget in bytes, by the rules of the ProtoNN paper.

docs/training.md lists the rules with their sources. A value takes 4 bytes in the paper (float32)
and 1 on the device (int8), so a budget on the device corresponds to one four times as large in the
paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protonn_edge.system.errors import InvalidValue

_PAPER_BYTES_PER_VALUE = np.dtype(np.float32).itemsize
_TWO_CLASSES = (
    (8_000, 5),
    (16_000, 10),
)  # (bytes in the paper, outputs of the projection): outputs for budgets below these bytes
_MORE_CLASSES = ((16_000, 5), (32_000, 10), (128_000, 15))
_MOST_OUTPUTS = {True: 15, False: 20}
_FEWEST_OF_TWO_CLASSES = 40
_FEWEST_A_CLASS = 1
_ENOUGH_A_CLASS = 10
_ENOUGH_A_CLASS_OF_MANY = 2
_OUTPUT_LIMIT = 255  # limit of counters in generated code


@dataclass(frozen=True)
class ModelSizes:
    """The sizes of a model's matrices: d and m."""

    n_projections: int
    n_prototypes: int

    def device_bytes(self, n_features: int, n_classes: int) -> int:
        """Return the size of W, B and Z as int8 matrices, in bytes."""
        return _SizeLimit(0, n_features, n_classes).taken_by(self.n_projections, self.n_prototypes)


def sizes_within(
    budget: int,
    *,
    n_features: int,
    n_classes: int,
    n_points: int,
    n_projections: int | None = None,
    projection_bits: int = 8,
) -> ModelSizes:
    """Return the sizes that the paper's rules give for a budget in bytes; see the module's text.

    There are at most as many prototypes as points; `n_projections` fixes d.

    Raises `InputError` if not even one projection and one prototype per class fit; the sentence
    gives the bytes that they need.
    """
    limit = _SizeLimit(budget, n_features, n_classes, projection_bits)
    least = limit.taken_by(n_projections or 1, n_classes)
    if budget < least:
        raise InvalidValue(
            "budget",
            f"{budget:,} B, but the smallest model of {n_features:,} features and "
            f"{n_classes:,} classes takes {least:,} B",
            "raise the budget, or use fewer features",
        )
    if n_projections is None:
        d = min(_outputs_for(budget, n_classes) * 8 // projection_bits, n_features)
        d = _raised(_lowered(d, limit), limit, n_points)
    else:
        d = n_projections
    return ModelSizes(d, min(limit.prototypes_beside(d), max(n_points, 1)))


@dataclass(frozen=True)
class _SizeLimit:
    """A budget in bytes for models of D features and L classes."""

    budget: int
    n_features: int
    n_classes: int
    projection_bits: int = 8

    def taken_by(self, d: int, m: int) -> int:
        """Return the bytes of W, B and Z."""
        return self._of_projections(d) + d * m + self.n_classes * m

    def prototypes_beside(self, d: int) -> int:
        """Return how many prototypes fit with d projections, negative if these do not fit."""
        return (self.budget - self._of_projections(d)) // (d + self.n_classes)

    def _of_projections(self, d: int) -> int:
        return -(-d * self.projection_bits // 8) * self.n_features

    @property
    def fewest_prototypes(self) -> int:
        """The fewest useful prototypes."""
        two = self.n_classes == 2
        return _FEWEST_OF_TWO_CLASSES if two else self.n_classes * _FEWEST_A_CLASS


def _outputs_for(budget: int, n_classes: int) -> int:
    two = n_classes == 2
    in_the_paper = _PAPER_BYTES_PER_VALUE * budget
    for below, outputs in _TWO_CLASSES if two else _MORE_CLASSES:
        if in_the_paper < below:
            return outputs
    return _MOST_OUTPUTS[two]


def _lowered(d: int, limit: _SizeLimit) -> int:
    """Lower d until the fewest useful prototypes fit, or d is 1."""
    while d > 1 and limit.prototypes_beside(d) < limit.fewest_prototypes:
        d -= 1
    return d


def _raised(d: int, limit: _SizeLimit, n_points: int) -> int:
    """Raise d while a sufficient number of prototypes still fits."""
    many = limit.n_classes > limit.n_features
    a_class = _ENOUGH_A_CLASS_OF_MANY if many else _ENOUGH_A_CLASS
    enough = min(max(a_class * limit.n_classes, limit.fewest_prototypes), n_points)
    highest = min(limit.n_features, _OUTPUT_LIMIT)
    while d < highest and limit.prototypes_beside(d + 1) >= enough:
        d += 1
    return d
