"""Start and query an emulated board, which runs in a separate process.

It is separate for three reasons: a crash in simavr does not end this process, simavr's GPL stays
out of this package, and C executes 16 MHz of instructions many times faster than real time.
`programs` lists the programs.
"""

from __future__ import annotations

import contextlib
import json
import queue
import re
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar, Literal, Self
from urllib.parse import urlsplit

from protonn_edge.boards import Board, load_board
from protonn_edge.emulator import programs
from protonn_edge.emulator.programs import BOOTLOADER_START, empty_image
from protonn_edge.emulator.replayed import Replayed, packed_sensors
from protonn_edge.errors import InputError, InvalidValue, ProtoNNEdgeError, shortened

_USAGE = 2  # the program's exit code for a link that cannot be opened
_CHIP = 3  # and for a chip that it does not support
_EEPROM = 4  # and for a file that cannot be its EEPROM
# Deadlines are long, for a computer that is busy: one that ended is noticed at once.
_ANSWER_DEADLINE_S = 60.0
_EXIT_DEADLINE_S = 20.0
_REASON_BYTES = 1000
_READ_BYTES = 1 << 16


class EmulatorError(ProtoNNEdgeError):
    """The emulated board ended or stopped answering (exit code 1)."""

    exit_code = 1


@dataclass(frozen=True)
class EmulatorStats:
    """Counters of the emulator since it was started; resets do not clear them."""

    cycles: int  # clock cycles, those slept through included
    # Cycles of all marked spans. A span reaches from the start of the instruction that writes a
    # non-zero value to GPIOR0 to the start of the one that writes 0: the cycle of the first ``OUT``
    # is counted, the second's is not.
    marked_cycles: int
    # How many spans began and ended. One that a reset or a fault cut short does not count.
    marked_spans: int
    # the deepest stack: RAMEND less the lowest stack pointer, which is the number of bytes used
    stack_bytes: int
    overruns: int  # received bytes that were lost because the firmware did not read them in time
    # ``"running"``, ``"sleeping"``, ``"crashed"`` (by the last fault, until the next reset) or
    # ``"empty"`` (a bootloader with no program to start)
    state: str
    # what stopped the firmware, with the place in the source if the ELF file names it; the first 16
    # of them
    faults: tuple[str, ...]
    # the least and the most of each watched sum of passes in a prediction; none before the first
    passes: tuple[tuple[int, int], ...] = ()


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


class EmulatedBoard:
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
        The board, by default an Arduino Uno. A serial line in software takes two of its pins.
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
        Sensors at its analog inputs and its buses, such as `protonn_edge.sensors.PlayedSensor`.
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

    # More options for the program; a test disables the corrections of simavr to show their effect.
    _debug_options: ClassVar[tuple[str, ...]] = ()

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
        self._board = board or load_board("uno")
        _check_board(self._board, bootloader)
        if firmware is None and not bootloader:
            raise InputError("no firmware was given; give a file, or set bootloader=True")
        flash_bytes = self._board.flash_total_bytes
        self._image = (
            empty_image(flash_bytes)
            if firmware is None
            else programs.load_image(firmware, flash_bytes, self._board.mcu)
        )
        self.has_bootloader = bootloader
        facts = _chip_facts(self._board) | {"--image-bytes": flash_bytes}
        facts |= {"--bss-end": self._image.data_end}
        if bootloader:
            self._image = self._image.with_bootloader(programs.load_optiboot(), BOOTLOADER_START)
            facts |= {"--reset-pc": BOOTLOADER_START}
        self._options = [str(part) for fact in facts.items() for part in fact]
        self._options += ["--pty"] if link == "pty" else ["--port", str(port)]
        self._options += ["--wire-speed"] if wire_speed else []
        self._options += ["--lockstep"] if lockstep else []
        self._sensors = packed_sensors(sensors, self._board.analog_inputs) if sensors else b""
        if sensors:
            self._options += ["--sensor-bytes", str(len(self._sensors)), "--unpaced"]
        self._link = "a pseudo-terminal" if link == "pty" else f"port {port} of 127.0.0.1"
        extras = ["a bootloader"] if bootloader else []
        extras += ["a pseudo-terminal"] if link == "pty" else []
        extras += ["a sensor"] if sensors else []
        extras += ["an EEPROM in a file"] if eeprom is not None else []
        self._options += [] if eeprom is None else ["--eeprom", str(eeprom)]
        self._eeprom = eeprom
        self.program = programs.find_program(emulator, self._board, extras)
        if watch is not None and self.program.name == "simavr":
            self._options += watch.options
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._errors: _Beginning | None = None
        self._url = ""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [*self.program.command, *self._options, *self._debug_options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._answers = _lines_of(self._process.stdout)
        self._errors = _Beginning(self._process.stderr)
        try:
            self._send(self._image.flash + self._sensors)
            self._url = str(self._receive()["url"])
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    @property
    def port(self) -> int:
        """TCP port of the serial line on 127.0.0.1; 0 if it is a pseudo-terminal."""
        return urlsplit(self._url).port or 0

    @property
    def url(self) -> str:
        """The serial line as pyserial's ``serial_for_url`` takes it."""
        return self._url

    @property
    def upload_port(self) -> str:
        """The serial line as ``pio run -t upload --upload-port`` and ``avrdude -P`` take it."""
        return f"net:127.0.0.1:{self.port}" if self.port else self._url

    def stats(self) -> EmulatorStats:
        """Return the counters.

        Raises `EmulatorError` if the emulator has ended or does not answer within 60 s.
        """
        self._send(b"stats\n")
        answer = self._receive()
        # Symbols come from the file; the bootloader may have replaced the program since.
        image = empty_image() if answer.pop("reflashed") else self._image
        faults = (f"{image.describe(fault['pc'])}: {fault['what']}" for fault in answer["faults"])
        passes = tuple((least, most) for least, most in answer.get("passes", ()))
        return EmulatorStats(**answer | {"faults": tuple(faults), "passes": passes})

    def reset(self) -> None:
        """Press the reset button; a client stays connected.

        Raises `EmulatorError` if the emulator has ended or does not answer within 60 s.
        """
        self._send(b"reset\n")
        self._receive()

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

    def _send(self, content: bytes) -> None:
        process = self._running()
        assert process.stdin is not None
        try:
            process.stdin.write(content)
            process.stdin.flush()
        except OSError:  # a broken pipe, for which Windows has another error
            raise self._ended() from None

    def _receive(self) -> dict[str, Any]:
        """Return the next line from the emulator, which is a JSON object."""
        self._running()
        try:
            line = self._answers.get(timeout=_ANSWER_DEADLINE_S)
        except queue.Empty:
            raise EmulatorError(
                f"{self._name} did not answer within {_ANSWER_DEADLINE_S:.0f} s; try again"
            ) from None
        if not line:
            self._answers.put(line)
            raise self._ended()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise EmulatorError(f"{self._name} is not running; use it inside a 'with' statement")
        return self._process

    def _ended(self) -> ProtoNNEdgeError:
        process = self._running()
        assert self._errors is not None, "it was started"
        reason = ""
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_EXIT_DEADLINE_S)
            reason = self._errors.content().decode(errors="replace")
        reason = " ".join(reason.split()) or f"exit code {process.returncode}"
        if process.returncode == _USAGE:
            return InvalidValue(self._name, f"{self._link}: {reason}", "use another port")
        if process.returncode == _EEPROM:
            return InvalidValue(
                self._eeprom, f"no EEPROM of {self._name}: {reason}", "name another file"
            )
        if process.returncode == _CHIP:
            return InvalidValue(
                self._board.name,
                f"not emulated: {reason} ({self._board.mcu}, {self._board.serial})",
                "use --port with a real board",
            )
        return EmulatorError(
            f"{self._name} stopped unexpectedly: {reason}; install {self.program.packages} again"
        )

    @property
    def _name(self) -> str:
        return f"the emulated {self._board.title.removeprefix('Arduino ')}"

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()  # which ends the program
        try:
            process.wait(_EXIT_DEADLINE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        while self._answers.get():
            pass  # up to the pipe's end, where its thread ends
        if self._errors is not None:
            self._errors.content()  # likewise
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()


EmulatedUno = EmulatedBoard
"""The same class: its default board is an Uno."""


class _Beginning:
    """The first bytes of a pipe, which is read to its end: a program that fills it is blocked."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        assert pipe is not None
        self._pipe = pipe
        self._kept = b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def content(self) -> bytes:
        """Return them, once the pipe is at its end."""
        self._thread.join()
        return self._kept

    def _read(self) -> None:
        self._kept = self._pipe.read(_REASON_BYTES)
        while self._pipe.read(_READ_BYTES):
            pass


def _lines_of(pipe: IO[bytes] | None) -> queue.SimpleQueue[bytes]:
    """Return a queue of a pipe's lines, b"" at its end: Windows cannot `select` pipes."""
    assert pipe is not None
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read() -> None:
        try:
            for line in pipe:
                lines.put(line)
        finally:
            lines.put(b"")

    threading.Thread(target=read, daemon=True).start()
    return lines


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
    serial = board.serial
    if serial == "software":
        serial = f"{board.rx_pin[2:]},{board.tx_pin[2:]}"
    return {
        "--mcu": board.mcu,
        "--clock": board.clock_hz,
        "--gpior0": board.gpior0,
        "--sleep-register": register,
        "--sleep-bit": bit,
        "--baud": board.baud,
        "--serial": serial,
    }
