"""The actions of the page: one table, from an action's name to the words of a command.

The page sends the name of an action and values of fields, never a word of a command line. The words
that are shown are those that run. A name of a file is one that the server has listed.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from protonn_edge.model.limits import ONSETS
from protonn_edge.system.errors import InputError, InvalidValue, shortened
from protonn_edge.system.shell import command_line

RECORDING = "recording.csv"
"""The recording to which the page appends takes."""

ACTIONS: dict[str, str] = {
    # edit takes
    "keep": "takes {recording} --take={take} --keep={part}",
    "cut": "takes {recording} --take={take} --cut={part}",
    "rename": "takes {recording} --take={take} --label={label} --session={session}?",
    "delete": "takes {recording} --take={take} --delete",
    "undo": "takes {recording} --undo",
    # record
    "logger": "build --sensor={sensor} --rate={rate} -o logger --board={board}?",
    "upload-logger": "upload logger --port={port}?",
    "record": f"record -o {RECORDING} --label={{label}} --session={{session}} "
    "--seconds={seconds} --pause={pause} --takes={takes}? --emulate+played --sensor={played}? "
    "--port={port}? --board={board}?",
    # cut, train
    "windows": "windows {data} -o {windows} --window={window} --stride={stride}? "
    "--onset={onset}? --rate={rate}? --name={names}?",
    "train": "train {points} -o {model} --classifier={classifier}? --features={features}? "
    "--epochs={epochs}? --size={size}? --name={names}? --label={column}? --target={target}? "
    "--labels={labels}? --keep={keep_columns}? --drop={drop}? --one-hot={one_hot}? "
    "--missing={missing}? --session={session}? --time={time}? --delimiter={delimiter}? "
    "--decimal={decimal}? --holdout={holdout}? --groups={groups}? --minutes={minutes}? "
    "--budget={budget}? --teachable={teachable}? --rejection={rejection}? --seed={seed}? "
    "--board={board}?",
    # run
    "build": "build {model} -o {project} --sensor={sensor}? --hop={hop}? --votes={votes}? "
    "--mark={mark}? --board={board}?",
    "upload": "upload {project} --port={port}?",
    "monitor": "monitor --project={project} --emulate+played --sensor={played}? --port={port}? "
    "--board={board}? --teach+teaching",
    "build-points": "build {model} -o {project} --board={board}?",
    "measure": "hil {points} --project={project} --emulate+emulated --port={port}? "
    "--board={board}? -o {results}",
    "report": "report {results} --data={points} --project={project} -o report.html",
    "export": "export {model} --arduino={zip} --sensor={sensor}? --hop={hop}? --votes={votes}? "
    "--mark={mark}? --board={board}?",
}
"""Words, in which a field stands in braces. A word that ends in "?" is left out without its field,
and repeated if the field has several values; "--emulate+played" is given with the field "played".
"""

READ: Mapping[str, str] = {
    "column": "label", "labels": "labels", "keep_columns": "keep", "drop": "drop",
    "one_hot": "one_hot", "session": "session", "time": "time", "missing": "missing",
    "delimiter": "delimiter", "decimal": "decimal",
}  # fmt: skip
"""The fields that say how a table is read, and the names of these options in `TableOptions`."""

LISTS = ("sensor", "played", "labels", "keep_columns", "drop", "one_hot", "holdout", "mark")
"""The fields that may have several values."""

LONGEST = 200
"""Characters of the name of a class or a column."""

_QUOTED = ("labels", "keep_columns", "drop", "one_hot", "holdout")  # as in a list, if need be
_JOINED = ("holdout",)  # into one value
_MOST_VALUES = 500
_NEW_NAME = re.compile(r"[^\W_][\w .,()+-]{0,80}")
_BASE = re.compile(r"(?!.*\.\.)[^\W_][\w .,()+-]{0,50}")
Listed = Sequence[str]
_Check = Callable[[Any, Listed], str]


def _unlike(value: object, what: str) -> InputError:
    return InputError(f"{shortened(repr(value))} is not {what}; choose another")


def _text(value: Any, _: Listed) -> str:
    known = isinstance(value, str) and value.isprintable() and value.strip()
    if not known or len(value) > LONGEST:
        raise _unlike(value, f"a name of 1 to {LONGEST} characters")
    return str(value)


def _number(low: float, high: float, *, whole: bool = True) -> _Check:
    kind = "a whole number" if whole else "a number"
    form = re.compile(r"\d{1,12}" if whole else r"\d{1,12}(\.\d{1,9})?")

    def check(value: object, _: Listed) -> str:
        text = str(value)
        if not form.fullmatch(text) or not low <= float(text) <= high:
            raise _unlike(value, f"{kind} from {low:g} to {high:g}")
        return text

    return check


def _matching(pattern: str, what: str) -> _Check:
    form = re.compile(pattern)

    def check(value: object, _: Listed) -> str:
        if not isinstance(value, str) or not form.fullmatch(value):
            raise _unlike(value, what)
        return value

    return check


def _listed(value: object, listed: Listed) -> str:
    if not isinstance(value, str) or value[:1] in ("-", ".", "") or value not in listed:
        raise _unlike(value, "a file of the folder")
    return value


def _new(suffix: str) -> _Check:
    def check(value: object, _: Listed) -> str:
        if not isinstance(value, str) or not _NEW_NAME.fullmatch(value) or ".." in value:
            raise _unlike(value, "a name for a file or a folder")
        return value if value.endswith(suffix) else value + suffix

    return check


def _played(value: object, listed: Listed) -> str:
    sensor, _, place = str(value).partition("=")
    file, _, rate = place.partition(",rate=")
    checked = f"{_SENSOR(sensor, listed)}={_listed(file, listed)}"
    return f"{checked},rate={FIELDS['rate'](rate, listed)}" if rate else checked


def _held_out(value: object, listed: Listed) -> str:
    """Return a share, or the name of a group."""
    check = _text if isinstance(value, str) else _number(0, 0.9, whole=False)
    return check(value, listed)


def _mark(value: object, listed: Listed) -> str:
    """Return a mark of a class, or of all of them."""
    name, _, percent = str(value).rpartition("=")
    checked = _number(0, 100)(percent, listed)
    return f"{_text(name, listed)}={checked}" if name else checked


_SENSOR = _matching(r"[a-z0-9][\w-]{0,60}(\.toml)?", "a sensor")

FIELDS: Mapping[str, _Check] = {
    **dict.fromkeys(("recording", "data", "points"), _listed),
    **dict.fromkeys(("label", "session", "column", "labels", "keep_columns", "drop"), _text),
    **dict.fromkeys(("one_hot", "time", "groups"), _text),
    **dict.fromkeys(("windows", "model"), _new(".npz")),
    **dict.fromkeys(("stride", "hop"), _number(1, 65_535)),
    **dict.fromkeys(("takes", "teachable"), _number(1, 1000)),
    **dict.fromkeys(("take", "epochs"), _number(1, 1e6)),
    "part": _matching(r"\d{1,9}:\d{1,9}", "a part of a take"),
    "columns": _number(1, 10_000),
    "sensor": _SENSOR,
    "played": _played,
    "rate": _number(0.001, 1e5, whole=False),
    "port": _matching(r"[\w/.:-]{1,200}", "a serial port"),
    "board": _matching(r"\w{1,40}", "a board"),
    "seconds": _number(0.05, 86_400, whole=False),
    "pause": _number(0, 3600, whole=False),
    "window": _number(2, 65_535),
    "onset": _number(*ONSETS),
    "classifier": _matching(r"[a-z-]{1,40}", "a kind of classifier"),
    "features": _matching(r"[\w:,.x-]{1,300}", "a list of features"),
    "names": _matching(r"[\w{][\w{}/ .,+-]{0,100}", "a pattern of names"),
    "size": _matching(r"\d{1,4}x\d{1,4}", "a size such as 28x28"),
    "rejection": _matching(r"\d{1,2}%", "a share such as 1%"),
    "target": _matching("class|value", "a choice"),
    "delimiter": _matching("comma|semicolon|tab|pipe|space", "a delimiter"),
    "decimal": _matching("comma|point", "a decimal mark"),
    "missing": _matching("error|drop|median|most-frequent", "a treatment of gaps"),
    "holdout": _held_out,
    "minutes": _number(0.01, 1e4, whole=False),
    "budget": _matching(r"\d{1,7}(\.\d{1,3})?k?B", "a number of bytes, such as 2kB"),
    "seed": _number(0, 2**32 - 1),
    "project": _new(""),
    "votes": _number(1, 15),
    "mark": _mark,
    "results": _new(".csv"),
    "zip": _new(".zip"),
    "emulated": _matching("yes", "a choice"),
}
"""The fields of actions, and what checks their values."""


def words_of(action: str, fields: Mapping[str, object], listed: Listed) -> list[str]:
    """Return the words of an action's command, without the program; `InputError` if it has none."""
    if action not in ACTIONS:
        raise InvalidValue("the action", shortened(repr(action)), "reload the page")
    words = list[str]()
    for word in ACTIONS[action].split():
        words += _filled(word, fields, listed)
    return words


def _filled(word: str, fields: Mapping[str, object], listed: Listed) -> list[str]:
    if re.fullmatch(r"--[a-z]+\+\w+", word):
        flag, _, field = word.partition("+")
        return [flag] if fields.get(field) else []
    place = re.search(r"\{(\w+)\}", word)
    if place is None:
        return [word]
    values = values_of(place[1], fields, listed)
    if not values and not word.endswith("?"):
        raise InputError(f"the field {place[1]!r} is empty; fill it in")
    if place[1] in _QUOTED:
        values = [_quoted(value) for value in values]
    if place[1] in _JOINED:
        values = [",".join(values)] * bool(values)
    return [word.rstrip("?").replace(place[0], text) for text in values]


def _quoted(name: str) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([name])
    return line.getvalue()


def values_of(field: str, fields: Mapping[str, object], listed: Listed) -> list[str]:
    """Return the values of a field, none if it is empty; `InputError` for a wrong one."""
    value = fields.get(field)
    if value in (None, "", []):
        return []
    values = value if isinstance(value, list) and field in LISTS else [value]
    try:
        return [FIELDS[field](each, listed) for each in values[:_MOST_VALUES]]
    except InputError as error:
        raise InvalidValue(field, str(error)) from error


def line_of(words: Sequence[str]) -> str:
    """Return the command line to copy."""
    return command_line(["protonn-edge", *words])


def base_of(data: str, others: Collection[str]) -> str:
    """Return how the names of what is made of some data begin, which no other data share."""
    stem = Path(data).stem
    is_shared = any(Path(each).stem == stem for each in others if each != data)
    base = data if is_shared else stem
    return base if _BASE.fullmatch(base) else f"data-{crc32(data.encode(errors='replace')):08x}"


def names_in(folder: Path) -> list[str]:
    """Return the names that the page may send: of visible files and folders, in order."""
    return sorted(each.name for each in folder.iterdir() if each.name[:1] not in (".", "-"))
