"""A board has one lock for all its names and all users of a machine; nothing in its place hangs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from refusals import refused_by

from protonn_edge.extensions.lab import boards
from protonn_edge.extensions.lab.boards import held_port
from protonn_edge.system.errors import DeviceError

pytestmark = pytest.mark.skipif(
    os.name != "posix", reason="needs POSIX; to run: use Linux or macOS"
)


@pytest.fixture
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder of locks, which is empty."""
    folder = tmp_path / "locks"
    folder.mkdir()
    monkeypatch.setattr(boards, "_LOCKS", folder)
    return folder


def test_locks_are_in_one_folder_for_all_users():
    assert Path("/tmp") == boards._LOCKS


def test_other_users_can_open_a_lock_whatever_the_umask(locks):
    before = os.umask(0o077)
    try:
        with held_port(["socket://one:1"], 0):
            (lock,) = locks.iterdir()
            assert lock.stat().st_mode & 0o777 == 0o644
    finally:
        os.umask(before)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("x")])
def test_what_is_no_file_is_refused_at_once(locks, make):
    with held_port(["socket://one:1"], 0):
        (lock,) = locks.iterdir()
    lock.unlink()
    make(lock)
    with (
        refused_by("extensions.lab.boards", kind=DeviceError),
        held_port(["socket://one:1"], 0),
    ):
        pass


def test_two_names_of_a_port_are_one_board(locks, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("ttyACM0").touch()
    Path("by-id").symlink_to("ttyACM0")
    with (
        held_port(["ttyACM0"], 0),
        pytest.raises(DeviceError, match="other tests used .*by-id for 0 s"),
        held_port([str(tmp_path / "by-id")], 0),
    ):
        pass
    assert len(list(locks.iterdir())) == 1


def test_a_folder_that_cannot_be_written_is_named(locks):
    locks.rmdir()
    with (
        refused_by("extensions.lab.boards", kind=DeviceError),
        held_port(["socket://one:1"], 0),
    ):
        pass
