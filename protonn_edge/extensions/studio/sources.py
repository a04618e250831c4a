"""Where samples come from: a board and its sensor, and how they are wired."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.toolchain.ports import boards_on_usb
from protonn_edge.extensions.sensing.described import sensor_kind, sensor_titles
from protonn_edge.extensions.studio.sample import PLAYED
from protonn_edge.system.errors import ProtoNNEdgeError
from protonn_edge.system.schema import JsonObject

LOGGER = "logger"
"""The folder of the logger."""

_DEFAULT_SENSOR, _DEFAULT_RATE, _DEFAULT_BOARD = "mpu6050", 100.0, "uno"
_SAME_RATE = 0.01  # a timer's rate is rounded
_PLAYED_KINDS = ("samples", "recording", "table", "sound")

_TWO_WIRE = {"atmega328p": ("A4", "A5"), "atmega2560": ("20", "21"), "atmega32u4": ("2", "3")}
_SPI = {
    "atmega328p": ("10", "11", "12", "13"),
    "atmega2560": ("53", "51", "50", "52"),
    "atmega32u4": ("17", "ICSP 4", "ICSP 1", "ICSP 3"),
}
"""The pins of SDA and SCL, and of CS, MOSI, MISO and SCK, by a board's chip."""


def source_of(files: Mapping[str, JsonObject], data: str, model: str) -> JsonObject:
    """Return what Connect would use: the sensor of the data, of the logger or of the model."""
    logger = files.get(LOGGER, {})
    places = (files.get(data, {}), logger, files.get(model, {}))
    facts = next((each for each in places if each.get("sensors") and each.get("rate")), {})
    board = load_board(logger.get("board") or _DEFAULT_BOARD)
    plays = [name for kind in _PLAYED_KINDS for name, one in files.items() if one["kind"] == kind]
    play = PLAYED if PLAYED in plays else data if data in plays else next(iter(plays), None)
    found_ports = ports(board.name)
    return {
        "sensors": facts.get("sensors") or [_DEFAULT_SENSOR],
        "rate": facts.get("rate") or _DEFAULT_RATE,
        "board": board.name,
        "plays": plays,
        "play": play,
        "ports": found_ports,
        "emulated": not found_ports and play is not None,
    }


def is_for(logger: JsonObject, fields: JsonObject) -> bool:
    """Whether a logger is for the sensors, the rate and the board of fields."""
    rate, own = float(fields["rate"] or 0), logger.get("rate") or 0.0
    board = fields["board"] or _DEFAULT_BOARD
    same = logger.get("sensors") == fields["sensor"] and logger.get("board") == board
    return same and abs(own - rate) <= _SAME_RATE * rate


def ports(board: str) -> list[JsonObject]:
    """Return the USB devices that may be boards, the likeliest first."""
    with contextlib.suppress(ProtoNNEdgeError, OSError, ImportError):
        return [
            {"port": each.device, "what": each.why} for each in boards_on_usb(load_board(board))
        ]
    return []


def wires(sensor: str, board_name: str) -> JsonObject:
    """Return which pin of a sensor leads to which pin of a board."""
    kind, board = sensor_kind(sensor), load_board(board_name or _DEFAULT_BOARD)
    spi = _SPI.get(board.mcu, ("SS", "MOSI", "MISO", "SCK"))
    if kind.pin is not None:
        pairs = [(f"signal {name}", f"A{kind.pin + n}") for n, name in enumerate(kind.channels)]
    elif kind.registers is not None and kind.registers.pulses:
        pairs = [("DOUT", spi[2]), ("SCK", spi[3])]
    elif kind.bus == "spi":
        pairs = list(zip(("CS", "SDI", "SDO", "SCK"), spi, strict=True))
    else:
        pairs = list(zip(("SDA", "SCL"), _TWO_WIRE.get(board.mcu, ("SDA", "SCL")), strict=True))
    pairs = [("VCC", "5V or 3V3"), ("GND", "GND"), *pairs]
    said = ", ".join(f"{here} to {there}" for here, there in pairs[1:])
    return {
        "title": sensor_titles().get(kind.name, kind.name).partition(":")[0],
        "board": board.title,
        "pins": [{"from": here, "to": there} for here, there in pairs],
        "note": f"{said}; VCC as the module states.",
    }
