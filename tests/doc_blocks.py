"""The code blocks of the Markdown pages, as markdown-it, which MyST reads pages with, finds them.

An HTML comment right above a block, which no page shows, says what a test of it must know:

    needs: an Uno on USB           the block is skipped, for that reason
    package: xgboost               the block is skipped where this package is not installed
    exit: 1                        how the last command of the block ends, else with 0
    until: Ctrl-C                  the command runs until it is told to stop
    adds: --trials 1               options that the test gives every command, to have less to do
    numbers: yours may differ      what is printed is compared up to numbers
    file: lab.toml                 the block is that file, for commands after it
    excerpt: pnn_model.c           the block's lines are in that file, up to numbers and `...`
    extensions: sensing, studio    the block, or, above no block, the page is of these extensions

A Python block runs by itself unless the paragraph above it says that it continues or is appended to
the program above, or to the first one, or the page says that it is "one Python session".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
from checkout import CHECKOUT
from markdown_it import MarkdownIt
from markdown_it.token import Token

from protonn_edge.system.extensions import extensions

PAGES = [CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", *(CHECKOUT / "docs").glob("**/*.md")]
MARKS = (
    "needs",
    "package",
    "exit",
    "until",
    "adds",
    "numbers",
    "file",
    "excerpt",
    "extensions",
)

# Only blocks are of interest, and reading what is in a line takes most of the time.
_READER = MarkdownIt("commonmark").enable("table").disable("inline")
_SESSION = "one Python session"
_CONTINUES = re.compile(r"\bcontinu(?:es?|ing)\b|\bappend\b", re.IGNORECASE)
_MARK = re.compile(r"<!--\s*(\w[\w -]*):\s*(.*?)\s*-->", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block.

    Attributes
    ----------
    page : str
        The page's path in the checkout, with slashes.
    line : int
        Where the block begins, from 1.
    language : str
        What stands behind the fence; empty if nothing does.
    text : str
        What is in it.
    marks : dict of str to str
        What the comments above it say.
    continues : str
        The block that this one continues: "first" or "previous" of the page's Python blocks, or "".
    """

    page: str
    line: int
    language: str
    text: str
    marks: dict[str, str] = field(default_factory=dict)
    continues: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}-{self.language}"


def blocks_of(path: Path) -> list[Block]:
    """Return the code blocks of a page; MyST's directives, like ``{toctree}``, are none."""
    return list(_blocks(path.relative_to(CHECKOUT).as_posix(), path.read_text("utf-8")))


def page_marks(path: Path) -> dict[str, str]:
    """Return what the comments of a page say that stand above no block."""
    marks = {}
    for token in _tokens(path.read_text("utf-8")):
        if token.type == "html_block":
            marks.update(dict(_MARK.findall(token.content)))
    return marks


@cache
def _tokens(text: str) -> list[Token]:
    """Parse a page, which takes long, once for all its blocks."""
    return _READER.parse(text)


def missing_extensions(*marks: dict[str, str]) -> list[str]:
    """Return the extensions that marks name and that are not there."""
    named = {name for each in marks for name in each.get("extensions", "").split(", ") if name}
    return sorted(named - {each.name for each in extensions()})


def skip_without_extensions() -> None:
    """Skip what reads all pages if one of their extensions is missing: they name what it does."""
    if missing := missing_extensions(*map(page_marks, PAGES)):
        pytest.skip(f"pages describe the extension {missing[0]}, too; to run: install it")


def _blocks(page: str, text: str) -> Iterator[Block]:
    above: dict[str, str] = {}
    paragraph = ""
    for token in _tokens(text):
        if token.type == "html_block":
            above.update(dict(_MARK.findall(token.content)))
            continue
        if token.type == "inline":
            paragraph = token.content
        if token.type == "fence" and not token.info.startswith("{"):
            assert token.map is not None
            language = token.info.split()[0] if token.info else ""
            continues = _continued(paragraph) or ("previous" if _SESSION in text else "")
            yield Block(page, token.map[0] + 1, language, token.content, above, continues)
            paragraph = ""
        above = {}


def _continued(paragraph: str) -> str:
    if not _CONTINUES.search(paragraph):
        return ""
    return "first" if "first program" in paragraph.replace("\n", " ") else "previous"
