"""Results are kept in the user's cache where that is possible, and never asked for a wrong one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from protonn_edge.system.kept_results import KeptResults


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's cache folder, which does not exist yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "protonn-edge" / "results"


class Computing:
    """A computation that counts."""

    def __init__(self, most: int = 10) -> None:
        self.kept, self.runs = KeptResults("results", most), 0

    def of(self, *ingredients: bytes) -> bytes:
        """Return the result."""

        def compute() -> bytes:
            self.runs += 1
            return b"/".join(ingredients)

        return self.kept.of(ingredients, compute)


def test_a_result_is_computed_once_for_the_same_ingredients(cache: Path) -> None:
    computing = Computing()
    for ingredients in ([b"a", b"bc"], [b"ab", b"c"], [b"abc"]):
        assert [computing.of(*ingredients) for _ in range(2)] == [b"/".join(ingredients)] * 2
    assert computing.runs == 3
    assert Computing().of(b"abc") == b"abc"
    assert len([*cache.iterdir()]) == 3


def test_a_damaged_file_is_not_used(cache: Path) -> None:
    computing = Computing()
    computing.of(b"a")
    (file,) = cache.iterdir()
    for content in (b"", file.read_bytes()[:-1], file.read_bytes() + b"x"):
        file.write_bytes(content)
        assert computing.of(b"a") == b"a"
    assert computing.runs == 4


def test_the_results_that_were_used_last_stay(cache: Path) -> None:
    computing = Computing(most=4)
    for number in range(4):
        computing.of(b"%d" % number)
    for at, path in enumerate(sorted(cache.iterdir())):
        os.utime(path, (at, at))  # long ago
    computing.of(b"0")
    computing.of(b"4")
    assert 2 <= len([*cache.iterdir()]) <= 4
    runs = computing.runs
    computing.of(b"0")
    assert computing.runs == runs


@pytest.mark.parametrize("place", ["file", "folder"])
def test_without_a_cache_everything_is_computed(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir(mode=0o500)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / place))
    if place == "folder" and os.access(tmp_path / place, os.W_OK):
        monkeypatch.setattr(Path, "mkdir", lambda *_, **__: (_ for _ in ()).throw(PermissionError))
    computing = Computing()
    assert [computing.of(b"a") for _ in range(2)] == [b"a"] * 2
    assert computing.runs == 2


def test_a_user_without_a_home_computes_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    assert Computing().of(b"a") == b"a"
