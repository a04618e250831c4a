"""Faults at every file operation of a command, as a law: nothing half-written, nothing lost.

A command runs in a child process, in a folder of its own. Its operations on files there are
counted; then it runs again and again, with a fault at one of them. Whatever the fault is, each file
is as it was before or as the command leaves it, nothing hidden is left, the error is one sentence,
and the same command, run again, ends as if nothing had happened.

``PYTHONPATH=tests python -m faults`` tries all operations of all commands, ``--every 5`` each fifth
one; the tests try a few.
"""

from __future__ import annotations

import _thread
import errno
import io
import os
import re
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from protonn_edge.cli import main

KILL, STOP_BEFORE, STOP_AFTER = "kill", "Ctrl-C before", "Ctrl-C after"
FULL, BROKEN = "full disk", "I/O error"
FAULTS = KILL, STOP_BEFORE, STOP_AFTER, FULL, BROKEN

_EVENTS = {
    "os.rename": "rename", "os.remove": "remove", "os.mkdir": "mkdir", "os.rmdir": "rmdir",
    "os.symlink": "symlink", "os.link": "link", "os.truncate": "truncate",
}  # fmt: skip
_TAKES_SPACE = {"create", "write", "mkdir", "symlink"}
_SCRATCH = re.compile(r"\.protonn-edge\.\d+\.\w+")
_KILLED, _BUG = -signal.SIGKILL, 70

Tree = dict[str, bytes]


def tree(folder: Path) -> Tree:
    """Return the contents of all files below a folder, by their names there."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# --- what happens ---------------------------------------------------------------------------------


class Injector:
    """Counts the file operations below a folder, and lets one fail; a process has one at most."""

    def __init__(self, folder: Path, fault: str = "", at: int = -1) -> None:
        self._folder = f"{folder.resolve()}{os.sep}"
        self._fault, self._at = fault, at
        self.operations: list[str] = []
        self._write, self._fsync = os.write, os.fsync

    def install(self) -> None:
        """Watch all operations from now on."""
        os.write, os.fsync = self._written, self._synced  # type: ignore[assignment]
        _installed.append(self)
        _hooked()

    def remove(self) -> None:
        """Let all operations be as they are."""
        os.write, os.fsync = self._write, self._fsync
        _installed.remove(self)

    def audited(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, str | bytes | os.PathLike) and self._is_inside(path):
                creates = bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
                if creates or Path(os.fsdecode(path)).is_file():
                    self._operation("create" if creates else "read")
        elif event in _EVENTS:
            path = arguments[1] if event == "os.symlink" else arguments[0]
            descriptor = arguments[-1] if event in ("os.remove", "os.rmdir") else -1
            if isinstance(path, str | bytes | os.PathLike) and self._is_inside(path, descriptor):
                self._operation(_EVENTS[event])

    def _is_inside(self, path: Any, folder: int = -1) -> bool:
        place = Path.cwd() if folder < 0 else _place_of(folder)
        return f"{os.path.normpath(place / os.fsdecode(path))}".startswith(self._folder)

    def _written(self, descriptor: int, content: bytes) -> int:
        if str(_place_of(descriptor)).startswith(self._folder):
            half = bytes(content[: len(content) // 2])
            self._operation("write", lambda: self._write(descriptor, half))
        return self._write(descriptor, content)

    def _synced(self, descriptor: int) -> None:
        if f"{_place_of(descriptor)}{os.sep}".startswith(self._folder):
            self._operation("fsync")
        self._fsync(descriptor)

    def _operation(self, kind: str, begin: Callable[[], Any] = lambda: None) -> None:
        number = len(self.operations)
        self.operations.append(kind)
        if self._fault == FULL and number >= self._at and kind in _TAKES_SPACE:
            begin()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if number != self._at:
            return
        if self._fault == KILL:
            begin()
            os.kill(os.getpid(), signal.SIGKILL)
        elif self._fault == STOP_BEFORE:
            raise KeyboardInterrupt
        elif self._fault == STOP_AFTER:
            _thread.interrupt_main()
        elif self._fault == BROKEN:
            raise OSError(errno.EIO, os.strerror(errno.EIO))


_installed: list[Injector] = []


@cache
def _hooked() -> None:
    """Have Python report all operations from now on; that cannot be ended."""

    def audited(event: str, arguments: tuple[Any, ...]) -> None:
        for each in _installed:
            each.audited(event, arguments)

    sys.addaudithook(audited)


def _place_of(descriptor: int) -> Path:
    return Path(f"/proc/self/fd/{descriptor}").readlink()


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it did to files."""

    status: int
    said: str
    operations: tuple[str, ...]


def run_command(arguments: Sequence[str], folder: Path, fault: str = "", at: int = -1) -> Ended:
    """Run a command in a folder, in a child process, with a fault at one operation, from 0."""
    with TemporaryDirectory(prefix="faults-") as place:
        notes = Path(place)
        child = os.fork()
        if child == 0:
            _be_child(arguments, folder, Injector(folder, fault, at), notes)
        _, raw = os.waitpid(child, 0)
        said, done = notes / "said", notes / "operations"
        return Ended(
            os.waitstatus_to_exitcode(raw),
            said.read_text("utf-8") if said.exists() else "",
            tuple(done.read_text().split()) if done.exists() else (),
        )


def _be_child(arguments: Sequence[str], folder: Path, injector: Injector, notes: Path) -> None:
    status, said = _BUG, io.StringIO()
    try:
        os.chdir(folder)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        injector.install()
        with redirect_stdout(io.StringIO()), redirect_stderr(said):
            try:
                main([*map(str, arguments)], "protonn-edge")
            except SystemExit as ended:
                status = ended.code if isinstance(ended.code, int) else int(bool(ended.code))
            except BaseException:  # noqa: BLE001 - it is what a user would see
                said.write(traceback.format_exc())
    finally:
        injector.remove()
        (notes / "operations").write_text(" ".join(injector.operations))
        (notes / "said").write_text(said.getvalue(), "utf-8")
        os._exit(status)


# --- what must hold -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """A command that writes files into the current folder.

    Attributes
    ----------
    name : str
        What it is.
    prepare : callable
        Puts the files into a folder that are there before.
    arguments : tuple of str
        The command's words.
    steps : bool
        Whether it writes several files one after another, each for itself.
    grows : str
        A pattern of names of files that are appended to; they end as the command leaves them.
    varies : str
        A pattern of names of files that differ at each run.
    continues : str, optional
        The option that goes on with a stopped run, which the command refuses to overwrite.
    undoes : tuple of str, optional
        What takes the command back, if it was made.
    once : bool
        Whether it cannot be repeated once it was made.
    """

    name: str
    prepare: Callable[[Path], None]
    arguments: tuple[str, ...]
    steps: bool = False
    grows: str = "(?!)"
    varies: str = "(?!)"
    continues: str | None = None
    undoes: tuple[str, ...] | None = None
    once: bool = False


@dataclass
class Law:
    """A command, and how it ends without a fault."""

    command: Written
    place: Path
    before: Tree = field(init=False)
    after: Tree = field(init=False)
    operations: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self._template = self.place / "template"
        self._template.mkdir(parents=True)
        self.command.prepare(self._template)
        self.before = tree(self._template)
        folder = self._copied()
        done = run_command(self.command.arguments, folder)
        assert done.status == 0, f"{self.command.name}: {done.said}"
        self.after, self.operations = tree(folder), done.operations
        assert self.after != self.before, self.command.name

    def _copied(self) -> Path:
        folder = self.place / "work"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self._template, folder, symlinks=True)
        return folder

    def places(self, fault: str) -> list[int]:
        """Return the operations at which a fault is possible."""
        possible = {FULL: _TAKES_SPACE}.get(fault)
        every = enumerate(self.operations)
        if fault != BROKEN:
            every = ((at, kind) for at, kind in every if kind != "read")
        return [at for at, kind in every if possible is None or kind in possible]

    def broken(self, fault: str, at: int) -> list[str]:
        """Return what does not hold after a fault at an operation; nothing if all is well."""
        folder = self._copied()
        done = run_command(self.command.arguments, folder, fault, at)
        found = tree(folder)
        wrong = [*self._wrong_files(found, fault), *self._wrong_end(done, found, fault)]
        made = bool(self._mixed(self._visible(found), self.before))
        if made and self.command.undoes is not None:
            undone = run_command(self.command.undoes, folder)
            wrong += [f"the undoing failed: {undone.said}"] if undone.status else []
        if not self.command.once or self._mixed(self._visible(found), self.after):
            again = self._again(folder)
            if again.status:
                wrong.append(f"the next run failed: {again.said}")
        ended = tree(folder)
        if not self.command.once:
            wrong += [f"{name} after the next run" for name in self._differing(ended, self.after)]
        kind = self.operations[at]
        return [f"{self.command.name}, {fault} at {at} ({kind}): {each}" for each in wrong]

    def _again(self, folder: Path) -> Ended:
        again = run_command(self.command.arguments, folder)
        option = self.command.continues
        if again.status and option and f"continue with {option}" in again.said:
            again = run_command([*self.command.arguments, option], folder)
        return again

    def _wrong_files(self, found: Tree, fault: str) -> Iterator[str]:
        hidden = {name for name in found if any(map(_SCRATCH.fullmatch, Path(name).parts))}
        if hidden and fault not in (KILL, BROKEN):
            yield f"left {sorted(hidden)}"
        visible = {name: content for name, content in found.items() if name not in hidden}
        for name, content in visible.items():
            if not self._is_whole(name, content):
                yield f"{name} is half-written"
        for name in self.before.keys() & self.after.keys() - visible.keys():
            yield f"{name} is lost"
        kept = {*self.before.values()} & {*self.after.values()} - {*visible.values()}
        if kept:
            yield f"{len(kept)} contents are lost"
        # What a new export lacks is removed once all of its files are there.
        there = {name: each for name, each in visible.items() if name in self.after}
        neither = self._mixed(visible, self.before) and self._mixed(there, self.after)
        if neither and fault not in (KILL, BROKEN) and not self.command.steps:
            yield "some files are new and some old"

    def _is_whole(self, name: str, content: bytes) -> bool:
        known = [each[name] for each in (self.before, self.after) if name in each]
        if re.fullmatch(self.command.varies, name):
            return name in self.after
        if re.fullmatch(self.command.grows, name):
            lines = [{*each.get(name, b"").splitlines()} for each in (self.before, self.after)]
            return name in self.after and lines[0] & lines[1] <= {*content.splitlines()}
        return content in known

    def _wrong_end(self, done: Ended, found: Tree, fault: str) -> Iterator[str]:
        errors = [line for line in done.said.splitlines() if line.startswith("error: ")]
        if "Traceback" in done.said or "this is a bug" in done.said or done.status == _BUG:
            yield f"a bug: {done.said[-1500:]}"
        elif done.status == 0:
            if self._differing(self._visible(found), self.after):
                yield "it ended well, but its files are missing"
        elif fault == KILL:
            if done.status != _KILLED:
                yield f"ended with {done.status}: {done.said}"
        elif fault in (STOP_BEFORE, STOP_AFTER):
            if done.status != 128 + signal.SIGINT:
                yield f"ended with {done.status}: {done.said}"
        elif done.status not in (1, 2) or len(errors) != 1:
            yield f"ended with {done.status}: {done.said}"

    def _visible(self, found: Tree) -> Tree:
        return {
            name: content
            for name, content in found.items()
            if not any(map(_SCRATCH.fullmatch, Path(name).parts))
        }

    def _mixed(self, one: Tree, other: Mapping[str, bytes]) -> list[str]:
        """Return names of files that differ, but for those that are appended to."""
        grows = re.compile(self.command.grows)
        return [name for name in self._differing(one, other) if not grows.fullmatch(name)]

    def _differing(self, one: Tree, other: Mapping[str, bytes]) -> list[str]:
        names = sorted(one.keys() | other.keys())
        varies = re.compile(f"{self.command.varies}|.*[.]undo")
        return [
            name
            for name in names
            if (name in one) != (name in other)
            or (one[name] != other[name] and not varies.fullmatch(name))
        ]


def sampled(places: Sequence[int], count: int, seed: int) -> list[int]:
    """Return some of the places, spread over all of them, others for another seed."""
    step = max(1, len(places) // count)
    return list(places[seed % step :: step])[:count]
