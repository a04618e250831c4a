"""What lies behind a symbolic link in an output folder is not touched."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import assert_one_sentence, run
from model_factory import random_model

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.export.folder import write_folder
from protonn_edge.codegen.projects.folder import Project, check_folder
from protonn_edge.codegen.projects.project import build
from protonn_edge.model.file import save_model
from protonn_edge.system.errors import InputError
from protonn_edge.system.files import write_together

FILES = {"a.txt": "one\n", "src/b.c": "int b;\n"}


def contents(folder: Path) -> dict[str, str]:
    return {str(path): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("renewed", [FILES, {"a.txt": "two\n"}], ids=["the_same", "fewer"])
def test_an_export_deletes_nothing_behind_a_link(tmp_path: Path, renewed: dict[str, str]) -> None:
    library, outside = tmp_path / "library", tmp_path / "outside"
    write_folder(library, FILES)
    (library / "src").rename(outside)
    (library / "src").symlink_to(outside)
    before = contents(tmp_path)
    with pytest.raises(InputError, match="src is a symbolic link"):
        write_folder(library, renewed)
    assert contents(tmp_path) == before
    assert (outside / "b.c").read_text() == "int b;\n"


@pytest.mark.parametrize(
    "part",
    [
        *("firmware", "firmware/generated", "firmware/generated/pnn_model.c"),
        *("firmware/generated/built.json", "platformio.ini"),
        *(".pio", ".pio/build", ".pio/build/uno"),
    ],
)
@pytest.mark.parametrize("dangling", [False, True])
def test_a_build_writes_nothing_behind_a_link(tmp_path: Path, part: str, dangling: bool) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    link = project / part
    link.parent.mkdir(parents=True)
    if not dangling:
        outside.mkdir()
        (outside / "mine").write_text("mine")
    link.symlink_to(outside)
    with pytest.raises(InputError, match=r"is a symbolic link"):
        check_folder(project, load_board("uno"))
    with pytest.raises(InputError, match=r"is a symbolic link"):
        build(random_model(), load_board("uno"), project)
    assert outside.exists() is not dangling
    assert dangling or contents(outside) == {str(outside / "mine"): "mine"}


def test_a_compiler_writes_nothing_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / ".pio").symlink_to(tmp_path / "outside")
    (tmp_path / "platformio.ini").write_text("[env:uno]\nplatform = atmelavr\nboard = uno\n")
    with pytest.raises(InputError, match=r"\.pio is a symbolic link"):
        Project(tmp_path).compile(load_board("uno"))
    assert not list((tmp_path / "outside").iterdir())


def test_files_that_belong_together_are_written_where_they_are_named(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "folder").symlink_to("real")  # the folder itself is the user's choice
    write_together(tmp_path / "folder", FILES)
    assert contents(tmp_path / "real").keys() == {
        str(tmp_path / "real" / name) for name in ("a.txt", "src/b.c")
    }


@pytest.mark.parametrize(
    "words",
    [
        "export model.npz --c",
        "export model.npz --arduino",
        "export --meter",
    ],
)
def test_links_that_point_at_each_other_are_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    save_model(random_model(), Path("model.npz"))
    Path("one").symlink_to("other")
    Path("other").symlink_to("one")
    assert_one_sentence(run(*words.split(), "one/folder"), "cannot write", "choose another")
