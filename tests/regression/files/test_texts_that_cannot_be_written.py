"""A text of a JSON file with half of a surrogate pair was accepted, and could not be printed."""

from __future__ import annotations

import json

import pytest

from protonn_edge.system.schema import text


@pytest.mark.parametrize(
    ("quoted", "accepted"),
    [(r'"\ud83d"', False), (r'"a\ude00"', False), (r'"\ud83d\ude00"', True), ('"ä"', True)],
)
def test_half_a_surrogate_pair_is_no_text(quoted: str, accepted: bool) -> None:
    assert text(10)(json.loads(quoted)) is accepted
