"""The boards, one .toml file per board.

`load_board` takes the name of a file in this folder or the path of another file; it checks every
key, its type and its range. The folder `exported` has the boards for which there is no firmware:
only `load_export_board` returns these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from protonn_edge.chips.cores import EVERY_CORE, EXPORTED_CORES, WORD_CORES, Core
from protonn_edge.system.described import FILE_LIMIT_BYTES, TITLE, Key, Shelf, matches, whole_number
from protonn_edge.system.errors import InputError, InvalidValue
from protonn_edge.system.schema import list_of, number, whole

POWER_WATTS = (1e-6, 1_000.0)  # the range of what a board may draw, in watts
_PAGE = "docs/boards.md"
DEFAULT_BOARD = "uno"
_SHELF = Shelf(
    "board",
    __name__,
    _PAGE,
    "for another chip, write portable C with 'protonn-edge export MODEL --c FOLDER'",
    DEFAULT_BOARD,
)
_EXPORTED = Shelf("board", f"{__name__}.exported", _PAGE, _SHELF.otherwise)
FIRMWARE, SIMILAR, COMPILED = "firmware", "similar", "compiled"
PROOFS = (FIRMWARE, "emulated", SIMILAR, COMPILED)


@dataclass(frozen=True)
class Board:
    """The limits and the names of one board.

    Attributes
    ----------
    name : str
        The file's name, used for ``--board`` and as the environment in platformio.ini.
    title : str
        Its usual name.
    mcu : str
        The chip's name for avr-gcc and simavr.
    core : str
        The chip's architecture as its compiler calls it (`protonn_edge.chips.cores`).
    clock_hz : int
        CPU clock in hertz.
    flash_bytes, sram_bytes : int
        Memory for a program: flash without the bootloader, all of the SRAM.
    bootloader_bytes : int
        Flash that the bootloader takes.
    eeprom_bytes : int
        EEPROM; 0 if unknown.
    serial : {"usart0", "usart1"}
        The peripheral of the serial line.
    baud : int
        Baud rate of the serial line.
    power_watts : float
        Power drawn while computing; times seconds, it gives the energy in joules.
    platformio_board : str
        PlatformIO's name of the board; empty if it has none.
    upload_protocol : str
        avrdude's name of the programmer.
    upload_baud : int
        Baud rate of uploads; 0 if these do not use a serial line.
    usb_ids : tuple of str
        ``"vendor:product"`` of its USB interface, by which its port is found.
    busy_pin : str
        The pin that is high while it computes.
    gpior0 : int
        The data address of the register that marks timed spans.
    sleep_enable : tuple of int
        The data address of the register with the bit SE, and the bit's number.
    analog_inputs : tuple of int
        The ADC's channels of the pins A0 to A5.
    environment : str
        The section of platformio.ini, by default `name`.
    proof : {"", "firmware", "emulated", "similar", "compiled"}
        How code for a chip other than the AVRs with firmware is tested: in the firmware of an
        emulated board, on an emulator of its core or of a similar one, or only compiled.
    framework : {"", "arduino"}
        What its firmware is compiled on top of; empty for none.
    platform : str
        PlatformIO's name of the platform that has the framework.
    settings : tuple of str
        More lines for its section of platformio.ini.
    """

    name: str
    title: str
    mcu: str
    core: str
    clock_hz: int
    flash_bytes: int
    sram_bytes: int
    baud: int
    power_watts: float
    platformio_board: str = ""
    bootloader_bytes: int = 0
    eeprom_bytes: int = 0
    serial: str = "usart0"
    upload_protocol: str = "arduino"
    upload_baud: int = 0
    usb_ids: tuple[str, ...] = ()
    busy_pin: str = "PB0"
    gpior0: int = 0x3E
    sleep_enable: tuple[int, int] = (0x53, 0)
    analog_inputs: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    environment: str = ""
    proof: str = ""
    framework: str = ""
    platform: str = ""
    settings: tuple[str, ...] = ()

    @property
    def cpu(self) -> Core:
        """The core of its chip."""
        return EVERY_CORE[self.core]

    @property
    def has_firmware(self) -> bool:
        """Whether there is firmware for its chip, not only a library.

        Without a multiplier, routines run too long while interrupts are disabled.
        """
        return bool(self.framework) or (self.proof in ("", FIRMWARE) and self.cpu.multiplies)

    @property
    def flash_total_bytes(self) -> int:
        """All of the flash, with the bootloader's section."""
        return self.flash_bytes + self.bootloader_bytes

    def milliseconds(self, cycles: float) -> float:
        """Return the time of `cycles` at the board's clock, in ms."""
        return 1000.0 * cycles / self.clock_hz

    def time(self, cycles: float, digits: int = 3) -> str:
        """Return the time of `cycles` with its unit, ms."""
        return f"{self.milliseconds(cycles):,.{digits}f} ms"

    def millijoules(self, cycles: float) -> float:
        """Return the energy of `cycles`, in mJ: power times time (ProtoNN paper, section 5)."""
        return self.power_watts * self.milliseconds(cycles)


UNKNOWN = Board("unknown", "board at the port", "", "", 0, 0, 0, 115_200, 0.0)
"""A board that states its clock itself; nothing else of it is known."""


def board_names() -> list[str]:
    """Return the names of all boards with firmware for an AVR, sorted."""
    return _SHELF.names()


def firmware_board_names() -> list[str]:
    """Return the names of all boards with firmware, sorted, those with 32 bits included."""
    others = map(load_export_board, _EXPORTED.names())
    more = [each.name for each in others if each.has_firmware]
    return sorted([*board_names(), *more])


def export_board_names() -> list[str]:
    """Return the names of all boards for which models are exported, sorted."""
    return sorted([*board_names(), *_EXPORTED.names()])


def boards() -> list[Board]:
    """Return all boards with firmware for an AVR, by their names."""
    return list(map(load_board, board_names()))


def load_board(name: str) -> Board:
    """Return the board called `name`, or the board that the .toml file at that path describes.

    Raises
    ------
    InputError
        If there is no such board, or the file does not describe one; the sentence names the key.
        Also if there is no firmware for the board's chip.
    """
    board = _load(name, firmware_board_names)
    if not board.has_firmware:
        raise InputError(
            f"there is no firmware for {board.name} ({board.mcu}) yet; use 'protonn-edge export "
            f"MODEL --c FOLDER --board {name}', whose library has a self-test for the board"
        )
    return board


def load_export_board(name: str) -> Board:
    """Return a board as `load_board` does, even if there is no firmware for its chip."""
    return _load(name, export_board_names)


def _load(name: str, names: Callable[[], list[str]]) -> Board:
    shelf = _EXPORTED if name in _EXPORTED.names() else _SHELF
    name, facts, source = shelf.read(name, names)
    return Board(name=name, environment=name, **read_facts(facts, source))


def board_of(board: Board | str) -> Board:
    """Return a `Board` unchanged, or the one that `load_board` finds."""
    return board if isinstance(board, Board) else load_board(board)


def export_board_of(board: Board | str) -> Board:
    """Return a `Board` unchanged, or the one that `load_export_board` finds."""
    return board if isinstance(board, Board) else load_export_board(board)


_BAUD_ERROR_LIMIT = 0.025  # of a receiver at double speed, for 8N1 (data sheet 8271, 20.8)


def _text(pattern: str, description: str) -> Key:
    return Key(description, matches(pattern))


def _is_place(value: object) -> bool:
    address, bit = whole(0x20, 0xFFFF), whole(0, 7)
    return isinstance(value, list) and len(value) == 2 and address(value[0]) and bit(value[1])


_KEYS = {
    "title": TITLE,
    "mcu": _text(r"at[a-z0-9]{2,30}", "a chip such as 'atmega328p', in lower case"),
    "core": _text("|".join(EVERY_CORE), f"one of {', '.join(EVERY_CORE)}"),
    "clock_hz": whole_number(1_000_000, 32_000_000),
    "flash_bytes": whole_number(1_024, 262_144),
    "bootloader_bytes": whole_number(0, 16_384),
    "sram_bytes": whole_number(128, 32_768),
    "eeprom_bytes": whole_number(0, 16_384),
    "serial": _text("usart0|usart1", "'usart0' or 'usart1'"),
    "baud": whole_number(1_200, 2_000_000),
    "power_watts": Key("a number of watts from 0.000001 to 1,000", number(*POWER_WATTS)),
    "platformio_board": _text(r"[A-Za-z0-9_.-]{0,60}", "PlatformIO's name for a board"),
    "upload_protocol": _text(r"[a-z0-9_-]{1,40}", "avrdude's name for a programmer"),
    "upload_baud": whole_number(0, 2_000_000),
    "usb_ids": Key(
        "a list such as ['2341:0043']",
        list_of(matches(r"[0-9A-Fa-f]{4}:[0-9A-Fa-f]{4}"), FILE_LIMIT_BYTES),
    ),
    "busy_pin": _text("PB[0-7]", "a pin of port B such as 'PB3'"),
    "gpior0": whole_number(0x20, 0x5F),
    "sleep_enable": Key("a list of two numbers: a register's data address and a bit", _is_place),
    "analog_inputs": Key(
        "a list of six different ADC channels from 0 to 7",
        lambda value: list_of(whole(0, 7), 6)(value) and len(set(value)) == 6,
    ),
}
KEYS = tuple(_KEYS)
"""The keys of a board's file."""

_EXPORTED_KEYS = {
    **{key: _KEYS[key] for key in ("title", "core", "power_watts", "platformio_board", "usb_ids")},
    "mcu": _text(r"[a-z][a-z0-9-]{2,30}", "a chip such as 'rp2040', in lower case"),
    "clock_hz": whole_number(1_000_000, 1_000_000_000),
    "flash_bytes": whole_number(1_024, 1 << 26),
    "sram_bytes": whole_number(1_024, 1 << 24),
    "baud": _KEYS["baud"],
    "proof": _text("|".join(PROOFS), "'firmware', 'emulated', 'similar' or 'compiled'"),
    "framework": _text("arduino", "'arduino'"),
    "platform": _text(r"[A-Za-z0-9_.@/:+=#-]{1,120}", "PlatformIO's name for a platform"),
    "settings": Key(
        "a list of lines such as ['board_build.f_cpu = 48000000L']",
        list_of(matches(r"[a-z_.]{1,40} = [ -~]{1,200}"), 20),
    ),
}
"""The keys of the file of a board whose chip is not one of the AVRs with firmware."""

# Of a board with an Arduino core, if its file does not state them; without power, there is no
# energy.
_UNKNOWN = {"flash_bytes": 262_144, "sram_bytes": 32_768, "baud": 115_200, "power_watts": 0.0}


def read_facts(facts: Mapping[str, object], source: str) -> dict[str, Any]:
    """Return the arguments of a `Board` for a file's keys; `InputError` names one that is wrong."""
    core = {key: each for key, each in facts.items() if key == "core"}
    _SHELF.check(core, {"core": _KEYS["core"]}, ["core"], source)  # the others depend on it
    exported = facts.get("core") in {*EXPORTED_CORES, *WORD_CORES}
    keys = _EXPORTED_KEYS if exported else _KEYS
    optional = [key for key in keys if hasattr(Board, key)]
    if exported and "framework" in facts:  # the framework's tools know the rest
        optional = ["title", "mcu", "flash_bytes", "sram_bytes", "baud", "power_watts"]
        optional += ["usb_ids", "proof", "settings"]
    _SHELF.check(facts, keys, optional, source)
    if exported and "framework" in facts:
        facts = {"title": facts["platformio_board"], "mcu": facts["core"], **_UNKNOWN, **facts}
    if exported:
        facts = {"proof": COMPILED, **facts}
    else:
        _check_serial(facts, source)
    return {key: tuple(value) if isinstance(value, list) else value for key, value in facts.items()}


def _check_serial(facts: Mapping[str, Any], source: str) -> None:
    """Refuse a baud rate that the serial line cannot generate from the clock."""
    clock, baud = facts["clock_hz"], facts["baud"]
    real = clock / (8 * max(1, round(clock / (8 * baud))))
    if abs(real / baud - 1) > _BAUD_ERROR_LIMIT:
        raise InvalidValue(
            source,
            f"{baud:,} baud, expected a rate within 2.5 % of one that a clock of "
            f"{clock:,} Hz can produce, such as {real:,.0f}",
        )
