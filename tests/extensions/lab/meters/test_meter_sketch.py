"""The sketch of a power meter: it compiles without a warning, and reads an INA219 in time."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import numpy as np
from arduino_ide import (
    ARDUINO,
    DEADLINE_S,
    FOR_THE_CORE,
    LINK,
    WARNINGS,
    compile_source,
    needs_arduino_core,
)
from command_line import run

from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.extensions.lab.meters import meter_of
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.extensions.sensing.sensor_kinds import SensorKind, SensorRegisters

WIRE = ARDUINO / "libraries" / "Wire" / "src"
# Its registers have 16 bits; here they have 8, so that the voltage begins with the current's last.
REGISTERS = SensorRegisters(3, "big", (0, 1), data_register=1, addresses=(0x40,))
CURRENT, VOLTAGE = 0x0512, 0x1226


@needs_arduino_core
def test_the_sketch_sends_each_millisecond_what_an_ina219_measures(
    arduino_core: Path, tmp_path: Path
) -> None:
    done = run("export", "--meter", tmp_path / "meter", "--json")
    sketch = Path(json.loads(done.stdout)["sketch"])
    assert sketch == tmp_path / "meter" / "meter.ino"
    objects = [compile_source(sketch, tmp_path / "meter.o", [WIRE], *WARNINGS)]
    for source in (WIRE / "Wire.cpp", WIRE / "utility" / "twi.c"):
        made = tmp_path / f"{source.name}.o"
        objects.append(compile_source(source, made, [WIRE, WIRE / "utility"], *FOR_THE_CORE))
    elf = tmp_path / "meter.elf"
    link: list[object] = ["avr-gcc", *LINK, "-o", elf, *objects, arduino_core, "-lm"]
    subprocess.run(link, check=True, timeout=DEADLINE_S)
    kind = SensorKind("ina219", ("current", "voltage"), "1 count", registers=REGISTERS, bus="i2c")
    played = np.array([[CURRENT, VOLTAGE]] * 1000, np.int16)
    with EmulatedUno(elf, sensors=[PlayedSensor(kind, played, 1000.0)]) as uno:
        with meter_of(f"ina219:{uno.url}") as meter:
            meter.start()
            time.sleep(0.3)
            samples = meter.stop()
        assert uno.stats().faults == ()
    assert samples.dropped == 0
    assert len(samples.seconds) >= 10
    np.testing.assert_allclose(np.diff(samples.seconds), 1e-3)
    np.testing.assert_allclose(samples.amperes, CURRENT * 10e-6 / 0.1)
    np.testing.assert_allclose(samples.volts, (VOLTAGE >> 3) * 4e-3)
    assert not samples.trigger.any()
