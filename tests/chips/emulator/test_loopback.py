"""A computer without a loopback interface is told so."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import extension_parts
import pytest
from avr_tools import needs_emulated_avr
from command_line import run
from model_factory import plain_model
from refusals import refuses

from protonn_edge.codegen.projects.project import build


@pytest.fixture(autouse=True)
def _no_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: Any, **__: Any) -> socket.socket:
        raise OSError(101, "Network is unreachable")

    monkeypatch.setattr(socket, "create_connection", unreachable)


@needs_emulated_avr
def test_a_build_is_written_and_says_why_it_was_not_tried(tmp_path: Path) -> None:
    tried = build(plain_model(), "uno", tmp_path / "project").tried
    assert tried.n == 0
    assert "this computer has no loopback interface" in tried.left_out


@extension_parts.needs("studio")
def test_the_studio_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refuses(run("studio", "--no-browser", "--port", 0), "system.loopback")
