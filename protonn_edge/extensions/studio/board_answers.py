"""The answers of a board that classifies its sensor's samples, and what is asked of it."""

from __future__ import annotations

from typing import Any

from protonn_edge.extensions.sensing.listener import Listener
from protonn_edge.extensions.sensing.sensor_board import WindowAnswer
from protonn_edge.system.errors import CheckFailed


class BoardAnswers:
    """Follows the answers of a board, and gives it the orders that its firmware takes."""

    def __init__(self, line: Any) -> None:
        self._line, self._tell = line, line.tell
        self._keys: Any = None  # those of `monitor`, if an extension has some

    def listen(self, listener: Listener, keys: Any) -> None:
        """Listen to a board's answers until its stream is ended; `keys` are those of `monitor`."""
        names: list[str] = []
        self._keys = keys
        for answer in listener.answers():
            self._line.obey(listener)
            if warning := listener.stream.take_warning():
                self._tell(warning=warning)
            if not isinstance(answer, WindowAnswer):
                if keys is not None:
                    self._line.report(text=keys.replied(answer)[0])
                continue
            named = listener.named(answer)
            if [*named.names] != names:
                names = [*named.names]
                self._line.report(classes=names)
            scores = dict(zip(names, answer.scores, strict=True))
            self._tell(
                answer={
                    "by": "board", "first": answer.first, "label": named.label,
                    "reported": named.reported, "scores": scores, "shares": named.shares,
                    "value": named.value,
                },
                lost=answer.lost, damaged=listener.stream.torn, resets=listener.resets,
                missing=named.missing,
            )  # fmt: skip

    def act(self, what: str, label: object) -> None:
        """Give the board an order about a class, as a key of `monitor` does."""

        def obey(listener: Listener) -> None:
            known = self._keys is not None and type(label) is int
            if not known or label not in range(listener.description.n_classes):
                raise CheckFailed("the board takes no such order; connect it in another way")
            self._keys.act(what, label)

        self._line.order(obey)
