"""Read a board's facts from its file: every key, its type and its range, or one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from protonn_edge.avr.cores import CORES
from protonn_edge.errors import InputError, shortened

HOST = "host"
"""The core of the board that is this computer."""

POWER_WATTS = (1e-6, 1_000.0)
"""The range of what a board may draw, in watts."""

_BAUD_ERROR_LIMIT = 0.025  # of a receiver at double speed, for 8N1 (datasheet 8271, 20.8)
_TIMER_CYCLES = (
    100,
    255,
)  # of a bit of a serial line in software: interrupts take up to half of it


class _Fact(NamedTuple):
    """A key: what a value must be, in words and as a test; without it `Board` has a default."""

    words: str
    holds: Callable[[Any], bool]
    needed: bool = True


def _whole(low: int, high: int, *, needed: bool = True) -> _Fact:
    def holds(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

    return _Fact(f"a whole number from {low:,} to {high:,}", holds, needed)


def _text(pattern: str, words: str, *, needed: bool = True) -> _Fact:
    def holds(value: Any) -> bool:
        return isinstance(value, str) and re.fullmatch(pattern, value) is not None

    return _Fact(words, holds, needed)


def _list(pattern: str, words: str) -> _Fact:
    def holds(value: Any) -> bool:
        return isinstance(value, list) and all(
            isinstance(each, str) and re.fullmatch(pattern, each) for each in value
        )

    return _Fact(words, holds, needed=False)


def _is_place(value: Any) -> bool:
    address, bit = _whole(0x20, 0xFFFF), _whole(0, 7)
    return (
        isinstance(value, list)
        and len(value) == 2
        and address.holds(value[0])
        and bit.holds(value[1])
    )


def _is_power(value: Any) -> bool:
    low, high = POWER_WATTS
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


_PIN = "a pin of port B such as 'PB3'"
_TITLE = _text(r"[ -~]{1,60}", "up to 60 plain characters")
_CHIP = {
    "title": _TITLE,
    "mcu": _text(r"at[a-z0-9]{2,30}", "a chip such as 'atmega328p', in lower case"),
    "core": _text("|".join(CORES), f"one of {', '.join(CORES)}"),
    "clock_hz": _whole(1_000_000, 32_000_000),
    "flash_bytes": _whole(1_024, 262_144),
    "bootloader_bytes": _whole(0, 16_384, needed=False),
    "sram_bytes": _whole(128, 32_768),
    "serial": _text("usart0|usart1|software", "'usart0', 'usart1' or 'software'", needed=False),
    "rx_pin": _text("PB[0-7]|", _PIN, needed=False),
    "tx_pin": _text("PB[0-7]|", _PIN, needed=False),
    "baud": _whole(1_200, 2_000_000),
    "power_watts": _Fact("a number of watts from 0.000001 to 1,000", _is_power),
    "platformio_board": _text(
        r"[A-Za-z0-9_.-]{0,60}", "PlatformIO's name of a board", needed=False
    ),
    "upload_protocol": _text(r"[a-z0-9_-]{1,40}", "avrdude's name of a programmer", needed=False),
    "upload_baud": _whole(0, 2_000_000, needed=False),
    "usb_ids": _list(r"[0-9A-Fa-f]{4}:[0-9A-Fa-f]{4}", "a list such as ['2341:0043']"),
    "meter_pin": _text("PB[0-7]", _PIN, needed=False),
    "gpior0": _whole(0x20, 0x5F, needed=False),
    "sleep_enable": _Fact("a register's data address and a bit", _is_place, needed=False),
}
KEYS = tuple(_CHIP)
"""The keys of a board's file."""

_HOST = {"title": _TITLE, "core": _text(HOST, repr(HOST))}
_HOST_DEFAULTS = {
    **dict.fromkeys(("mcu", "serial", "platformio_board"), ""),
    **dict.fromkeys(("clock_hz", "flash_bytes", "sram_bytes", "baud", "power_watts"), 0),
}


def read_facts(facts: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Return the arguments of a `Board` that a file's keys stand for.

    Raises `InputError` if a key is missing, unknown or has a value that it cannot have, or values
    contradict.
    """
    on_host = facts.get("core") == HOST
    known = _HOST if on_host else _CHIP
    for key in facts:
        if key not in known:
            raise InputError(
                f"{source} has the key {shortened(key)!r}, which no board has; see docs/boards.md"
            )
    for key, fact in known.items():
        _check(facts, key, fact, source)
    if on_host:
        return {**_HOST_DEFAULTS, **facts}
    _check_serial(facts, source)
    return {key: tuple(value) if isinstance(value, list) else value for key, value in facts.items()}


def _check(facts: Mapping[str, Any], key: str, fact: _Fact, source: str) -> None:
    if key not in facts:
        if fact.needed:
            raise InputError(f"{source} lacks the key {key!r}, {fact.words}; add it")
        return
    if not fact.holds(facts[key]):
        raise InputError(f"{source} says {key} = {_shown(facts[key])}, but it must be {fact.words}")


def _shown(value: Any) -> str:
    try:
        return shortened(repr(value))
    except (ValueError, RecursionError):  # an integer of over 4,300 digits, or nested lists
        return "a value too long to show"


def _check_serial(facts: Mapping[str, Any], source: str) -> None:
    """Refuse a baud rate that the serial line does not have at the clock."""
    clock, baud = facts["clock_hz"], facts["baud"]
    if facts.get("serial") == "software":
        rx, tx = facts.get("rx_pin", ""), facts.get("tx_pin", "")
        if "" in (rx, tx) or rx == tx:
            raise InputError(f"{source} has a serial line in software; give it rx_pin and tx_pin")
        least, most = _TIMER_CYCLES
        if not least <= clock / baud <= most:
            raise InputError(
                f"{source} says {baud:,} baud, a serial line in software has "
                f"{-(-clock // most):,} to {clock // least:,} at {clock:,} Hz; choose one of those"
            )
        return
    real = clock / (8 * max(1, round(clock / (8 * baud))))
    if abs(real / baud - 1) > _BAUD_ERROR_LIMIT:
        raise InputError(
            f"{source} says {baud:,} baud, but the nearest that {clock:,} Hz divide to is "
            f"{real:,.0f}; choose a rate within 2.5 % of what divides"
        )
