"""The tabs that show the page: what all of them hear, and the pages that they may open."""

from __future__ import annotations

import contextlib
import json
import queue
import secrets
import time
from collections.abc import Generator
from pathlib import Path

from protonn_edge.system.errors import InputError

_WAITING = 400  # messages of a slow tab
_TABS = 32
_BEAT_S = 5.0  # of an empty line, by which a closed tab is noticed
_TICKET_S = 60.0


def as_json(value: object) -> bytes:
    """Return a value as JSON that browsers read: NaN and infinities are null."""
    try:
        text = json.dumps(value, default=str, allow_nan=False)
    except ValueError:
        again = json.loads(json.dumps(value, default=str), parse_constant=lambda _: None)
        text = json.dumps(again)
    return text.encode()


class Tabs:
    """The open tabs, by the queues of their messages, and tickets for pages of the folder."""

    def __init__(self) -> None:
        self._tabs: set[queue.Queue[bytes]] = set()
        self._tickets: dict[str, tuple[Path, float]] = {}

    def tell(self, **message: object) -> None:
        """Send a message to all tabs; one that is too slow is left, and will ask for all again."""
        line = as_json(message) + b"\n"
        for tab in tuple(self._tabs):
            try:
                tab.put_nowait(line)
            except queue.Full:
                self._tabs.discard(tab)

    def messages(self) -> Generator[bytes, None, None]:
        """Yield the lines for a new tab, of which the first one is empty."""
        if len(self._tabs) >= _TABS:
            raise InputError(f"{_TABS} pages listen to this studio already; close some")
        tab: queue.Queue[bytes] = queue.Queue(_WAITING)
        self._tabs.add(tab)
        line = b"\n"
        try:
            while tab in self._tabs:
                yield line
                line = b"\n"
                with contextlib.suppress(queue.Empty):
                    line = tab.get(timeout=_BEAT_S)
        finally:
            self._tabs.discard(tab)

    def ticket(self, path: Path) -> str:
        """Return a ticket that shows a page once, within a minute."""
        now, ticket = time.monotonic(), secrets.token_urlsafe(24)
        self._tickets = {each: page for each, page in self._tickets.items() if page[1] > now}
        self._tickets[ticket] = path, now + _TICKET_S
        return ticket

    def shown(self, ticket: str) -> Path | None:
        """Return the file of a ticket, which is then used up; None if there is none."""
        path, until = self._tickets.pop(ticket, (Path(), 0.0))
        return path if until > time.monotonic() else None
