"""Find words to avoid: ``make lint`` reads what people read with the project's own vocabulary.

``docs/vocabulary.txt`` lists regular expressions, each with a better wording. They are searched in
the prose of Markdown, in comments of C, templates and scripts, and in docstrings, comments and
messages of Python. Code, and what stands between backquotes, is left alone.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VOCABULARY = ROOT / "docs" / "vocabulary.txt"
READ_BY_PEOPLE = (
    *("*.md", "protonn_edge/*.py", "benchmarks/*.py", "hil_tests/*.py"),
    *("*.j2", "firmware/*.[ch]", "protonn_edge/*.[ch]", "protonn_edge/*.js", "Makefile"),
)
HISTORY = "CHANGELOG.md"
PYTHON = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)}
COMMENTS = re.compile(r"/\*.*?\*/|//[^\n]*|\{#.*?#\}|<!--.*?-->|^#[^\n]*", re.DOTALL | re.MULTILINE)
PAGES = re.compile(r"<(style|script)\b.*?</\1>|<[^<>]*>|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
FENCES = re.compile(r"^( *)(```+|~~~+).*?^\1\2|^ *\$\$.*?\$\$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"(`+)[^`]+?\1|https?://\S+|\]\([^()\s]*\)", re.DOTALL)


def vocabulary(text: str) -> dict[re.Pattern[str], str]:
    """Return the better wording of each pattern."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    pairs = [line.split(" -> ") for line in lines]
    return {
        re.compile(
            rf"\b(?:{' '.join(bad.split())})\b".replace(" ", r"[\s*/#]+"), re.IGNORECASE
        ): good
        for bad, good in pairs
    }


def prose(name: str, text: str) -> str:
    """Return the part of a file that people read, each word on its line."""
    if name.endswith(".py"):
        text = _of_python(text)
    elif name.endswith((".html.j2", "html")):
        text = PAGES.sub(_blank, text)
    elif name.endswith((".md", ".md.j2")):
        text = FENCES.sub(_blank, text)
    else:
        text = _of_comments(text)
    return CODE.sub(_blank, text)


def _of_python(text: str) -> str:
    """Return the comments and strings of a module."""
    lines = [""] * (text.count("\n") + 2)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in PYTHON:
            for line, words in enumerate(token.string.split("\n"), token.start[0]):
                lines[line - 1] += f" {words.strip().strip(chr(34))}"
    return "\n".join(lines)


def _of_comments(text: str) -> str:
    """Return the comments of C, JavaScript, templates and make."""
    kept = "\n" * text.count("\n")
    pieces, at = [], 0
    for comment in COMMENTS.finditer(text):
        pieces += ["\n" * text.count("\n", at, comment.start()), comment[0]]
        at = comment.end()
    return "".join(pieces) or kept


def _blank(match: re.Match[str]) -> str:
    """Return as many line ends, and a word that no pattern has."""
    return "·" + "\n" * match[0].count("\n")


def findings(name: str, text: str, words: dict[re.Pattern[str], str]) -> Iterator[str]:
    """Yield a line for each word to avoid, with its place and the better wording."""
    text = prose(name, text)
    for pattern, better in words.items():
        for found in pattern.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            yield f"{name}:{line}: {' '.join(found[0].split())!r}: better: {better}"


def main() -> None:
    """Print what is found in the files under version control, and end with 1 if anything is."""
    listed = subprocess.run(
        ["git", "ls-files", *READ_BY_PEOPLE], cwd=ROOT, capture_output=True, text=True, check=True
    )
    words = vocabulary(VOCABULARY.read_text("utf-8"))
    lines = [
        line
        for name in listed.stdout.splitlines()
        if name != HISTORY and (ROOT / name).is_file()  # some may have been removed
        for line in findings(name, (ROOT / name).read_text("utf-8"), words)
    ]
    sys.stdout.writelines(f"{line}\n" for line in lines)
    raise SystemExit(bool(lines))


if __name__ == "__main__":
    main()
