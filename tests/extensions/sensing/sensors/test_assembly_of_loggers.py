"""Assembly statements in the firmware of loggers."""

from __future__ import annotations

from pathlib import Path

from assembly.sources import assert_rules_hold, preprocessed

from protonn_edge.chips.boards import load_board
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.sensor_projects import logger_of


def test_loggers(tmp_path: Path) -> None:
    logger = logger_of([sensor_kind("adxl345")], 100.0, load_board("uno"))
    (tmp_path / "main.c").write_text(logger.firmware()["src/main.c"])
    assert assert_rules_hold(preprocessed(tmp_path / "main.c")) > 0
