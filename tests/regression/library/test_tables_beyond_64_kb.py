"""Libraries for chips with more than 64 kB of flash hold no more tables than the code can read."""

from __future__ import annotations

from pathlib import Path

import pytest
from avr_tools import EMULATED_AVR, skip_without
from linear_factory import random_linear_model

from protonn_edge.errors import CheckFailed
from protonn_edge.export.exporting import export


def test_a_self_test_has_room_beside_large_tables(tmp_path: Path) -> None:
    skip_without(*EMULATED_AVR)
    model = random_linear_model(features=500, classes=100)
    exported = export(model, "arduino", tmp_path / "large", "mega2560")
    assert exported.plan.table_bytes >= 50_000
    assert exported.tried.n == exported.vectors
    assert 1 <= exported.vectors < 20


def test_tables_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    model = random_linear_model(features=700, classes=100)
    with pytest.raises(
        CheckFailed, match=r"need 70,\d{3} B of flash, but .* can read only \d{2},\d{3} B"
    ):
        export(model, "platformio", tmp_path / "far", "mega2560", tries=False)
    assert not (tmp_path / "far").exists()
    export(model, "c", tmp_path / "c", tries=False)
