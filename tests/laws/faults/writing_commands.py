"""The commands that write files, for the law of ``file_operations``."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from kept import KEPT, keep_builds
from laws.faults.file_operations import Written, run_command

CHANNELS = "time,ax,ay\n"


def warmed_up() -> None:
    """Import what commands need, which run in forks, and keep what they compile."""
    import protonn_edge.cli.training
    import protonn_edge.codegen.projects.project
    import protonn_edge.report.page  # noqa: F401

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if KEPT not in os.environ:  # without pytest
        os.environ[KEPT] = mkdtemp(prefix="faults-")
        keep_builds()


def _done(folder: Path, *arguments: str) -> None:
    done = run_command(arguments, folder)
    assert done.status == 0, f"{arguments}: {done.said}"


def table(folder: Path, rows: int = 120) -> None:
    """Write a table of two classes."""
    rng = np.random.default_rng(0)
    with (folder / "data.csv").open("w") as file:
        file.write("a,b,c,label\n")
        for number in range(rows):
            a, b, c = rng.normal(size=3) + number % 2
            file.write(f"{a:.3f},{b:.3f},{c:.3f},{'up' if number % 2 else 'down'}\n")


@cache
def _models() -> tuple[bytes, bytes, bytes]:
    """Return the files of two models of the table, and of a third of another kind."""
    folder = Path(mkdtemp(prefix="faults-"))
    table(folder)
    given = ("train", "data.csv", "--classifier")
    _done(folder, *given, "linear", "-o", "one.npz")
    _done(folder, *given, "protonn", "--epochs", "2", "-o", "three.npz")
    table(folder, 100)
    _done(folder, *given, "linear", "-o", "two.npz")
    one, two, three = ((folder / f"{name}.npz").read_bytes() for name in ("one", "two", "three"))
    assert one != two
    return one, two, three


def models(folder: Path) -> None:
    """Write the table, and models of it."""
    table(folder)
    for name, content in zip(("model", "older", "protonn"), _models(), strict=True):
        (folder / f"{name}.npz").write_bytes(content)


def trained(folder: Path) -> None:
    """Write the table, and a model of fewer points."""
    table(folder)
    (folder / "model.npz").write_bytes(_models()[1])


def after_older(*arguments: str) -> Callable[[Path], None]:
    """Return what writes models, and what a command makes of the older one."""

    def prepare(folder: Path) -> None:
        models(folder)
        _done(folder, *(word.replace("model.npz", "older.npz") for word in arguments))

    return prepare


def takes(folder: Path) -> None:
    """Write a folder of takes of two classes, and the undoing of an edit."""
    rng = np.random.default_rng(1)
    for name in ("swing/a.csv", "swing/b.csv", "rest/c.csv", "rest/d.csv"):
        path = folder / "takes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = (
            f"{at / 50:.2f},{x},{y}\n" for at, (x, y) in enumerate(rng.integers(0, 99, (40, 2)))
        )
        path.write_text(CHANNELS + "".join(rows))
    _done(folder, "takes", "takes", "--take", "1", "--cut", "0:5")


def relabelled(folder: Path) -> None:
    """Write a folder of takes, of which one got another class."""
    takes(folder)
    _done(folder, "takes", "takes", "--take", "2", "--label", "wave")


def recording(folder: Path) -> None:
    """Write a recording in one file, with an edit that can be undone."""
    rng, lines = np.random.default_rng(2), list[str]()
    for take, label in enumerate(("swing", "rest", "swing", "rest")):
        for at, (x, y) in enumerate(rng.integers(-99, 99, (40, 2))):
            lines.append(f"{label},s,{take * 10 + at / 50:.2f},{x},{y}\n")
    head = "# protonn-edge recording 1; sensor: analog; rate: 50 Hz; units: x y\n"
    (folder / "r.csv").write_text(f"{head}label,session,time,ax,ay\n{''.join(lines)}")
    _done(folder, "takes", "r.csv", "--take", "1", "--cut", "0:5")


def built(folder: Path) -> None:
    """Write a project, and a results file of an earlier run."""
    models(folder)
    _done(folder, "build", "model.npz", "--no-try")
    _done(folder, "hil", "data.csv", "-o", "results.csv")


def stopped(folder: Path) -> None:
    """Write a project, and the results of a run that was stopped."""
    built(folder)
    path = folder / "results.csv"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:9]))


BUILD = ("build", "model.npz", "-o", "project", "--no-try")
EXPORTS = {
    "arduino": ("--arduino", "library"),
    "zip": ("--arduino", "library.zip"),
    "platformio": ("--platformio", "library"),
    "c": ("--c", "library"),
}
EDITS = {
    "label": ("--take", "2", "--label", "wave"),
    "cut": ("--take", "2", "--cut", "3:9"),
    "keep": ("--take", "2", "--keep", "3:30"),
    "delete": ("--take", "2", "--delete"),
}
UNDO_FOLDER, UNDO_FILE = ("takes", "takes", "--undo"), ("takes", "r.csv", "--undo")
_LIST = r".*/\.protonn-edge-export"  # it has the old and the new files for a while

COMMANDS = (
    Written("train", trained, ("train", "data.csv", "--classifier", "linear", "-o", "model.npz")),
    Written(
        "tune",
        table,
        ("tune", "data.csv", "--classifier", "linear", "--trials", "2", "-o", "best.npz"),
        steps=True,
        varies=r".*\.(jsonl|json|csv|svg)",
    ),
    Written("predict", models, ("predict", "model.npz", "data.csv", "-o", "predicted.csv")),
    Written("convert", models, ("convert", "protonn.npz", "-o", "matrices")),
    Written("data --html", table, ("data", "data.csv", "--html", "data.html")),
    Written("demo --csv", lambda _: None, ("demo", "--csv", "-o", ".")),
    Written("build", models, BUILD),
    Written("build over an older one", after_older(*BUILD), BUILD),
    *(
        Written(f"export {name}", after_older(*export), export, grows=_LIST)
        for name, words in EXPORTS.items()
        for export in [("export", "model.npz", *words, "--no-try")]
    ),
    Written(
        "export into a new folder",
        models,
        ("export", "model.npz", "--c", "c", "--no-try"),
        grows=_LIST,
    ),
    Written("windows", takes, ("windows", "takes", "-o", "windows.npz", "--window", "10")),
    *(
        Written(f"takes, {name} in a {where}", prepare, ("takes", path, *words), undoes=undo)
        for where, prepare, path, undo in (
            ("folder", takes, "takes", UNDO_FOLDER),
            ("file", recording, "r.csv", UNDO_FILE),
        )
        for name, words in EDITS.items()
    ),
    Written("takes, undo in a folder", takes, UNDO_FOLDER, once=True),
    Written("takes, undo in a file", recording, UNDO_FILE, once=True),
    Written("takes, undo of a label", relabelled, UNDO_FOLDER, once=True),
    Written("report", built, ("report", "results.csv", "-o", "report.html", "--data", "data.csv")),
    Written(
        "verify",
        built,
        ("verify", ".pio/build/uno/firmware.elf", "-o", "claims.json", "-o", "claims.html"),
        steps=True,
    ),
    Written(
        "hil", built, ("hil", "data.csv", "-o", "more.csv"), grows="more.csv", continues="--resume"
    ),
    Written(
        "hil --resume",
        stopped,
        ("hil", "data.csv", "-o", "results.csv", "--resume"),
        grows="results.csv",
    ),
)
