"""A project as a ZIP: taken out of one folder, brought into an empty one, and attacked."""

from __future__ import annotations

import io
import stat
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from extensions.studio.own_data import picture
from extensions.studio.test_drops import TABLE, everything, keep, look

from protonn_edge.extensions.studio.incoming import MANIFEST


@pytest.fixture
def empty(serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what serves a new folder, in a ``with``."""

    @contextmanager
    def served() -> Iterator[tuple[Any, Path]]:
        folder = tmp_path / "beside" / "new"
        folder.mkdir(parents=True)
        monkeypatch.chdir(folder)
        with serve(folder) as site:
            yield site, folder

    return served


def test_a_project_is_packed_and_opened_in_an_empty_folder_alone(
    site: Any, tmp_path: Path, empty: Any
) -> None:
    (tmp_path / "folder" / "pictures" / "a").mkdir(parents=True)
    (tmp_path / "folder" / "pictures" / "a" / "1.png").write_bytes(picture("circle", 0))
    (tmp_path / "folder" / "pictures" / "a" / "2.png").symlink_to(tmp_path / "secret.csv")
    packed = site.ask("/do/pack", {})[1]
    content = (tmp_path / "folder" / packed["name"]).read_bytes()
    assert site.ask(packed["address"], None, "GET")[0] == 200
    names = {"recording.csv", "table.csv", "pictures/a/1.png"}
    assert {*zipfile.ZipFile(io.BytesIO(content)).namelist()} == {MANIFEST, *names}
    before = everything(tmp_path / "folder")
    here = look(site, {"gestures.zip": content})
    assert (here["title"], here["primary"]) == ("A project of the studio: gestures", "")
    assert "start the studio in a new one" in here["lead"]
    assert keep(site, here)[0] == 400
    site.server.workspace.drops.close()
    assert everything(tmp_path / "folder") == before
    with empty() as (other, folder):
        sheet = look(other, {"gestures.zip": content})
        assert sheet["primary"] == "Open it here"
        assert keep(other, sheet)[0] == 200
        for name in names:
            assert (folder / name).read_bytes() == (tmp_path / "folder" / name).read_bytes()
        assert other.ask("/do/unkeep", {})[0] == 200
        assert [*folder.iterdir()] == []


def _hostile() -> bytes:
    packed = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(packed, "w") as archive:
        warnings.simplefilter("ignore")  # of equal names
        archive.writestr(MANIFEST, "{}")
        for name in (
            "../x.csv", "/etc/x.csv", "..\\x.csv", "C:/x.csv", "a/../../x.csv", ".", "n.csv",
            "n.csv", "N.csv", "n" * 300 + ".csv", "/".join("d" * 40) + "/x.csv", "-o.csv",
            "takes/../../../x.csv", "a/.bashrc", "<b>.csv", "CON", "x.html",
        ):  # fmt: skip
            archive.writestr(name, TABLE)
        link = zipfile.ZipInfo("takes")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc")
        archive.writestr("takes/x.csv", TABLE)
    return packed.getvalue()


def test_no_file_of_a_hostile_project_leaves_its_folder(empty: Any, tmp_path: Path) -> None:
    with empty() as (site, folder):
        before = everything(folder)
        sheet = look(site, {"p.zip": _hostile()})
        assert {name for name, _ in sheet["left"]} == {
            "../x.csv", "/etc/x.csv", "..\\x.csv", "C:/x.csv", "a/../../x.csv", ".", "takes",
            "takes/../../../x.csv", "x.html",
        }  # fmt: skip
        assert keep(site, sheet)[0] == 200
        after = everything(folder)
        new = {name for name in after if name not in before}
        assert all(Path(name).resolve().is_relative_to(folder) for name in new)
        files = [name for name in new if after[name] is not None]
        assert len(files) == len({name.lower() for name in files}) == 9
        assert {after[name] for name in files} == {TABLE}
        assert site.ask("/do/unkeep", {})[0] == 200
        assert everything(folder) == before


def test_a_project_that_cannot_be_kept_whole_is_not_kept(
    empty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename, names = Path.rename, list[str]()

    def full(path: Path, target: Any) -> Path:
        names.append(path.name)
        if len(names) == 3:
            raise OSError(28, "No space left on device")
        return rename(path, target)

    with empty() as (site, folder):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name in (MANIFEST, "a.csv", "b/c/d.csv", "e.csv"):
                archive.writestr(name, TABLE)
        sheet = look(site, {"p.zip": packed.getvalue()})
        monkeypatch.setattr(Path, "rename", full)
        status, answer = keep(site, sheet)
        assert (status, "No space left" in answer["error"]) == (400, True)
        assert [*folder.iterdir()] == []
