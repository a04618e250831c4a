"""The files that the command lines of ``refused.txt`` and ``mistyped.txt`` name."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from built_project import write_project
from chains import replace
from extension_parts import additions
from linear_factory import random_linear_model
from model_factory import random_model
from policy.value.numbers import fitted, write_table
from sklearn.datasets import load_digits
from small_images import write_images

from protonn_edge.model.file import save_model
from protonn_edge.model.model import Model

_REPORT = '<!doctype html>\n<meta name="generator" content="protonn-edge">\n'
_RESULTS = "index,label,predicted,cycles,mismatch,device,score_0,score_1\n0,0,0,9,0,emulated,1,2\n"
NO_FILES = ("b.toml", "f.json", "s.jsonl", "r.csv", "a.elf", "a.hex", "a.npz", "a.skops")
_PEOPLE = ("anna", "ben", "7")


def make_files(folder: Path) -> None:
    """Write tables, arrays and models of each sort, and files of other kinds, into a folder."""
    _tables(folder)
    _arrays(folder)
    _models(folder)
    for make in additions("given files").values():
        make(folder)
    (folder / "results.csv").write_text(_RESULTS)
    (folder / "report.html").write_text(_REPORT)
    (folder / "certificate.json").write_text('{"claims": []}')
    (folder / "empty.npz").write_bytes(b"")
    (folder / "torn.npz").write_bytes((folder / "model.npz").read_bytes()[:500])
    (folder / "notes.py").write_text("print()\n")
    (folder / "own.onnx").write_bytes(b"\x08\x08\x12\x07pytorch")
    (folder / "blocked").mkdir()
    (folder / "blocked" / "firmware").write_text("in the way")
    (folder / "half" / "firmware").mkdir(parents=True)
    (folder / "half" / "firmware" / "generated").write_text("in the way")
    (folder / "theirs").mkdir()
    (folder / "theirs" / "platformio.ini").write_text("[env:nano]\nboard = nanoatmega328\n")
    (folder / "odd" / "platformio.ini").mkdir(parents=True)
    for made in ("pipe", "zero", "folder", "piped", "zeros"):
        (folder / made).mkdir()
    for name in NO_FILES:
        (folder / "folder" / name).mkdir()
    if Path("/dev/zero").exists():
        _endless(folder)
    write_project(small_model(), folder / "project")


def _endless(folder: Path) -> None:
    """Make pipes that nobody writes to, and links to a file without an end."""
    for name in NO_FILES:
        os.mkfifo(folder / "pipe" / name)
        (folder / "zero" / name).symlink_to("/dev/zero")
    os.mkfifo(folder / "piped" / "platformio.ini")
    (folder / "zeros" / "platformio.ini").symlink_to("/dev/zero")


def _write(path: Path, header: str, rows: list[str]) -> None:
    path.write_text("\n".join([header, *rows]) + "\n")


def _tables(folder: Path) -> None:
    write_images(folder / "images.csv")
    _write(folder / "t.csv", "label,a,b", [f"{'xy'[n % 2]},{n},{n % 3}" for n in range(40)])
    _write(folder / "iris.csv", "kind,a,b", [f"{'xy'[n % 2]},{n},{n % 3}" for n in range(20)])
    _write(folder / "r.csv", "kind,a,b", [])
    _write(folder / "normal.csv", "label,a,b", [f"x,{n},{n % 3}" for n in range(40)])
    classes = [f"class{n % 300},{7 * n % 11}" for n in range(600)]
    _write(folder / "many.csv", "label,a", classes)
    known = [f"{n % 7 + 9 * (n % 2)},{('unknown', 'known')[n % 2]}" for n in range(80)]
    _write(folder / "unknown.csv", "x,label", known)
    rng = np.random.default_rng(0)
    people = [
        f"{rng.normal(4 * label):.3f},{rng.normal():.3f},{person},{'ab'[label]}"
        for person in _PEOPLE
        for label in (0, 1)
        for _ in range(30)
    ]
    carl = ["9,9,carl,c"] * 5
    _write(folder / "people.csv", "x,z,person,label", people)
    _write(folder / "carl.csv", "x,z,person,label", people + carl)
    sets = [f"{n % 3},{n % 2 + 3} 1:{n} 2:{n % 5}" for n in range(30)]
    (folder / "sets.txt").write_text("\n".join(sets) + "\n")
    _write(folder / "strange.csv", "label,a,b", ["class 0,1,2", "class 9,1,2"])
    _write(folder / "faults.csv", "a,Fault state", ["1,x", "2,y"])
    for name, exponent in (("vast.csv", 20), ("huge.csv", 37)):
        large = [f"{n % 2},{n % 7}e{exponent},{n % 5}e{exponent}" for n in range(40)]
        _write(folder / name, "label,x,y", large)
    write_table(folder / "values.csv")
    write_table(folder / "whole.csv", n=300, decimals=0)


def _arrays(folder: Path) -> None:
    np.savez(folder / "points.npz", X=np.eye(4), y=np.arange(4) % 2)
    digits, writer = load_digits(), np.arange(360) % 30
    parts = {"X_train": digits.data[:360], "y_train": digits.target[:360]}
    tested = {"X_test": digits.data[1600:], "y_test": digits.target[1600:]}
    np.savez(folder / "digits.npz", **parts, **tested, writer=writer)
    windows = {"channel_names": ["x", "y"], "class_names": ["slow", "fast"]}
    X = np.random.default_rng(0).normal(0, 9, (24, 20, 2)).round()
    np.savez(folder / "windows.npz", X_train=X, y_train=np.arange(24) % 2, **windows)
    rng, labels = np.random.default_rng(0), np.array(["ok"] * 90 + ["fault"] * 30)
    X = rng.normal(size=(120, 3)) + 2 * (labels == "fault")[:, None]
    np.savez(folder / "machines.npz", X=X, y=labels)


def small_model() -> Model:
    return random_model(features=2, classes=2)


def _models(folder: Path) -> None:
    for name in ("model.npz", "m.npz", "own.npz"):
        save_model(small_model(), folder / name)
    images = random_model(features=12, classes=2)
    save_model(replace(images, classes=("a", "b")), folder / "of_images.npz")
    save_model(replace(images, classes=("a", "b"), projection_bits=4), folder / "of_4_bits.npz")
    save_model(random_model(features=1000, projections=40), folder / "large.npz")
    save_model(random_linear_model(), folder / "linear.npz")
    save_model(fitted("protonn").model_, folder / "value.npz")
