"""What the page asks for: fields, whose values are checked before anything is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from protonn_edge.extensions.studio.actions import FIELDS, LISTS, READ, values_of, words_of
from protonn_edge.extensions.studio.folder import version_of
from protonn_edge.system.errors import InputError, InvalidValue, shortened
from protonn_edge.system.schema import JsonObject

_MOST_STEPS = 8
Step = tuple[str, list[str]]
STAGES = ("data", "train", "try", "board", "report")


class Changed(InputError):
    """The file is not the one that the page has shown."""


class PageRequest:
    """The fields of a request, given the names in the folder; `InputError` for a wrong value."""

    def __init__(self, asked: Mapping[str, object], names: Sequence[str]) -> None:
        self.asked = asked
        self.names = names

    def path(self, field: str) -> Path:
        """Return the file that a field names."""
        return Path(FIELDS["data"](self.asked.get(field), self.names))

    def value(self, field: str) -> str:
        """Return the value of a field; empty if it is not given."""
        return next(iter(self.values(field)), "")

    def values(self, field: str) -> list[str]:
        """Return the values of a field that may have several."""
        return values_of(field, self.asked, self.names)

    def fields(self, *names: str) -> JsonObject:
        """Return some fields, checked; those that may have several values are lists."""
        return {name: self.values(name) if name in LISTS else self.value(name) for name in names}

    def check_version(self, field: str) -> str:
        """Return the version of a file; `Changed` if the page shows another one."""
        path = self.path(field)
        version = version_of(path)
        if version != self.asked.get("version"):
            raise Changed(f"{path.name} has changed since it was shown; look at it again")
        return version

    def number(self, field: str) -> float | None:
        """Return the number in a field; None if it is not given."""
        text = self.value(field)
        return float(text) if text else None

    @property
    def read(self) -> JsonObject:
        """How a table is read: its column of answers, and what the others are."""
        given = self.asked.get("read")
        inside = PageRequest(given if isinstance(given, dict) else {}, self.names)
        found = inside.fields("target", *READ)
        return {name: value for name, value in found.items() if value}

    @property
    def stage(self) -> str:
        """The stage of the button that was pressed."""
        stage = self.asked.get("stage")
        return stage if isinstance(stage, str) and stage in STAGES else ""

    @property
    def steps(self) -> tuple[list[Step], list[Step]]:
        """The actions that it asks for, and those behind them, with the words of their commands."""
        steps, behind = self.asked.get("steps"), self.asked.get("behind") or []
        if not isinstance(steps, list) or not 0 < len(steps) <= _MOST_STEPS:
            raise InvalidValue("the steps", "none", "reload the page")
        if not isinstance(behind, list) or len(behind) > _MOST_STEPS:
            raise InvalidValue("the steps behind", "not some", "reload the page")
        names, made = self.names, list[Step]()
        for step in (*steps, *behind):
            if not isinstance(step, list) or len(step) != 2 or not isinstance(step[1], dict):
                raise InvalidValue("a step", shortened(repr(step)), "reload the page")
            words = words_of(str(step[0]), step[1], names)
            made.append((str(step[0]), words))
            if "-o" in words:  # what a step writes, the next ones may name
                names = [*names, words[words.index("-o") + 1]]
        return made[: len(steps)], made[len(steps) :]
