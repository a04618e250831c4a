"""A logger as an Arduino sketch: it compiles without a warning, and logs what is played."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from arduino_ide import DEADLINE_S, LINK, WARNINGS, compile_source, needs_arduino_core
from extensions.sensing.logger_builds import assert_played, noise, samples_of

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.extensions.sensing.sensor_projects import logger_of


@needs_arduino_core
@pytest.mark.parametrize(("name", "rate"), [("mpu6050", 100.0), ("microphone", 8000.0)])
def test_a_sketch_logs_what_is_played(
    arduino_core: Path, tmp_path: Path, name: str, rate: float
) -> None:
    kind = sensor_kind(name)
    logger = logger_of([kind], rate, load_board("uno"))
    ((file, text),) = logger.sketch("logger").items()
    assert file == "logger.ino"
    (tmp_path / file).write_text(text)
    sketch = compile_source(tmp_path / file, tmp_path / "logger.o", [], *WARNINGS)
    elf = tmp_path / "logger.elf"
    link: list[object] = ["avr-gcc", *LINK, "-o", elf, sketch, arduino_core, "-lm"]
    subprocess.run(link, check=True, timeout=DEADLINE_S)
    played = noise(150, len(kind.channels), kind.low, kind.high)
    with EmulatedUno(elf, sensors=[PlayedSensor(kind, played, rate)]) as uno:
        stream, found = samples_of(uno.url, round(rate * 1.5))
        assert uno.stats().faults == ()
    assert_played(found, played)
    assert (stream.torn, stream.lost, stream.lost_on_board) == (0, 0, 0)
