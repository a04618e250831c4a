"""A session with a device over an unreliable line: predictions and statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from protonn_edge.chips.boards import Board, load_board
from protonn_edge.data.naming import NO_CLASS
from protonn_edge.device import connection, protocol
from protonn_edge.device.connection import REFLASH_HINT, Host, NoReplyError
from protonn_edge.device.exchange import Exchange, RetryPolicy
from protonn_edge.device.protocol import HelloReply, Message, ProtocolError, StatsReply
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.checks import check, check_range, check_shape
from protonn_edge.system.errors import CheckFailed

_BETWEEN_REPETITIONS = 200  # cycles, generously
_INSTRUCTIONS_PER_S = 1_000_000  # of an emulated core, at least
_STATS_DEADLINE_S, _STATS_PROGRESS_S = 1.0, 5.0  # they need no computation
_CAUSES = range(1, 16)  # the flags of MCUSR; at least one is set

Key = TypeVar("Key")
Reply = TypeVar("Reply", bound=Message)
_Answer = protocol.PredictReply | protocol.RepeatReply | protocol.ScoresReply


@dataclass(frozen=True)
class Prediction:
    """The device's answer for one input."""

    label: int  # index of the class, or `NO_CLASS`
    cycles: int  # CPU cycles that the prediction took on the device
    scores: tuple[int, ...] | None = None  # one score per class, or None if not requested


class Statement(NamedTuple):
    """What a measurement asks a device at its end, for an extension."""

    name: str  # in the result
    of: Callable[[Session, IntegerChain], object]


class Session:
    """A session with a device, as a context manager that opens the line and shakes hands.

    Unanswered requests are retried, and reset devices and broken lines are recovered; the device
    must then still have the same model.

    Parameters
    ----------
    url : str
        For pyserial's `serial_for_url`: ``/dev/ttyACM0``, ``COM3``, ``socket://127.0.0.1:PORT``.
    model_hash : bytes or None, keyword-only
        The SHA-256 of the integer model that the device must run (the first 8 bytes count); None
        takes any.
    n_features, n_classes : int or None, keyword-only
        Sizes that the device's model must have; None accepts any.
    board : Board or None, keyword-only
        The required clock and kind of serial line; None takes any.
    baud : int or None, keyword-only
        Baud rate, by default the board's, or that of an Uno; a link that is not a serial port
        ignores it.
    handshake_s : float, keyword-only
        Time limit from opening the line to the first answer, and for a recovery, in seconds.
    deadline_s : float, keyword-only
        Time limit for the answer to a request, in seconds, plus the time on the wire.
    retries : int, keyword-only
        Number of retries of an unanswered request.
    progress_s : float, keyword-only
        Time limit without a reply to any request while the device answers HELLO, in seconds, plus
        the time on the wire. Other messages do not count.
    host : Host or None, keyword-only
        What opens the line and provides the time, by default this computer.
    name : str or None, keyword-only
        What results call the device, by default `url`.

    Attributes
    ----------
    url, name : str
        As given.
    retried : int
        Number of retries so far of completely sent requests.
    """

    def __init__(
        self,
        url: str,
        *,
        model_hash: bytes | None = None,
        n_features: int | None = None,
        n_classes: int | None = None,
        board: Board | None = None,
        baud: int | None = None,
        handshake_s: float = 10.0,
        deadline_s: float = 3.0,
        retries: int = 12,
        progress_s: float = 15.0,
        host: Host | None = None,
        name: str | None = None,
    ) -> None:
        self.url, self.name = url, name or url
        self.retried = 0
        expected = connection.ExpectedDevice(model_hash, n_features, n_classes, board)
        rate = baud or (board or load_board("uno")).baud
        self._connection = connection.Connection(url, rate, expected, handshake_s, host or Host())
        self._policy = RetryPolicy(deadline_s, retries, progress_s)
        self._in_step = True

    @property
    def device(self) -> HelloReply:
        """The device's HELLO reply."""
        return self._connection.device

    @property
    def reopened(self) -> int:
        """Number of times the line broke and was reopened."""
        return self._connection.reopened

    def __enter__(self) -> Self:
        """Open the line and shake hands.

        Raises
        ------
        InputError
            If the line cannot be opened.
        CheckFailed
            If no device answers in time, or it has another protocol or another model.
        """
        self._connection.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the line; closing it again does nothing."""
        self._connection.close()

    def predict(self, features: ArrayLike, *, with_scores: bool = False) -> Prediction:
        """Let the device classify one quantized input.

        Parameters
        ----------
        features : array_like of uint8, shape (n_features,)
            As returned by `IntegerChain.quantize`.
        with_scores : bool, keyword-only
            Request the scores, too: 4 more bytes per class on the wire, the same cycles.

        Returns
        -------
        Prediction
            With scores if requested.

        Raises
        ------
        InputError
            If the features have another shape or type.
        NoReplyError
            If no answer came.
        CheckFailed
            If the device refused the request, gave an invalid answer, or now has another model;
            `LinkError` if the line broke and cannot be reopened.
        """
        ((_, prediction),) = self.stream([(None, features)], with_scores=with_scores)
        if prediction is None:
            raise self._no_reply()
        return prediction

    def stream(
        self, inputs: Iterable[tuple[Key, ArrayLike]], *, with_scores: bool = False
    ) -> Iterator[tuple[Key, Prediction | None]]:
        """Let the device classify a stream of quantized inputs, with several requests in flight.

        Parameters
        ----------
        inputs : iterable of tuple
            A key of the caller's, and features as for `predict`; the next one is taken when a byte
            of it can be sent.
        with_scores : bool, keyword-only
            As in `predict`.

        Yields
        ------
        tuple
            The key and its prediction as soon as it arrives, or None if there was none despite
            retries.

        Raises
        ------
        InputError, CheckFailed
            As `predict`; `NoReplyError` only if the device no longer answers HELLO.
        """
        request = protocol.ScoresRequest if with_scores else protocol.PredictRequest
        kind: type[_Answer] = protocol.ScoresReply if with_scores else protocol.PredictReply
        requests = ((key, request(self._feature_bytes(features))) for key, features in inputs)
        for key, reply in self._exchange(requests, kind):
            yield key, None if reply is None else self._prediction(reply)

    def repeat(self, features: ArrayLike, repetitions: int) -> Prediction:
        """Let the device compute one prediction many times while its busy pin is high.

        Parameters
        ----------
        features : array_like of uint8, shape (n_features,)
            As for `predict`.
        repetitions : int
            1 to 65,536, and at most 2**32 cycles in total.

        Returns
        -------
        Prediction
            Without scores; `cycles` counts all repetitions.

        Raises
        ------
        InputError, CheckFailed
            As `predict`; InputError also for more repetitions than the device can count, and
            CheckFailed if it does not hold features, so that it has nothing to repeat with.
        """
        once = self.predict(features)
        most = min(protocol.MOST_REPETITIONS, ((1 << 32) - 1) // max(1, once.cycles))
        check_range(
            f"repetitions of {once.cycles:,} cycles, which the device counts", repetitions, 1, most
        )
        request = protocol.RepeatRequest(
            repetitions % protocol.MOST_REPETITIONS, self._feature_bytes(features)
        )
        cycles = repetitions * (once.cycles + _BETWEEN_REPETITIONS)
        takes_s = cycles / (self.device.clock_hz or _INSTRUCTIONS_PER_S)
        policy = replace(
            self._policy,
            deadline_s=self._policy.deadline_s + takes_s,
            progress_s=self._policy.progress_s + takes_s,
        )
        every = self._prediction(self.ask(request, protocol.RepeatReply, policy))
        expected = repetitions * once.cycles
        # Without a window, the firmware runs among a core's interrupts and caches, and reading a
        # slow clock is part of one prediction, but not of each of many.
        low, high = (0, 0) if self.device.window else (expected // 2, expected // 4)
        is_expected = expected - low <= every.cycles <= expected + high
        if every.label != once.label or not is_expected:
            raise CheckFailed(
                f"one prediction gave class {once.label} in {once.cycles:,} cycles, so "
                f"{repetitions:,} predictions must take {expected:,} cycles, but "
                f"they gave class {every.label} in {every.cycles:,} cycles; {REFLASH_HINT}"
            )
        return every

    def stats(self) -> StatsReply:
        """Return the device's counters since its reset; raises as `predict` does.

        They are available at once, so the wait is short.
        """
        policy = replace(
            self._policy,
            deadline_s=min(self._policy.deadline_s, _STATS_DEADLINE_S),
            progress_s=min(self._policy.progress_s, _STATS_PROGRESS_S),
        )
        stats = self.ask(protocol.StatsRequest(), StatsReply, policy)
        if stats.reset_cause not in _CAUSES:
            raise ProtocolError(
                f"the device reports reset cause {stats.reset_cause}, but reset causes are "
                f"{_CAUSES[0]} to {_CAUSES[-1]}; {REFLASH_HINT}"
            )
        return stats

    def ask(self, request: Message, kind: type[Reply], policy: RetryPolicy | None = None) -> Reply:
        """Return the reply to a request; raises as `predict` does."""
        ((_, reply),) = self._exchange([(None, request)], kind, policy)
        if reply is None:
            raise self._no_reply()
        return reply

    def _exchange(
        self,
        requests: Iterable[tuple[Key, Message]],
        kind: type[Reply],
        policy: RetryPolicy | None = None,
    ) -> Iterator[tuple[Key, Reply | None]]:
        """Exchange requests for replies, on a line on which nothing else is in flight."""
        if not self._in_step:
            self._connection.recover()
        self._in_step = False  # until all have their reply: the caller may stop early
        exchange = Exchange(self._connection, requests, kind, policy or self._policy)
        before = self.retried
        try:
            yield from exchange
        finally:
            self.retried = before + exchange.retried
        self._in_step = True

    def _no_reply(self) -> NoReplyError:
        return NoReplyError(
            f"the device on {self.url} answers HELLO but did not answer a request despite retries, "
            "so its line may be losing bytes or its program may have hung; reset the device, and "
            "try again"
        )

    def _feature_bytes(self, features: ArrayLike) -> bytes:
        array = np.asarray(features)
        check(array.dtype == np.uint8, "features", array.dtype, "uint8")
        check_shape("features", array.shape, (self.device.features,))
        return array.tobytes()

    def _prediction(self, reply: _Answer) -> Prediction:
        classes = self.device.classes
        scores = reply.scores if isinstance(reply, protocol.ScoresReply) else None
        if reply.label >= classes and reply.label != NO_CLASS:
            raise ProtocolError(
                f"the device answered class {reply.label}, but its model's classes are 0 to "
                f"{classes - 1}; {REFLASH_HINT}"
            )
        if scores is not None and len(scores) != classes:
            raise ProtocolError(
                f"the device sent {len(scores)} scores, but its model has {classes} classes; "
                f"{REFLASH_HINT}"
            )
        return Prediction(reply.label, reply.cycles, scores)
