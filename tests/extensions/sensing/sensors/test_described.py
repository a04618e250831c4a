"""A sensor is one file: what is wrong with it is one sentence, and it says how the chip is read."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from refusals import refused_by
from row_tables import rows

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator.replayed import packed_sensors
from protonn_edge.extensions.sensing.described import KEYS, sensor_kind
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.extensions.sensing.sampling import Sampling
from protonn_edge.extensions.sensing.sensor_kinds import SensorKind, SensorRegisters, Word, is_chip
from protonn_edge.extensions.sensing.sensor_projects import logger_of
from protonn_edge.system.errors import InputError

BUNDLED = ("adxl345", "adxl345-spi", "bme280", "bmi160", "hx711", "lsm6ds3", "max30102", "mpu6050")
GOOD = {
    "title": "'Mine'",
    "bus": "'i2c'",
    "addresses": "[0x18, 0x19]",
    "id_register": "0x0F",
    "ids": "[0x33]",
    "start": "[[0x20, 0x57, 'CTRL_REG1', 5], [0x23, [[50, 1], [400, 2]], 'CTRL_REG4']]",
    "data_register": "0xA8",
    "data_bytes": "6",
    "byte_order": "'little'",
    "channels": "['x', 'y', 'z']",
    "units": "'1/1000 g'",
    "places": "[0, 2, 4]",
    "word": "{ shift = 4 }",
    "sleeps": "[0x20, 0xF0, 0]",
}
REFUSED = Path(__file__).with_name("refused_sensors.txt")
INPUTS = {
    **{key: GOOD[key] for key in ("title", "channels", "units")},
    "bus": "'analog'",
    "pin": "2",
}


def write(folder: Path, name: str = "mine.toml", **changed: str | None) -> str:
    facts = {key: value for key, value in changed.items() if value is not None}
    path = folder / name
    path.write_text("".join(f"{key} = {value}\n" for key, value in facts.items()))
    return str(path)


@pytest.mark.parametrize("name", BUNDLED)
def test_every_file_is_a_sensor(name: str) -> None:
    kind = sensor_kind(name.upper())
    assert kind.name == name
    assert len(kind.channel_units) == len(kind.channels)


def test_a_file_of_ones_own_is_a_sensor_named_after_it(tmp_path: Path) -> None:
    kind = sensor_kind(write(tmp_path, "Mine-2.toml", **GOOD))
    assert (kind.name, kind.channels) == ("mine-2", ("x", "y", "z"))
    assert (kind.low, kind.high) == (-2048, 2047)
    assert kind.registers is not None
    assert list(kind.registers.settings_for(50)) == [(0x20, 0x57, "CTRL_REG1", 5),
                                               (0x23, 1, "CTRL_REG4, up to 50 Hz", 0)]  # fmt: skip
    assert list(kind.registers.settings_for(500))[1][1] == 2


def test_inputs_of_ones_own_are_read_in_their_order(tmp_path: Path) -> None:
    kind = sensor_kind(write(tmp_path, **INPUTS))
    assert (kind.pin, kind.low, kind.high) == (2, 0, 1023)
    assert not is_chip("a2, a3, a4", kind)
    main = logger_of([kind], 50, load_board("uno")).firmware()["src/main.c"]
    assert "inputs[CHANNELS] = {2, 3, 4};" in main
    assert "DIDR0 = _BV(2) | _BV(3) | _BV(4);" in main


@pytest.mark.parametrize("name", [*BUNDLED, "a3", "microphone"])
def test_what_a_board_sends_of_a_sensor_is_that_sensor(name: str) -> None:
    kind = sensor_kind(name)
    sent = SensorKind.of_text(kind.text)
    assert sent is not None
    assert (sent.name, sent.bus, sent.channels) == (kind.name, kind.bus, kind.channels)
    assert sent.channel_units == kind.channel_units


@pytest.mark.parametrize(
    "text",
    ["", "x;i2c;a;", "x;i2c;A;g", "x;usb;a;g", "x\n;i2c;a;g", "x;i2c;a,;g",
     "x;i2c;a;g\x1b", "x;i2c;a;1/0 g", f"x;i2c;{','.join('a' * n for n in range(1, 14))};g"],
)  # fmt: skip
def test_what_is_no_text_of_a_sensor_is_none(text: str) -> None:
    assert SensorKind.of_text(text) is None


@pytest.mark.parametrize(("changed", "words"), rows(REFUSED, "sensors"), ids=str)
def test_what_is_wrong_is_said_with_the_key(tmp_path: Path, changed: str, words: str) -> None:
    keys = (each.partition(" = ") for each in changed.split("; "))
    assert_refused(write(tmp_path, **GOOD | {key: text or None for key, _, text in keys}), words)


def assert_refused(path: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        sensor_kind(path)
    assert words in str(caught.value)
    assert Path(path).stem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    assert_refused(write(tmp_path, **INPUTS | {"pin": "4"}), "has 3 channels from a4 on, but a5 is")
    assert_refused(write(tmp_path, "A1.toml", **INPUTS), "has the name of another sensor")
    assert_refused(write(tmp_path, "MPU6050.toml", **GOOD), "has the name of another sensor")
    assert_refused(write(tmp_path, "bme280.toml", **GOOD), "bme280 is already a sensor")
    assert_refused(write(tmp_path, "my one.toml", **GOOD), "not a valid name for a sensor")
    assert_refused(str(tmp_path / "none.toml"), "does not exist; name a sensor's file")


def test_a_rate_that_a_sensor_does_not_allow_is_refused(tmp_path: Path) -> None:
    for name, rate in (("bme280", 200), (write(tmp_path, **GOOD | {"rates": "[5, 20]"}), 1)):
        with refused_by("extensions.sensing.sampling"):
            logger_of([sensor_kind(name)], rate, load_board("uno"))


def test_a_long_transfer_is_not_read_faster_than_the_bus_is(tmp_path: Path) -> None:
    kind = sensor_kind(write(tmp_path, **GOOD | {"data_bytes": "32"}))
    with refused_by("extensions.sensing.sampling"):
        logger_of([kind], 1000, load_board("uno"))


def test_two_chips_do_not_share_an_address() -> None:
    both = [PlayedSensor(sensor_kind(name), np.zeros((1, 6), np.int16), 1.0)
            for name in ("mpu6050", "bmi160")]  # fmt: skip
    with refused_by("chips.emulator.replayed"):
        packed_sensors(both, range(6))


def test_two_sensors_do_not_share_an_input() -> None:
    chip = PlayedSensor(sensor_kind("mpu6050"), np.zeros((1, 6), np.int16), 1.0)
    two, other = (
        PlayedSensor(sensor_kind(name), np.zeros((1, n), np.int16), 1.0)
        for name, n in (("a0", 2), ("a1", 1))
    )
    packed_sensors([two, chip], range(6))
    with refused_by("chips.emulator.replayed"):
        packed_sensors([two, other], range(6))


@pytest.mark.parametrize("steps", ["[25, 3], [100, 5], [400, 7]", "[400, 7], [25, 3], [100, 5]"])
def test_each_rate_has_the_value_of_the_next_higher_one(tmp_path: Path, steps: str) -> None:
    registers = sensor_kind(
        write(tmp_path, **GOOD | {"start": f"[[0x20, [{steps}], 'rate']]"})
    ).registers
    assert registers is not None
    rates = (1, 25, 26, 400, 800)
    found = [value for rate in rates for _, value, *_ in registers.settings_for(rate)]
    assert found == [3, 3, 5, 7, 7]


@pytest.mark.parametrize(("rate", "value"), [(15, 1), (30, 2), (30.1, 3)])
def test_a_timer_that_is_a_little_faster_keeps_the_setting(
    tmp_path: Path, rate: float, value: int
) -> None:
    start = {"start": "[[0, [[15, 1], [30, 2], [75, 3]], 'rate']]", "rates": "[1, 75]"}
    kind = sensor_kind(write(tmp_path, **GOOD | start))
    assert kind.registers is not None
    actual = Sampling((kind,), rate, load_board("uno")).actual_rate
    assert [each[1] for each in kind.registers.settings_for(actual)] == [value]


def test_the_rate_of_a_recording_at_the_highest_rate_is_accepted(tmp_path: Path) -> None:
    kind = sensor_kind(write(tmp_path, **GOOD | {"rates": "[1, 30]"}))
    actual = Sampling((kind,), 30, load_board("uno")).actual_rate
    assert actual > 30
    assert Sampling((kind,), actual, load_board("uno")).actual_rate == actual


WRITTEN = {  # registers and their values at 100 Hz, from the data sheets
    "mpu6050": [(0x6B, 1), (0x19, 0), (0x1B, 0b01 << 3), (0x1C, 0b01 << 3), (0x1A, 3)],
    "adxl345": [(0x31, 0b1011), (0x2D, 1 << 3), (0x2C, 0b1010)],
    "adxl345-spi": [(0x31, 0b1011), (0x2D, 1 << 3), (0x2C, 0b1010)],
    "lsm6ds3": [(0x12, 1), (0x12, 0x44), (0x10, 0b0100 << 4 | 0b10 << 2),
                (0x11, 0b0100 << 4 | 0b01 << 2)],
    "bmi160": [(0x41, 0b0101), (0x43, 0b010), (0x40, 0b010 << 4 | 0b1000),
               (0x42, 0b10 << 4 | 0b1000), (0x7E, 0x11), (0x7E, 0x15)],
    "bme280": [(0xE0, 0xB6), (0xF5, 0), (0xF2, 1), (0xF4, 1 << 5 | 1 << 2 | 3)],
    "max30102": [(0x09, 0x40), (0x08, 0), (0x0C, 0x24), (0x0D, 0x24),
                 (0x0A, 1 << 5 | 2 << 2 | 3), (0x09, 3)],
    "hx711": [],
}  # fmt: skip


@pytest.mark.parametrize("name", BUNDLED)
def test_what_is_written_at_the_start_is_what_the_data_sheet_has(name: str) -> None:
    kind = sensor_kind(name)
    main = logger_of([kind], min(100, kind.rates[1]), load_board("uno")).firmware()["src/main.c"]
    pairs = re.findall(r"^    write_register\((0x\w+), (0x\w+)\)", main, re.MULTILINE)
    assert [(int(place, 16), int(value, 16)) for place, value in pairs] == WRITTEN[name]


@pytest.mark.parametrize("order", ["big", "little"])
def test_what_a_chip_holds_are_its_values(order: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        n_bytes = int(rng.integers(1, 5))
        bits = int(rng.integers(max(2, 8 * n_bytes - 7), 8 * n_bytes + 1))
        signed = bool(rng.integers(2))
        left = int(rng.integers(2, min(bits, 15 + signed) + 1))
        word = Word(n_bytes, bits, bits - left, signed)
        chip = SensorRegisters(9, order, (1, 5), word)
        low, high = word.limits
        assert high - low == 2**left - 1
        values = rng.integers(low, high + 1, (4, 2)).astype(np.int16)
        for row, held in zip(values.tolist(), chip.held(values), strict=True):
            for value, place in zip(row, chip.places, strict=True):
                used = int.from_bytes(held[place : place + n_bytes].tobytes(), order)
                assert used < 2**bits
                below = 2**bits if signed and used >= 2 ** (bits - 1) else 0
                assert (used - below) >> (bits - left) == value


def test_the_page_explains_every_key() -> None:
    page = Path(__file__).parents[4] / "docs" / "live.md"
    assert set(KEYS) <= set(re.findall(r"`([a-z_]+)`", page.read_text("utf-8")))
