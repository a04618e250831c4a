"""Sensor files: one is refused in one sentence, or its logger is generated and it can be played."""

from __future__ import annotations

import functools
import re
from importlib import resources
from pathlib import Path

import numpy as np
from laws.fuzz.board_files import changed_file
from laws.fuzz.mutation import pick
from laws.fuzz.sentences import REFUSALS, check_refusal

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator.replayed import packed_sensors
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.extensions.sensing.sensor_kinds import SensorKind
from protonn_edge.extensions.sensing.sensor_projects import logger_of

BRIEF_CASES = 20

_NAMES = ("mine", "mine", "mine", "BME280", "a b", "-x", "x" * 60, "a0", "analog")
_ANALOG = 'title = "A"\nbus = "analog"\npin = 1\nchannels = ["x", "y"]\nunits = "1/200 g"\n'
_SPI = (
    'title = "S"\nbus = "spi"\nread_bits = 0xC0\nid_register = 15\nids = [51]\ndata_register = 40\n'
    'data_bytes = 4\nbyte_order = "big"\nchannels = ["x", "y"]\nunits = "g"\nplaces = [0, 2]\n'
)


def run_case(seed: int, folder: Path) -> None:
    """Read a changed file of a sensor; generate the logger for it, and pack what it plays."""
    rng = np.random.default_rng(seed)
    path = folder / f"{pick(rng, _NAMES)}.toml"
    path.write_bytes(changed_file(rng, pick(rng, _files()), "=\"'#[]{}.\n*/"))
    try:
        kind = sensor_kind(str(path))
        rate = min(max(kind.rates[0], 10.0), kind.rates[1])
        main = logger_of([kind], rate, load_board("uno")).firmware()["src/main.c"]
    except REFUSALS as error:
        check_refusal(error)
        return
    assert SensorKind.of_text(kind.text) is not None, "a board sends a text that nobody reads"
    assert main.count("/*") == main.count("*/"), "a note ends its comment"
    assert re.fullmatch(r"[\n\x20-\x7e]*", main), "the firmware has other characters"
    values = rng.integers(kind.low, kind.high + 1, (3, len(kind.channels))).astype(np.int16)
    packed_sensors([PlayedSensor(kind, values, 10.0)], range(6))


@functools.cache
def _files() -> tuple[str, ...]:
    folder = resources.files("protonn_edge.extensions.sensing")
    files = sorted(each.name for each in folder.iterdir() if each.name.endswith(".toml"))
    return (_ANALOG, _SPI, *(folder.joinpath(name).read_text("utf-8") for name in files))
