"""One conversation with a device: handshake, then one request at a time until it is answered.

Opening a port resets an Arduino: its bootloader listens for a second and the first bytes are lost,
so HELLO is said again and again under one deadline. From then on each request has a deadline and a
number of retries, and nothing that arrives can make the session wait longer than that.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar

import numpy as np
import serial
from numpy.typing import ArrayLike

from protonn_edge.boards import load_board
from protonn_edge.errors import CheckFailed, InputError
from protonn_edge.hil import protocol
from protonn_edge.hil.protocol import (
    ErrorReply,
    FrameSplitter,
    HelloReply,
    HelloRequest,
    PredictReply,
    PredictRequest,
    ProtocolError,
    ScoresReply,
    ScoresRequest,
    StatsReply,
    StatsRequest,
)
from protonn_edge.quantization import MODEL_HASH_BYTES

_MEND = "run `protonn-edge build --board uno model.npz`, then `pio run -t upload`"
_HELLO_EVERY_S = 0.25
_POLL_S = 0.02
# Handshakes only: every HELLO frame is then the same, and in none of its bytes would Optiboot see a
# command that changes the flash. A late answer to one never has the number of a later request.
_HELLO_SEQUENCE = 0
_LONGEST_REPLY_BYTES = len(ScoresReply(0, 0, (0,) * 255).payload())
_LONGEST_REQUEST_BYTES = 65_000  # as many features as the firmware compiles with
_BITS_PER_BYTE = 10  # with start and stop bit

_Reply = TypeVar("_Reply", HelloReply, PredictReply, ScoresReply, StatsReply)
_Request = HelloRequest | PredictRequest | ScoresRequest | StatsRequest


class LinkError(CheckFailed):
    """The serial line broke while it was in use."""


class NoReplyError(CheckFailed):
    """The device did not answer a request in time, however often it was asked."""


@dataclass(frozen=True)
class Prediction:
    """What the device answered for one input.

    Attributes
    ----------
    label : int
        Index of the class.
    cycles : int
        CPU cycles that the prediction took on the device.
    scores : tuple of int or None
        One score per class, or None if they were not asked for.
    """

    label: int
    cycles: int
    scores: tuple[int, ...] | None = None


class Session:
    """A conversation with a device, as a context manager that opens the line and shakes hands.

    Parameters
    ----------
    url : str
        What pyserial's `serial_for_url` takes: ``/dev/ttyACM0``, ``COM3``,
        ``socket://127.0.0.1:PORT``.
    model_hash : bytes or None, keyword-only
        The SHA-256 of the integer model that the device must run, of which the first 8 bytes count;
        None takes any.
    n_features, n_classes : int or None, keyword-only
        What the device's model must have; None takes what it says.
    baud : int, keyword-only
        Baud rate; a link that is not a serial port ignores it.
    handshake_s : float, keyword-only
        How long the device may take from the opening of the line to its first answer, in seconds.
    deadline_s : float, keyword-only
        How long it may take to answer a request, in seconds, besides the time on the wire.
    retries : int, keyword-only
        How often a request is sent again when there was no answer.

    Attributes
    ----------
    device : HelloReply
        What the device said that it is; set on entering.
    retried : int
        How many requests were sent again so far.
    """

    device: HelloReply

    def __init__(
        self,
        url: str,
        *,
        model_hash: bytes | None = None,
        n_features: int | None = None,
        n_classes: int | None = None,
        baud: int | None = None,
        handshake_s: float = 10.0,
        deadline_s: float = 3.0,
        retries: int = 3,
    ) -> None:
        self.retried = 0
        self._url = url
        self._model_hash = model_hash
        self._n_features = n_features
        self._n_classes = n_classes
        self._baud = load_board("uno").baud if baud is None else baud
        self._handshake_s = handshake_s
        self._deadline_s = deadline_s
        self._retries = retries
        self._sequence = _HELLO_SEQUENCE
        self._link: serial.Serial | None = None
        self._splitter = FrameSplitter(protocol.frame_bytes(2 + _LONGEST_REPLY_BYTES))

    def __enter__(self) -> Self:
        """Open the line and shake hands.

        Raises
        ------
        InputError
            If the line cannot be opened.
        CheckFailed
            If no device answers in time, or it has another protocol or another model.
        """
        try:
            self._link = serial.serial_for_url(
                self._url,
                baudrate=self._baud,
                timeout=_POLL_S,
                write_timeout=self._deadline_s + self._wire_s(_LONGEST_REQUEST_BYTES),
            )
        except Exception as error:  # pyserial's handlers raise what they like
            raise InputError(
                f"cannot open {self._url or 'a port without a name'} ({error}); plug the board in, "
                "or choose another --port"
            ) from error
        try:
            self.device = self._shake_hands()
            self._check_device()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the line; closing it again does nothing."""
        if self._link is not None:
            self._link.close()
            self._link = None

    def predict(self, features: ArrayLike, *, with_scores: bool = False) -> Prediction:
        """Let the device classify one quantized input.

        Parameters
        ----------
        features : array_like of uint8, shape (n_features,)
            As `IntegerModel.quantize` gives them.
        with_scores : bool, keyword-only
            Ask for the scores too: 4 bytes more per class on the wire, the same cycles.

        Returns
        -------
        Prediction
            With scores if they were asked for.

        Raises
        ------
        InputError
            If the features have another shape or type.
        NoReplyError
            If no answer came.
        ProtocolError
            If the device refused the request or answered nonsense.
        LinkError
            If the line broke.
        """
        data = self._feature_bytes(features)
        if not with_scores:
            plain = self._ask(PredictRequest(data), PredictReply)
            return self._prediction(plain.label, plain.cycles, None)
        full = self._ask(ScoresRequest(data), ScoresReply)
        if len(full.scores) != self.device.classes:
            raise ProtocolError(
                f"the device sent {len(full.scores)} scores, its model has {self.device.classes} "
                f"classes; {_MEND}"
            )
        return self._prediction(full.label, full.cycles, full.scores)

    def stats(self) -> StatsReply:
        """Return what the device counted since its reset; raises as `predict` does."""
        return self._ask(StatsRequest(), StatsReply)

    # --- handshake -----------------------------------------------------------------------------

    def _shake_hands(self) -> HelloReply:
        end = time.monotonic() + self._handshake_s
        while (now := time.monotonic()) < end:
            self._send(HelloRequest(), _HELLO_SEQUENCE)
            until = min(end, now + _HELLO_EVERY_S)
            reply = self._await_reply(HelloReply, _HELLO_SEQUENCE, until)
            if reply is not None:
                return reply
        raise NoReplyError(
            f"no device answered on {self._url} within {self._handshake_s:g} s; is the firmware on "
            f"the board? {_MEND}"
        )

    def _check_device(self) -> None:
        device = self.device
        if device.feature_type != protocol.FEATURE_TYPE_UINT8:
            raise ProtocolError(
                f"the device takes features of type {device.feature_type}, this program sends type "
                f"{protocol.FEATURE_TYPE_UINT8} (uint8); {_MEND}"
            )
        if self._model_hash is not None:
            expected = self._model_hash[:MODEL_HASH_BYTES]
            if device.model_hash != expected:
                raise CheckFailed(
                    f"the device runs model {device.model_hash.hex()}, not {expected.hex()}; "
                    f"{_MEND}"
                )
        if self._n_features not in {None, device.features}:
            raise CheckFailed(
                f"the device's model has {device.features} features, not {self._n_features}; "
                f"{_MEND}"
            )
        if self._n_classes not in {None, device.classes}:
            raise CheckFailed(
                f"the device's model has {device.classes} classes, not {self._n_classes}; {_MEND}"
            )

    # --- one request ---------------------------------------------------------------------------

    def _ask(self, request: _Request, kind: type[_Reply]) -> _Reply:
        """Send a request until its reply comes, each time with a number of its own."""
        for attempt in range(self._retries + 1):
            self.retried += attempt > 0
            self._sequence = self._sequence % 0xFF + 1  # 1 to 255
            self._send(request, self._sequence)
            # The longest reply is counted too, so that the deadline is the device's alone.
            on_wire = self._wire_s(len(request.payload())) + self._wire_s(_LONGEST_REPLY_BYTES)
            until = time.monotonic() + self._deadline_s + on_wire
            reply = self._await_reply(kind, self._sequence, until)
            if reply is not None:
                return reply
        raise NoReplyError(
            f"the device on {self._url} did not answer within {self._deadline_s:g} s, asked "
            f"{self._retries + 1} times; is it still connected and powered?"
        )

    def _send(self, request: _Request, sequence: int) -> None:
        # The delimiter in front ends whatever the device may have received before.
        frame = protocol.DELIMITER + protocol.encode_message(request, sequence)
        try:
            self._open_link().write(frame)
        except OSError as error:
            raise LinkError(
                f"cannot write to {self._url}: {error}; plug the board in again"
            ) from error

    def _await_reply(self, kind: type[_Reply], sequence: int, until: float) -> _Reply | None:
        """Return the reply to request `sequence`, or None when `until` has come; skip all else."""
        while time.monotonic() < until:
            for frame in self._splitter.feed(self._read()):
                try:
                    body = protocol.decode_frame(frame)
                except ProtocolError:
                    continue  # noise, or a bootloader's word: the request's deadline decides
                if body[1] != sequence:
                    continue  # a late answer to a request that was given up
                content = protocol.decode_message(body)
                if isinstance(content, ErrorReply):
                    raise ProtocolError(f"the device refused a request: {content}; {_MEND}")
                if isinstance(content, kind):
                    return content
        return None

    def _read(self) -> bytes:
        link = self._open_link()
        try:
            return bytes(link.read(max(1, link.in_waiting)))
        except OSError as error:
            raise LinkError(
                f"cannot read from {self._url}: {error}; plug the board in again"
            ) from error

    def _open_link(self) -> serial.Serial:
        if self._link is None:
            raise LinkError(f"the line to {self._url} is closed; use the session in a `with`")
        return self._link

    def _wire_s(self, payload_bytes: int) -> float:
        """Return the seconds that a message takes on the wire."""
        return protocol.frame_bytes(2 + payload_bytes) * _BITS_PER_BYTE / self._baud

    def _feature_bytes(self, features: ArrayLike) -> bytes:
        array = np.asarray(features)
        if array.dtype != np.uint8 or array.shape != (self.device.features,):
            raise InputError(
                f"features have type {array.dtype} and shape {array.shape}, must have uint8 and "
                f"({self.device.features},); quantize the input with the integer model"
            )
        return array.tobytes()

    def _prediction(self, label: int, cycles: int, scores: tuple[int, ...] | None) -> Prediction:
        if label >= self.device.classes:
            raise ProtocolError(
                f"the device answered class {label}, its model has {self.device.classes} classes; "
                f"{_MEND}"
            )
        return Prediction(label, cycles, scores)
