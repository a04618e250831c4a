"""A line with a known device at its end: handshake, messages both ways, and recovery.

Opening a port resets an Arduino: its bootloader listens for a second and the first bytes are lost,
so HELLO is repeated until a deadline. The same procedure recovers a device that was reset or
stopped answering; a broken line is reopened first. The device that answers must be the expected
one.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import socket
import time
from dataclasses import dataclass

from protonn_edge.chips.boards import Board, boards
from protonn_edge.device import protocol
from protonn_edge.device.message_reader import MessageReader
from protonn_edge.device.protocol import HelloReply, HelloRequest, Message, ProtocolError
from protonn_edge.model.integer_chain import MODEL_HASH_BYTES
from protonn_edge.system.errors import DeviceError, InputError

REFLASH_HINT = "build the firmware with `protonn-edge build`, then run `protonn-edge upload`"
LONGEST_REPLY_BYTES = len(protocol.ScoresReply(0, 0, (0,) * 255).payload())
_LONGEST_PAYLOAD = 4096  # the largest EEPROM of the chips in `boards/`

# Handshakes only: every HELLO frame is then the same, and in none of its bytes would Optiboot see a
# command that changes the flash. A late answer to one never has the number of a later request.
_HELLO_SEQUENCE = 0
_HELLO_FIRST_S, _HELLO_EVERY_S = 0.05, 0.25
_REOPEN_EVERY_S = 0.25


# --- the serial line ------------------------------------------------------------------------------

_MOST_BYTES = 4096  # of one reading
_WRITE_BYTES = 256  # at a time: 2.1 s at 1,200 baud
_WRITE_DEADLINE_S = 5.0
_POLL_S = 0.001


class LinkError(DeviceError):
    """The serial line cannot be opened, or broke while it was in use."""


class NoPortError(InputError, LinkError):
    """The line of a session cannot be opened: its name is wrong, or the board is unplugged."""


class Host:
    """A computer: its serial ports and its clock."""

    def open(self, url: str, baud: int) -> Link:
        """Return an open line; `LinkError` if it cannot be opened."""
        return Link(url, baud)

    def now(self) -> float:
        """Return the time in seconds, from an arbitrary start."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait for this number of seconds."""
        time.sleep(seconds)


class Deadline:
    """A time limit in seconds that only progress renews."""

    def __init__(self, host: Host, seconds: float) -> None:
        self.seconds = seconds
        self._host = host
        self.renew()

    def renew(self) -> None:
        """Start again: there was progress."""
        self.renewed_at = self._host.now()

    @property
    def left_s(self) -> float:
        """Seconds until it passes; negative afterwards."""
        return self.renewed_at + self.seconds - self._host.now()


class Link:
    """An open line to a serial port, or to anything else that pyserial knows.

    `url` is what pyserial's `serial_for_url` takes: ``/dev/ttyACM0``, ``COM3``,
    ``socket://127.0.0.1:PORT``. A link that is not a serial port ignores the baud rate. Raises
    `LinkError` if the line cannot be opened; later, if it breaks.
    """

    def __init__(self, url: str, baud: int) -> None:
        import serial  # it takes its time, and many only name this class

        self._url = url
        try:
            self._port = serial.serial_for_url(
                url,
                do_not_open=True,
                baudrate=baud,
                timeout=0,
                exclusive=True,  # two programs would take bytes in turn
            )
            if not url.lower().startswith("rfc2217:"):  # has its own deadline, and refuses another
                self._port.write_timeout = _WRITE_DEADLINE_S
            if url.lower().startswith("socket:"):
                # Opening would drop what a board that starts now has already sent.
                self._port.reset_input_buffer = lambda: None  # type: ignore[method-assign]
            self._port.open()
        except Exception as error:  # pyserial's handlers raise various exceptions
            number = getattr(error, "errno", None)  # pyserial's text repeats the port and the error
            reason = os.strerror(number) if number else error
            raise LinkError(
                f"cannot open {url or 'a port without a name'} ({reason}); check that the board is "
                "plugged in, that you have permission to use the port and that no other program "
                "uses it, or choose another port with --port"
            ) from error
        # What pyserial does not do for a TCP port: send without waiting for acknowledgements, and
        # close a socket that the other side has closed.
        self._socket: socket.socket | None = getattr(self._port, "_socket", None)
        if self._socket is not None:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        """Close the line; closing it again does nothing."""
        with contextlib.suppress(OSError):  # a port without its device
            if self._socket is not None:
                self._socket.shutdown(socket.SHUT_RDWR)
                self._port.is_open = False  # else pyserial waits for 0.3 s after closing it
            self._port.close()
        if self._socket is not None:
            self._socket.close()

    def read(self, wait_s: float) -> bytes:
        """Return what has arrived; wait up to `wait_s` seconds for the first byte."""
        try:
            self._wait(wait_s)
            return bytes(self._port.read(_MOST_BYTES))
        except (OSError, TypeError, ValueError) as error:  # a port that was closed raises any
            raise LinkError(
                f"cannot read from {self._url}: {error}; plug the board in again"
            ) from error

    def write(self, data: bytes) -> None:
        """Send bytes, all of them."""
        try:
            while data:
                data = data[self._port.write(data[:_WRITE_BYTES]) or 0 :]
        except (OSError, TypeError, ValueError) as error:
            raise LinkError(
                f"cannot write to {self._url}: {error}; plug the board in again"
            ) from error

    def _wait(self, wait_s: float) -> None:
        try:
            number = self._port.fileno()
        except (AttributeError, OSError):  # not every handler has one: ask again and again
            end = time.monotonic() + wait_s
            while not self._port.in_waiting and time.monotonic() < end:
                time.sleep(_POLL_S)
        else:
            select.select([number], [], [], max(0.0, wait_s))


class AnsweringLink(Link):
    """A line on which each frame gets an answer, an empty frame if there is nothing to send.

    An emulated board in lockstep waits for this answer, which follows the last bytes read.
    """

    _unanswered = 0

    def read(self, wait_s: float) -> bytes:
        """Answer the bytes read before, and return those that have arrived since."""
        self.write(protocol.DELIMITER * self._unanswered)
        data = super().read(wait_s)
        self._unanswered += data.count(protocol.DELIMITER)
        return data

    def write(self, data: bytes) -> None:
        """Send bytes, all of them."""
        self._unanswered -= data.count(protocol.DELIMITER)
        super().write(data)


# --- the device at its end ------------------------------------------------------------------------


class NoReplyError(DeviceError):
    """The device did not answer in time, despite retries."""


@dataclass(frozen=True)
class ExpectedDevice:
    """The requirements on a device; None accepts anything."""

    # the SHA-256 of its integer model; the first 8 bytes count
    model_hash: bytes | None = None
    n_features: int | None = None  # of its model
    n_classes: int | None = None
    board: Board | None = None  # its clock and the kind of its serial line

    def check(self, device: HelloReply, url: str) -> None:
        """Raise `DeviceError`, with the command to run, unless it meets the requirements."""
        where = f"the device on {url}"
        if device.feature_type != protocol.FEATURE_TYPE_UINT8:
            raise ProtocolError(
                f"{where} takes features of type {device.feature_type}, but this program sends "
                f"type {protocol.FEATURE_TYPE_UINT8} (uint8); {REFLASH_HINT}"
            )
        if self.model_hash is not None:
            expected = self.model_hash[:MODEL_HASH_BYTES]
            if device.model_hash != expected:
                raise DeviceError(
                    f"{where} runs model {device.model_hash.hex()}, not {expected.hex()}; "
                    f"{REFLASH_HINT}"
                )
        for count, count_there, what in (
            (self.n_features, device.features, "features"),
            (self.n_classes, device.classes, "classes"),
        ):
            if count not in {None, count_there}:
                raise DeviceError(
                    f"{where} has a model with {count_there} {what}, not {count}; {REFLASH_HINT}"
                )
        if self.board is not None:
            _check_board(device, self.board, where)


def _check_board(device: HelloReply, board: Board, where: str) -> None:
    """Raise `DeviceError` unless the device has the board's clock and window."""
    counts_instructions = board.framework and device.clock_hz == 0
    if device.clock_hz != board.clock_hz and not counts_instructions:
        alike = [each.name for each in boards() if each.clock_hz == device.clock_hz]
        named = f": {', '.join(alike)}" if alike else ""
        raise DeviceError(
            f"{where} reports a clock of {device.clock_hz:,} Hz, but {board.name} runs at "
            f"{board.clock_hz:,} Hz; choose the right board with --board{named}"
        )
    least = 0 if board.framework else 1
    if not least <= device.window <= protocol.MOST_WINDOW_BYTES:
        raise ProtocolError(
            f"{where} reports a send window of {device.window} bytes, but the send window of "
            f"{board.name} must have {least} to {protocol.MOST_WINDOW_BYTES} bytes; choose the "
            f"right board with --board, or {REFLASH_HINT}"
        )


class Connection:
    """A line to a device that has answered HELLO and, even after a recovery, is the expected one.

    `handshake_s` limits the wait for its answer after opening the line, or in a recovery. `host`
    opens the line and keeps the time.
    """

    device: HelloReply  # the device's reply to the last HELLO

    def __init__(
        self, url: str, baud: int, expected: ExpectedDevice, handshake_s: float, host: Host
    ) -> None:
        self.url = url
        self.host = host
        self.reopened = 0  # how often the line broke and was reopened
        self.messages = 0  # valid ones received, useful or not
        self._baud = baud
        self._expected = expected
        self.handshake_s = handshake_s
        self._sequence = _HELLO_SEQUENCE
        self._line: Link | None = None
        self._wanted = False  # between open() and close()
        self._reader = MessageReader(
            protocol.messages(), protocol.frame_bytes(2 + _LONGEST_PAYLOAD)
        )

    @property
    def damaged(self) -> int:
        """Number of frames received that are no messages."""
        return self._reader.torn

    def open(self) -> None:
        """Open the line, `NoPortError` if it cannot be, and shake hands; raises as `recover`."""
        try:
            self._line = self.host.open(self.url, self._baud)
        except LinkError as error:
            raise NoPortError(str(error)) from error
        self._wanted = True
        try:
            self._shake_hands(self.handshake_s)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the line; closing it again does nothing."""
        self._wanted = False
        self._drop_line()

    def recover(self, broken: LinkError | None = None, within_s: float = math.inf) -> None:
        """Shake hands again; if the line broke, open it first.

        It takes at most as long as the first handshake may, or `within_s` if that is less. When
        this returns, no earlier reply is pending: the device answers in order, HELLO too. Raises
        `DeviceError` if no device answers in time or the device has another protocol or model, and
        `LinkError` if the line cannot be opened.
        """
        deadline = Deadline(self.host, min(self.handshake_s, within_s))
        while True:
            if broken is not None and deadline.left_s < _HELLO_FIRST_S:
                raise broken
            try:
                if broken is not None and self._wanted:
                    self._reopen()
                self._shake_hands(deadline.left_s)
            except LinkError as error:
                if not self._wanted:
                    raise
                broken = error
                self.host.sleep(_REOPEN_EVERY_S)
            else:
                return

    def send(self, data: bytes) -> None:
        """Send bytes; `LinkError` if the line breaks."""
        self._open_line().write(data)

    def receive(self, wait_s: float) -> list[tuple[int, Message]]:
        """Return the messages that have arrived, with their sequence numbers; `LinkError` as above.

        Anything else is skipped: noise, a bootloader's output, damaged replies.
        """
        messages = list(self._reader.messages(self._open_line().read(wait_s)))
        self.messages += len(messages)
        return messages

    def next_sequence(self) -> int:
        """Return the number of the next request, 1 to 255."""
        self._sequence = self._sequence % 0xFF + 1
        return self._sequence

    def wire_s(self, payload_bytes: int) -> float:
        """Return the seconds that a message takes on the wire."""
        return protocol.frame_bytes(2 + payload_bytes) * protocol.BITS_PER_BYTE / self._baud

    def _reopen(self) -> None:
        self._drop_line()
        self._line = self.host.open(self.url, self._baud)
        self._reader.restart()
        self.reopened += 1

    def _drop_line(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None

    def _open_line(self) -> Link:
        if self._line is None:
            raise LinkError(
                f"the connection to {self.url} is closed; use the session in a 'with' block"
            )
        return self._line

    def _shake_hands(self, within_s: float) -> None:
        """Send HELLO until it is answered, with increasing pauses, and check the device."""
        deadline = Deadline(self.host, within_s)
        # The leading delimiter ends anything that the device may have received before.
        hello = protocol.DELIMITER + protocol.encode_message(HelloRequest(), _HELLO_SEQUENCE)
        pause = _HELLO_FIRST_S
        while (left_s := deadline.left_s) > 0:
            self.send(hello)
            device = self._await_hello(min(left_s, pause))
            if device is not None:
                self._expected.check(device, self.url)
                self.device = device
                return
            pause = min(2 * pause, _HELLO_EVERY_S)
        raise NoReplyError(
            f"no device answered on {self.url} within {max(0.0, within_s):.3g} s; if the firmware "
            f"is not on the board, {REFLASH_HINT}"
        )

    def _await_hello(self, within_s: float) -> HelloReply | None:
        deadline = Deadline(self.host, within_s)
        while (left_s := deadline.left_s) > 0:
            for sequence, message in self.receive(left_s):
                if sequence == _HELLO_SEQUENCE and isinstance(message, HelloReply):
                    return message
        return None
