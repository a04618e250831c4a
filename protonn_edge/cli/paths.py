"""Check paths: no output replaces an input or a file of another kind, and points are points.

A command declares a file that it writes as an `OutputFile`, and data that it reads as a
`PointsFile`. `check_paths`, which every command calls first, refuses an output that is also an
input, under any name, two outputs that are the same file, and files without points where points are
read. Where an output is, there may be an earlier one, but no file of another kind, which would be
lost. An option ``-o`` is an output even if it is not declared. Each reader refuses what it cannot
read.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from protonn_edge.system.errors import InputError
from protonn_edge.system.files import check_file

_HEAD_BYTES = 1 << 20  # with the names of all columns
PREDICTED = {
    "class": "predicted_class",
    "value": "predicted_value",
    "labels": "predicted_labels",
}
"""The column that 'predict' writes, by what a model predicts."""


LIVE_FOLDER = Path("live")
"""Where 'build --sensor' writes, and 'monitor --emulate' looks, unless another is named."""


@dataclass(frozen=True)
class FileKind:
    """Files that commands write, and recognize by how they begin or by the arrays in them."""

    name: str  # with an article, for messages
    begin: str = ""  # a regular expression of the first bytes
    arrays: tuple[set[str], ...] = ()  # sets of names; an archive of the kind has all of one set

    def includes(self, path: Path) -> bool:
        """Return whether a regular file that is not empty is one of them."""
        with path.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
        if not self.arrays:
            return re.match(self.begin.encode(), head, re.DOTALL) is not None
        if not head.startswith(b"PK"):
            return False
        from protonn_edge.data.files.archive import ArrayArchive

        with suppress(InputError), ArrayArchive(path, limit_bytes=1 << 30) as archive:
            return any(names.issubset(archive.names) for names in self.arrays)
        return False


MODEL = FileKind("a model file", arrays=({"format_version"},))
WINDOWS = FileKind(
    "a data set of windows",
    arrays=tuple({"X_train", "y_train", name} for name in ("class_names", "value_name")),
)
REPORT = FileKind(
    "a report",  # the second mark is in all reports, the first only in newer ones
    '<!doctype html>.*(<meta name="generator" content="protonn-edge">| protonn-edge</title>)',
)
RESULTS = FileKind("a results file", "index,(label|true),predicted,(cycles|instructions),mismatch,")
CERTIFICATE = FileKind("a certificate", r'\{.*"claims"')
ANSWERS = FileKind("a table of answers", rf"[^\n]*({'|'.join(PREDICTED.values())})")
NETWORK = FileKind("a network that 'convert' wrote", "..\x12\x0cprotonn-edge")  # the producer


class GivenPath(click.Path):
    """A path on the command line, which is not empty: else an unset variable names a folder."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(path_type=Path, **settings)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        if value == "":
            self.fail("the name is empty; name a file or folder", param, ctx)
        if isinstance(value, str):
            value = str(in_home(value))
        return super().convert(value, param, ctx)


def in_home(name: str) -> Path:
    """Return the path of a name, in which ~ is the user's folder as in a shell.

    The shell has left it as it is in quotes, and behind an "=".
    """
    return Path(name).expanduser() if name.startswith("~/") else Path(name)


class OutputFile(GivenPath):
    """The path of a file that a command writes, of one of these kinds, if it replaces files."""

    def __init__(self, *replaced: FileKind, **settings: object) -> None:
        super().__init__(**settings)
        self.replaced = replaced


class PointsFile(GivenPath):
    """The path of a table, or of another file or folder of points, that a command reads."""


class NameOrPath(click.types.StringParamType):
    """A name of something, or the path of a file that a command reads."""


@dataclass(frozen=True)
class _Given:
    """A path on a command line, and the type of its option or argument."""

    option: str
    path: Path
    type: click.ParamType[Any]

    @property
    def is_content(self) -> bool:
        """Whether there is a regular file that can be read and is not empty."""
        with suppress(OSError, ValueError):
            state = self.path.stat()
            return (
                stat.S_ISREG(state.st_mode) and state.st_size > 0 and os.access(self.path, os.R_OK)
            )
        return False


def check_paths(command: click.Command, values: dict[str, object]) -> None:
    """Raise `InputError` if a command, by its parameters' types, reads or writes a wrong file."""
    read, written = _paths_of(command.params, values)
    for given in read:
        if isinstance(given.type, PointsFile) and given.is_content:
            _check_has_points(given)
    for number, output in enumerate(written):
        _check_can_be_written(output)
        for other in (*read, *written[:number]):
            if _is_same_file(output.path, other.path):
                raise InputError(
                    f"{output.option} is {output.path}, which is also given as {other.option} and "
                    f"would be overwritten; choose another file with {output.option}"
                )
        _check_replaced(output)


def _paths_of(
    parameters: Iterable[click.Parameter], values: dict[str, object]
) -> tuple[list[_Given], list[_Given]]:
    """Return the paths that are read, and those that are written."""
    read, written = list[_Given](), list[_Given]()
    for parameter in parameters:
        is_output = isinstance(parameter.type, OutputFile) or "-o" in parameter.opts
        if not is_output and not isinstance(parameter.type, click.Path | NameOrPath):
            continue
        value = values.get(str(parameter.name))
        for each in value if isinstance(value, tuple) else (value,):
            is_name = isinstance(parameter.type, NameOrPath) and not Path(str(each)).is_file()
            if each is not None and not is_name:
                given = _Given(shown_name(parameter), Path(each), parameter.type)
                (written if is_output else read).append(given)
    return read, written


def _check_has_points(given: _Given) -> None:
    """Refuse a file of the program without points, which only looks like a table or a data set."""
    for kind in (MODEL, RESULTS, REPORT, CERTIFICATE):
        if kind.includes(given.path):
            raise InputError(
                f"{given.option} is {given.path}, which is {kind.name}; give a table, or another "
                "file of points"
            )


def _check_can_be_written(given: _Given) -> None:
    """Refuse what cannot be written, before minutes are spent on its contents."""
    path = given.path
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError(  # a pipe or a device, which writing would replace by a file
            f"cannot write {path}, which is not a regular file; choose another file with "
            f"{given.option}"
        )
    whole = path.absolute()
    there = next(each for each in (whole, *whole.parents) if each.exists())
    if there == whole and not there.is_dir():
        there = whole.parent
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise InputError(
            f"cannot write {path}: {there} is not a writable folder; choose another file with "
            f"{given.option}"
        )


def _check_replaced(given: _Given) -> None:
    """Refuse to replace a file of another kind, which may be the only copy."""
    replaced = getattr(given.type, "replaced", ())
    if not replaced or not given.is_content or any(kind.includes(given.path) for kind in replaced):
        return
    raise InputError(
        f"{given.option} is {given.path}, which is a file of another kind and would be "
        f"overwritten; choose another file with {given.option}, or delete this one first"
    )


def there(name: str, placeholder: str) -> str:
    """Return the name of a file for a command to try next; a placeholder if there is no such."""
    return name if Path(name).is_file() else placeholder


def check_there(path: Path) -> None:
    """Refuse data that are not there, before the libraries that would read them are imported."""
    if not path.exists():
        check_file(path, limit_bytes=1)


def shown_name(parameter: click.Parameter) -> str:
    """Return the name of a parameter in messages: an option, or an argument as in the help."""
    if isinstance(parameter, click.Argument):
        return parameter.human_readable_name.strip("[]")
    return parameter.opts[0]


def _is_same_file(one: Path, other: Path) -> bool:
    """Return whether two paths are the same file, under any name or link; never for folders."""
    with suppress(OSError, ValueError):  # one of them does not exist
        return one.samefile(other) and not one.is_dir()
    with suppress(OSError, RuntimeError, ValueError):
        return os.path.normcase(one.resolve()) == os.path.normcase(other.resolve())
    return False


def check_output(path: Path) -> None:
    """Refuse a name that no model file has before minutes are spent on training."""
    if path.is_dir():
        raise InputError(
            f"{path} is a folder; name the model file, for example {path / 'model.npz'}"
        )
    check_ending(path, "the model file")


def check_ending(path: Path, what: str, ending: str = ".npz") -> None:
    """Refuse another name of a file that is to be written: its readers would refuse it, too."""
    if path.suffix != ending:
        raise InputError(f"{what} is called {path.name!r}; its name must end in {ending}")
