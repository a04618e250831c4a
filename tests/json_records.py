"""The entries of each command's JSON object, as docs/commands.md lists them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
_ROW = re.compile(r"^\| (`[^|]*) \| (.*?) ?\|$", re.M)
_ENTRY = re.compile(r"`(\w+)` (text|integer|number|boolean|list|object)( or null)?")
_KINDS: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "list": (list,),
    "object": (dict,),
}


def _records() -> dict[str, list[dict[str, tuple[type, ...]]]]:
    """Return the entries of a command's object, with their types, for each of its uses."""
    _, _, section = PAGE.read_text("utf-8").partition("\n### JSON\n")
    found: dict[str, list[dict[str, tuple[type, ...]]]] = {}
    for uses, text in _ROW.findall(section.partition("\n### ")[0]):
        listed = [_ENTRY.fullmatch(each) for each in text.split(", ") if each]
        entries = {
            each[1]: (*_KINDS[each[2]], *[type(None)] * bool(each[3])) for each in listed if each
        }
        assert None not in listed, text
        for use in re.findall("`(.*?)`", uses):
            found.setdefault(use.split()[0], []).append(entries)
    return found


RECORDS = _records()


def check_record(command: str, record: Mapping[str, Any]) -> None:
    """Check the object of a command that did what it was asked for."""
    assert next(iter(record.items())) == ("ok", True)
    assert "error" not in record
    wrong = [
        {name for name, kinds in entries.items() if type(record.get(name, ...)) not in kinds}
        for entries in RECORDS[command]
    ]
    assert set() in wrong, f"{command}: {wrong} of {record}"
