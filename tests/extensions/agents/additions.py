"""What the agents add to tables of the core's tests: how an agent reads a table or a recording."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from command_line import run
from learn.advice.readers import Reader

from protonn_edge.data.options import TableOptions, texts_of
from protonn_edge.extensions.agents.confinement import ALLOWED, OPTIONS, Confinement
from protonn_edge.extensions.agents.tools import TOOLS, interface_of
from protonn_edge.system.errors import InputError


def _reader(name: str, kind: str, data: str, **asked: object) -> Reader:
    """Return how an agent reads files with the tool of this name, whose argument `data` they are.

    Further options are "options.NAME" here.
    """
    tool = TOOLS[name]
    further = {f"{OPTIONS}.{each}" for each in tool.schema[OPTIONS][ALLOWED]}

    def read(path: Path, given: Mapping[str, Any]) -> tuple[bool, list[str]]:
        options = {key.partition(".")[2]: given[key] for key in given.keys() & further}
        own = {key: given[key] for key in given.keys() - further}
        arguments = {data: str(path), **asked, **own, OPTIONS: options}
        try:
            values = Confinement(Path.cwd()).checked(tool.schema, tool.required, arguments)
        except InputError as error:
            return False, [str(error)]
        record = json.loads(run(*tool.command(values), "--json").stdout)
        said = [record["error"]] if "error" in record else []
        return record["ok"], said + [each["text"] for each in record.get("notices", ())]

    def given(options: TableOptions) -> dict[str, str]:
        parted = (text.split("=", 1) for text in texts_of(options))
        return {tool.options.get(each, f"{OPTIONS}.{each}"): value for each, value in parted}

    has = {*tool.schema, *further}.__contains__
    return Reader(interface_of(tool, TOOLS), read, given, has, _named, kind)


def _named(shown: str, _: str) -> Iterator[tuple[str, Any]]:
    """Yield the arguments and further options that the remedies of a sentence give values."""
    advice = shown.partition("; ")[2]
    for found in re.finditer(r'\b([a-z_]+)=(?=["{])', advice):
        value, _end = json.JSONDecoder().raw_decode(advice, found.end())
        if found[1] == OPTIONS:
            yield from ((f"{OPTIONS}.{name}", each) for name, each in value.items())
        else:
            yield found[1], value


ADDITIONS: Mapping[str, Mapping[str, Any]] = {
    "interfaces": {
        "agents": _reader("train", "table", "data", model="out.npz", classifier="linear"),
        "agents with recordings": _reader(
            "windows", "recording", "recording", windows="out.npz", window=8
        ),
    },
}
