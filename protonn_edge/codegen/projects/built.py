"""What `build` found out about firmware, in its folder: board, sensor, memory, time.

``built.json`` has the record that ``build --json`` prints, without names of folders, so that nobody
has to ask again. It is beside ``build.json``, which identifies the plan; a logger has no plan. The
file is not trusted: what is read is checked, and dropped if it is about another model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from protonn_edge.codegen.projects.folder import BUILT_FILE, GENERATED, PLAN_FILE, read_plan
from protonn_edge.system.errors import InputError
from protonn_edge.system.files import read_file
from protonn_edge.system.schema import Check, JsonObject, list_of, nullable, number, text, whole

_LIMIT_BYTES = 64 << 10
_LEFT_OUT = ("folder", "files")
_BYTES = whole(0, 1 << 40)
_READ: dict[str, Check] = {
    "board": text(40),
    "sensors": list_of(text(200), 16),
    "rate": number(0, 1e6),
    "baud": whole(1, 10_000_000),
    "window": whole(1, 1 << 20),
    "hop": whole(1, 1 << 20),
    "votes": whole(1, 255),
    "marks": list_of(whole(0, 100), 255),
    "model_sha256": text(64),
    "flash_bytes": _BYTES,
    "sram_bytes": _BYTES,
    "stack_bytes": _BYTES,
    "response": nullable(lambda value: isinstance(value, dict) and _BYTES(value.get("cycles"))),
    "cycles": nullable(lambda value: isinstance(value, dict) and _BYTES(value.get("most"))),
    "tried": lambda value: isinstance(value, dict) and _BYTES(value.get("n")),
}
"""What is read, each with its check."""


def built_text(record: Mapping[str, object]) -> str:
    """Return the content of ``built.json``: the same for the same build."""
    kept = {name: value for name, value in record.items() if name not in _LEFT_OUT}
    return json.dumps(kept, indent=2, allow_nan=False) + "\n"


def built_file(folder: Path) -> Path:
    """Return the path of ``built.json`` in a folder of firmware."""
    inside = folder / GENERATED
    return (inside if inside.is_dir() else folder) / BUILT_FILE


def built_in(folder: Path) -> JsonObject:
    """Return what ``built.json`` states about a folder's firmware; empty if it is unknown.

    It has those of the names ``board``, ``sensors``, ``rate``, ``baud``, ``window``, ``hop``,
    ``votes``, ``marks``, ``model_sha256``, ``flash_bytes``, ``sram_bytes``, ``stack_bytes``,
    ``response``, ``cycles`` and ``tried`` that the build states.
    """
    path = built_file(folder)
    beside = path.with_name(PLAN_FILE)
    try:
        record = json.loads(read_file(path, limit_bytes=_LIMIT_BYTES))
        plan = read_plan(beside) if beside.exists() else None
    except (InputError, ValueError, RecursionError):
        return {}
    if not isinstance(record, dict):
        return {}
    read = {name: record[name] for name in _READ if name in record}
    sound = all(_READ[name](value) for name, value in read.items())
    is_of_plan = plan is None or plan.model_sha256 == read.get("model_sha256")
    return read if sound and is_of_plan else {}
