"""The port that was found was not told."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import run

from protonn_edge.chips.toolchain.ports import FoundPort
from protonn_edge.extensions.sensing.commands import source


@pytest.mark.parametrize(
    "words",
    [
        ["record", "-o", "r.csv", "--label", "x", "--seconds", 1, "--takes", 1],
        ["monitor"],
    ],
)
def test_the_port_that_was_found_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[object]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = FoundPort(str(tmp_path / "none"), "an Uno")
    monkeypatch.setattr(source, "find_port", lambda _: found)
    assert f"listening to {found.device}: an Uno" in run(*words).output.replace("\n", "")
