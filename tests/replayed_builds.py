"""PlatformIO's builds again, without PlatformIO.

`pio run` takes a second before it compiles anything, and hundreds of tests build firmware. So it
runs once for all projects with the same settings of a build, environment and names of sources,
verbosely; later builds run the commands that it printed. Objects, and what is linked of them, are
kept by what they are made of. A build whose commands fail is left to PlatformIO, so what it says is
its own. ``tests/toolchain`` has the proof that both make the same bytes, and runs nothing but
PlatformIO otherwise.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protonn_edge.system.files import write_atomically

Done = subprocess.CompletedProcess[str]
RunWithin = Callable[..., Done]

_COMPILERS = ("avr-", "gcc ", "g++ ", "cc ")
_SOURCES = (".c", ".h", ".cpp", ".S")
_SOURCE_FOLDERS = ("firmware", "src", "include", "lib")
# Lines and parts of lines in platformio.ini that no compiler is told of.
_NOT_OF_BUILDS = re.compile(r"^(?:;.*|(?:monitor|upload)_\w+ *=.*)\n|[ \t]+;.*$", re.MULTILINE)


@dataclass(frozen=True)
class ReplayedBuilds:
    """What takes the place of `run_within` where PlatformIO is run.

    Attributes
    ----------
    kept : Path
        A folder for recordings and objects, which processes share.
    run_within : callable
        What runs PlatformIO.
    """

    kept: Path
    run_within: RunWithin

    def __call__(
        self,
        deadline_s: float,
        command: Sequence[str],
        *,
        name: str,
        folder: Path,
        environment: Mapping[str, str],
        **rest: str,
    ) -> Done:
        """Run a command: a plain build as it was recorded, all others as they are."""

        def run(command: Sequence[str], environment: Mapping[str, str]) -> Done:
            return self.run_within(
                deadline_s, command, name=name, folder=folder, environment=environment, **rest
            )

        if list(command[1:-1]) != ["-m", "platformio", "run", "--environment"]:
            return run(command, environment)
        recording = self.kept / f"{_key_of_project(folder, command[-1], environment)}.json"
        if recording.is_file():
            if self._replay(json.loads(recording.read_text("utf-8")), folder, environment):
                return subprocess.CompletedProcess(list(command), 0, "", "")
            return run(command, environment)
        apart = {k: v for k, v in environment.items() if k != "PLATFORMIO_BUILD_CACHE_DIR"}
        done = run([*command, "-v"], apart)
        lines = [line for line in done.stdout.splitlines() if line.startswith(_COMPILERS)]
        if done.returncode == 0 and not done.stderr:
            steps = [_step(shlex.split(line), folder, environment) for line in lines]
            write_atomically(recording, json.dumps(steps).encode())
            for step in steps:
                _keep(self._places(step, folder))
        return done

    def _replay(
        self, steps: Iterable[dict[str, Any]], folder: Path, environment: Mapping[str, str]
    ) -> bool:
        """Return whether all commands succeeded."""
        for step in steps:
            places = self._places(step, folder)
            if places and all(kept.is_file() for kept in places.values()):
                for made, kept in places.items():
                    made.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(kept, made)
                continue
            (folder / step["made"][0]).parent.mkdir(parents=True, exist_ok=True)
            done = _run(step["command"], folder, environment)
            if done.returncode != 0 or done.stderr:
                return False
            _keep(places)
        return True

    def _places(self, step: dict[str, Any], folder: Path) -> dict[Path, Path]:
        """Return where a file is kept, for each that a step makes."""
        of = step["of"]
        if not of:
            return {}
        if step["source"] not in (None, _digest((folder / of[0]).read_bytes())):
            of = _sources_in(folder)  # it may include others
        key = _key_of_files(folder, of, json.dumps(step["command"]))
        made = [folder / name for name in step["made"]]
        return {path: self.kept / f"{key}{path.suffix}" for path in made}


def _keep(places: Mapping[Path, Path]) -> None:
    for made, kept in places.items():
        write_atomically(kept, made.read_bytes())


def _step(command: list[str], folder: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    """Return a command with the files that it makes, and those it makes them of, if it compiles."""
    if "-c" not in command:
        result = command[command.index("-o") + 1] if "-o" in command else command[-1]
        given = [name for name in command[1:] if name != result and (folder / name).is_file()]
        links = "-o" in command or command[0].endswith("objcopy")  # an archive keeps its members
        return {"command": command, "made": [result], "of": given * links, "source": None}
    place = command.index("-o")
    made = [Path(command[place + 1])]
    notes = made[0].with_suffix(".su")
    if (folder / notes).is_file():
        made.append(notes)
    asking = [*command[:place], *command[place + 2 :], "-MM"]
    of = _run(asking, folder, environment).stdout.replace("\\\n", " ").partition(":")[2].split()
    source = _digest((folder / of[0]).read_bytes())
    made_of = {"of": of, "source": source}
    return {"command": command, "made": [path.as_posix() for path in made], **made_of}


def _run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Done:
    return subprocess.run(
        command, cwd=folder, env=environment, check=False, capture_output=True, text=True
    )


def _key_of_project(folder: Path, board: str, environment: Mapping[str, str]) -> str:
    """Return what tells projects apart whose commands may differ."""
    settings = _NOT_OF_BUILDS.sub("", (folder / "platformio.ini").read_text("utf-8"))
    descriptions = [path.relative_to(folder).as_posix() for path in folder.glob("boards/*.json")]
    settings_of_pio = {
        name: value
        for name, value in environment.items()
        if name.startswith("PLATFORMIO_") and not name.endswith("_DIR")
    }
    compiler = shutil.which("avr-gcc", path=environment.get("PATH"))
    told = [board, settings, _sources_in(folder), compiler, sorted(settings_of_pio.items())]
    return _key_of_files(folder, sorted(descriptions), json.dumps(told))


def _sources_in(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix()
        for name in _SOURCE_FOLDERS
        for path in (folder / name).rglob("*")
        if path.suffix in _SOURCES
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _key_of_files(folder: Path, names: Iterable[str], told: str) -> str:
    digest = hashlib.sha256(told.encode())
    for name in names:
        content = (folder / name).read_bytes()
        digest.update(f"{name} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()
