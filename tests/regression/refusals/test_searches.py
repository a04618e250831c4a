"""A damaged front of a search is refused when it is read."""

from __future__ import annotations

import json
import math

import pytest

from protonn_edge.errors import InputError
from protonn_edge.report.front import read_front

GOOD = {"accuracy": 0.9, "flash_bytes": 900, "mean_ms": 1.5}


@pytest.mark.parametrize(
    "wrong",
    [
        {"flash_bytes": 10**400},
        {"mean_ms": 10**400},
        {"accuracy": math.nan},
        {"mean_ms": math.inf},
        {"mean_ms": [1]},
        {"accuracy": None},
    ],
)
def test_a_front_of_impossible_numbers_is_refused(tmp_path, wrong):
    path = tmp_path / "front.json"
    front = {"accuracy_by_flash": [GOOD | wrong], "accuracy_by_cycles": [GOOD]}
    path.write_text(json.dumps(front), encoding="utf-8")
    with pytest.raises(InputError, match="not the output of 'tune --front FILE.json'"):
        read_front(path)
    path.write_text(json.dumps(front | {"accuracy_by_flash": [GOOD]}), encoding="utf-8")
    assert read_front(path).by_flash[0].flash_bytes == 900
