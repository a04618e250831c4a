"""The answers of a board that classifies its sensor's samples, and teaching it."""

from __future__ import annotations

from typing import Any

from protonn_edge.errors import CheckFailed
from protonn_edge.sensors.listener import Listener
from protonn_edge.sensors.sensor_board import WindowAnswer
from protonn_edge.studio.stream_takes import BoardLine


class BoardAnswers:
    """Follows the answers of a board, and teaches it as ordered."""

    def __init__(self, line: BoardLine) -> None:
        self._line, self._tell = line, line.tell
        self._teaches = False

    def listen(self, listener: Listener, keys: Any) -> None:
        """Listen to a board's answers until its stream is ended; `keys` are those of a teacher."""
        names: list[str] = []
        self._teaches = keys is not None
        for answer in listener.answers():
            self._line.obey(listener)
            if warning := listener.stream.take_warning():
                self._tell(warning=warning)
            if not isinstance(answer, WindowAnswer):
                self._tell(warning=keys.replied(answer)[0]) if keys else None
                continue
            named = listener.named(answer)
            if [*named.names] != names:
                names = [*named.names]
                self._line.report(classes=names)
            scores = dict(zip(names, answer.scores, strict=True))
            self._tell(
                answer={
                    "by": "board", "first": answer.first, "label": named.label,
                    "reported": named.reported, "scores": scores, "confidence": named.sure,
                    "value": named.value,
                },
                lost=answer.lost, damaged=listener.stream.torn, resets=listener.resets,
                missing=named.missing,
            )  # fmt: skip

    def teach(self, label: Any, *, forget: bool = False) -> None:
        """Have the board learn its last window as a class, or forget the class's examples."""

        def obey(teacher: Any) -> None:
            if not self._teaches or label not in range(teacher.description.n_classes):
                raise CheckFailed("the board cannot be taught; connect it for teaching")
            if forget:
                teacher.forget(label)
            elif refused := teacher.teach(label):
                self._tell(warning=refused)

        self._line.order(obey)
