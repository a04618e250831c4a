"""An export is there whole or not at all, and never over what someone else wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused_by

from protonn_edge.codegen.export.folder import (
    EXPORT,
    LIVE,
    LOGGER,
    MANIFEST,
    check_folder,
    write_folder,
    written_in,
)
from protonn_edge.system.errors import InputError

FILES = {"a.txt": "one\n", "src/b.c": "int b;\n"}


def files_in(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.name != MANIFEST
    }


@pytest.mark.parametrize("there", [False, True])
def test_a_new_or_empty_folder_is_filled(tmp_path: Path, there: bool):
    folder = tmp_path / "deep" / "library"
    if there:
        folder.mkdir(parents=True)
    write_folder(folder, FILES)
    assert files_in(folder) == FILES
    assert [path.name for path in folder.parent.iterdir()] == ["library"]


def test_an_earlier_export_is_replaced_and_what_else_is_there_stays(tmp_path: Path):
    write_folder(tmp_path / "library", FILES)
    mine = tmp_path / "library" / "src" / "mine.c"
    mine.write_text("int mine;\n")
    write_folder(tmp_path / "library", {"a.txt": "two\n", "new/c.txt": "three\n"})
    assert files_in(tmp_path / "library") == {
        "a.txt": "two\n",
        "new/c.txt": "three\n",
        "src/mine.c": "int mine;\n",
    }


def test_folders_of_an_earlier_export_that_become_empty_go(tmp_path: Path):
    write_folder(tmp_path / "library", FILES)
    write_folder(tmp_path / "library", {"a.txt": "two\n"})
    assert {path.name for path in (tmp_path / "library").iterdir()} == {"a.txt", MANIFEST}


def test_a_file_that_was_deleted_comes_back(tmp_path: Path):
    write_folder(tmp_path / "library", FILES)
    (tmp_path / "library" / "a.txt").unlink()
    write_folder(tmp_path / "library", FILES)
    assert files_in(tmp_path / "library") == FILES


def refuses(folder: Path, words: str) -> None:
    """Assert that nothing changes, and that one sentence says why."""
    before = files_in(folder) if folder.is_dir() else {}
    with pytest.raises(InputError, match=words):
        write_folder(folder, {"a.txt": "two\n", "new.txt": ""})
    assert (files_in(folder) if folder.is_dir() else {}) == before
    assert not [path for path in folder.parent.iterdir() if path.name.startswith(".")]


def test_a_folder_of_someone_elses_is_left_alone(tmp_path: Path):
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "a.txt").write_text("mine")
    refuses(tmp_path / "library", "neither empty nor an export")


@pytest.mark.parametrize("kind", [EXPORT, LOGGER, LIVE])
def test_one_kind_replaces_itself_and_no_other(tmp_path: Path, kind: str):
    assert written_in(tmp_path / "library").kind is None
    write_folder(tmp_path / "library", FILES, kind)
    write_folder(tmp_path / "library", {"a.txt": "two\n"}, kind)
    assert written_in(tmp_path / "library").kind == kind
    before = files_in(tmp_path / "library")
    for other in {EXPORT, LOGGER, LIVE} - {kind}:
        with pytest.raises(
            InputError, match=f"contains {kind}, which cannot be replaced by {other}"
        ):
            write_folder(tmp_path / "library", FILES, other)
    assert files_in(tmp_path / "library") == before == {"a.txt": "two\n"}


def test_a_file_that_was_edited_is_left_alone(tmp_path: Path):
    write_folder(tmp_path / "library", FILES)
    (tmp_path / "library" / "src" / "b.c").write_text("int better;\n")
    refuses(tmp_path / "library", "b.c: edited after")


def test_a_file_of_ones_own_in_the_way_is_left_alone(tmp_path: Path):
    write_folder(tmp_path / "library", FILES)
    (tmp_path / "library" / "new.txt").write_text("mine")
    refuses(tmp_path / "library", "new.txt: not part of an export")


def test_a_file_in_place_of_the_folder_is_left_alone(tmp_path: Path):
    (tmp_path / "library").write_text("mine")
    refuses(tmp_path / "library", "not a folder")
    assert (tmp_path / "library").read_text() == "mine"


def test_an_export_into_the_current_folder_is_replaced_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write_folder(tmp_path / "library", FILES)
    monkeypatch.chdir(tmp_path / "library")
    write_folder(Path(), {"a.txt": "two\n"})
    assert files_in(tmp_path / "library") == {"a.txt": "two\n"}


@pytest.mark.parametrize(
    "name", ["../outside.txt", "/etc/passwd", "src/../../outside.txt", "c:\\outside.txt"]
)
def test_a_list_that_names_files_outside_is_no_export(tmp_path: Path, name: str):
    (tmp_path / "outside.txt").write_text("mine")
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / MANIFEST).write_text(f"{'0' * 64}  {name}\n")
    refuses(tmp_path / "library", "neither empty nor an export")
    assert (tmp_path / "outside.txt").read_text() == "mine"


@given(st.binary(max_size=200))
def test_a_damaged_list_is_no_export(tmp_path_factory: pytest.TempPathFactory, content: bytes):
    folder = tmp_path_factory.mktemp("library")
    (folder / MANIFEST).write_bytes(content)
    if content == b"":  # a list of nothing: an export of no files
        check_folder(folder)
        return
    with refused_by("codegen.export.folder"):
        check_folder(folder)
