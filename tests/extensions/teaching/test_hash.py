"""Firmware that may be taught is another model's."""

from __future__ import annotations

from chains import replace
from model_factory import tiny_integer_model

from protonn_edge.extensions.teaching.protonn.votes import NearestExamples


def test_the_hash_changes_with_the_room_for_examples_and_their_vote() -> None:
    model = tiny_integer_model()
    others = [
        replace(model, voters=NearestExamples(room=room, vote=vote))
        for room, vote in ((2, 9), (3, 9), (2, 8))
    ]
    assert len({each.model_sha256 for each in (model, *others)}) == 4
