"""How real commands end, and a stand-in that gives these ends to the page without running them.

The commands run on the cases of the corpus, and in a folder as people have it. Of those that say
the same, one is kept.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from corpus.cases import Case, _as_options, cases

from protonn_edge.extensions.studio.jobs import Jobs

CORPUS = ("columns", "rows", "values", "windows", "recordings")
_COMMANDS = {
    "table": "data", "train": "data", "numbers": "data",
    "windows": "windows --window=50 -o w.npz", "recording": "windows --window=50 -o w.npz",
}  # fmt: skip
"""The command that says of a case what the page's command does, without training."""

NO_PORT = "--port=/dev/ttyNONE"
COMMANDS: Mapping[str, Sequence[str]] = {
    "keep": ("takes recording.csv --take=99 --keep=0:9",),
    "cut": ("takes recording.csv --take=1 --cut=5:5",),
    "rename": ("takes play.csv --take=1 --label=x",),
    "delete": ("takes gone.csv --take=1 --delete",),
    "undo": ("takes play.csv --undo",),
    "logger": (
        "build --sensor=adxl345 --rate=1e5 -o logger",
        "build --sensor=x --rate=9 -o logger",
    ),
    "upload-logger": (f"upload logger {NO_PORT}", "upload house"),
    "windows": ("windows recording.csv -o w.npz --window=99999",),
    "train": (
        "train windows.npz -o m.npz --classifier=protonn --budget=1B",
        "train windows.npz -o m.npz --classifier=linear --teachable=5",
        "train windows.npz -o m.npz --classifier=linear --features=bands:99",
        "train windows.npz -o m.npz --classifier=linear --holdout=carla --groups=groups",
        "train house/house.csv -o m.npz --classifier=linear --label=x",
    ),
    "build": (
        "build linear.npz -o b --sensor=mpu6050",
        "build linear.npz -o b --sensor=hx711",
        "build house/linear.npz -o b --sensor=adxl345",
        "build gone.npz -o b",
    ),
    "build-points": ("build linear.npz -o measured --board=esp32",),
    "upload": ("upload gone",),
    "measure": (
        "hil house/house.csv --project=measured --emulate -o r.csv",
        f"hil windows.npz --project=measured {NO_PORT} -o r.csv",
        "hil windows.npz --project=gone --emulate -o r.csv",
    ),
    "report": ("report play.csv -o report.html", "report results.csv --data=house/house.csv"),
    "export": ("export linear.npz --arduino=taken.zip", "export linear.npz --arduino=x --board=y"),
}
"""Commands of the page's actions that people can get into trouble with."""


@dataclass(frozen=True)
class End:
    """An exit code, and the JSON object that was printed."""

    code: int
    record: Mapping[str, Any]

    @property
    def error(self) -> str:
        return str(self.record.get("error", ""))

    @property
    def notices(self) -> Sequence[Mapping[str, Any]]:
        found: Sequence[Mapping[str, Any]] = self.record.get("notices", ())
        return found

    def lines(self) -> Iterator[str]:
        return iter(())

    def wait(self) -> int:
        return self.code

    def stop(self) -> None:
        """It has ended."""

    kill = stop


def ends_of_corpus(folder: Path) -> Iterator[tuple[str, End]]:
    """Yield the ends of the commands that read the cases, by the page's action for such data."""
    before, last = Path.cwd(), ""
    os.chdir(folder)
    try:
        for number, case in enumerate(cases()):
            if case.place.partition(".")[0] in CORPUS and case.title != last:
                last = case.title
                if (ended := _end_of_case(case, Path(f"data{number}"))) is not None:
                    yield ended
    finally:
        os.chdir(before)


def _end_of_case(case: Case, folder: Path) -> tuple[str, End] | None:
    reading = next((each for each in case.readings if each.reader in _COMMANDS), None)
    if reading is None:
        return None
    folder.mkdir()
    path, words = reading.filled(case._filled)._named(case.write(folder), folder)
    name, *own = _COMMANDS[reading.reader].split()
    return {"data": "train"}.get(name, name), end_of([name, path, *own, *_as_options(words)])


def ends_in(folder: Path) -> Iterator[tuple[str, End]]:
    """Yield the ends of the page's commands in a folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        Path("taken.zip").write_text("a text")
        for action, lines in COMMANDS.items():
            for line in lines:
                yield action, end_of(shlex.split(line))
        with full_disk():
            yield "windows", end_of(shlex.split("windows recording.csv -o w.npz --window=50"))
    finally:
        os.chdir(before)


@contextmanager
def full_disk(limit_bytes: int = 100) -> Iterator[None]:
    """Have files end after some bytes, as those on a full disk do."""
    resource = pytest.importorskip("resource", reason="needs limits: run it on Linux")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def end_of(words: Sequence[object]) -> End:
    """Return the end of a command that runs in this process."""
    done = run(*words, "--json")
    (line,) = done.stdout.splitlines() or done.stderr.splitlines()[-1:]
    try:
        return End(done.exit_code, json.loads(line))
    except ValueError:
        return End(done.exit_code, {"error": line})


def distinct(ends: Iterator[tuple[str, End]]) -> dict[str, list[End]]:
    """Return the ends of each action that say something, one of those that say the same."""
    kept, said = dict[str, list[End]](), set[tuple[str, str]]()
    for action, end in ends:
        kinds = [each["kind"] for each in end.notices]
        kinds += [re.sub(r"'[^']*'|[\w./]*\d[\w./]*", "", end.error)[:40]] * bool(end.error)
        if new := {(action, kind) for kind in kinds} - said:
            said |= new
            kept.setdefault(action, []).append(end)
    return kept


class StandIn:
    """Takes the place of a `Launcher`: each action ends as it is told to, else well."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self.ends: Mapping[str, End] = {}

    def run(self, _: Sequence[str], printed: int) -> End:
        """Print the record of the action's end."""
        end = self.ends.get(self._jobs.latest["action"], End(0, {"notices": []}))
        os.write(printed, json.dumps(end.record).encode())
        return end

    def close(self) -> None:
        """Nothing runs."""
