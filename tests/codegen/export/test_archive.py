"""An export into a file ``.zip``: the same folder, and never in the place of another file."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from command_line import run, succeed
from model_factory import random_model

from protonn_edge.codegen.export import export
from protonn_edge.codegen.export.folder import check_folder
from protonn_edge.model.file import save_model
from protonn_edge.system.errors import InputError

MODEL = random_model(features=4)


def write(place: Path) -> Path:
    export(MODEL, "arduino", place, tries=False)
    return place


def test_a_zip_file_has_the_folder_that_an_export_writes(tmp_path: Path):
    folder = write(tmp_path / "digits")
    with zipfile.ZipFile(write(tmp_path / "digits.zip")) as archive:
        assert archive.testzip() is None
        archive.extractall(tmp_path / "added")
    added = tmp_path / "added" / "digits"
    files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    assert {name: (added / name).read_bytes() for name in files} == {
        name: (folder / name).read_bytes() for name in files
    }
    check_folder(added)  # a later export may replace it


def test_an_earlier_export_is_replaced_by_the_same_bytes(tmp_path: Path):
    first = write(tmp_path / "digits.ZIP").read_bytes()
    assert write(tmp_path / "digits.ZIP").read_bytes() == first


@pytest.mark.parametrize("content", [b"", b"notes", b"PK\x05\x06" + bytes(18)])
def test_another_file_is_never_replaced(tmp_path: Path, content: bytes):
    (tmp_path / "own.zip").write_bytes(content)
    with pytest.raises(InputError):
        write(tmp_path / "own.zip")
    assert (tmp_path / "own.zip").read_bytes() == content


@pytest.mark.parametrize("kind", ["--platformio", "--c"])
def test_other_exports_in_a_zip_file_are_unpacked_first(tmp_path: Path, kind: str):
    save_model(MODEL, tmp_path / "m.npz")
    said = succeed("export", tmp_path / "m.npz", kind, tmp_path / "x.zip", "--no-try").output
    assert "next: unpack the file, then " in said


def test_a_folder_of_that_name_and_a_sketch_are_refused(tmp_path: Path):
    (tmp_path / "own.zip").mkdir()
    with pytest.raises(InputError, match="not a regular file"):
        write(tmp_path / "own.zip")
    logger = tmp_path / "logger.zip"
    assert run("export", "--arduino", str(logger), "--sensor", "a0").exit_code == 2
    assert not logger.exists()


def test_members_stay_below_the_folder_they_are_unpacked_in(tmp_path: Path):
    with pytest.raises(InputError, match="'..'"):
        export(MODEL, "c", tmp_path / "...zip", tries=False)
