"""MicroPython on a Cortex-M0, the core of a Pico but for its pipeline, in QEMU: no file system.

`built` makes the firmware from a folder with MicroPython's sources, with or without machine code;
`Board` runs code in it, and counts instructions.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from avr_tools import missing
from programs import started

from protonn_edge.system.errors import InputError

HEAP_BYTES = 180_000  # of a Pico's about 190,000
_EMITTERS = (
    "-DMICROPY_EMIT_THUMB=1 -DMICROPY_EMIT_INLINE_THUMB=1 -DMICROPY_EMIT_THUMB_ARMV7M=0 "
    "-DMICROPY_EMIT_INLINE_THUMB_FLOAT=0"  # as its port to the RP2040 has them
)
_MACHINE = (
    *("setpriv", "--pdeathsig", "KILL"),  # it ends with the benchmark, even if that is killed
    *("qemu-system-arm", "-machine", "microbit", "-display", "none", "-monitor", "none"),
    *("-global", "nrf51-soc.flash-size=1048576", "-global", "nrf51-soc.sram-size=262144"),
    *("-icount", "shift=5", "-semihosting", "-serial", "stdio", "-kernel"),
)
_READY = b"raw REPL; CTRL-B to exit\r\n>"
_TURNS = 500_000
_SPIN = f"""
import time
@micropython.asm_thumb
def spin(r0):
    label(AGAIN)
    sub(r0, 1)
    bne(AGAIN)
start = time.ticks_us()
spin({_TURNS})
print({2 * _TURNS} / time.ticks_diff(time.ticks_us(), start))
"""


def built(sources: Path, *, with_viper: bool) -> Path:
    """Return the firmware, which takes minutes when it is made first; `InputError` if it fails."""
    if lacking := missing("make", "arm-none-eabi-gcc", "qemu-system-arm", "setpriv"):
        raise InputError(f"needs {', '.join(lacking)}; install them")
    port, build = sources / "ports" / "qemu", f"build-{'viper' if with_viper else 'plain'}"
    if not port.is_dir():
        raise InputError(f"{sources}: not MicroPython's sources, which have ports/qemu")
    firmware = port / build / "firmware.elf"
    if not firmware.is_file():
        flags = ["BOARD=MICROBIT", "FROZEN_MANIFEST=", f"MICROPY_HEAP_SIZE={HEAP_BYTES}"]
        extra = [f"CFLAGS_EXTRA={_EMITTERS}"] if with_viper else []
        for target in (["-C", "mpy-cross"], ["-C", str(port), *flags, f"BUILD={build}", *extra]):
            done = subprocess.run(
                [str(shutil.which("make")), *target],
                cwd=sources,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise InputError(f"make {' '.join(target)} failed: {done.stderr[-300:]}")
    return firmware


class Board:
    """A board that runs code, as with ``mpremote run``."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._send(b"\r\x01")
        self._until(_READY)

    def run(self, code: str) -> str:
        """Return what code prints; `AssertionError` with what it raises."""
        self._send(code.encode() + b"\x04")
        self._until(b"OK")
        printed, raised = self._until(b"\x04"), self._until(b"\x04")
        self._until(b">")
        assert not raised, raised.decode()
        return printed.decode()

    def per_microsecond(self) -> float:
        """Return the instructions in a microsecond of its clock."""
        return float(self.run(_SPIN))

    def heap_bytes(self, code: str) -> int:
        """Run code, and return the bytes of the heap that remain in use."""
        self.run("#" * len(code))  # the line that it is read into remains as long
        self.run("import gc\ngc.collect()\nused = gc.mem_alloc()")
        self.run(code)
        return int(self.run("gc.collect()\nprint(gc.mem_alloc() - used)"))

    def _send(self, content: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(content)
        self._process.stdin.flush()

    def _until(self, mark: bytes) -> bytes:
        assert self._process.stdout is not None
        received = b""
        while not received.endswith(mark):
            byte = self._process.stdout.read(1)
            assert byte, f"the board stopped: {received!r}"
            received += byte
        return received.removesuffix(mark)


@contextmanager
def board(firmware: Path) -> Iterator[Board]:
    """Run a board until the end of a block."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with started(*_MACHINE, firmware, **pipes) as process:
        yield Board(process)
