"""What the studio adds to tables of the core's tests: how the page reads a table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any

from command_line import run
from learn.advice.readers import Reader, set_options

from protonn_edge.data.options import LISTS, TableOptions, names_in
from protonn_edge.extensions.studio.actions import ACTIONS, words_of
from protonn_edge.extensions.studio.words import PAGE
from protonn_edge.system.errors import InputError
from protonn_edge.system.wording import PLACEHOLDER, options_in

# the fields of the page for training, by the options that its command gets from them
_FIELDS = dict(re.findall(r"--([a-z-]+)=\{(\w+)\}", ACTIONS["train"]))


def _read(path: Path, given: Mapping[str, Any]) -> tuple[bool, list[str]]:
    fields = {"points": path.name, "model": "out", "classifier": "linear", **given}
    try:
        words = words_of("train", fields, [path.name])
    except InputError as error:  # the page has no such choice
        return False, [str(error)]
    with chdir(path.parent):
        done = run(*words, "--json")
    record = json.loads(done.stdout.splitlines()[-1])
    said = [record["error"]] if "error" in record else []
    return record["ok"], said + [each["text"] for each in record.get("notices", ())]


def _given(options: TableOptions) -> dict[str, Any]:
    given = {name.replace("_", "-"): value for name, value in set_options(options).items()}
    return {
        _FIELDS[name]: [*value] if isinstance(value, tuple) else value
        for name, value in given.items()
    }


def _controls(_: str, sentence: str) -> Iterator[tuple[str, Any]]:
    """Yield the fields whose controls do what a sentence of the command line advises."""
    for way in re.split(r"; |,? or ", sentence.partition("; ")[2]):
        options = options_in(way)
        if any(name not in _FIELDS for name, _ in options):
            continue  # of which the page says nothing
        for name, value in options:
            if value and not PLACEHOLDER.fullmatch(value):
                yield _FIELDS[name], [*names_in(value, "")] if name in LISTS else value


ADDITIONS: Mapping[str, Mapping[str, Any]] = {
    "interfaces": {
        "page": Reader(PAGE, _read, _given, {*_FIELDS.values()}.__contains__, _controls)
    },
}
