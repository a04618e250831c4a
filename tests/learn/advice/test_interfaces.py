"""Whatever a message advises in Python, to an agent or in the page exists there, and works."""

from __future__ import annotations

from pathlib import Path

import pytest
from learn.advice.interfaces import INTERFACES, follow


@pytest.mark.parametrize("part", [0, *(pytest.param(n, marks=pytest.mark.nightly) for n in (3, 6))])
@pytest.mark.parametrize("name", INTERFACES)
def test_what_a_message_advises_works_in_each_interface(
    name: str, part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    reader = INTERFACES[name]
    found = [*follow(reader, tmp_path, every=9, part=part)]
    assert len(found) >= 10
    assert not [f"{each.advice.line}: {each.came}" for each in found if each.faulty]
