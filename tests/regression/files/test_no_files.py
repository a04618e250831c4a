"""A pipe, a device or a folder in the place of a file is refused at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from built_project import write_project
from command_line import assert_one_sentence, run
from model_factory import random_model

from protonn_edge.chips.boards import load_board
from protonn_edge.model.file import save_model

pytestmark = pytest.mark.skipif(
    not Path("/dev/zero").exists(), reason="makes pipes and needs /dev/zero: run it on Linux"
)
ROWS = "label,a,b\n" + "".join(f"{'xy'[i % 2]},{i},{i % 3}\n" for i in range(12))


@pytest.fixture(params=["pipe", "zero", "folder"])
def no_file(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[str], Path]:
    """Return a function that gives a name to what is no file."""

    def named(name: str) -> Path:
        path = tmp_path / name
        if request.param == "pipe":
            os.mkfifo(path)
        elif request.param == "zero":
            path.symlink_to("/dev/zero")
        else:
            path.mkdir()
        return path

    return named


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("b.toml", ("inspect", "{}")),
        ("b.toml", ("train", "d.csv", "-o", "m.npz", "--groups", "{}")),
        ("b.toml", ("build", "model.npz", "-o", "p", "--board", "{}")),
        ("f.json", ("report", "r.csv", "--with", "{}")),
        ("s.jsonl", ("tune", "d.csv", "-o", "m.npz", "--search", "{}")),
        ("r.csv", ("hil", "d.csv", "--project", "p", "-o", "{}", "--resume")),
        ("r.csv", ("report", "{}", "--model", "model.npz")),
        ("a.elf", ("emulate", "{}")),
        ("a.hex", ("emulate", "{}")),
        ("a.npz", ("inspect", "{}")),
        ("a.npz", ("export", "{}", "--c", "p2")),
        ("a.npz", ("train", "d.csv", "-o", "m.npz", "--prototypes", "2", "--start-from", "{}")),
        ("a.skops", ("convert", "{}", "--data", "d.csv", "-o", "m.npz")),
        ("platformio.ini", ("build", "model.npz", "-o", ".")),
    ],
)
def test_it_is_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    no_file: Callable[[str], Path],
    name: str,
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    path = no_file(name)
    (tmp_path / "d.csv").write_text(ROWS)
    model = random_model(features=2, classes=2)
    save_model(model, tmp_path / "model.npz")
    write_project(model, tmp_path / "p")
    if name == "b.toml" and arguments[0] == "inspect":
        with pytest.raises(ValueError, match="not a regular file"):
            load_board(str(path))
        return
    refused = run(*(word.format(path) for word in arguments))
    if refused.stderr.startswith("Usage:"):  # click itself refuses a folder
        assert refused.exit_code == 2
        assert "is a directory" in refused.stderr
        return
    assert_one_sentence(refused, name)
