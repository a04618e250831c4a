"""Requests of one kind over an unreliable line, several in flight, with retries.

Unanswered requests are retried after HELLO has shown that the device is present and runs the same
model; so are requests that were in flight when the line broke. No wait exceeds its deadline, which
only replies to requests renew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from protonn_edge.device import connection, protocol
from protonn_edge.device.connection import REFLASH_HINT, Deadline, LinkError, NoReplyError
from protonn_edge.device.protocol import ErrorReply, Message, ProtocolError
from protonn_edge.system.errors import counted

# A request refused or lost this often is wrong. Fewer failures may be caused by the line: two
# frames merged by the loss of the delimiter between them have a valid CRC.
_REFUSALS = 3
_LONGEST_PAUSE_S = 1.0  # between attempts, once the duration of replies is known
_SLACK_S = 0.03  # for occasional delays on busy computers

Key = TypeVar("Key")
Reply = TypeVar("Reply", bound=Message)


@dataclass(frozen=True)
class RetryPolicy:
    """Time limits and number of retries."""

    deadline_s: float  # time limit for an answer, in seconds, plus the time on the wire
    retries: int  # number of retries of a request
    # time limit without a reply to any request, in seconds, plus the time on the wire
    progress_s: float


@dataclass(eq=False)
class PendingRequest(Generic[Key]):
    """A request on its way."""

    key: Key  # the caller's key
    request: Message  # the message
    attempts: int = 0  # number of failures so far
    refusals: int = 0  # number of refusals by the device
    sequence: int = field(default=0, init=False)  # its sequence number; each attempt has a new one
    # where its frame ends, in bytes since the window was made
    end: int = field(default=0, init=False)
    whole: bool = field(default=False, init=False)  # whether its last attempt was sent completely
    # when the wait for its reply began: it was sent, and those before it answered
    since: float | None = field(default=None, init=False)


class SendWindow(Generic[Key]):
    """Requests in flight, in order, and the bytes of theirs that may be sent.

    The device reads bytes as they arrive, unless it computes or replies; then they wait in its ring
    buffer. So at most the number of bytes that HELLO states, the size of this buffer, may follow
    the oldest request without a reply (``firmware/PROTOCOL.md``, "Requests in flight").
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._asked: deque[PendingRequest[Key]] = deque()
        self._unsent = bytearray()
        self._sent = 0
        self._end = 0

    @property
    def oldest(self) -> PendingRequest[Key] | None:
        """The request that must be answered next."""
        return self._asked[0] if self._asked else None

    @property
    def has_room(self) -> bool:
        """Whether a byte of another request can be sent now."""
        return not self._asked or self._end < self._limit

    @property
    def _limit(self) -> int:
        return self._asked[0].end + self._size if self._asked else self._end

    def put(self, asked: PendingRequest[Key], sequence: int, frame: bytes) -> None:
        """Add a request; its frame is sent as soon as allowed."""
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

    def answer(self, sequence: int) -> tuple[list[PendingRequest[Key]], PendingRequest[Key] | None]:
        """Process a reply; return the requests that it skips, and the one that it answers or None.

        The device answers in order, so a skipped request, or its reply, was lost.
        """
        if not any(asked.sequence == sequence and asked.whole for asked in self._asked):
            return [], None
        passed_over = []
        while (asked := self._asked.popleft()).sequence != sequence:
            passed_over.append(asked)
        return passed_over, asked

    def give_up(self) -> list[PendingRequest[Key]]:
        """Remove and return all unanswered requests, with all unsent bytes."""
        given_up = list(self._asked)
        self._asked.clear()
        self._unsent.clear()
        self._end = self._sent
        return given_up


class Exchange(Generic[Key, Reply]):
    """One run of requests and replies, as an iterator over the caller's keys and replies.

    Nothing else is in flight on the connection. A request is taken when a byte of it can be sent;
    `kind` are the messages that answer them.
    """

    def __init__(
        self,
        connection: connection.Connection,
        requests: Iterable[tuple[Key, Message]],
        kind: type[Reply],
        policy: RetryPolicy,
    ) -> None:
        self.retried = 0  # retries of completely sent requests
        self._connection = connection
        self._host = connection.host
        self._requests = iter(requests)
        self._kind = kind
        self._policy = policy
        self._times = _ReplyTimes()
        longest_s = connection.wire_s(connection.device.features) + self._reply_s
        self._deadline = Deadline(self._host, policy.progress_s + longest_s)
        self._messages, self._damaged = connection.messages, connection.damaged
        self._strays = 0
        self._in_step = False
        self._again: deque[PendingRequest[Key]] = deque()
        self._deferred_request: PendingRequest[Key] | None = None
        self._window: SendWindow[Key] = SendWindow(connection.device.window)

    def __iter__(self) -> Iterator[tuple[Key, Reply | None]]:
        """Yield each request's key and its reply, or None if it got none despite retries.

        Raises `CheckFailed` if the device does not come back, is another one now, refuses a
        request, or answers none for too long.
        """
        while self._fill():
            try:
                yield from self._step()
            except LinkError as broken:
                self._recover(broken)
        yield from self._lost()

    def _step(self) -> Iterator[tuple[Key, Reply | None]]:
        """Send what may be sent and receive replies, or notice that none arrive."""
        self._send()
        oldest = self._window.oldest
        assert oldest is not None
        assert oldest.since is not None
        due = min(oldest.since + self._wait_s(oldest), self._host.now() + self._deadline.left_s)
        for sequence, content in self._connection.receive(due - self._host.now()):
            passed_over, answered = self._window.answer(sequence)
            self._send_again(passed_over)
            for asked in passed_over:
                self._count_failure(asked)
            if answered is not None:
                yield from self._take(answered, content)
            elif isinstance(content, self._kind):
                self._strays += 1
        if self._window.oldest is oldest and self._host.now() >= due:
            self._recover()
            self._count_failure(oldest)

    def _recover(self, broken: LinkError | None = None) -> None:
        """Recover the device, after which the requests in flight are sent again."""
        self._send_again(self._window.give_up())
        if (left_s := self._deadline.left_s) <= 0:
            raise self._no_progress()
        try:
            self._connection.recover(broken, left_s)
        except NoReplyError:
            if self._deadline.left_s > 0:
                raise
            raise self._no_progress() from None  # the moment that was left was too short

    def _no_progress(self) -> NoReplyError:
        others = self._connection.messages - self._messages
        damaged = self._connection.damaged - self._damaged
        again = "reset the device, then run the command again (`hil` with --resume)"
        cause = f"its program may have hung; {again}"
        if self._strays:
            cause = f"{self._strays:,} of these did not match any request; {REFLASH_HINT}"
        elif damaged:
            cause = (
                f"{damaged:,} more arrived damaged or incomplete, so the line may be losing bytes; "
                f"check the baud rate, {again}"
            )
        return NoReplyError(
            f"the device on {self._connection.url} answered no request for "
            f"{self._deadline.seconds:.3g} s, during which it sent "
            f"{counted(others, 'other message')}; {cause}"
        )

    def _take(
        self, answered: PendingRequest[Key], content: Message
    ) -> Iterator[tuple[Key, Reply | None]]:
        if isinstance(content, self._kind):
            if answered.since is not None:
                self._times.add(self._host.now() - answered.since)
            yield answered.key, content
            yield from self._lost()
            self._deadline.renew()  # after the caller has processed the reply
            self._messages, self._damaged = self._connection.messages, self._connection.damaged
            self._strays = 0
            self._in_step = True
            return
        answered.refusals += 1
        if answered.refusals == _REFUSALS:
            if isinstance(content, ErrorReply):
                raise ProtocolError(f"the device refused a request: {content}; {REFLASH_HINT}")
            raise ProtocolError(
                f"the device answered a {protocol.name_of(self._kind)} request with a reply to "
                f"{protocol.name_of(type(content))}; {REFLASH_HINT}"
            )
        self._send_again([answered])

    def _fill(self) -> bool:
        """Add requests to the window while it has room; return whether it has any.

        The first one is alone until it has its reply: if replies had the numbers of other requests,
        each would be taken for the answer to one that is in flight.
        """
        while self._window.has_room and (self._in_step or self._window.oldest is None):
            if self._again:
                asked = self._again.popleft()
                self.retried += asked.whole
            else:
                try:
                    key, request = next(self._requests)
                except StopIteration:
                    break
                asked = PendingRequest(key, request)
            sequence = self._connection.next_sequence()
            self._window.put(asked, sequence, protocol.encode_message(asked.request, sequence))
        return self._window.oldest is not None

    def _send(self) -> None:
        data = self._window.sendable()
        if data:
            self._connection.send(data)
        oldest = self._window.oldest
        if oldest is not None and oldest.since is None:
            oldest.since = self._host.now()

    def _send_again(self, requests: list[PendingRequest[Key]]) -> None:
        self._again.extendleft(reversed(requests))

    def _count_failure(self, asked: PendingRequest[Key]) -> None:
        """Set a request aside that has failed too often, or for half of the time limit.

        Only one is: another one that is answered shows whether it or the device is at fault.
        """
        asked.attempts += 1
        late = asked.attempts >= _REFUSALS and self._deadline.left_s < self._deadline.seconds / 2
        if self._deferred_request is None and (late or asked.attempts > self._policy.retries):
            self._again.remove(asked)
            self._deferred_request = asked

    def _lost(self) -> Iterator[tuple[Key, None]]:
        """Yield the request that was set aside: the others have their replies."""
        if self._deferred_request is not None:
            yield self._deferred_request.key, None
        self._deferred_request = None

    def _wait_s(self, asked: PendingRequest[Key]) -> float:
        """Return the time limit for a sent request.

        Until a reply is missing, it is the deadline; afterwards it follows from the duration of
        earlier replies, and increases with each attempt, so that a line that loses bytes does not
        cost seconds per loss.
        """
        on_wire = self._connection.wire_s(len(asked.request.payload()))
        longest = self._policy.deadline_s + on_wire + self._reply_s
        if self.retried == 0 or not self._times.known:
            return longest
        usual = self._times.unusual_s + _SLACK_S
        return min(
            longest, max(_LONGEST_PAUSE_S, 2 * usual), usual * float(1 << min(asked.attempts, 30))
        )

    @property
    def _reply_s(self) -> float:
        """Seconds that the longest reply takes on the wire."""
        return self._connection.wire_s(connection.LONGEST_REPLY_BYTES)


class _ReplyTimes:
    """Durations of replies: a moving mean and deviation, as in TCP (RFC 6298, 2)."""

    def __init__(self) -> None:
        self.known = False
        self._mean = 0.0
        self._deviation = 0.0

    def add(self, seconds: float) -> None:
        if self.known:
            self._deviation += (abs(seconds - self._mean) - self._deviation) / 4
            self._mean += (seconds - self._mean) / 8
        else:
            self.known, self._mean, self._deviation = True, seconds, seconds / 2

    @property
    def unusual_s(self) -> float:
        """A time that few replies exceed."""
        return self._mean + 4 * self._deviation
