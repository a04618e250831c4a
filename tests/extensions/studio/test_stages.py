"""Folders as people have them: each stage's mark follows from the files alone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from avr_tools import EMULATED_AVR, missing
from command_line import succeed

from protonn_edge.extensions.studio.log import LOG_FILE, Log
from protonn_edge.extensions.studio.sample import sample_files
from protonn_edge.extensions.studio.state import FolderState


def marks_of(folder: Path, read: Mapping[str, Any] | None = None) -> list[str]:
    """Return the stages' marks as a new server sees them."""
    stages = FolderState(folder, Log(folder)).to_json(read=read)["stages"]
    return [stage["mark"] for stage in stages.values()]


def edited(name: str, old: str, new: str) -> Callable[[], object]:
    """Return what replaces a text in a file."""
    return lambda: Path(name).write_text(Path(name).read_text().replace(old, new, 1))


def changed(name: str, change: Callable[[str], str]) -> Callable[[], object]:
    return lambda: Path(name).write_text(change(Path(name).read_text()))


def done(*words: object) -> Callable[[], object]:
    return lambda: succeed(*words)


def removed(*names: str) -> Callable[[], None]:
    def remove() -> None:
        for name in names:
            shutil.rmtree(name) if Path(name).is_dir() else Path(name).unlink()

    return remove


def renamed(old: str, new: str) -> Callable[[], object]:
    return lambda: Path(old).rename(new)


def written(name: str, text: str) -> Callable[[], object]:
    return lambda: Path(name).write_text(text)


def copied(old: str, new: str) -> Callable[[], object]:
    return lambda: shutil.copy(old, new)


def both(*steps: Callable[[], object]) -> Callable[[], object]:
    return lambda: [step() for step in steps]


def touched() -> None:
    for path in Path().rglob("*"):
        os.utime(path, (1, 1))


def takes_of(**counts: int) -> Callable[[], object]:
    """Return what writes a recording with so many takes of each class, and nothing else."""

    def write() -> None:
        lines = sample_files("recording.csv")["recording.csv"].splitlines()
        removed(*(path.name for path in Path().iterdir() if path.name != "play.csv"))()
        rows, now = lines[:2], 0.0
        for label, count in counts.items():
            for _ in range(count):
                rows += [f"{label},anna,{now + at / 50:.6f},{at},{-at},256" for at in range(100)]
                now += 4.0
        Path("recording.csv").write_text("\n".join([*rows, ""]))

    return write


def retrained() -> None:
    settings = ["--classifier", "linear", "--features", "mean,min"]
    succeed("train", "windows.npz", "-o", "linear.npz", *settings)


def with_mismatches(results: str) -> str:
    return results.replace(",0,", ",1,")


def with_another_class(recording: str) -> str:
    return recording.replace("knock", "tap")


def of_another_model(results: str) -> str:
    own = results.rsplit(maxsplit=1)[-1].rpartition(",")[2][:16]
    return results.replace(own, "0" * 16)


MARKS = {"n": "none", "r": "ready", "d": "done", "w": "warn", "o": "old"}
LATER = ("measured", "results.csv", "report.html")
FIRST_TAKE = "still,anna,0.000000,"
EDIT = (FIRST_TAKE, f"{FIRST_TAKE}1")
ONE_MORE = both(copied("recording.csv", "more.csv"), edited("more.csv", *EDIT))
WITHOUT_A_TAKE = done("takes", "recording.csv", "--take", 1, "--delete")
FOLDERS: Mapping[str, tuple[str, Callable[[], object]]] = {
    # as they were made
    "whole": ("ddrdd", lambda: None),
    "copied with other times": ("ddrdd", touched),
    "with half a log": ("ddrdd", written(LOG_FILE, "{")),
    "with a stranger's log": ("ddrdd", written(LOG_FILE, '{"at": [[[[\n[]\n{"at":"","line":3}\n')),
    "with notes": ("ddrdd", both(written("notes.txt", "x"), written("recording.csv~", "1"))),
    "with a meter's file": ("ddrdd", written("power.csv", "# protonn-edge power\n1,2\n")),
    "with damaged files": ("ddrdd", both(written("x.npz", "PK"), written("y.csv", "\0\xff"))),
    "with another table": ("ddrdd", written("answers.csv", "label,a\nx,1\ny,2\n")),
    "with a copy of the recording": ("ddrdd", copied("recording.csv", "backup.csv")),
    # half finished
    "no take yet": ("rnnnn", takes_of()),
    "one class": ("rnnnn", takes_of(still=4)),
    "few takes": ("rrnnn", takes_of(still=3, swing=2)),
    "a class with few takes": ("wrnnn", takes_of(still=3, swing=3, knock=1)),
    "enough takes": ("drnnn", takes_of(still=3, swing=3)),
    "no model": ("drnnn", removed("linear.npz", "live", *LATER)),
    "no build": ("ddrrn", removed("live", *LATER)),
    "a build without figures": ("ddrrn", removed("live/built.json", *LATER)),
    "not measured": ("ddrdr", removed(*LATER)),
    "no report": ("ddrdo", removed("report.html")),
    "a stopped measurement": ("ddrdw", changed("results.csv", lambda text: text[: len(text) // 2])),
    "a measurement that began": ("ddrdo", changed("results.csv", lambda text: text.split("0")[0])),
    "a measurement with mismatches": ("ddrdw", changed("results.csv", with_mismatches)),
    # older than their data
    "a sample edited": ("doroo", edited("recording.csv", *EDIT)),
    "a class renamed": (
        "doroo",
        changed("recording.csv", with_another_class),
    ),
    "a take deleted": ("doroo", WITHOUT_A_TAKE),
    "and undone": ("ddrdd", both(WITHOUT_A_TAKE, done("takes", "recording.csv", "--undo"))),
    "cut again": ("ddrdd", done("windows", "recording.csv", "-o", "windows.npz", "--window", 25)),
    "trained again": ("ddroo", retrained),
    "windows deleted": ("ddrdd", removed("windows.npz")),
    "recording deleted": ("ddrdd", removed("recording.csv")),
    "recording renamed": ("ddrdd", renamed("recording.csv", "gestures.csv")),
    "model renamed": ("ddrdd", renamed("linear.npz", "final.npz")),
    "project renamed": ("ddrdd", renamed("live", "firmware-of-may")),
    "results renamed": ("ddrdd", renamed("results.csv", "run-3.csv")),
    # edited by hand
    "plan edited": ("ddrdd", edited("live/build.json", '_sha256": "', '_sha256": "0')),
    "figures edited": ("ddrdd", written("live/built.json", '{"board": "../x", "flash_bytes": -1}')),
    "model damaged": ("drnnn", written("linear.npz", "PK")),
    "recording damaged": ("woroo", edited("recording.csv", "still,anna,0.040000", "still")),
    "results of another model": ("ddrdo", changed("results.csv", of_another_model)),
    # other sensors, two recordings
    "another sensor": ("doroo", edited("recording.csv", "adxl345", "mpu6050")),
    "two recordings": ("ddrdd", ONE_MORE),
    "two other recordings": ("ddrdd", both(ONE_MORE, renamed("recording.csv", "z.csv"))),
}


@pytest.mark.parametrize("case", FOLDERS)
def test_the_marks_are_those_of_the_files(
    case: str, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, change = FOLDERS[case]
    if missing(*EMULATED_AVR):
        pytest.skip("needs the emulated board: see docs/install.md")
    folder = tmp_path / "folder"
    shutil.copytree(whole, folder)
    monkeypatch.chdir(folder)
    change()
    assert marks_of(folder) == [MARKS[each] for each in expected]


NO_MODEL = removed("linear.npz")
TABLES: Mapping[str, tuple[str, Callable[[], object], Mapping[str, Any]]] = {
    "trained": ("ddrrn", lambda: None, {}),
    "edited": ("dorrn", edited("house.csv", "\n1,", "\n2,"), {}),
    "no column chosen": ("wnnnn", NO_MODEL, {}),
    "in doubt": ("wnnnn", NO_MODEL, {"column": "indoor"}),
    "left out": ("drnnn", NO_MODEL, {"column": "indoor", "drop": ["hour"]}),
    "used": ("drnnn", NO_MODEL, {"column": "indoor", "keep_columns": ["hour"]}),
    "a number or a class": ("wnnnn", NO_MODEL, {"column": "humidity", "drop": ["hour"]}),
    "a number": ("drnnn", NO_MODEL, {"column": "humidity", "drop": ["hour"], "target": "value"}),
    "no such column": ("worrn", lambda: None, {"column": "x"}),
    "its column chosen": ("ddrrn", lambda: None, {"column": "indoor", "drop": ["hour"]}),
    "another column": ("dorrn", lambda: None, {"column": "outdoor", "drop": ["hour"]}),
    "results are no data": ("rnnnn", both(NO_MODEL, renamed("../results.csv", "house.csv")), {}),
}


@pytest.mark.parametrize("case", TABLES)
def test_the_marks_of_a_table_wait_for_its_columns(
    case: str, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, change, read = TABLES[case]
    if missing(*EMULATED_AVR):
        pytest.skip("needs the emulated board: see docs/install.md")
    shutil.copytree(whole, tmp_path / "whole")
    monkeypatch.chdir(tmp_path / "whole" / "house")
    change()
    assert marks_of(Path.cwd(), read) == [MARKS[each] for each in expected]


def test_a_table_is_read_with_the_target_and_the_filling_of_its_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{i * 13 % 29 if i % 9 else ''},{i * 7 % 41 % 5}" for i in range(120)]
    Path("prices.csv").write_text("\n".join(["size,price", *rows, ""]))
    read = ["--label=price", "--target=value", "--missing=median", "--classifier=linear"]
    succeed("train", "prices.csv", "-o", "m.npz", *read)
    asked = list[Mapping[str, Any]]()
    state = FolderState(tmp_path, Log(tmp_path))
    columns = state._columns
    monkeypatch.setattr(state, "_columns", lambda *how: asked.append(how[1]) or columns(*how))
    shown = state.to_json()
    wanted = {"column": "price", "target": "value", "missing": "median"}
    assert wanted.items() <= asked[0].items()
    assert wanted.items() <= shown["read"].items()


def test_a_model_of_another_table_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, columns in (("old", "a,b"), ("new", "a,b,c")):
        rows = [f"{i * 13 % 29},{i * 7 % 31}{',1.5' * (name == 'new')},{'xy'[i % 2]}"
                for i in range(60)]  # fmt: skip
        Path(f"{name}.csv").write_text("\n".join([f"{columns},label", *rows, ""]))
        succeed("train", f"{name}.csv", "-o", f"{name}-m.npz", "--classifier=linear")

    def shown(**chosen: str) -> tuple[str, str, str]:
        state = FolderState(tmp_path, Log(tmp_path)).to_json(**chosen)
        return state["model"], state["points"], state["stages"]["train"]["mark"]

    assert shown(data="old.csv") == ("old-m.npz", "old.csv", "done")
    assert shown(data="new.csv") == ("new-m.npz", "new.csv", "done")
    edited("old.csv", "0,0", "1,0")()  # whose data are gone, but which can read the others
    assert shown(data="new.csv", model="old-m.npz") == ("old-m.npz", "new.csv", "old")
    Path("new.csv").write_text("p,q,label\n1,2,x\n3,4,y\n")
    assert shown(data="new.csv") == (None, None, "ready")
    assert shown(data="new.csv", model="old-m.npz") == ("old-m.npz", None, "old")


def test_no_name_of_data_is_an_option(tmp_path: Path) -> None:
    (tmp_path / "-x.csv").write_text("label,a\nx,1\n")
    assert FolderState(tmp_path, Log(tmp_path)).to_json()["files"] == []


def test_a_model_that_cannot_be_read_is_named_and_not_used(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole / "house", tmp_path / "house")
    broken = tmp_path / "house" / "broken.npz"
    broken.write_bytes((whole / "linear.npz").read_bytes()[:99])
    state = FolderState(broken.parent, Log(broken.parent))
    shown = state.to_json(model=broken.name)
    assert shown["model"] == "linear.npz"
    (error,) = [each["error"] for each in shown["models"] if "error" in each]
    assert error.startswith("broken.npz is damaged")
    assert "remove it" in error


def test_each_stage_has_one_next_step_and_it_leads_to_the_report(whole: Path) -> None:
    shown = FolderState(whole, Log(whole)).to_json()
    following = {name: stage["next"] for name, stage in shown["stages"].items()}
    assert [each["go"] or each["run"] for each in following.values()] == [
        "train", "try", "board", "report", "open"
    ]  # fmt: skip
    used = {name: shown[name] for name in ("data", "model", "points", "project", "results")}
    assert [*used.values()] == [
        "recording.csv", "linear.npz", "windows.npz", "live", "results.csv"
    ]  # fmt: skip
    assert shown["source"] | {"ports": []} == {
        "sensors": ["adxl345"], "rate": 50.0, "board": "uno", "ports": [],
        "plays": ["play.csv", "recording.csv"], "play": "play.csv",
        "emulated": not shown["source"]["ports"],
    }  # fmt: skip
