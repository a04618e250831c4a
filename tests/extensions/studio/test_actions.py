"""Each action of the page is a command line that can be copied, and the one that runs."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from command_line import every_command

from protonn_edge.cli import main
from protonn_edge.extensions.studio.actions import ACTIONS, FIELDS, base_of, line_of, words_of
from protonn_edge.extensions.studio.jobs import Jobs
from protonn_edge.extensions.studio.log import Log
from protonn_edge.system.errors import InputError

LISTED = ("recording.csv", "arm.csv", "windows.npz", "logger", "m.npz")
VALUES: Mapping[str, Any] = {
    "recording": "recording.csv", "data": "recording.csv", "points": "windows.npz", "take": 3,
    "part": "5:10", "label": "--help", "session": "anna b", "sensor": ["mpu6050"],
    "played": ["mpu6050=arm.csv,rate=50"], "rate": "100", "port": "/dev/ttyACM0",
    "board": "uno", "seconds": "1.5", "pause": "0", "takes": 1, "windows": "windows", "window": 50,
    "stride": 10, "onset": 4, "model": "m.npz", "classifier": "linear",
    "features": "mean,bands:4", "epochs": 20, "size": "8x8", "holdout": 0.3,
    "column": "--help", "keep_columns": ["a,b", "--c"], "drop": ["d"],
    "one_hot": ["e"], "names": "{person}_{take}", "missing": "drop",
    "target": "value", "time": "t", "delimiter": "tab", "decimal": "comma", "zip": "x.zip",
    "groups": "groups", "minutes": 1, "budget": "2kB", "teachable": 5, "seed": 1,
    "project": "live", "hop": 25, "votes": 3, "mark": ["50", "a=b=80"], "results": "results.csv",
    "emulated": "yes", "teaching": "yes",
}  # fmt: skip
BAD = ("", " ", None, [], {}, "a\nb", "a\0b", "x" * 501, -1, 1e99, True)  # for every field
PATHS = ("../x", "/x", "-x", "..", ".x", "a/b", "a\\b")
OF_NAMES = ("recording", "data", "points", "windows", "model", "project", "results", "zip")


def _told(reports: list[dict[str, Any]]) -> Callable[..., None]:
    """Return what collects the reports of jobs."""
    return lambda **news: reports.extend([news["job"]] if "job" in news else [])


def parsed(words: list[str]) -> dict[str, Any]:
    """Return what the command's own parser makes of the words."""
    command = every_command()[words[0]]
    with command.make_context(words[0], words[1:], parent=click.Context(main)) as context:
        return context.params


@pytest.mark.parametrize("action", ACTIONS)
def test_each_command_takes_the_words_of_an_action(
    action: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in LISTED:
        (Path(name).mkdir if "." not in name else Path(name).touch)()
    chosen = {**VALUES, "port": None} if "+" in ACTIONS[action] else VALUES
    words = words_of(action, chosen, LISTED)
    parsed([word for word in words if "--port" not in word or "+" not in ACTIONS[action]])
    assert shlex.split(line_of(words)) == ["protonn-edge", *words]
    if "label" in ACTIONS[action]:
        assert "--label=--help" in words


def test_what_is_made_of_data_has_a_name_of_its_own() -> None:
    odd = ("a.csv", "a.tsv", "a", "b.npz", "_c.csv", "d..csv", "\u0436.csv", "e&.csv", "f" * 300)
    names = {base_of(data, odd): data for data in odd}
    assert len(names) == len(odd)
    assert (base_of("a.csv", ["a.csv", "b.csv"]), names["b"]) == ("a", "b.npz")
    for base in names:
        for made in ("windows.npz", "local-deep-kernel.npz"):
            assert FIELDS["model"](f"{base}-{made}", ()) == f"{base}-{made}"


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_takes_nothing_else(field: str) -> None:
    for bad in (*BAD, *(PATHS if field in OF_NAMES else ())):
        with pytest.raises(InputError):
            FIELDS[field](bad, LISTED)


def test_what_is_shown_is_what_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran, told = [], []

    class Child:
        def __init__(self, words: list[str], **options: Any) -> None:
            ran.append(words)
            assert options["cwd"] == tmp_path
            assert "shell" not in options
            raise OSError("no such program")

    monkeypatch.setattr(subprocess, "Popen", Child)
    jobs = Jobs(tmp_path, _told(told), Log(tmp_path))
    words = words_of("train", VALUES, LISTED)
    jobs.start([("train", words), ("report", ["report"])])
    while jobs.is_running:
        time.sleep(0.01)
    jobs.close()
    assert ran == [[sys.executable, "-m", "protonn_edge", *words, "--json"]]
    assert told[0]["line"] == line_of(words)
    assert told[-1]["state"] == "failed"
    error = "cannot run the command: no such program"
    assert told[-1]["record"] == {"error": error, "sentence": error}


@pytest.mark.usefixtures("can_be_interrupted")
def test_a_training_is_stopped_at_any_time_and_another_job_waits(tmp_path: Path) -> None:
    rows = "".join(f"{'xy'[i % 2]},{i % 7},{i % 2 + i % 5}\n" for i in range(400))
    (tmp_path / "table.csv").write_text("label,a,b\n" + rows)
    told: list[dict[str, Any]] = []
    jobs = Jobs(tmp_path, _told(told), Log(tmp_path))
    fields = {"points": "table.csv", "model": "m", "classifier": "protonn", "epochs": 900_000}
    steps = [("train", words_of("train", fields, ["table.csv"]))]
    jobs.start([*steps, ("undo", ["takes", "recording.csv", "--undo"])])
    jobs.stop()  # before Python itself could hear of it
    while jobs.is_running:
        time.sleep(0.01)
    assert told[-1]["state"] == "stopped"
    assert {each["action"] for each in told} == {"train"}
    told.clear()
    jobs.start(steps)
    with pytest.raises(InputError, match="train is still running"):
        jobs.start([("train", [])])
    while not any((each.get("progress") or {}).get("done") for each in told):
        assert told[-1]["state"] == "running"
    jobs.stop()
    while told[-1]["state"] == "running":
        time.sleep(0.05)
    jobs.close()
    assert told[-1]["state"] == "stopped"
    assert "the best model so far is kept in m.npz" in told[-1]["record"]["error"]
    assert (tmp_path / "m.npz").is_file()
