"""Compilers as they are."""

from __future__ import annotations

import subprocess

import pytest

from protonn_edge.chips.toolchain import direct, process

_AS_THEY_ARE = (
    (subprocess, "run", subprocess.run),
    (process, "run_within", process.run_within),
    (direct, "run_in_turn", direct.run_in_turn),
)


@pytest.fixture(autouse=True)
def _compilers_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept here: these are the tests of compilers, and of what keeps their products."""
    for place, name, value in _AS_THEY_ARE:
        monkeypatch.setattr(place, name, value)
