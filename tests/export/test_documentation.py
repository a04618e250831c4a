"""What docs/export.md tells is so."""

from __future__ import annotations

import hashlib
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from model_factory import random_model

from protonn_edge.cli import main
from protonn_edge.model import save_model

DOCUMENT = Path(__file__).parents[2] / "docs" / "export.md"


def test_its_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    save_model(random_model(), tmp_path / "model.npz")
    (block,) = re.findall(r"```sh\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    for number, line in enumerate(block.splitlines()):
        _, *arguments = shlex.split(line, comments=True)
        arguments[-1] = f"digits{number}"
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 0, done.output
    for number in range(3):
        folder = tmp_path / f"digits{number}"
        for line in (folder / ".protonn-edge-export").read_text().splitlines():
            digest, name = line.split("  ", 1)
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
