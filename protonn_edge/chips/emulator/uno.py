"""Start an emulated board with an AVR; `programs` lists the programs that emulate it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from protonn_edge.chips.boards import Board, load_board
from protonn_edge.chips.emulator import programs
from protonn_edge.chips.emulator.board import EmulatorError, EmulatorStats, RunningBoard
from protonn_edge.chips.emulator.programs import BOOTLOADER_START, empty_image
from protonn_edge.chips.emulator.replayed import Replayed, packed_sensors
from protonn_edge.system.errors import InputError, InvalidValue, ProtoNNEdgeError, shortened

__all__ = ["EmulatedBoard", "EmulatedUno", "EmulatorError", "EmulatorStats", "Watch"]

_CHIP = 3  # the program's exit code for a chip that it does not support
_EEPROM = 4  # and for a file that cannot be its EEPROM


@dataclass(frozen=True)
class Watch:
    """Sums of how often places of the program are passed in a prediction."""

    sums: Sequence[Mapping[int, int]]  # how often a pass of each address counts
    # the addresses where the first and the last marked span of a prediction begin
    first_span: int
    last_span: int

    @property
    def options(self) -> list[str]:
        """The options of the emulator's program."""
        places = (
            f"{row}:{address}:{times}"
            for row, places in enumerate(self.sums)
            for address, times in places.items()
        )
        spans = ["--first-span", str(self.first_span), "--last-span", str(self.last_span)]
        return ["--watch", ",".join(places), *spans]


class EmulatedBoard(RunningBoard):
    """A board with a TCP port or a pseudo-terminal for its serial line, in a ``with``.

    Opening the line resets the board, as opening the serial port of a real one does. One client at
    a time is served; the board continues when the client disconnects. The line has the chip's
    buffer of two bytes and takes the baud rate's time for each byte, in emulated time. While the
    firmware computes or bytes flow, emulated time passes as fast as this computer can manage; while
    the firmware waits for a byte, and always with `wire_speed`, it follows the wall clock.

    Parameters
    ----------
    firmware : Path or None
        An ELF file (then faults name functions, and a stack that grows into .bss is a fault) or an
        Intel HEX file. None is for an empty board with a bootloader.
    bootloader : bool
        Install Optiboot, which runs first after every reset, so that avrdude can upload to
        `upload_port`: ``avrdude -c arduino -p atmega328p -P PORT -U flash:w:firmware.hex:i``.
    board : Board, optional
        The board, by default an Arduino Uno.
    link : {"tcp", "pty"}
        A TCP port of 127.0.0.1, or a pseudo-terminal: a device that any terminal program opens.
    port : int
        The number of the TCP port; 0 takes a free one.
    wire_speed : bool
        Never faster than the wall clock: at 115,200 baud a byte takes 86.8 us. If the computer
        falls behind, the emulator catches up by at most 0.25 s (10 ms with avr8js).
    lockstep : bool
        With sensors, stop emulated time after each frame, which ends with a byte 0, until the
        reader of the line has sent one, which may be empty.
    emulator : str, optional
        ``"simavr"`` or ``"avr8js"``, which emulates an Uno without bootloader, sensors or
        pseudo-terminal. By default simavr, or avr8js if only that is installed.
    watch : Watch, optional
        Places with passes to count, with simavr only.
    sensors : sequence of Replayed
        Sensors at its analog inputs and its buses, such as `protonn_edge.PlayedSensor`.
        Each plays from its first sample when the firmware first reads it after a reset, in emulated
        time. With sensors, emulated time waits for the reader of the line instead of the wall
        clock.
    eeprom : Path, optional
        A file that keeps the EEPROM, as the chip does without power. It is created if it does not
        exist; by default, the EEPROM is erased at the start.

    Attributes
    ----------
    has_bootloader : bool
        Whether Optiboot is resident.
    program : Program
        The emulator.

    Raises
    ------
    InputError
        If the firmware cannot be used, or a package to build the emulator with is missing; on
        entering, if the port is taken, or the file cannot be the EEPROM.
    EmulatorError
        On entering, if the emulator does not start.

    Examples
    --------
    >>> with EmulatedBoard(Path("firmware.elf")) as uno:  # doctest: +SKIP
    ...     link = serial.serial_for_url(uno.url, timeout=1.0)
    """

    def __init__(
        self,
        firmware: Path | None,
        *,
        bootloader: bool = False,
        board: Board | None = None,
        link: Literal["tcp", "pty"] = "tcp",
        port: int = 0,
        wire_speed: bool = False,
        lockstep: bool = False,
        sensors: Sequence[Replayed] = (),
        emulator: str | None = None,
        watch: Watch | None = None,
        eeprom: Path | None = None,
    ) -> None:
        board = board or load_board("uno")
        _check_board(board, bootloader)
        if firmware is None and not bootloader:
            raise InputError("no firmware was given; give a file, or set bootloader=True")
        flash_bytes = board.flash_total_bytes
        image = (
            empty_image(flash_bytes)
            if firmware is None
            else programs.load_image(firmware, flash_bytes, board.mcu)
        )
        facts = _chip_facts(board) | {"--image-bytes": flash_bytes, "--bss-end": image.data_end}
        if bootloader:
            image = image.with_bootloader(programs.load_optiboot(), BOOTLOADER_START)
            facts |= {"--reset-pc": BOOTLOADER_START}
        options = [str(part) for fact in facts.items() for part in fact]
        options += ["--pty"] if link == "pty" else ["--port", str(port)]
        options += ["--wire-speed"] if wire_speed else []
        options += ["--lockstep"] if lockstep else []
        packed = packed_sensors(sensors, board.analog_inputs) if sensors else b""
        if sensors:
            options += ["--parts-bytes", str(len(packed)), "--unpaced"]
        extras = ["a bootloader"] if bootloader else []
        extras += ["a pseudo-terminal"] if link == "pty" else []
        extras += ["a sensor"] if sensors else []
        extras += ["an EEPROM in a file"] if eeprom is not None else []
        options += [] if eeprom is None else ["--eeprom", str(eeprom)]
        program = programs.find_program(emulator, board, extras)
        if watch is not None and program.name == "simavr":
            options += watch.options
        place = "a pseudo-terminal" if link == "pty" else f"port {port} of 127.0.0.1"
        super().__init__(board, program, options, image, place)
        self.has_bootloader = bootloader
        self._sensors = packed
        self._eeprom = eeprom

    def _refused(self, exit_code: int, reason: str) -> ProtoNNEdgeError | None:
        if exit_code == _EEPROM:
            return InvalidValue(
                self._eeprom, f"no EEPROM of {self._name}: {reason}", "use another file"
            )
        if exit_code == _CHIP:
            return InvalidValue(
                self._board.name,
                f"not emulated: {reason} ({self._board.mcu}, {self._board.serial})",
                "use --port with a real board",
            )
        return super()._refused(exit_code, reason)

    def press(self, pin: str) -> None:
        """Press a button between a pin, such as ``"PD2"``, and ground for 0.2 s of emulated time.

        Raises `InputError` if the chip has no such pin or the emulator no buttons, and
        `EmulatorError` if it has ended or does not answer within 60 s.
        """
        if self.program.name != "simavr":
            raise InvalidValue(self.program.name, "no buttons", "use the emulator simavr")
        is_pin = re.fullmatch("P[A-Z][0-7]", pin) is not None
        if is_pin:
            self._send(f"press {pin[1:]}\n".encode())
        if not is_pin or not self._receive()["pressed"]:
            raise InvalidValue(
                self._name, f"no pin {shortened(pin, 20)!r}", "give a port and a bit, as in PD2"
            )


EmulatedUno = EmulatedBoard
"""The same class: its default board is an Uno."""


def _check_board(board: Board, bootloader: bool) -> None:
    if bootloader and (board.mcu, board.clock_hz) != ("atmega328p", 16_000_000):
        raise InputError(
            f"{board.name} has an {board.mcu} at {board.clock_hz:,} Hz, but the emulator's "
            "bootloader is for an atmega328p at 16,000,000 Hz; leave the bootloader out, and name "
            "a firmware file"
        )


def _chip_facts(board: Board) -> dict[str, str | int]:
    """Return the options that describe the chip; simavr knows the rest."""
    register, bit = board.sleep_enable
    return {
        "--mcu": board.mcu,
        "--clock": board.clock_hz,
        "--gpior0": board.gpior0,
        "--sleep-register": register,
        "--sleep-bit": bit,
        "--serial": board.serial,
    }
