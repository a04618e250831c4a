"""The generated C, compiled for this computer once for all tests.

`verify`, `hil` and `report` each compile a model, and many tests do that with the same model. Here
a program is kept by all that it is made of: the compiler, its options, and the bytes of the sources
and of all headers that they can include. The compiler makes the same program of the same bytes, so
a fault in generated C, or in what is asked of the compiler, is another program. What the compiler
refuses is not kept. ``tests/toolchain`` calls the compiler itself.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from protonn_edge.chips.toolchain import process


@dataclass(frozen=True)
class KeptPrograms:
    """What takes the place of `build_host_executable` where a model is compiled.

    Attributes
    ----------
    kept : Path
        A folder for programs, which processes share.
    build : callable
        What calls the compiler.
    """

    kept: Path
    build: Callable[..., Path]

    def __call__(
        self, sources: Sequence[Path], include: Path, out: Path, sanitize: bool = False
    ) -> Path:
        """Compile and link sources, or take what was made of the same ones before."""
        files = [*sources, *sorted(include.glob("*.[ch]"))]  # a source may include others
        flags = (*process._FLAGS, *(process._SANITIZERS if sanitize else ()))
        kept = self.kept / _key(files, process._compiler(), *flags)
        if kept.is_file():
            shutil.copy(kept, out)
        else:
            self.build(sources, include, out, sanitize)
            with suppress(OSError):  # another process may have been quicker
                os.link(out, kept)
        return out


@dataclass(frozen=True)
class KeptFirmware:
    """What takes the place of `run_within` where a compiler makes all of a firmware at once.

    What it leaves beside its product is kept, too, by the bytes of all files in its folder.

    Attributes
    ----------
    kept : Path
        A folder for firmware, which processes share.
    run_within : callable
        What runs the compiler.
    """

    kept: Path
    run_within: Callable[..., subprocess.CompletedProcess[str]]

    def __call__(
        self, deadline_s: float, command: Sequence[str], *, folder: Path, **rest: Any
    ) -> subprocess.CompletedProcess[str]:
        """Compile and link sources, or take what was made of the same ones before."""
        product = (folder / command[-1]).parent
        files = (path for path in folder.rglob("*") if path.is_file())
        own = [path for path in sorted(files) if not path.is_relative_to(product)]
        names = [path.relative_to(folder).as_posix() for path in own]
        kept = self.kept / f"firmware-{_key(own, str(shutil.which(command[0])), *command, *names)}"
        if kept.is_dir():
            shutil.copytree(kept, product, dirs_exist_ok=True)
            return subprocess.CompletedProcess([*command], 0, "", "")
        done = self.run_within(deadline_s, command, folder=folder, **rest)
        if done.returncode == 0 and not done.stderr:
            with TemporaryDirectory(dir=self.kept) as place, suppress(OSError):
                shutil.copytree(product, Path(place) / "made").rename(kept)
        return done


def _key(files: Sequence[Path], *told: str) -> str:
    """Return what tells programs apart; folders are not part of it."""
    digest = hashlib.sha256("\0".join([*told, os.environ.get("CPATH", "")]).encode())
    for path in files:
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()
