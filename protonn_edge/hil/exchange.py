"""Requests of one kind, kept in flight over a line that may fail, each until it has its reply.

What gets no reply in time is sent again after HELLO has shown that the device is there and runs the
same model; so is what was in flight when the line broke. Nothing waits longer than its deadline,
which only the reply to a request renews, whatever else arrives.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from protonn_edge.hil import protocol
from protonn_edge.hil.connection import LONGEST_REPLY_BYTES, MEND, Connection, NoReplyError
from protonn_edge.hil.framing import ProtocolError
from protonn_edge.hil.link import Host, LinkError
from protonn_edge.hil.protocol import Content, ErrorReply
from protonn_edge.hil.window import Asked, Window

# So often refused or lost, a request is wrong. Less may be the line's doing: two frames that have
# become one, because the delimiter between them was lost, have a right CRC.
_REFUSALS = 3
_LONGEST_PAUSE_S = 1.0  # between attempts, once it is known how long replies take
_SLACK_S = 0.03  # what two computers that have other things to do may take now and then

Key = TypeVar("Key")
Reply = TypeVar("Reply", bound=Content)


@dataclass(frozen=True)
class Patience:
    """How long to wait, and how often to ask.

    Attributes
    ----------
    deadline_s : float
        How long the device may take for an answer, in seconds, besides the time on the wire.
    retries : int
        How often a request is sent again.
    progress_s : float
        How long no request at all may get its reply, in seconds, besides the time on the wire.
    """

    deadline_s: float
    retries: int
    progress_s: float


class ProgressDeadline:
    """A deadline that progress renews, and nothing else.

    Parameters
    ----------
    host : Host
        Keeps the time.
    seconds : float
        How long there may be no progress.
    """

    def __init__(self, host: Host, seconds: float) -> None:
        self.seconds = seconds
        self._host = host
        self.renew()

    def renew(self) -> None:
        """Start again: there was progress."""
        self._end = self._host.now() + self.seconds

    @property
    def left_s(self) -> float:
        """Seconds until it passes; negative afterwards."""
        return self._end - self._host.now()


class Exchange(Generic[Key, Reply]):
    """One run of requests and replies, as an iterator over keys and replies.

    Parameters
    ----------
    connection : Connection
        An open one, on which nothing is in flight.
    requests : iterable of tuple
        Keys of the asker's, and messages. The next is taken when a byte of it could be sent.
    kind : type
        The messages that answer them.
    patience : Patience
        When to ask again, and when not any more.

    Attributes
    ----------
    retried : int
        How many requests were sent again so far that had been sent whole before.
    """

    def __init__(
        self,
        connection: Connection,
        requests: Iterable[tuple[Key, Content]],
        kind: type[Reply],
        patience: Patience,
    ) -> None:
        self.retried = 0
        self._connection = connection
        self._host = connection.host
        self._requests = iter(requests)
        self._kind = kind
        self._patience = patience
        self._times = _ReplyTimes()
        longest_s = connection.wire_s(connection.device.features) + self._reply_s
        self._deadline = ProgressDeadline(self._host, patience.progress_s + longest_s)
        self._messages = connection.messages
        self._again: deque[Asked[Key, Content]] = deque()
        self._aside: Asked[Key, Content] | None = None
        self._window: Window[Key, Content] = Window(connection.device.window)

    def __iter__(self) -> Iterator[tuple[Key, Reply | None]]:
        """Yield each request's key and its reply, or None if it had none however often asked.

        Raises
        ------
        CheckFailed
            If the device does not come back, is another one now, refuses a request, or answers
            none for too long.
        """
        while self._fill():
            try:
                yield from self._step()
            except LinkError as broken:
                self._recover(broken)
        yield from self._lost()

    def _step(self) -> Iterator[tuple[Key, Reply | None]]:
        """Send what may be sent and take what comes, or notice that it does not."""
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
        if self._window.oldest is oldest and self._host.now() >= due:
            self._recover()
            self._count_failure(oldest)

    def _recover(self, broken: LinkError | None = None) -> None:
        """Meet the device again, after which what was in flight is sent again."""
        self._send_again(self._window.give_up())
        if (left_s := self._deadline.left_s) <= 0:
            raise self._no_progress()
        self._connection.recover(broken, left_s)

    def _no_progress(self) -> NoReplyError:
        others = self._connection.messages - self._messages
        return NoReplyError(
            f"the device on {self._connection.url} says HELLO, but answered no request for "
            f"{self._deadline.seconds:.3g} s, in which it sent {others:,} other messages; does its "
            "program hang? Reset it, then run this again (hil: with --resume)"
        )

    def _take(
        self, answered: Asked[Key, Content], content: Content
    ) -> Iterator[tuple[Key, Reply | None]]:
        if isinstance(content, self._kind):
            if answered.since is not None:
                self._times.add(self._host.now() - answered.since)
            yield answered.key, content
            yield from self._lost()
            self._deadline.renew()  # after the asker has done with the reply what it wants
            self._messages = self._connection.messages
            return
        answered.refusals += 1
        if answered.refusals == _REFUSALS:
            said = str(content) if isinstance(content, ErrorReply) else "another kind of reply"
            raise ProtocolError(f"the device refused a request: {said}; {MEND}")
        self._send_again([answered])

    def _fill(self) -> bool:
        """Put requests into the window as long as it has room; return whether any is in it."""
        while self._window.has_room:
            if self._again:
                asked = self._again.popleft()
                self.retried += asked.whole
            else:
                try:
                    key, request = next(self._requests)
                except StopIteration:
                    break
                asked = Asked(key, request)
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

    def _send_again(self, requests: list[Asked[Key, Content]]) -> None:
        self._again.extendleft(reversed(requests))

    def _count_failure(self, asked: Asked[Key, Content]) -> None:
        """Put a request aside that has failed too often, or for half of the time that there is.

        Whether it is to blame or the device shows when another one is answered; so only one is.
        """
        asked.attempts += 1
        late = asked.attempts >= _REFUSALS and self._deadline.left_s < self._deadline.seconds / 2
        if self._aside is None and (late or asked.attempts > self._patience.retries):
            self._again.remove(asked)
            self._aside = asked

    def _lost(self) -> Iterator[tuple[Key, None]]:
        """Yield the request that was put aside: the others have their replies."""
        if self._aside is not None:
            yield self._aside.key, None
        self._aside = None

    def _wait_s(self, asked: Asked[Key, Content]) -> float:
        """Return how long a request that was sent may take.

        Until a reply has failed to come, the deadline; from then on what replies have taken before,
        and more with each attempt: a line that loses bytes must not make every loss cost seconds.
        """
        on_wire = self._connection.wire_s(len(asked.request.payload()))
        longest = self._patience.deadline_s + on_wire + self._reply_s
        if self.retried == 0 or not self._times.known:
            return longest
        usual = self._times.unusual_s + _SLACK_S
        return min(
            longest, max(_LONGEST_PAUSE_S, 2 * usual), usual * float(1 << min(asked.attempts, 30))
        )

    @property
    def _reply_s(self) -> float:
        """Seconds that the longest reply takes on the wire."""
        return self._connection.wire_s(LONGEST_REPLY_BYTES)


class _ReplyTimes:
    """What replies have taken: a moving mean and deviation, as TCP keeps them (RFC 6298, 2)."""

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
