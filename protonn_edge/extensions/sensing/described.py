"""Sensors by their names: analog inputs, and those that .toml files describe, which are checked."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from protonn_edge.extensions.sensing.sensor_kinds import (
    ANALOG_PINS,
    ANALOG_RATE,
    CHANNELS,
    INPUTS,
    MICROPHONE,
    MOST_CHANNELS,
    SensorKind,
    SensorRegisters,
    Setting,
    Word,
)
from protonn_edge.system.described import TITLE, Key, Shelf, matches, whole_number
from protonn_edge.system.errors import InputError, InvalidValue, shortened
from protonn_edge.system.schema import Check, JsonObject, list_of, number, whole

_MOST_DATA_BYTES = 32
_TEXT_LIMIT = 200  # bytes, of a frame
# "analog" of inputs; the others have a meaning as columns of recordings
_TAKEN_NAME = re.compile(
    r"analog|label|class|target|time|id|idx|index|unnamed|(row|sample)_?id|"
    r"(subject|person|user|participant|patient|session|recording|take|group)(_?id)?"
)
_SHELF = Shelf(
    "sensor",
    "protonn_edge.extensions.sensing",
    "docs/live.md",
    "any other sensor works in a sketch of your own: see docs/live.md",
)


def _tuple_of(*checks: Check, optional: int = 0) -> Check:
    """Check for a list with a value for each check; the last values may be missing."""
    return lambda value: (
        isinstance(value, list)
        and len(checks) - optional <= len(value) <= len(checks)
        and all(holds(each) for holds, each in zip(checks, value, strict=False))
    )


def _some(holds: Check, most: int) -> Check:
    return lambda value: list_of(holds, most)(value) and len(value) > 0


_BYTE = whole(0, 0xFF)
_RATE = number(0.001, ANALOG_RATE)
_NOTE = matches(r"[A-Za-z0-9 .,:;()%+=_-]{0,80}")  # it becomes a comment in C
_STEPS = _some(_tuple_of(_RATE, _BYTE), 16)
_SETTING = _tuple_of(
    _BYTE, lambda value: _BYTE(value) or _STEPS(value), _NOTE, whole(0, 1000), optional=1
)


def _is_word(value: object) -> bool:
    if not isinstance(value, dict) or not value.keys() <= set(Word._fields):
        return False
    word = _word(value)
    numbers = whole(1, 4)(word.bytes) and whole(1, 32)(word.bits) and whole(0, 30)(word.shift)
    if not numbers or type(word.signed) is not bool:
        return False
    return (
        8 * word.bytes - 8 < word.bits <= 8 * word.bytes
        and 2 <= word.bits - word.shift <= 15 + word.signed
    )


def _word(facts: JsonObject) -> Word:
    n_bytes = facts.get("bytes", 2)
    return Word(**{"bits": 8 * n_bytes if type(n_bytes) is int else 0, **facts})


_SENSOR = {
    "title": TITLE,
    "bus": Key("'i2c', 'spi' or 'analog'", matches("i2c|spi|analog")),
    "channels": Key(
        f"a list of 1 to {MOST_CHANNELS} names of at most 20 lower-case letters, digits and _, "
        "each beginning with a letter",
        _some(matches(CHANNELS), MOST_CHANNELS),
    ),
    "units": Key("a string such as 'ax ay 1/256 g; t 1/10 degC'", matches(r".{1,160}")),
    "rates": Key(
        "a list of a lowest and a highest rate, each from 0.001 to 9,000 Hz",
        _tuple_of(_RATE, _RATE),
    ),
}
_DATA = {
    **_SENSOR,
    "data_bytes": whole_number(1, _MOST_DATA_BYTES),
    "byte_order": Key("'big' or 'little'", matches("big|little")),
    "places": Key(f"a list of one offset per channel, from 0 to {_MOST_DATA_BYTES - 1}",
                  _some(whole(0, _MOST_DATA_BYTES - 1), MOST_CHANNELS)),
    "word": Key("a table such as { bytes = 3, bits = 18, shift = 3, signed = false "
                "}, whose values fit an int16", _is_word),
}  # fmt: skip
_REGISTERS = {
    **_DATA,
    "id_register": whole_number(0, 0xFF),
    "ids": Key("a list of up to 8 bytes", list_of(_BYTE, 8)),
    "start": Key("a list of entries [register, value, 'note', ms to wait], where the wait may be "
                 "omitted and value may be a list of [highest rate, value]", list_of(_SETTING, 64)),
    "data_register": whole_number(0, 0xFF),
    "fifo": Key("true or false", lambda value: type(value) is bool),
    "sleeps": Key("a list of a register, a mask and a value", _tuple_of(_BYTE, _BYTE, _BYTE)),
    "reset": Key("a list of a register and a mask", _tuple_of(_BYTE, _BYTE)),
}  # fmt: skip
_KEYS = {
    "analog": {**_SENSOR, "pin": whole_number(0, ANALOG_PINS - 1)},
    "i2c": {
        **_REGISTERS,
        "addresses": Key("a list of 1 to 4 numbers from 0x08 to 0x77", _some(whole(0x08, 0x77), 4)),
    },
    "spi": {**_REGISTERS, "read_bits": whole_number(0x80, 0xFE)},
    "pulses": {**_DATA, "pulses": whole_number(1, 3)},
}
_OPTIONAL = ("rates", *SensorRegisters.__dataclass_fields__.keys() - {"data_register", "data_bytes",
             "byte_order", "places", "addresses", "pulses"})  # fmt: skip
KEYS = {key for keys in _KEYS.values() for key in keys}
"""The keys of a sensor's file."""


def sensor_kind(name: str) -> SensorKind:
    """Return the sensor of a name, in any case, or of the .toml file of that path.

    Raises `InputError` if there is none, or the file does not describe one; the sentence names the
    key.
    """
    name = name.strip()
    if name.endswith(".toml"):
        return _described(name)
    name = name.lower()
    if "," in name:
        raise InputError(f"--sensor is {shortened(name)!r}; give the option once for each sensor")
    if (kind := _known(name)) is not None:
        return kind
    inputs = f"a0 to a{ANALOG_PINS - 1}", MICROPHONE.name
    raise _SHELF.unknown(name, [*inputs, *_SHELF.names()])


def channels_of(name: str) -> tuple[str, ...]:
    """Return the channels of a sensor, or none if its name is not known."""
    kind = _known(name)
    return () if kind is None else kind.channels


@lru_cache
def sensor_titles() -> dict[str, str]:
    """Return the titles of the sensors that have a name."""
    chips = {name: _SHELF.read(name)[1]["title"] for name in _SHELF.names()}
    inputs = {name: f"analog input {name.upper()}" for name in INPUTS if name != MICROPHONE.name}
    return {**chips, MICROPHONE.name: "microphone", **inputs}


@lru_cache
def _known(name: str) -> SensorKind | None:
    return _described(name) if name in _SHELF.names() else INPUTS.get(name)


def _described(which: str) -> SensorKind:
    """Return the sensor that a file describes; `InputError` if it is none."""
    name, facts, source = _SHELF.read(which)
    given = {key: facts[key] for key in facts if key == "bus"}
    _SHELF.check(given, {"bus": _SENSOR["bus"]}, (), source)  # the others depend on it
    keys = "pulses" if facts["bus"] == "spi" and "pulses" in facts else facts["bus"]
    _SHELF.check(facts, _KEYS[keys], _OPTIONAL, source)
    registers = None if facts["bus"] == "analog" else _registers(facts)
    kind = SensorKind(
        name.lower(),
        tuple(facts["channels"]),
        facts["units"],
        *((MICROPHONE.low, MICROPHONE.high) if registers is None else registers.word.limits),
        facts.get("pin"),
        registers,
        facts["bus"],
        tuple(facts.get("rates", (0.0, math.inf))),
    )
    for fault in _faults(kind, which):
        raise InvalidValue(source, fault, f"see {_SHELF.page}")
    return kind


def _registers(facts: JsonObject) -> SensorRegisters:
    own = {
        key: value for key, value in facts.items() if key in SensorRegisters.__dataclass_fields__
    }
    tuples = {key: tuple(value) for key, value in own.items() if isinstance(value, list)}
    start = tuple(_setting(*row) for row in facts.get("start", ()))
    return SensorRegisters(**own | tuples | {"word": _word(facts.get("word", {})), "start": start})


def _setting(register: int, value: int | list[Any], why: str, wait_ms: int = 0) -> Setting:
    steps = [(math.inf, value)] if isinstance(value, int) else sorted(map(tuple, value))
    return register, tuple(steps), why, wait_ms


def _faults(kind: SensorKind, which: str) -> Iterator[str]:
    """Yield each fault of the sensor with this name or path."""
    n, size, chip = len(kind.channels), len(kind.text.encode()), kind.registers
    if kind.name in INPUTS or (kind.name != which and kind.name in _SHELF.names()):
        yield "has the name of another sensor; rename the file"
    if len(set(kind.channels)) < n or any(map(_TAKEN_NAME.fullmatch, kind.channels)):
        yield "has two channels of the same name, or one with a reserved name; rename the channel"
    if size > _TEXT_LIMIT:
        yield f"needs {size} bytes for name, channels and units, but the limit is {_TEXT_LIMIT}"
    if SensorKind.of_text(kind.text) is None:
        yield f"has units = {shortened(repr(kind.units))}, but needs one unit per channel"
    if kind.rates[0] > kind.rates[1]:
        yield "has a lowest rate above its highest rate"
    if kind.pin is not None and kind.pin + n > ANALOG_PINS:
        yield f"has {n} channels from a{kind.pin} on, but a{ANALOG_PINS - 1} is the last input"
    if chip is not None and len(chip.places) != n:
        yield f"has {n} channels, but 'places' has {len(chip.places)} values"
    if chip is not None and (end := max(chip.places) + chip.word.bytes) > chip.data_bytes:
        yield f"has a channel that ends at byte {end}, but data_bytes is {chip.data_bytes}"
