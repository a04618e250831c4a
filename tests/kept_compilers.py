"""What compilers make, kept between runs of the tests by the content of all that they read.

A C or C++ compiler makes the same files of the same words, sources, headers, scripts, libraries
and parts of itself, whatever the folder; so what it made once is copied, in the way of ccache's
direct mode. Only a run that succeeded without a word is kept. ``PROTONN_EDGE_KEPT_BUILDS`` names
another folder, an empty one for a run that compiles everything; ``tests/chips/toolchain`` calls
compilers themselves.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from protonn_edge.system.folders import digest
from protonn_edge.system.kept_results import KeptResults

Done = subprocess.CompletedProcess[Any]

_COMPILER = re.compile(r"(.*-)?(gcc|g\+\+|cc|clang)")
_PARTS = ("cc1", "cc1plus", "collect2", "as", "ld", "lto1")
_LIBRARIES = ("libc.a", "libgcc.a", "libm.a", "libstdc++.a", "libasan.so", "crt1.o", "specs")
_SEARCHING = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH")
_TELLING = (
    *_SEARCHING,
    "LIBRARY_PATH",
    "LANG",
    "LC_ALL",
    "SOURCE_DATE_EPOCH",
    "DEPENDENCIES_OUTPUT",
)
_FORM = "headers apart"  # of what is kept
_NOTING = "SUNPRO_DEPENDENCIES"  # names a file in which gcc lists all headers that it reads
_SOURCE = re.compile(r".*\.(c|cc|cpp|ino|S)")
_FOLDER = re.compile(r"(-I|-isystem|-iquote|-idirafter|-L|-B)(.*)")
MOST = 20_000  # files of some 20 kB


class KeptCompilers:
    """What compilers made, in a folder that processes and runs share."""

    def __init__(self, folder: Path) -> None:
        self._kept = KeptResults(folder.name, MOST, folder.parent)

    def run(
        self,
        words: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        compile_: Callable[[Mapping[str, str]], Done],
    ) -> Done | None:
        """Return what a call of a compiler would, after its files are there; None if it is none.

        `compile_` calls it with an environment, if it must be.
        """
        call = _Call.of(words, folder, environment)
        if call is None:
            return None
        key = call.key()
        noted = self._kept.get(key)
        if noted and (content := self._kept.get(call.key_of(key, json.loads(noted)))):
            call.restore(content)
            return subprocess.CompletedProcess(words, 0, "", "")
        before = call.products()
        with TemporaryDirectory() as scratch:
            notes = Path(scratch, "notes")
            done = compile_({**environment, _NOTING: str(notes)})
            headers = call.headers(notes.read_text()) if notes.exists() else None
        if done.returncode == 0 and not done.stderr and not done.stdout:
            content = call.packed(before)
            if content is not None and (headers is not None or not call.has_source):
                self._kept.put(key, json.dumps(headers or []).encode())
                self._kept.put(call.key_of(key, headers or []), content)
        return done


class _Call:
    """A call of a compiler that writes a file."""

    def __init__(
        self, words: Sequence[str], out: int, folder: Path, environment: Mapping[str, str]
    ) -> None:
        self.words, self.folder, self.environment = words, folder, environment
        self._at, self.out = out, folder / words[out]
        self.compiler = shutil.which(words[0], path=environment.get("PATH")) or ""
        # Where files are read from: they are named as seen from these.
        self.roots = [folder, *dict.fromkeys(self._roots())]

    @classmethod
    def of(cls, words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> _Call | None:
        if not _COMPILER.fullmatch(Path(words[0]).name) or words.count("-o") != 1:
            return None
        if not {"-", "--coverage", "-MD", "-MMD"}.isdisjoint(words):  # what they write names places
            return None
        call = cls(words, words.index("-o") + 1, folder.resolve(), environment)
        return call if call.compiler else None

    def _roots(self) -> Iterator[Path]:
        for at, word in enumerate(self.words[1:], 1):
            if at != self._at:
                for path in self._files(word):
                    yield path.parent
                if named := _FOLDER.fullmatch(word):
                    yield self.folder / (named[2] or self.words[at + 1])

    def _files(self, word: str) -> list[Path]:
        """Return the files that a word names: all of it, or a part, as in ``-Wl,-T,script.ld``."""
        named = [self.folder / part for part in re.split("[,=@]", word) if part]
        return [path for path in (self.folder / word, *named) if path.is_file()]

    def key(self) -> str:
        """Return what tells calls apart, but for the headers that they read."""
        told = [
            _FORM,
            identity(self.compiler),
            *(self.environment.get(name, "") for name in _TELLING),
        ]
        for at, word in enumerate(self.words[1:], 1):
            files = self._files(word) if at != self._at else []
            named = _FOLDER.fullmatch(word)
            if at == self._at:
                told.append(self.out.name)
            elif files:
                # Of a folder, nothing remains; a file's name ends up in symbols.
                told += [re.sub(r"[^,=@]*/", "", word), *(_of_file(path) for path in files)]
            elif named or (self.folder / word).is_dir():
                path = self.folder / (named[2] if named else word)
                told += [named[1] if named else "", _listed(path, with_content=word[:2] == "-L")]
            else:
                told.append(word)
        sources = {path.parent for word in self.words for path in self._files(word)}
        told += sorted(_listed(path) for path in sources)
        return digest(each.encode() for each in told)

    def products(self) -> dict[Path, int]:
        """Return when each file beside the product was written."""
        beside = self.out.parent
        found = beside.iterdir() if beside.is_dir() else ()
        return {path: path.stat().st_mtime_ns for path in found if path.is_file()}

    @property
    def has_source(self) -> bool:
        """Whether something is compiled, of which the compiler has to note what it reads."""
        return any(map(_SOURCE.fullmatch, self.words))

    def headers(self, notes: str) -> list[list[Any]]:
        """Return all headers that the preprocessor noted, as seen from a root."""
        names = re.sub(r"\\\n", " ", notes)
        names = re.sub(r"(?m)^\S*?:(?=\s|$)", " ", names)
        found = dict.fromkeys(part.replace("\\ ", " ") for part in re.split(r"(?<!\\)\s+", names))
        return [self._named(self.folder / name) for name in found if name]

    def key_of(self, key: str, headers: Sequence[Sequence[Any]]) -> str:
        """Return what tells calls apart that read these headers."""
        return digest(
            [key.encode(), *(_of_file(self.roots[at] / name).encode() for at, name in headers)]
        )

    def packed(self, before: Mapping[Path, int]) -> bytes | None:
        """Return what the call has made; None if that is nothing."""
        made = [path for path, written in self.products().items() if before.get(path) != written]
        if self.out not in made:
            return None
        contents = [path.read_bytes() for path in made]
        files = [
            [path.name, len(content), path.stat().st_mode & 0o777]
            for path, content in zip(made, contents, strict=True)
        ]
        return b"\n".join([json.dumps(files).encode(), b"".join(contents)])

    def restore(self, content: bytes) -> None:
        """Write what an equal call has made."""
        head, _, rest = content.partition(b"\n")
        self.out.parent.mkdir(parents=True, exist_ok=True)
        for name, size, mode in json.loads(head):
            path = self.out.parent / name
            path.unlink(missing_ok=True)
            path.write_bytes(rest[:size])
            path.chmod(mode)
            rest = rest[size:]

    def _named(self, path: Path) -> list[Any]:
        whole = Path(os.path.normpath(path))
        ways = [
            (len(name := os.path.relpath(whole, root)), at, name)
            for at, root in enumerate(self.roots)
            if whole.is_relative_to(root)
        ]
        _, at, name = min(ways, default=(0, 0, str(whole)))
        return [at, name]


_run = subprocess.run


@cache
def identity(compiler: str) -> str:
    """Return a digest of a compiler and the parts of it that it finds."""

    def asked(option: str) -> str:
        done = _run([compiler, option], capture_output=True, text=True, check=False)
        return done.stdout.strip()

    found = [compiler]
    found += [asked(f"-print-prog-name={name}") for name in _PARTS]
    found += [asked(f"-print-file-name={name}") for name in _LIBRARIES]
    paths = [Path(shutil.which(name) or name) for name in found]
    return " ".join([compiler, *map(_of_file, paths)])


_DIGESTS: dict[tuple[str, int, int, int], str] = {}


def _of_file(path: Path) -> str:
    """Return the digest of a file's content; nothing if it is none."""
    try:
        about = path.stat()
    except OSError:
        return ""
    key = (str(path), about.st_ino, about.st_mtime_ns, about.st_size)
    if not path.is_file():
        return ""
    # The system's files change by an upgrade, which is none while tests run.
    if not str(path).startswith("/usr/"):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    if key not in _DIGESTS:
        _DIGESTS[key] = hashlib.sha256(path.read_bytes()).hexdigest()
    return _DIGESTS[key]


def _listed(folder: Path, *, with_content: bool = False) -> str:
    """Return the names of a folder's files: a new header may come before the one that was read."""
    if not folder.is_dir():
        return ""
    if str(folder).startswith("/usr/"):
        return str(folder)
    suffixes = (".a", ".so", ".o", ".ld") if with_content else (".h", ".hpp", ".c", ".inc", ".S")
    found = []
    for place, _, names in os.walk(folder):  # in a third of the time that Path.rglob takes
        for name in (name for name in names if name.endswith(suffixes)):
            about = _of_file(Path(place, name)) if with_content else ""
            found.append(f"{os.path.relpath(place, folder)}/{name} {about}")
    return digest(name.encode() for name in sorted(found))
