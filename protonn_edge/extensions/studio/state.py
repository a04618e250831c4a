"""The state of the folder as the page shows it: files with their facts, stages, and memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from protonn_edge.chips.boards import board_names, export_board_names, load_export_board
from protonn_edge.codegen.families import family_of
from protonn_edge.extensions.sensing.described import channels_of, sensor_titles
from protonn_edge.extensions.studio.actions import base_of
from protonn_edge.extensions.studio.columns import columns_of
from protonn_edge.extensions.studio.facts import digest, facts_of, identity
from protonn_edge.extensions.studio.folder import listing, version_of
from protonn_edge.extensions.studio.log import Log
from protonn_edge.extensions.studio.reading import at_once
from protonn_edge.extensions.studio.related import RelatedFiles
from protonn_edge.extensions.studio.sources import source_of
from protonn_edge.extensions.studio.stages import Memory, Stages, held_out
from protonn_edge.extensions.studio.views import accuracy
from protonn_edge.model.registry import ESTIMATORS, HEADS
from protonn_edge.system.errors import ProtoNNEdgeError
from protonn_edge.system.schema import JsonObject

_COPY_AGAIN = "copy the file here again, or remove it"
_PROJECTS = ("live", "project", "logger")
_READING: JsonObject = {"reading": True}
_OF_POINTS = ("points", "table", "images", "takes")
_IN_USE = ("data", "model", "points", "project", "results", "report")


class FolderState:
    """A folder at one time, with its log, and the hashes of models that were tried.

    What `read`, of a `Reader`, does not return in time is empty, and comes with a later state.
    """

    def __init__(
        self,
        folder: Path,
        log: Log,
        tried: Collection[str] = (),
        read: Callable[..., Any] = at_once,
    ) -> None:
        self._folder, self._log, self._tried, self._read_in_time = folder, log, tried, read
        self._version = cache(lambda name: _version(folder / name))
        self._digest = cache(lambda name: self._of(digest, name) or "" if name else "")
        self._identity = cache(lambda name: identity(folder / name))
        self.files = dict(self._read())

    def _read(self) -> Iterator[tuple[str, JsonObject]]:
        for one in listing(self._folder):
            name, kind = one["name"], one["kind"]
            is_quick = kind in _PROJECTS  # into which compilers write
            facts: JsonObject | None = (
                facts_of(self._folder / name, kind) if is_quick else self._of(facts_of, name, kind)
            )
            yield name, {**(_READING if facts is None else facts), **one}

    def _of(self, function: Callable[..., Any], name: str, *more: Hashable) -> Any:
        """Return what a function makes of a file as it is now; None if that takes long."""
        return self._read_in_time(self._version(name), function, self._folder / name, *more)

    def to_json(
        self, data: str = "", model: str = "", read: JsonObject | None = None
    ) -> JsonObject:
        """Return what the page shows, given the names and the reading that it has chosen."""
        used = RelatedFiles(self.files, self._digest, self._reads, data, model)
        models = [name for name, facts in self.files.items() if _is_model(facts)]
        source = source_of(self.files, used.data, used.model)
        for name in models:
            origin = next(iter(used.origins(name)), None)
            self.files[name].update(current=used.is_current(name), of=origin)
        if used.model:
            found = self.accuracy(used.model, used.points)
            held = held_out(found.get("sessions", ()))
            self.files[used.model].update(held=held, has_points=bool(used.own_points))
        return {
            "files": [*self.files.values()],
            "models": self.models(),
            "boards": [*_boards()],
            "sensors": [*_sensors()],
            "classifiers": [*(kind for kind in ESTIMATORS if kind in HEADS), "best"],
            "source": source,
            "point": used.point,
            "base": base_of(used.data, used.offered),
            **{name: getattr(used, name) or None for name in _IN_USE},
            "start": not used.data and not models,
            **Stages(used, self._memory(source), read).to_json(),
        }

    def _reads(self, model: str, data: str) -> bool:
        return bool(self._accuracy(model, data))

    def models(self) -> list[JsonObject]:
        """Return each model, how good it is, and the firmware built of it; or its error."""
        return [
            {**facts, "kind": facts.get("title"), **self._figures(name, facts)}
            if _is_model(facts)
            else {"name": name, "error": f"{facts['error'].partition(';')[0]}; {_COPY_AGAIN}"}
            for name, facts in self.files.items()
            if facts["kind"] == "model" and not facts.get("reading")
        ]

    def _figures(self, name: str, facts: JsonObject) -> JsonObject:
        known, sha256 = facts.get("points_sha256"), facts.get("sha256")
        of_points = (
            one
            for one, other in self.files.items()
            if known and other["kind"] in _OF_POINTS and self._digest(one) == known
        )
        every = self.files.values()
        builds = [one for one in every if sha256 and one.get("model_sha256") == sha256]
        builds.sort(key=lambda one: one["kind"] != "live")
        return {**self.accuracy(name, next(of_points, "")), "board": next(iter(builds), None)}

    def accuracy(self, model: str, points: str) -> JsonObject:
        """Return how good a model is: on its own held-out points, else as its training printed."""
        if points and self._digest(points) == self.files[model].get("points_sha256"):
            return self._accuracy(model, points)
        for entry in self._log.records_of(model, self._digest(model)):
            share, n = entry["record"].get("accuracy"), entry["record"].get("n")
            if type(share) is float and type(n) is int and 0 <= share <= 1 and n > 0:
                return {"n": n, "right": round(share * n), "share": share}
        return {}

    def _accuracy(self, model: str, points: str) -> JsonObject:
        """Return how good a model is on some points; empty if it cannot read them."""
        of_points = self._folder / points, self._version(points)
        return dict(self._of(_accuracy, model, self._version(model), *of_points) or {})

    def _memory(self, source: JsonObject) -> Memory:
        return Memory(
            notices=lambda name: self._log.notices_of(name, self._identity(name)),
            accuracy=self.accuracy,
            columns=self._columns,
            tried=self._tried,
            is_uploaded=self._is_uploaded,
            has_port=bool(source["ports"]),
            is_emulated=source["emulated"],
        )

    def _columns(self, name: str, read: JsonObject) -> JsonObject:
        found = self._of(_columns, name, self._version(name), json.dumps(read, sort_keys=True))
        return _READING if found is None else dict(found)

    def _is_uploaded(self, project: str) -> bool:
        entries = self._log.records_of(project, self._identity(project))
        return any(one["action"] == "upload" and one["state"] == "done" for one in entries)


def _is_model(facts: JsonObject) -> bool:
    """Whether a file is a model that can be read."""
    return facts["kind"] == "model" and not facts.get("error") and not facts.get("reading")


def _version(path: Path) -> str:
    try:
        return version_of(path)
    except OSError:  # it was removed in the meantime
        return ""


def _columns(path: Path, version: str, read: str) -> JsonObject:
    return columns_of(path, version, json.loads(read))


@lru_cache(maxsize=100)
def _accuracy(model: Path, _: str, data: Path, __: str) -> Mapping[str, object]:
    try:
        return accuracy(model, data)
    except ProtoNNEdgeError:
        return {}


@lru_cache
def _boards() -> tuple[JsonObject, ...]:
    boards = [load_export_board(name) for name in export_board_names()]
    # On the core of others, the emulated board has no times to show: the page exports a library,
    # whose sketch Measure is for the board itself.
    built = {one.name for one in boards if one.has_firmware and not one.framework}
    built |= {*board_names()}
    return tuple(
        {
            "name": one.name,
            "title": one.title,
            "sensors": one.name in built and family_of(one).sensors,
            "builds": one.name in built,
        }
        for one in boards
    )


@lru_cache
def _sensors() -> tuple[JsonObject, ...]:
    return tuple(
        {"name": name, "title": title.partition(":")[0], "channels": [*channels_of(name)]}
        for name, title in sensor_titles().items()
    )
