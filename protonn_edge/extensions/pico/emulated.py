"""An emulated RP2040 as a process: rp2040py, with a TCP port as its serial line.

Started as ``python -m``, with the protocol of the other emulators (``emulator/uno.c``): the flash
on stdin, then commands, each answered by a line of JSON. Emulated time jumps to the arrival of a
byte that the firmware waits for, so that waiting takes none of this computer's time.

The boot ROM, which rp2040py does not have, is replaced by `EmulatedChip.boot`. Two instructions
take a cycle more than rp2040py counts: a PUSH with LR and a POP with PC (ARM DDI 0484C, table 3-1).
"""

from __future__ import annotations

import json
import queue
import select
import socket
import sys
import threading
import time
from argparse import ArgumentParser, Namespace
from collections import deque

from rp2040py.peripherals.vreg_and_chip_reset import HAD_RUN
from rp2040py.rp2040 import RP2040
from rp2040py.utils.logging import ConsoleLogger, LogLevel

from protonn_edge.extensions.pico.flash import BOOT2_BYTES, has_right_crc
from protonn_edge.system.schema import JsonObject

_SRAM, _SRAM_BYTES = 0x2000_0000, 0x42000
_BOOT2_AT = _SRAM + _SRAM_BYTES - BOOT2_BYTES
_STACK_END = _SRAM + _SRAM_BYTES
_CYCLE_NS = 8.0  # of 125 MHz, the only clock that rp2040py has
_SLICE = 2_000  # instructions until the line is served; far less than a byte takes
_WAIT_S = 0.02
_USAGE = 2  # exit code for a port that cannot be opened
_FLAG_REGISTER, _FIFO_BYTES, _OVERRUN = 0x18, 32, 1 << 11

# What is to be done at an instruction.
_LONGER, _USES_STACK, _BEGINS, _ENDS, _FAULT, _FOREVER = 1, 2, 4, 8, 16, 32


class EmulatedChip:
    """The chip, its serial line, and what is counted of both."""

    def __init__(self, flash: bytes, options: Namespace) -> None:
        self._chip = RP2040()
        self._chip.logger = ConsoleLogger(LogLevel.ERROR, throw_on_error=False)
        self._chip.flash[: len(flash)] = flash
        self._chip.watchdog.on_watchdog_trigger = lambda: self.boot(by_watchdog=True)
        self._flags = _flags_of(flash, options)
        self._uart = self._chip.uart[0]
        self._read = self._uart.read_uint32
        vars(self._uart)["read_uint32"] = self._read_uart
        self.sent = bytearray()
        self._uart.on_byte = self._take
        self._polled = False  # whether the firmware asked for nothing but the line's state since
        self._byte_ns = 10e9 / options.baud
        self._coming: deque[tuple[float, int]] = deque()  # bytes with the time of their arrival
        self._line = SerialPort(options.port)
        self._faults: list[JsonObject] = []
        self._crashed = False
        self._overruns = self._marked = self._spans = 0
        self._began: float | None = None
        self._lowest = _STACK_END
        self.boot()

    def boot(self, *, by_watchdog: bool = False, pressed: bool = False) -> None:
        """Start as after power-on or a reset: run the second stage if its CRC is right."""
        chip = self._chip
        if by_watchdog or pressed:
            chip.enter_reset(from_watchdog=by_watchdog)
        if pressed:
            chip.vreg_and_chip_reset.record_reset_cause(HAD_RUN)
        self._coming.clear()
        self._began, self._crashed = None, False
        stage = bytes(chip.flash[:BOOT2_BYTES])
        if not has_right_crc(stage):
            self._fault(0x1000_0000, "the CRC-32 of the second stage of the start is wrong")
            return
        chip.sram[-BOOT2_BYTES:] = stage
        chip.core.sp = chip.core.pc = _BOOT2_AT

    def run(self) -> None:
        """Run until this process's input ends."""
        while True:
            if self._crashed:
                self._serve(_WAIT_S)
                continue
            self._serve(0.0)
            self._deliver()
            self._execute(_SLICE)

    def _execute(self, count: int) -> None:
        """Execute instructions, and count their cycles."""
        core, flags, tick = self._chip.core, self._flags, self._chip.clock.tick
        execute = core.execute_instruction
        for _ in range(count):
            pc = core.pc & ~1
            flag = flags.get(pc)
            if flag is None:
                tick(execute() * _CYCLE_NS)
                if not _SRAM <= core.pc < _STACK_END:
                    self._fault(pc, f"a jump to 0x{core.pc:08x}, where there is no code")
                    return
                continue
            if flag & _FAULT:
                self._fault(pc, "an undefined instruction")
                return
            if flag & _FOREVER:  # until an exception or the watchdog
                tick(self._chip.clock.nanos_to_next_alarm)
            if flag & _BEGINS:
                self._began = self._chip.clock.nanos
                flags[core.lr & ~1] = flags.get(core.lr & ~1, 0) | _ENDS
            elif flag & _ENDS and self._began is not None:
                self._marked += round((self._chip.clock.nanos - self._began) / _CYCLE_NS)
                self._spans += 1
                self._began = None
            tick((execute() + (flag & _LONGER)) * _CYCLE_NS)
            if flag & _USES_STACK:
                self._lowest = min(self._lowest, core.sp)

    def _fault(self, address: int, what: str) -> None:
        self._crashed = True
        self._faults.append({"pc": address, "what": what})

    # --- the serial line ---

    def _read_uart(self, offset: int) -> int:
        """Read a register; a second look at the state in a row is a wait for a byte."""
        polls = offset == _FLAG_REGISTER
        if polls and self._polled and self._uart.rx_fifo.empty:
            self._wait()
        self._polled = polls
        return int(self._read(offset))

    def _take(self, byte: int) -> None:
        """Take a byte that the firmware sends."""
        self.sent.append(byte)
        self._polled = False

    def _wait(self) -> None:
        """Pass the time until the next byte, for the firmware that asks for one."""
        clock = self._chip.clock
        if not self._coming:
            self._serve(_WAIT_S)
        if self._coming:
            clock.tick(max(0.0, self._coming[0][0] - clock.nanos))
            self._deliver()

    def _deliver(self) -> None:
        """Put bytes that have arrived into the receiver's FIFO; more than it holds are lost."""
        fifo, now = self._uart.rx_fifo, self._chip.clock.nanos
        while self._coming and self._coming[0][0] <= now:
            byte = self._coming.popleft()[1]
            if fifo.item_count < _FIFO_BYTES:
                fifo.push(byte)
            else:
                self._overruns += 1
                fifo.buffer[(fifo._start + fifo._used - 1) % fifo.size] |= _OVERRUN

    def _serve(self, wait_s: float) -> None:
        """Exchange bytes with the line, and answer commands; wait for the line if told to."""
        clock, start = self._chip.clock, time.monotonic()
        received = self._line.exchange(bytes(self.sent), wait_s)
        if received is None:  # a real line would have lost what was for the client before
            self._coming.clear()
            self._uart.rx_fifo.reset()
        if wait_s:
            clock.tick((time.monotonic() - start) * 1e9)
        arrives = self._coming[-1][0] if self._coming else clock.nanos
        for byte in received or b"":
            arrives += self._byte_ns
            self._coming.append((arrives, byte))
        self.sent.clear()
        while not _COMMANDS.empty():
            command = _COMMANDS.get()
            if command in ("", "quit"):
                sys.exit()
            if command == "reset":
                self.boot(pressed=True)
            _answer(self.stats())

    @property
    def url(self) -> str:
        """The URL of the serial line."""
        return self._line.url

    def stats(self) -> JsonObject:
        """Return the counters, as `EmulatorStats` has them."""
        return {
            "cycles": round(self._chip.clock.nanos / _CYCLE_NS),
            "marked_cycles": self._marked,
            "marked_spans": self._spans,
            "stack_bytes": _STACK_END - self._lowest,
            "overruns": self._overruns,
            "state": "crashed" if self._crashed else "running",
            "faults": self._faults[:16],
            "reflashed": False,
        }


def _flags_of(flash: bytes, options: Namespace) -> dict[int, int]:
    """Return what is to be done at the instructions of the program, which is copied to SRAM."""
    flags = dict[int, int]()
    code = flash[BOOT2_BYTES : BOOT2_BYTES + options.code_bytes]
    for place in range(0, len(code) - 1, 2):
        instruction = int.from_bytes(code[place : place + 2], "little")
        high = instruction >> 8
        if high in (0xB4, 0xB5) or instruction >> 7 == 0xB080 >> 7:  # PUSH, SUB SP
            flags[_SRAM + place] = _USES_STACK | (_LONGER if high == 0xB5 else 0)
        elif high == 0xBD:  # POP with PC
            flags[_SRAM + place] = _LONGER
        elif high == 0xDE:  # UDF
            flags[_SRAM + place] = _FAULT
        elif instruction == 0xE7FE:  # B to itself
            flags[_SRAM + place] = _FOREVER
    if options.predict:
        flags[options.predict] = flags.get(options.predict, 0) | _BEGINS
    return flags


class SerialPort:
    """A TCP port that one client at a time is connected to."""

    def __init__(self, port: int) -> None:
        self._server = socket.create_server(("127.0.0.1", port))
        self._client: socket.socket | None = None
        self.url = f"socket://127.0.0.1:{self._server.getsockname()[1]}"

    def exchange(self, sent: bytes, wait_s: float) -> bytes | None:
        """Send bytes, and return those that have come; None if a client has just connected.

        Waits for some bytes, or for a client.
        """
        try:
            if self._client is not None and sent:
                self._client.sendall(sent)
            either = [self._client or self._server]
            if not select.select(either, [], [], wait_s)[0]:
                return b""
            if self._client is not None:
                received = self._client.recv(4096)
                if received:
                    return received
                self._close()
                return b""
        except OSError:
            self._close()
            return b""
        self._client = self._server.accept()[0]
        self._client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return None

    def _close(self) -> None:
        if self._client is not None:
            self._client.close()
        self._client = None


_COMMANDS: queue.SimpleQueue[str] = queue.SimpleQueue()


def _read_commands() -> None:
    for line in sys.stdin.buffer:
        _COMMANDS.put(line.decode().strip())
    _COMMANDS.put("")


def _answer(content: JsonObject) -> None:
    sys.stdout.write(json.dumps(content) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Emulate a chip until stdin ends."""
    parser = ArgumentParser()
    for name in ("image-bytes", "code-bytes", "predict", "baud", "port"):
        parser.add_argument(f"--{name}", type=int, default=0)
    options = parser.parse_args()
    flash = sys.stdin.buffer.read(options.image_bytes)
    try:
        chip = EmulatedChip(flash, options)
    except OSError as error:
        sys.stderr.write(str(error))
        sys.exit(_USAGE)
    threading.Thread(target=_read_commands, daemon=True).start()
    _answer({"url": chip.url})
    chip.run()


if __name__ == "__main__":
    main()
