"""Flow control: which bytes may be sent, and which requests have no reply yet.

The device reads bytes as they come, unless it computes or replies; then they wait in its ring
buffer. So no more bytes may follow the end of the oldest request without a reply than the device
has said in HELLO (``firmware/PROTOCOL.md``, "Requests in flight").
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Key = TypeVar("Key")
Request = TypeVar("Request")


@dataclass(eq=False)
class Asked(Generic[Key, Request]):
    """A request on its way.

    Attributes
    ----------
    key : Key
        The caller's key.
    request : Request
        The message.
    attempts : int
        Number of failures so far.
    refusals : int
        Number of refusals by the device.
    sequence : int
        Its sequence number; each attempt has a new one.
    end : int
        Where its frame ends, in bytes since the window was made.
    whole : bool
        Whether its last attempt was sent completely.
    since : float or None
        When the wait for its reply began: it was sent, and those before it answered.
    """

    key: Key
    request: Request
    attempts: int = 0
    refusals: int = 0
    sequence: int = field(default=0, init=False)
    end: int = field(default=0, init=False)
    whole: bool = field(default=False, init=False)
    since: float | None = field(default=None, init=False)


class Window(Generic[Key, Request]):
    """Requests in flight, in their order.

    Parameters
    ----------
    size : int
        How many bytes may follow the end of the oldest request without a reply.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._asked: deque[Asked[Key, Request]] = deque()
        self._unsent = bytearray()
        self._sent = 0
        self._end = 0

    @property
    def oldest(self) -> Asked[Key, Request] | None:
        """The request whose reply must come next."""
        return self._asked[0] if self._asked else None

    @property
    def has_room(self) -> bool:
        """Whether a byte of another request can be sent now."""
        return not self._asked or self._end < self._limit

    @property
    def _limit(self) -> int:
        return self._asked[0].end + self._size if self._asked else self._end

    def put(self, asked: Asked[Key, Request], sequence: int, frame: bytes) -> None:
        """Add a request, whose frame is sent as soon as allowed."""
        self._unsent += frame
        self._end += len(frame)
        asked.sequence, asked.end = sequence, self._end
        asked.whole, asked.since = False, None
        self._asked.append(asked)

    def sendable(self) -> bytes:
        """Return the bytes that may be sent now; they count as sent."""
        allowed = min(self._limit, self._end) - self._sent
        data = bytes(self._unsent[:allowed])
        del self._unsent[:allowed]
        self._sent += allowed
        for asked in self._asked:
            asked.whole = asked.end <= self._sent
        return data

    def answer(self, sequence: int) -> tuple[list[Asked[Key, Request]], Asked[Key, Request] | None]:
        """Process a reply.

        Returns
        -------
        passed_over : list of Asked
            Older requests: the device answers in order, so these or their replies were lost.
        answered : Asked or None
            The request that was answered, or None if this is no reply to any of them.
        """
        if not any(asked.sequence == sequence and asked.whole for asked in self._asked):
            return [], None
        passed_over = []
        while (asked := self._asked.popleft()).sequence != sequence:
            passed_over.append(asked)
        return passed_over, asked

    def give_up(self) -> list[Asked[Key, Request]]:
        """Remove and return all unanswered requests, with all unsent bytes."""
        given_up = list(self._asked)
        self._asked.clear()
        self._unsent.clear()
        self._end = self._sent
        return given_up
