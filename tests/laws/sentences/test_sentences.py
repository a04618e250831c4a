"""All sentences about wrong input are in one list, which is reviewed as text."""

from __future__ import annotations

import difflib
import re
import runpy
from pathlib import Path

RENEW = runpy.run_path(str(Path(__file__).with_name("renew.py")))
LISTED = RENEW["LISTED"].read_text("utf-8")
if not (RENEW["PACKAGE"] / "extensions").is_dir():
    LISTED = re.sub(r"^extensions/.*\n(?:  .*\n)*\n?", "", LISTED, flags=re.MULTILINE)


def test_the_list_is_the_one_that_was_reviewed() -> None:
    now = RENEW["sentences"]()
    changes = difflib.unified_diff(LISTED.splitlines(), now.splitlines(), lineterm="", n=0)
    assert now == LISTED, "\n".join(
        ["run python tests/laws/sentences/renew.py, and read the difference:", *changes]
    )


def test_a_sentence_has_no_mark_at_its_end() -> None:
    said = [line for line in LISTED.splitlines() if line.startswith(" ")]
    assert not [line for line in said if line.endswith((".", ";", ",", "!"))]
