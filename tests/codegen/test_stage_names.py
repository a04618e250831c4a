"""What the stages of a chain are called."""

from __future__ import annotations

from protonn_edge.model.integer_stage import stage_names


def test_the_second_of_a_kind_has_a_number() -> None:
    assert stage_names(["dense", "dense", "linear", "dense"]) == (
        "dense",
        "dense_2",
        "linear",
        "dense_3",
    )
