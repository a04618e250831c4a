"""QEMU as an emulated board: a process with the protocol of the other emulators (``uno.c``).

The ELF file is read from stdin, then commands, each answered by a line of JSON. QEMU's own TCP
server refuses a client while it closes the last one's line, so this process listens in its place.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from argparse import ArgumentParser
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

_USAGE = 2  # exit code for a port that cannot be opened
_COUNTERS = ("cycles", "marked_cycles", "marked_spans", "stack_bytes", "overruns")  # QEMU has none


class QEMULine:
    """A TCP port for one client at a time, whose bytes go to and come from QEMU."""

    def __init__(self, port: int, command: list[str]) -> None:
        self._server = socket.create_server(("127.0.0.1", port))
        self._client: socket.socket | None = None
        self._command = command
        self.url = f"socket://127.0.0.1:{self._server.getsockname()[1]}"
        self.qemu = self._started()
        threading.Thread(target=self._receive, daemon=True).start()

    def _started(self) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        qemu = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, bufsize=0)
        threading.Thread(target=self._send, args=[qemu], daemon=True).start()
        return qemu

    def restart(self) -> None:
        """Do what the reset button does."""
        before = self.qemu
        self.qemu = self._started()
        before.kill()
        before.wait()

    def _receive(self) -> None:
        while True:
            self._client = client = self._server.accept()[0]
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with suppress(OSError):  # the client's end, or QEMU's
                while received := client.recv(4096):
                    pipe = self.qemu.stdin
                    assert pipe is not None
                    pipe.write(received)
            self._client = None
            client.close()

    def _send(self, qemu: subprocess.Popen[bytes]) -> None:
        assert qemu.stdout is not None
        while sent := os.read(qemu.stdout.fileno(), 4096):
            client = self._client
            if client is not None:  # else nobody listens, as on a real line
                with suppress(OSError):
                    client.sendall(sent)


def main() -> None:
    """Emulate a board until stdin ends."""
    parser = ArgumentParser()
    for name in ("image-bytes", "port", "shift"):
        parser.add_argument(f"--{name}", type=int, default=0)
    parser.add_argument("--emulator")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        elf = Path(folder, "firmware.elf")
        elf.write_bytes(sys.stdin.buffer.read(options.image_bytes))
        command = [
            *(*options.emulator.split(), "-kernel", str(elf), "-icount", f"shift={options.shift}"),
            *("-display", "none", "-monitor", "none"),
        ]
        try:
            line = QEMULine(options.port, command)
        except OSError as error:
            sys.stderr.write(error.strerror or str(error))
            sys.exit(_USAGE)
        try:
            _serve(line)
        finally:
            line.qemu.kill()


def _serve(line: QEMULine) -> None:
    _answer({"url": line.url})
    for command in sys.stdin.buffer:
        if command.strip() == b"quit":
            return
        if command.strip() == b"reset":
            line.restart()
        state = "running" if line.qemu.poll() is None else "crashed"
        facts = {"state": state, "faults": [], "reflashed": False}
        _answer({**dict.fromkeys(_COUNTERS, 0), **facts})


def _answer(content: object) -> None:
    sys.stdout.write(json.dumps(content) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
