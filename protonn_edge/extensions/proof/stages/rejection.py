"""Thresholds as sums that are negative where the answer is "unknown"."""

from __future__ import annotations

from protonn_edge.extensions.proof.answers import RankedScores, negative
from protonn_edge.extensions.proof.forms import SumForm, constant, minus
from protonn_edge.policy.rejection.rule import IntegerRejection


@negative.register(IntegerRejection)
def _(rule: IntegerRejection, statistics: RankedScores) -> list[SumForm]:
    """Return each statistic with a threshold, less that: the model rejects if one is negative."""
    largest, second, nearest = statistics
    compared = ((largest, rule.score), (nearest, rule.rbf), (minus(largest, second), rule.margin))
    return [minus(form, constant(limit)) for form, limit in compared if limit]
