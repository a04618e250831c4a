"""Teach a board that samples a sensor: its last window becomes an example of a class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar, Literal

from protonn_edge.device.connection import Deadline, Link
from protonn_edge.device.protocol import Message, ProtocolError, encode_message
from protonn_edge.extensions.sensing.listener import Answer, Listener, StreamPart
from protonn_edge.extensions.sensing.sensor_board import (
    READ_S,
    LiveDescription,
    WindowAnswer,
)
from protonn_edge.extensions.teaching.examples import is_of_another
from protonn_edge.extensions.teaching.messages import (
    ForgetReply,
    ForgetRequest,
    LearnReply,
    LearnRequest,
    StoreReply,
    StoreRequest,
    TaughtMessage,
    TeachRequest,
)
from protonn_edge.system.errors import CheckFailed

_NAMES_S = 15.0  # a board sends the name of a class about once a second
_STORE_S = 3.0
_POLL_S = 0.05


Outcome = Literal["taught", "forgotten", "too late"]
"""Of a request; a board is too late to learn a window if it has classified another one since."""


class TaughtStream(StreamPart):
    """What a board sends about its examples."""

    KINDS: ClassVar[tuple[type[Message], ...]] = (
        TaughtMessage,
        LearnReply,
        ForgetReply,
        StoreReply,
    )

    def __init__(self) -> None:
        self.taught: TaughtMessage | None = None  # the latest one, of a board that can be taught
        self.store: bytes | None = None  # of examples, if it was asked for

    def take(self, message: Message, description: LiveDescription) -> Message | None:
        """Keep the numbers of examples, or the store; return replies to requests."""
        if isinstance(message, TaughtMessage):
            if len(message.counts) != description.n_classes:
                raise ProtocolError("the model has other classes")
            self.taught = message
        elif isinstance(message, StoreReply):
            self.store = message.content
        else:
            return message
        return None


class TeachingListener(Listener):
    """A listener that teaches the board the class of its last window."""

    # called repeatedly while nothing arrives, for example to read keys
    poll: Callable[[], object] | None = None

    def __init__(self, line: Link, where: str) -> None:
        super().__init__(line, where)
        stream = self.stream.parts["teaching"]
        assert isinstance(stream, TaughtStream)
        self.examples = stream
        # What was asked and not yet replied to, by the number of the request: the class, and the
        # window that is to be an example of it.
        self._asked: dict[int, tuple[int, WindowAnswer | None]] = {}
        self._number = 0
        self._learned: WindowAnswer | None = None
        self._examples: dict[int, list[WindowAnswer]] = {}  # of each class, since a reset

    @property
    def taught(self) -> TaughtMessage:
        """The number of examples of each class, after `wait` has returned."""
        assert self.examples.taught is not None, "wait() returns only after this message"
        return self.examples.taught

    def wait(self) -> None:
        """Read until the board's description and the names of its classes are complete.

        Raises `CheckFailed` as of `SensorBoard`, and if the board cannot be taught.
        """
        super().wait()
        names, deadline = self.stream.names, Deadline(self._host, _NAMES_S)
        while len(names) < self.description.n_classes and deadline.left_s > 0:
            self._read()
            if names and self.examples.taught is None:
                break
        if self.examples.taught is None:
            raise CheckFailed(
                "the board's model has no room for examples; train the model with --teachable, "
                "then build its firmware and upload it again"
            )
        if not any(self.taught.counts):
            self._line.write(encode_message(StoreRequest(), 0))
            deadline = Deadline(self._host, _STORE_S)
            while self.examples.store is None and deadline.left_s > 0:
                self._read()

    @property
    def erases(self) -> bool:
        """Whether the first example will erase another model's examples."""
        model_hash = bytes.fromhex(self.description.model_hash)
        return is_of_another(self.examples.store or b"", model_hash)

    def _read(self) -> None:
        self._early += self.stream.feed(self._line.read(READ_S))

    def answers(self, seconds: float | None = None) -> Iterator[Answer]:
        """Yield answers like a `Listener`, then the replies to what was asked last."""
        yield from super().answers(seconds)
        deadline = Deadline(self._host, _STORE_S)
        while self._asked and deadline.left_s > 0:
            replies = self.receive(READ_S)
            yield from (reply for reply in replies if isinstance(reply, LearnReply))

    def receive(self, wait_s: float) -> Iterator[Answer]:
        """Yield the board's reports within some time."""
        if self.poll is not None:
            self.poll()
            wait_s = min(wait_s, _POLL_S)
        for answer in super().receive(wait_s):
            if not isinstance(answer, LearnReply) or self.stream.sequence in self._asked:
                yield answer

    def teach(self, label: int) -> str | None:
        """Ask the board to learn its last window as a class, or return why that cannot be."""
        if self._window is None:
            return "there is no window yet; wait for the first one"
        if self._window is self._learned:
            return "this window is already an example; teach another one"
        if any(window is self._window for _, window in self._asked.values()):
            return "this window is being taught; teach another one"
        self._ask(TeachRequest(label, self._window.number), label, self._window)
        return None

    def forget(self, label: int) -> None:
        """Ask the board to forget the examples of a class."""
        self._ask(ForgetRequest(label), label, None)

    def lesson(self, reply: LearnReply) -> tuple[int, Outcome, bool]:
        """Return the class and the result of a request, from its reply, the latest message.

        Then, whether the new example is from the moment of another one of its class.
        """
        label, window = self._asked.pop(self.stream.sequence)
        if window is None or isinstance(reply, ForgetReply):
            self._examples.pop(label, None)
            return label, "forgotten", False
        if not reply.learned:
            return label, "too late", False
        self._learned = window
        examples = self._examples.setdefault(label, [])
        neighbour = any(self._is_near(example, window) for example in examples)
        examples.append(window)
        return label, "taught", neighbour

    def _is_near(self, example: WindowAnswer, window: WindowAnswer) -> bool:
        """Whether two windows overlap, or one follows the other without a sound's beginning."""
        board = self.description
        return abs(window.first - example.first) < board.window + (not board.triggered)

    def _ask(self, request: LearnRequest, label: int, window: WindowAnswer | None) -> None:
        self._number = (self._number + 1) % 256
        self._asked[self._number] = label, window
        self._line.write(encode_message(request, self._number))

    def _begin_again(self) -> None:
        super()._begin_again()
        self._examples.clear()
