"""A line with a known device at its end: handshake, messages both ways, and recovery.

Opening a port resets an Arduino: its bootloader listens for a second and the first bytes are lost,
so HELLO is said again and again under one deadline. The same brings a device back that was reset
or fell silent; a line that broke is opened again first. Who answers must be the one expected.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from protonn_edge.errors import CheckFailed, InputError
from protonn_edge.hil import protocol
from protonn_edge.hil.link import Link, LinkError
from protonn_edge.hil.protocol import (
    Content,
    FrameSplitter,
    HelloReply,
    HelloRequest,
    ProtocolError,
)
from protonn_edge.quantization import MODEL_HASH_BYTES

MEND = "run `protonn-edge build --board uno model.npz`, then `pio run -t upload`"
LONGEST_REPLY_BYTES = len(protocol.ScoresReply(0, 0, (0,) * 255).payload())

# Handshakes only: every HELLO frame is then the same, and in none of its bytes would Optiboot see a
# command that changes the flash. A late answer to one never has the number of a later request.
_HELLO_SEQUENCE = 0
_HELLO_FIRST_S, _HELLO_EVERY_S = 0.05, 0.25
_REOPEN_EVERY_S = 0.25
_BITS_PER_BYTE = 10  # with start and stop bit


class NoReplyError(CheckFailed):
    """The device did not answer in time, however often it was asked."""


@dataclass(frozen=True)
class Expected:
    """What the device must be; None takes anything.

    Attributes
    ----------
    model_hash : bytes or None
        The SHA-256 of its integer model, of which the first 8 bytes count.
    n_features, n_classes : int or None
        Of its model.
    """

    model_hash: bytes | None = None
    n_features: int | None = None
    n_classes: int | None = None

    def check(self, device: HelloReply) -> None:
        """Raise `CheckFailed`, with the command that mends it, unless it is this device."""
        if device.feature_type != protocol.FEATURE_TYPE_UINT8:
            raise ProtocolError(
                f"the device takes features of type {device.feature_type}, this program sends type "
                f"{protocol.FEATURE_TYPE_UINT8} (uint8); {MEND}"
            )
        if self.model_hash is not None:
            expected = self.model_hash[:MODEL_HASH_BYTES]
            if device.model_hash != expected:
                raise CheckFailed(
                    f"the device runs model {device.model_hash.hex()}, not {expected.hex()}; {MEND}"
                )
        if self.n_features not in {None, device.features}:
            raise CheckFailed(
                f"the device's model has {device.features} features, not {self.n_features}; {MEND}"
            )
        if self.n_classes not in {None, device.classes}:
            raise CheckFailed(
                f"the device's model has {device.classes} classes, not {self.n_classes}; {MEND}"
            )


class Connection:
    """A line to a device that has said HELLO.

    Parameters
    ----------
    url, baud
        As for `Link`.
    expected : Expected
        What the device must be, now and whenever it comes back.
    handshake_s : float
        How long it may take to answer after the line was opened, or to come back, in seconds.

    Attributes
    ----------
    device : HelloReply
        What the device said that it is; set by `open`.
    reopened : int
        How often the line broke and was opened again.
    """

    device: HelloReply

    def __init__(self, url: str, baud: int, expected: Expected, handshake_s: float) -> None:
        self.url = url
        self.reopened = 0
        self._baud = baud
        self._expected = expected
        self._handshake_s = handshake_s
        self._sequence = _HELLO_SEQUENCE
        self._link: Link | None = None
        self._wanted = False  # between open() and close()
        self._splitter = FrameSplitter(protocol.frame_bytes(2 + LONGEST_REPLY_BYTES))

    def open(self) -> None:
        """Open the line and shake hands.

        Raises
        ------
        InputError
            If the line cannot be opened.
        CheckFailed
            If no device answers in time, or it has another protocol or another model.
        """
        try:
            self._link = Link(self.url, self._baud)
        except LinkError as error:
            raise InputError(str(error)) from error
        self._wanted = True
        try:
            self._shake_hands(time.monotonic() + self._handshake_s)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the line; closing it again does nothing."""
        self._wanted = False
        self._drop_link()

    def _drop_link(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None

    def recover(self, broken: LinkError | None = None) -> None:
        """Shake hands again; if the line broke, open it first.

        Nothing that was sent before is on its way any more when this returns: the device answers in
        order, HELLO too.

        Raises
        ------
        CheckFailed
            If no device answers in time, or it is another one now; `LinkError` if the line cannot
            be opened.
        """
        end = time.monotonic() + self._handshake_s
        while True:
            try:
                if broken is not None and self._wanted:
                    self._reopen()
                self._shake_hands(end)
            except LinkError as error:
                if time.monotonic() > end or not self._wanted:
                    raise
                broken = error
                time.sleep(_REOPEN_EVERY_S)
            else:
                return

    def send(self, data: bytes) -> None:
        """Send bytes; `LinkError` if the line breaks."""
        self._open_link().write(data)

    def receive(self, wait_s: float) -> list[tuple[int, Content]]:
        """Return the messages that have arrived, with their sequence numbers; `LinkError` as above.

        What is no message is passed over: noise, a bootloader's word. So a damaged reply is none.
        """
        messages = []
        for frame in self._splitter.feed(self._open_link().read(wait_s)):
            try:
                body = protocol.decode_frame(frame)
                messages.append((body[1], protocol.decode_message(body)))
            except protocol.VersionError:
                raise
            except ProtocolError:
                continue
        return messages

    def next_sequence(self) -> int:
        """Return the number of the next request, 1 to 255."""
        self._sequence = self._sequence % 0xFF + 1
        return self._sequence

    def wire_s(self, payload_bytes: int) -> float:
        """Return the seconds that a message takes on the wire."""
        return protocol.frame_bytes(2 + payload_bytes) * _BITS_PER_BYTE / self._baud

    def _reopen(self) -> None:
        self._drop_link()
        self._link = Link(self.url, self._baud)
        self._splitter = FrameSplitter(protocol.frame_bytes(2 + LONGEST_REPLY_BYTES))
        self.reopened += 1

    def _shake_hands(self, end: float) -> None:
        """Say HELLO until it is answered, ever more seldom, and check who answers."""
        # The delimiter in front ends whatever the device may have received before.
        hello = protocol.DELIMITER + protocol.encode_message(HelloRequest(), _HELLO_SEQUENCE)
        pause = _HELLO_FIRST_S
        while (now := time.monotonic()) < end:
            self.send(hello)
            device = self._await_hello(min(end, now + pause))
            if device is not None:
                self._expected.check(device)
                self.device = device
                return
            pause = min(2 * pause, _HELLO_EVERY_S)
        raise NoReplyError(
            f"no device answered on {self.url} within {self._handshake_s:g} s; is the firmware on "
            f"the board? {MEND}"
        )

    def _await_hello(self, until: float) -> HelloReply | None:
        while (left := until - time.monotonic()) > 0:
            for sequence, content in self.receive(left):
                if sequence == _HELLO_SEQUENCE and isinstance(content, HelloReply):
                    return content
        return None

    def _open_link(self) -> Link:
        if self._link is None:
            raise LinkError(f"the line to {self.url} is closed; use the session in a `with`")
        return self._link
