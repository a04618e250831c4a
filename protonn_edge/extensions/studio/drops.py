"""The drops whose sheets are open, by tickets; what was kept last can be undone."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from pathlib import Path

from protonn_edge.extensions.studio.incoming import Body, Drop
from protonn_edge.extensions.studio.keeping import Addition, Beside, keep
from protonn_edge.extensions.studio.look import look
from protonn_edge.extensions.studio.sheet import Sheet
from protonn_edge.system.errors import InputError, InvalidValue
from protonn_edge.system.folders import scratch_folder
from protonn_edge.system.schema import JsonObject

_MOST_OPEN = 4
_LONGEST = 200  # letters of an answer


class Drops:
    """The open drops of a folder; `lock` is held while the folder changes."""

    def __init__(self, folder: Path, lock: threading.Lock) -> None:
        self._folder, self._lock = folder, lock
        self._open = dict[str, Drop]()
        self._latest: Addition | None = None

    @staticmethod
    def clear(folder: Path) -> None:
        """Remove what a killed studio has left behind."""
        with scratch_folder(folder):
            pass

    def receive(self, body: Body, length: int) -> JsonObject:
        """Receive files, and return their ticket."""
        drop, ticket = Drop.received(self._folder, body, length), secrets.token_urlsafe(16)
        self._open[ticket] = drop
        for old in [*self._open][:-_MOST_OPEN]:
            self._open.pop(old).close()
        return {"ticket": ticket}

    def look(self, asked: Mapping[str, object], beside: Beside) -> JsonObject:
        """Return the sheet of a drop, with what becomes of the data in use."""
        sheet = self._sheet(asked)
        sheet.notes += filter(None, [beside.about(sheet)])
        return sheet.to_json()

    def keep(self, asked: Mapping[str, object], beside: Beside) -> JsonObject:
        """Keep what the sheet of a drop shows; whatever happens, the drop is closed."""
        sheet = self._sheet(asked)
        if not sheet.kept or sheet.needs:
            raise InputError(sheet.needs or "nothing in this drop can be kept; choose other files")
        drop = self._open.pop(str(asked.get("ticket")))
        try:
            with self._lock:
                self._latest = keep(self._folder, drop.folder, sheet, beside)
        finally:
            drop.close()
        return {"name": self._latest.name, "chosen": sheet.chosen}

    def undo(self) -> None:
        """Remove what was kept last."""
        if self._latest is None:
            raise InputError("nothing was added since the studio began")
        with self._lock:
            self._latest.undo()
            self._latest = None

    def leave(self, asked: Mapping[str, object]) -> None:
        """Close a drop of which nothing is kept."""
        if (drop := self._open.pop(str(asked.get("ticket")), None)) is not None:
            drop.close()

    def close(self) -> None:
        """Close all drops."""
        while self._open:
            self._open.popitem()[1].close()

    def opened(self, asked: Mapping[str, object]) -> Drop:
        """Return the drop of a ticket."""
        drop = self._open.get(str(asked.get("ticket")))
        if drop is None:
            raise InputError("these files are not here anymore; drop them again")
        return drop

    def _sheet(self, asked: Mapping[str, object]) -> Sheet:
        drop = self.opened(asked)
        picked = asked.get("picked") or {}
        if not isinstance(picked, dict) or not all(map(_is_answer, picked.values())):
            raise InvalidValue("the answers", "no texts", "reload the page")
        return look(drop, picked)


def _is_answer(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST and value.isprintable()
