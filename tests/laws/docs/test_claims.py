"""A claim about all commands, boards or kinds, or about what never happens, names its test.

`claims.txt` lists those of README.md and docs/. If a sentence is no claim, write it without these
words; if it is one that no test holds, drop it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from checkout import CHECKOUT, skip_unless_checked_out
from doc_blocks import skip_without_extensions

CLAIM = re.compile(
    r"\bnever\b|\bonly ProtoNN\b|\b(?:all|every) (?:AVR )?"
    r"(?:commands?|boards?|kinds?|objects?|answers?|names?|window features)\b",
    re.IGNORECASE,
)
NO_PROSE = re.compile(r"^( *)```.*?^\1```$|<!--.*?-->|^#.*?$", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=\|)|\|")
SENTENCE = re.compile(r"(?<=[.:;?]) (?=[A-Z_*])")

CLAIMS = re.findall(
    r"^(\S+): (.+)\n  (\S+)$",
    Path(__file__).with_name("claims.txt").read_text("utf-8"),
    re.MULTILINE,
)
"""The page of each claim, words of it, and the test, or the rule of a linter, that holds it."""


def claims(page: str) -> Iterator[str]:
    """Yield the sentences of a page that claim something of all of its kind."""
    for block in BLOCK.split(NO_PROSE.sub("", page)):
        text = re.sub(
            r"\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "_", " ".join(block.split()))
        )
        yield from (each for each in SENTENCE.split(text.replace("**", "")) if CLAIM.search(each))


def test_each_claim_names_a_test_and_each_test_a_claim() -> None:
    skip_without_extensions()
    pages = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md"))]
    made = [f"{page.name}: {each}" for page in pages for each in claims(page.read_text("utf-8"))]
    assert len(CLAIMS) > 20
    assert [
        each
        for each in made
        if not any(each.startswith(page) and words in each for page, words, _ in CLAIMS)
    ] == []
    assert [
        words
        for page, words, _ in CLAIMS
        if not any(each.startswith(page) and words in each for each in made)
    ] == []


def test_what_holds_a_claim_exists() -> None:
    skip_without_extensions()
    skip_unless_checked_out("pyproject.toml")
    paths = [CHECKOUT / "pyproject.toml", *(CHECKOUT / "tests").rglob("test_*.py")]
    text = "\n".join(path.read_text("utf-8") for path in paths)
    named = {*re.findall(r"^def (test_\w+)|^type = \"(\w+)\"", text, re.MULTILINE)}
    known = {name for each in named for name in each}
    assert [holder for _, _, holder in CLAIMS if holder not in known] == []


def test_claims_are_found_in_prose_alone() -> None:
    page = "# All boards\n\nA board. **All boards** blink.\n\n```text\nall kinds\n```\n- `never`"
    assert [*claims(page)] == ["All boards blink."]
