"""A file is written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from refusals import refused_by

from protonn_edge.system.files import write_atomically


def test_folders_are_made_and_what_was_there_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.txt"
    write_atomically(path, "first")
    write_atomically(path, b"second")
    assert path.read_bytes() == b"second"
    assert [entry.name for entry in path.parent.iterdir()] == ["file.txt"]


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    write_atomically(tmp_path / "ours", "x")
    (tmp_path / "theirs").write_text("x")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ours", "theirs")]
    assert modes[0] == modes[1]


def test_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_folder_link_loop_and_device_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe")
    for name in (".", "a", "pipe"):
        with refused_by("system.files"):
            write_atomically(tmp_path / name, "x")


def test_place_below_a_file_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with refused_by("system.files"):
        write_atomically(tmp_path / "file" / "below", "x")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
