"""What the agents add to tables of the core's tests: how an agent reads a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from advice.readers import Reader, set_options
from command_line import run

from protonn_edge.data.options import TableOptions
from protonn_edge.extensions.agents.tools import TOOLS, interface_of

_TOOL = TOOLS["train"]


def _read(path: Path, given: Mapping[str, Any]) -> tuple[bool, list[str]]:
    values = {"data": str(path), "model": "out.npz", "classifier": "linear", **given}
    done = run(*_TOOL.command(values), "--json")
    record = json.loads(done.stdout)
    said = [record["error"]] if "error" in record else []
    return record["ok"], said + [each["text"] for each in record.get("notices", ())]


def _given(options: TableOptions) -> dict[str, str]:
    given = set_options(options)
    if given.keys() - _TOOL.schema:
        raise KeyError
    return {
        name: ",".join(each) if isinstance(each, tuple) else each for name, each in given.items()
    }


ADDITIONS: Mapping[str, Mapping[str, Any]] = {
    "interfaces": {
        "agents": Reader(interface_of(_TOOL, TOOLS), _read, _given, _TOOL.schema.__contains__)
    },
}
