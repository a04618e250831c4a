"""What is in files means what the cases of the corpus say."""

from __future__ import annotations

from pathlib import Path

import pytest
from laws.corpus.cases import Case, cases


@pytest.mark.parametrize("case", cases(), ids=str)
def test_it_is_read_as_the_case_says(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "given").mkdir()
    case.check(tmp_path / "given", tmp_path)
