"""The bytes of a board that classifies what it senses become answers: see docs/live.md."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import CheckFailed
from protonn_edge.hil.framing import BodyStream
from protonn_edge.recording.frames import SENSOR_NUMBERS

_LIVE, _NAME, _WINDOW = 0x93, 0x94, 0x95
_LOGGER = 0x91
_VERSION = 1
_LIVE_HEAD = struct.Struct("<BBBBBIIHHBBIB")
_NAME_HEAD = struct.Struct("<BBB")
_WINDOW_HEAD = struct.Struct("<BBIIBB")
_HASH_BYTES = 8
_LONGEST_FRAME = 1100


@dataclass(frozen=True)
class LiveDescription:
    """What a board says of itself.

    Attributes
    ----------
    sensor : str
        The kind of its sensor: "mpu6050", "analog".
    found : bool
        Whether the sensor answers.
    period_cycles, clock_hz : int
        Cycles from one sample to the next, and how many there are in a second.
    window, hop : int
        Samples of a window, and from the beginning of one to that of the next.
    votes : int
        Windows of which most must have a class, so that it is told.
    refractory : int
        Samples for which a class that was told stays.
    n_classes : int
    used : tuple of int
        Channels of the sensor that the model takes.
    model_hash : str
        The beginning of the integer model's SHA-256, in hexadecimal.
    """

    sensor: str
    found: bool
    period_cycles: int
    clock_hz: int
    window: int
    hop: int
    votes: int
    refractory: int
    n_classes: int
    used: tuple[int, ...]
    model_hash: str

    @property
    def rate(self) -> float:
        """Samples a second, by the board's clock."""
        return self.clock_hz / self.period_cycles


@dataclass(frozen=True, eq=False)
class WindowAnswer:
    """What a board says of a window.

    Attributes
    ----------
    first : int
        The number of its first sample, counted from the board's reset.
    lost : int
        Samples that the board has lost since its reset.
    label : int
        The window's class; 255 is "unknown".
    told : int
        The class that is told of the last windows; 254 before there is one.
    scores : ndarray of shape (classes,), int64
    """

    first: int
    lost: int
    label: int
    told: int
    scores: NDArray[np.int64]


class AnswerStream(BodyStream):
    """Bytes of a board become answers.

    Attributes
    ----------
    description : LiveDescription or None
        As it was said last; None until then, and nothing is an answer before.
    names : dict of int to str
        Of classes, as far as the board has said them.
    """

    def __init__(self) -> None:
        super().__init__(_LONGEST_FRAME)
        self.description: LiveDescription | None = None
        self.names: dict[int, str] = {}

    def feed(self, data: bytes) -> list[WindowAnswer]:
        """Return the answers that bytes complete, in order.

        Raises
        ------
        CheckFailed
            If what sends is another version, or a logger, or another model than before.
        """
        taken = [self._take(body) for body in self.bodies(data)]
        return [answer for answer in taken if answer is not None]

    def _take(self, body: bytes) -> WindowAnswer | None:
        if body[0] == _LOGGER:
            raise CheckFailed(
                "the board runs a logger, which classifies nothing; upload what "
                "'protonn-edge build --sensor' writes"
            )
        if body[0] == _LIVE:
            self._describe(body)
        elif body[0] == _NAME and len(body) > _NAME_HEAD.size:
            name = body[_NAME_HEAD.size :].decode(errors="replace")
            self.names[body[2]] = "".join(c if c.isprintable() else "?" for c in name)
        elif body[0] == _WINDOW and self.description is not None:
            return self._answer(body, self.description)
        return None

    def _describe(self, body: bytes) -> None:
        if len(body) > 2 and body[2] != _VERSION:
            raise CheckFailed(
                f"the board's firmware is of version {body[2]}, this program reads version "
                f"{_VERSION}; build it again with 'protonn-edge build --sensor', and upload it"
            )
        description = _description(body)
        if description is None:
            self.torn += 1
            return
        if self.description not in (None, description):
            raise CheckFailed("the board runs another model than before; begin again")
        self.description = description

    def _answer(self, body: bytes, description: LiveDescription) -> WindowAnswer | None:
        scores = body[_WINDOW_HEAD.size :]
        if len(scores) != 4 * description.n_classes:
            self.torn += 1
            return None
        _, _, first, lost, label, told = _WINDOW_HEAD.unpack_from(body)
        return WindowAnswer(first, lost, label, told, np.frombuffer(scores, "<i4").astype(np.int64))


def _description(body: bytes) -> LiveDescription | None:
    """Return what a board says of itself; None if that is nonsense in a frame that is whole."""
    if len(body) < _LIVE_HEAD.size:
        return None
    head = _LIVE_HEAD.unpack_from(body)
    _, _, _, number, found, period, clock, window, hop, votes, classes, refractory, channels = head
    names = {each: name for name, each in SENSOR_NUMBERS.items()}
    used, model_hash = body[_LIVE_HEAD.size :][:channels], body[_LIVE_HEAD.size + channels :]
    usable = number in names and min(period, clock, window, hop, votes, classes, channels) > 0
    if not usable or len(model_hash) != _HASH_BYTES:
        return None
    return LiveDescription(
        names[number],
        bool(found),
        period,
        clock,
        window,
        hop,
        votes,
        refractory,
        classes,
        tuple(used),
        model_hash.hex(),
    )
