"""The notebook of the documentation runs, and shows what its code gives."""

from __future__ import annotations

import re
from pathlib import Path

import extension_parts
import pytest
from avr_tools import needs_emulated_avr
from checkout import skip_unless_checked_out
from laws.docs.notebook import Cell, cells, outputs_of

# of the model's hash, too, but not of what no machine changes
NUMBER = re.compile(r"\b[0-9a-f]{16}\b|\d[\d,.]*\b(?! files)")


def texts(outputs: list[Cell]) -> list[str]:
    """Return the texts of outputs without their numbers, which depend on a machine's floats."""
    lines = ["".join(each.get("text", [])) for each in outputs]
    shown = [text for each in outputs for [text] in each.get("data", {}).values()]
    return [NUMBER.sub("#", text) for text in (*lines, *shown)]


@extension_parts.needs("conversion")
@needs_emulated_avr
def test_the_notebook_shows_what_its_code_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_unless_checked_out("docs")
    monkeypatch.chdir(tmp_path)
    notebook = cells()
    stored = [cell["outputs"] for cell in notebook if cell["cell_type"] == "code"]
    made = outputs_of(notebook, tmp_path)
    assert [texts(each) for each in made] == [texts(each) for each in stored]
    assert "mismatches: 0, " in str(made)
    assert (tmp_path / "digits" / "library.properties").is_file()
