"""Check paths: inputs are of the right kind, and no output replaces an input.

A command declares a file that it writes as an `OutputFile`, and one that it reads as an `InputFile`
of a kind. `check_paths`, which every command calls first, refuses an output that is also an input,
under any name, two outputs that are the same file, and an input that is recognized as a file of
another kind. Where an output is, there may be an earlier one, but no file of another kind, which
would be lost. An option ``-o`` is an output even if it is not declared.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from protonn_edge.data.options import RECORDING_MARK
from protonn_edge.system.errors import InputError
from protonn_edge.system.files import check_file

_HEAD_BYTES = 4096
_LIMIT_BYTES = 1 << 30
_ZIP = b"PK"  # how an archive begins
_LINE_BYTES = 1 << 20  # of the names of columns
_CONTROL = re.compile(rb"[\0-\x08]")  # characters of no text
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
    """Files that commands read or write, and recognize."""

    name: str  # with an article, for messages
    includes: Callable[[Path], bool]  # whether a regular file that is not empty is one of them
    source: str = ""  # for messages: who writes such files


def _arrays(path: Path) -> set[str]:
    if not _head(path).startswith(_ZIP):
        return set()
    from protonn_edge.data.archive import ArrayArchive

    try:
        with ArrayArchive(path, limit_bytes=_LIMIT_BYTES) as archive:
            return set(archive.names)
    except InputError:
        return set()


def _is_report(path: Path) -> bool:
    head = _head(path)
    # The second is in all reports, the first only in newer ones.
    marks = (b'<meta name="generator" content="protonn-edge">', b" protonn-edge</title>")
    return head.startswith(b"<!doctype html>") and any(mark in head for mark in marks)


def _has_key(name: str) -> Callable[[Path], bool]:
    def includes(path: Path) -> bool:
        if not _head(path).startswith(b"{") or path.stat().st_size > _LIMIT_BYTES:
            return False
        return f'"{name}"'.encode() in path.read_bytes()

    return includes


def _head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(_HEAD_BYTES)


def _has_answers(path: Path) -> bool:
    with path.open("rb") as stream:
        first = stream.readline(_LINE_BYTES)
    return any(name.encode() in first for name in PREDICTED.values())


def begins(*marks: str) -> Callable[[Path], bool]:
    """Return whether a file begins with one of these marks, as a function of its path."""
    return lambda path: _head(path).startswith(tuple(mark.encode() for mark in marks))


def _is_table(path: Path) -> bool:
    first, _, rest = _head(path).partition(b"\n")
    is_text = not _CONTROL.search(first + rest)
    return is_text and any(mark in first for mark in (b",", b";", b"\t"))


MODEL = FileKind(
    "a model file",
    lambda path: "format_version" in _arrays(path),
    "'train' or 'convert' writes",
)
WINDOWS = FileKind(
    "a data set of windows",
    lambda path: any(
        {"X_train", "y_train", name} <= _arrays(path) for name in ("class_names", "value_name")
    ),
)
REPORT = FileKind("a report", _is_report)
RECORDING = FileKind("a recording", begins(RECORDING_MARK))
RESULTS = FileKind(
    "a results file",
    begins(
        *(
            f"index,{right},predicted,{counts},mismatch,"
            for right in ("label", "true")
            for counts in ("cycles", "instructions")
        )
    ),
    "'hil -o' writes",
)
CERTIFICATE = FileKind("a certificate", _has_key("claims"))
TABLE = FileKind("a table", _is_table)
ANSWERS = FileKind("a table of answers", _has_answers)
NETWORK = FileKind(
    "a network that 'convert' wrote",
    lambda path: _head(path)[2:].startswith(b"\x12\x0cprotonn-edge"),  # the producer's name
)
_NO_POINTS = (MODEL, RESULTS, REPORT, CERTIFICATE)
LABELLED = FileKind(
    "a table, or another file of points",
    lambda path: not any(kind.includes(path) for kind in _NO_POINTS),
)
_RECOGNIZED = (*_NO_POINTS, WINDOWS, RECORDING, TABLE)
_KEPT = (*_RECOGNIZED, FileKind("a file of arrays", lambda path: bool(_arrays(path))))


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

    def __init__(self, *replaced: FileKind, **settings: Any) -> None:
        super().__init__(**settings)
        self.replaced = replaced


class InputFile(GivenPath):
    """The path of a file of a kind that a command reads; a folder may have its place."""

    def __init__(self, kind: FileKind) -> None:
        super().__init__()
        self.kind = kind


class NameOrPath(click.types.StringParamType):
    """A name of something, or the path of a file that a command reads."""


_Named = tuple[str, Path, FileKind | None]  # an option or an argument, its path, and its kind
_Written = tuple[str, Path, tuple[FileKind, ...]]


def check_paths(command: click.Command, values: dict[str, object]) -> None:
    """Raise `InputError` if a command, by its parameters' types, reads or writes a wrong file."""
    read, written = _paths_of(command.params, values)
    for each in read:
        _check_kind(each, read)
    for number, (option, output, replaced) in enumerate(written):
        _check_is_regular(output, option)
        _check_folder(output, option)
        for other, path, _ in read:
            if _is_same_file(output, path):
                raise InputError(
                    f"{option} is {output}, which is also given as {other} and would be "
                    f"overwritten; choose another file with {option}"
                )
        for other, path, _ in written[:number]:
            if _is_same_file(output, path):
                raise InputError(
                    f"{other} and {option} are both {output}; name two different files"
                )
        _check_replaced(output, option, replaced)


def _check_kind(given: _Named, all_given: Iterable[_Named]) -> None:
    """Refuse a file of another kind, if it is recognized; suggest to swap it with another one."""
    option, path, wanted = given
    if wanted is None or not _is_content(path) or wanted.includes(path):
        return
    from protonn_edge.model.other_files import other_file

    found = next((kind for kind in _RECOGNIZED if kind.includes(path)), None)
    if found is None or (wanted is MODEL and other_file(path) is not None):
        return  # its reader reports what is wrong with it
    what = f"{option} is {path}, which is {found.name}"
    for other, its_path, its_kind in all_given:
        has_wanted = its_kind is not None and _is_content(its_path) and wanted.includes(its_path)
        if has_wanted and its_kind is not None and not its_kind.includes(its_path):
            raise InputError(f"{what}, and {other} is {its_path}; swap the two")
    source = wanted.source and f", which {wanted.source}"
    raise InputError(f"{what}; give {wanted.name}{source}")


def _is_content(path: Path) -> bool:
    """Return whether there is a regular file that can be read and is not empty."""
    try:
        state = path.stat()
        return stat.S_ISREG(state.st_mode) and state.st_size > 0 and os.access(path, os.R_OK)
    except (OSError, ValueError):
        return False


def there(name: str, placeholder: str) -> str:
    """Return the name of a file for a command to try next; a placeholder if there is no such."""
    return name if Path(name).is_file() else placeholder


def check_there(path: Path) -> None:
    """Refuse data that are not there, before the libraries that would read them are imported."""
    try:
        path.stat()
    except (OSError, ValueError):
        check_file(path, limit_bytes=1)


def _check_is_regular(path: Path, option: str) -> None:
    """Refuse a pipe or a device, which writing would replace by a file."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError(
            f"cannot write {path}, which is not a regular file; choose another file with {option}"
        )


def _check_folder(path: Path, option: str) -> None:
    """Refuse a name that cannot be written before minutes are spent on its contents."""
    whole = path.absolute()
    there = next(each for each in (whole, *whole.parents) if each.exists())
    if there == whole and not there.is_dir():
        there = whole.parent
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise InputError(
            f"cannot write {path}: {there} is not a writable folder; choose another file with "
            f"{option}"
        )


def _check_replaced(path: Path, option: str, replaced: tuple[FileKind, ...]) -> None:
    """Refuse to replace a file of another kind, which may be the only copy."""
    if not replaced or not _is_content(path) or any(kind.includes(path) for kind in replaced):
        return
    found = next((kind.name for kind in _KEPT if kind.includes(path)), "a file of another kind")
    raise InputError(
        f"{option} is {path}, which is {found} and would be overwritten; choose another file with "
        f"{option}, or delete this one first"
    )


def shown_name(parameter: click.Parameter) -> str:
    """Return the name of a parameter in messages: an option, or an argument as in the help."""
    if isinstance(parameter, click.Argument):
        return parameter.human_readable_name.strip("[]")
    return parameter.opts[0]


def _paths_of(
    parameters: Iterable[click.Parameter], values: dict[str, object]
) -> tuple[list[_Named], list[_Written]]:
    """Return the paths that are read, and those that are written."""
    read: list[_Named] = []
    written: list[_Written] = []
    for parameter in parameters:
        is_output = isinstance(parameter.type, OutputFile) or "-o" in parameter.opts
        if not is_output and not isinstance(parameter.type, click.Path | NameOrPath):
            continue
        value = values.get(str(parameter.name))
        option = shown_name(parameter)
        kind = getattr(parameter.type, "kind", None)
        replaced = getattr(parameter.type, "replaced", ())
        for each in value if isinstance(value, tuple) else (value,):
            is_name = isinstance(parameter.type, NameOrPath) and not Path(str(each)).is_file()
            if each is None or is_name:
                continue
            if is_output:
                written.append((option, Path(each), replaced))
            else:
                read.append((option, Path(each), kind))
    return read, written


def _is_same_file(one: Path, other: Path) -> bool:
    """Return whether two paths are the same file, under any name or link; never for folders."""
    try:
        return one.samefile(other) and not one.is_dir()
    except (OSError, ValueError):  # one of them does not exist
        pass
    try:
        real = (os.path.normcase(path.resolve()) for path in (one, other))
        return next(real) == next(real)
    except (OSError, RuntimeError, ValueError):
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
