"""What the stages of a chain are called, and what each is told of the activity by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from protonn_edge.model.activity import Activity
from protonn_edge.model.integer_stage import IntegerStage, stage_names


def test_the_second_of_a_kind_has_a_number() -> None:
    assert stage_names(["dense", "dense", "linear", "dense"]) == (
        "dense",
        "dense_2",
        "linear",
        "dense_3",
    )


@dataclass(frozen=True)
class Named:
    """As much of a stage as has a part in the activity."""

    kind: str
    reports_nonzero: str | None = None


def test_each_stage_is_told_of_its_own_inputs() -> None:
    told = {name: (np.full(3, share),) for name, share in (("a", 0.1), ("b", 0.2), ("b_2", 0.3))}
    activity = Activity(np.full(3, 0.5), told)
    chain = [Named("a"), Named("b", "values"), Named("b", "values"), Named("c")]
    each = list(activity.of_each(cast("list[IntegerStage]", chain)))
    assert [own.inputs[0] for own in each] == [0.5, 0.5, 0.2, 0.3]
    own: list[dict[str, Any]] = [dict(own.stages) for own in each]
    assert [list(stages) for stages in own] == [["a"], ["b"], ["b"], []]
    assert [stages["b"][0][0] for stages in own[1:3]] == [0.2, 0.3]


def test_a_feature_is_told_of_the_inputs_that_the_next_stage_reports() -> None:
    told = {"b": (np.full(4, 0.1), np.zeros(2))}
    activity = Activity(np.full(3, 0.5), told)
    chain = [Named("a"), Named("pass"), Named("b", "inputs"), Named("c")]
    each = activity.of_each(cast("list[IntegerStage]", chain))
    assert [own.inputs[0] for own in each] == [0.1, 0.1, 0.5, 0.5]
