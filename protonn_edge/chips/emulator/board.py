"""An emulated board as a separate process, which is started and queried.

It is separate for three reasons: a crash in an emulator does not end this process, simavr's GPL
stays out of this package, and C executes 16 MHz of instructions many times faster than real time.
All of these programs have the protocol described at the top of uno.c.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar, Self
from urllib.parse import urlsplit

from protonn_edge.chips.boards import Board
from protonn_edge.chips.emulator.image import FlashImage
from protonn_edge.system.errors import InputError, InvalidValue, ProtoNNEdgeError
from protonn_edge.system.loopback import check_loopback
from protonn_edge.system.schema import JsonObject

_OPTIONS = {
    "bootloader": "--bootloader",
    "link": "a file for --port",
    "wire_speed": "--wire-speed",
    "sensors": "--sensor",
    "eeprom": "--eeprom",
}
"""What an emulator may lack, as the command line calls it."""

_USAGE = 2  # the program's exit code for a link that cannot be opened
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
class Program:
    """A program that emulates a board."""

    name: str  # by which it can be chosen
    command: tuple[str, ...]  # its command line, to which the board's options are added
    packages: str  # packages that contain it, for a sentence that begins with "install"
    instead: str = ""  # why it is not the preferred one, if no emulator was named; else empty
    remark: str = ""  # a note for users; else empty


def check_plain(what: str, elf: Path | None, options: Mapping[str, object]) -> None:
    """Refuse a board without firmware, and further options, for an emulator with a TCP port alone.

    `what` names the emulated board in the error, an `InputError`.
    """
    impossible = [name for name, value in options.items() if value and value != "tcp"]
    if elf is None or impossible:
        named = ", ".join(map(_OPTIONS.__getitem__, impossible)) or "--bootloader"
        raise InputError(f"{what} does not support {named}; leave it out")


class RunningBoard:
    """A board with a TCP port or a pseudo-terminal for its serial line, in a ``with``.

    Attributes
    ----------
    has_bootloader : bool
        Whether a bootloader is resident.
    program : Program
        The emulator.
    """

    # More options for the program; a test disables the corrections of simavr to show their effect.
    _debug_options: ClassVar[tuple[str, ...]] = ()
    has_bootloader = False
    resets_on_opening = True  # its line
    has_buttons = True

    def __init__(
        self, board: Board, program: Program, options: Sequence[str], image: FlashImage, link: str
    ) -> None:
        self._board = board
        self._name = f"the emulated {board.title.removeprefix('Arduino ')}"
        self.program = program
        self._options = [*options]
        self._image = image
        self._sensors = b""
        self._link = link  # for messages
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
            if self.port:
                check_loopback(self._name)
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
        image = FlashImage(b"") if answer.pop("reflashed") else self._image
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
        """Press a button between a pin and ground; raises `InputError` if there is none."""
        raise InvalidValue(self.program.name, f"no button at {pin!r}", "use another emulator")

    def _send(self, content: bytes) -> None:
        process = self._running()
        assert process.stdin is not None
        try:
            process.stdin.write(content)
            process.stdin.flush()
        except OSError:  # a broken pipe, for which Windows has another error
            raise self._ended() from None

    def _receive(self) -> JsonObject:
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
        answer: JsonObject = json.loads(line)
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
        refused = self._refused(process.returncode, reason)
        return refused or EmulatorError(
            f"{self._name} stopped unexpectedly: {reason}; install {self.program.packages} again"
        )

    def _refused(self, exit_code: int, reason: str) -> ProtoNNEdgeError | None:
        """Return the error of a program that ended because of an option, or None."""
        if exit_code == _USAGE:
            return InvalidValue(self._name, f"{self._link}: {reason}", "use another port")
        return None

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
