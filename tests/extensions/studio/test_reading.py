"""Names come at once, and facts when they are read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from extensions.studio.conftest import Site

from protonn_edge.extensions.studio import reading, state
from protonn_edge.extensions.studio.reading import Reader

Serve = Callable[..., AbstractContextManager[Site]]


def test_a_table_that_takes_long_leaves_the_page_with_names_and_other_data(
    tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, may_end = tmp_path / "folder", threading.Event()
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("long.csv", "short.csv"):
        (folder / name).write_text("label,a\n" + "x,1\ny,2\n" * 9)
    own = state.columns_of

    def slow(path: Path, *more: Any) -> Any:
        assert path.name == "short.csv" or may_end.wait(60)
        return own(path, *more)

    monkeypatch.setattr(state, "columns_of", slow)
    monkeypatch.setattr(reading, "SOON_S", 0.05)
    with serve(folder) as site:
        told: list[object] = []
        monkeypatch.setattr(site.server.workspace.tabs, "tell", lambda **news: told.append(news))

        def data(name: str) -> tuple[list[str], Any]:
            status, found = site.ask("/ask/state", {"data": name})
            assert status == 200
            return [each["name"] for each in found["files"]], found["stages"]["data"]

        names, stage = data("long.csv")
        assert names == ["long.csv", "short.csv"]
        assert stage["lead"] == ["Reading ", "long.csv", "; you can look around."]
        assert not stage["next"]["ready"]
        assert data("short.csv")[1]["facts"]["rows"] == 18
        may_end.set()
        while {"changed": True} not in told:
            time.sleep(0.01)
        assert data("long.csv")[1]["facts"]["rows"] == 18


def test_what_is_read_once_is_kept_by_its_version_and_errors_reach_all_who_ask(
    tmp_path: Path,
) -> None:
    calls: list[Path] = []

    def read(path: Path) -> int:
        calls.append(path)
        return len(calls)

    def fails(path: Path) -> int:
        raise ValueError(path.name)

    reader = Reader(lambda: None)
    within = reader.until(time.monotonic() + 60)
    assert [within(version, read, tmp_path) for version in ("a", "a", "b")] == [1, 1, 2]
    for _ in range(2):
        with pytest.raises(ValueError, match=tmp_path.name):
            within("a", fails, tmp_path)
