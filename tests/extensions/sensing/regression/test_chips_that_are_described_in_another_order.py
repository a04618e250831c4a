"""Sensor files whose values for sampling rates fall, or whose names mean something else."""

from __future__ import annotations

from pathlib import Path

import pytest
from refusals import refused_by

from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.sensor_kinds import SensorKind
from protonn_edge.system.errors import InputError

CHIP = (
    'title = "S"\nbus = "spi"\ndata_register = 0x28\ndata_bytes = 2\nbyte_order = "big"\n'
    'channels = ["x"]\nunits = "g"\nplaces = [0]\n'
)


def described(path: Path, more: str) -> SensorKind:
    path.write_text(CHIP + more + "\n")
    return sensor_kind(str(path))


@pytest.mark.parametrize("steps", ["[25, 3], [100, 5], [400, 7]", "[400, 7], [25, 3], [100, 5]"])
def test_each_rate_has_the_value_of_the_next_higher_one(tmp_path: Path, steps: str) -> None:
    chip = described(tmp_path / "s.toml", f'start = [[0x20, [{steps}], "rate"]]').registers
    assert chip is not None
    found = [value for rate in (1, 25, 26, 400, 800) for _, value, *_ in chip.settings_for(rate)]
    assert found == [3, 3, 5, 7, 7]


def test_read_bits_leave_a_bit_of_the_address(tmp_path: Path) -> None:
    assert described(tmp_path / "s.toml", "read_bits = 0xC0").registers is not None
    with pytest.raises(InputError, match="read_bits = 255, expected a whole number"):
        described(tmp_path / "s.toml", "read_bits = 0xFF")


@pytest.mark.parametrize(
    "name",
    ["class", "target", "id", "index", "rowid", "sample_id", "subject", "user_id", "take", "group"],
)
def test_a_channel_is_not_called_as_another_column(tmp_path: Path, name: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(CHIP.replace('"x"', f'"{name}"'))
    with refused_by("extensions.sensing.described"):
        sensor_kind(str(path))
