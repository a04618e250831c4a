"""Answers to dropped files, of which nothing is kept: pictures, sounds, takes, rows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run_json, succeed
from extensions.studio.own_data import picture, sound, write_kind
from extensions.studio.test_drops import PNG, everything, send

from protonn_edge.extensions.studio.views import figures, what_if

QUICK = ("--classifier", "linear")


def tried(site: Any, files: dict[str, bytes], model: str = "m.npz") -> Any:
    """Drop files, and return the answers of a model; the folder stays as it was."""
    folder = Path.cwd()
    before = everything(folder)
    ticket = send(site, files)[1]
    status, found = site.ask("/ask/try", {**ticket, "model": model})
    assert status == 200, found
    assert site.ask("/do/leave", ticket)[0] == 200
    assert everything(folder) == before
    return found


def train(kind: str, own: Path, *options: str) -> None:
    """Train m.npz on data of a kind."""
    write_kind(own, kind)
    data = own if kind == "pictures" else own / f"{kind}.csv"
    succeed("train", data, "-o", "m.npz", *QUICK, *options)


def test_a_row_is_answered_as_predict_does(site: Any, tmp_path: Path) -> None:
    train("house", tmp_path / "own", "--label", "Gefühl")
    rows = "Heizung;Innen °C;Außen °C\n1;23,5;5,0\n0;15,5;1,0\n"  # in another order
    Path("new.csv").write_text(rows)
    said = run_json("predict", "m.npz", "new.csv")
    Path("new.csv").unlink()
    found = tried(site, {"new.csv": rows.encode()})
    assert [each["said"] for each in found["points"]] == ["angenehm", "zu kühl"]
    assert said["n"] == 2
    assert [each["name"] for each in found["points"]] == ["row 1 of new.csv", "row 2 of new.csv"]
    assert np.allclose(found["points"][0]["x"], [5, 1, 23.5])
    one = tried(site, {"one.csv": rows.rpartition("0;")[0].encode()})
    assert [each["said"] for each in one["points"]] == ["angenehm"]
    left = tried(site, {"other.csv": b"a,b\n1,2\n3,4\n", "x.png": PNG, "y.csv": b""})
    assert left["points"] == []
    assert [why.partition(" '")[0] for _, why in left["left"]] == [
        "is empty", "lacks the 3 columns", "is a picture"
    ]  # fmt: skip
    assert left["wanted"] == "tables (CSV) with its 3 columns"


def test_pictures_of_any_size_are_answered(site: Any, tmp_path: Path) -> None:
    train("pictures", tmp_path / "own", "--size", "16x16")
    files = {"a.png": picture("circle", 3), "bad.png": PNG[:90], "b.wav": sound(300, 8000, 0)}
    found = tried(site, files)
    (point,) = found["points"]
    assert (point["name"], point["width"], len(point["image"])) == ("a.png", 16, 256)
    assert point["said"] in ("circle", "square", "triangle")
    assert [name for name, _ in found["left"]] == ["bad.png", "b.wav"]


def test_a_take_is_answered_window_by_window(site: Any, tmp_path: Path) -> None:
    own = write_kind(tmp_path / "own", "phone")
    for path in own.iterdir():
        gesture, person = path.stem.split("_")
        (tmp_path / "takes" / gesture).mkdir(parents=True, exist_ok=True)
        path.rename(tmp_path / "takes" / gesture / f"{person}-1.csv")
    cut = ["--window", 50, "--stride", 10, "--name", "{class}/{person}-{take}"]
    succeed("windows", tmp_path / "takes", "-o", "w.npz", *cut)
    succeed("train", "w.npz", "-o", "m.npz", *QUICK, "--features", "mean,deviation,min,max")
    take = (tmp_path / "takes" / "rest" / "anna-1.csv").read_bytes()
    slow = b"\n".join([take.split(b"\n")[0], *take.split(b"\n")[1:-1:4], b""])
    short = b"\n".join([*take.split(b"\n")[:40], b""])
    found = tried(site, {"new.csv": take, "slow.csv": slow, "short.csv": short})
    (point,) = found["points"]
    assert (point["said"], point["n"], point["agree"]) == ("rest", 200, 7)
    assert [each["first"] for each in point["answers"]] == [*range(0, 151, 25)]
    assert len(point["curves"]) == 3
    left = dict(found["left"])
    assert left["slow.csv"] == "has 25 samples a second, and the model looks at 100"
    assert left["short.csv"] == "is shorter than a window of 50 samples"


def test_a_sound_is_answered_where_it_begins(site: Any, tmp_path: Path) -> None:
    own = write_kind(tmp_path / "own", "sounds")
    cut = ["--window", 4096, "--onset", 4, "--rate", 8000]
    succeed("windows", own, "-o", "w.npz", *cut)
    succeed("train", "w.npz", "-o", "m.npz", *QUICK, "--features", "audio:8x16")
    found = tried(site, {"new.wav": sound(300, 44_100, 99), "quiet.wav": sound(0, 8000, 1)[:44]})
    (point,) = found["points"]
    assert (point["said"], len(point["answers"])) == ("yes", 1)
    assert [name for name, _ in found["left"]] == ["quiet.wav"]


@pytest.mark.parametrize("asked", [{}, {"ticket": "x"}, {"model": "../m.npz"}, {"model": 1}])
def test_only_open_drops_and_models_of_the_folder_are_answered(site: Any, asked: Any) -> None:
    assert site.ask("/ask/try", {"model": "recording.csv", **asked})[0] == 400


def test_what_differs_most_from_a_set_of_labels_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng, names = np.random.default_rng(0), ("drama", "crime")
    X = rng.normal(size=(200, 2))
    tags = ["|".join(name for name, v in zip(names, x, strict=True) if v > 0) for x in X]
    rows = [f"{x:.2f},{y:.2f},{tag}" for (x, y), tag in zip(X, tags, strict=True)]
    Path("films.csv").write_text("\n".join(["x,y,tags", *rows, ""]))
    succeed("train", "films.csv", "-o", "m.npz", "--labels", "tags", "--epochs", 2)
    found = figures(tmp_path / "m.npz", tmp_path / "films.csv")
    wrong = [each["actual"] != each["said"] for each in found["points"]]
    assert wrong == sorted(wrong, reverse=True)
    assert {each["actual"] for each in found["points"]} == {"", "crime", "drama", "crime, drama"}
    answer = what_if(tmp_path / "m.npz", found["points"][0]["x"], found["ranges"])
    assert answer["said"] == found["points"][0]["said"]
