"""Whatever a message advises in Python, to an agent or in the page exists there, and works."""

from __future__ import annotations

from pathlib import Path

import pytest
from advice.interfaces import INTERFACES, follow


@pytest.mark.parametrize("name", INTERFACES)
def test_what_a_message_advises_works_in_each_interface(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    reader = INTERFACES[name]
    found = [*follow(reader, tmp_path, every=3 if reader.kind == "table" else 9)]
    assert len(found) >= 40
    assert not [f"{each.advice.line}: {each.came}" for each in found if each.faulty]
