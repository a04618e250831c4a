"""Counts the lines of code of each room, and compares them with the budgets in pyproject.toml.

    python tests/lines.py            # fails if a room has more lines than its budget
    python tests/lines.py --renew    # makes what there is the budget; say why in the commit

A line of code is one with code: not a docstring, a comment, or blank. Of templates, firmware and
scripts of pages, all lines count that are not blank. An extension has all that is in its folder.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYPROJECT = ROOT / "pyproject.toml"
TABLE = "[tool.protonn-edge.lines]"
BESIDE = ("templates", "firmware", "hil_tests")  # folders of the core beside the package
TEXTS = {".j2", ".c", ".cpp", ".h", ".js", ".css", ".html", ".toml"}
LEFT_OUT = {"__pycache__", "generated", "node_modules"}


def code_lines(path: Path) -> int:
    """Return the lines of code of a file."""
    text = path.read_text("utf-8")
    lines = {number for number, line in enumerate(text.splitlines(), 1) if line.strip()}
    if path.suffix != ".py":
        return len(lines) if path.suffix in TEXTS else 0
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines -= {*range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    comments = {number for number in lines if text.splitlines()[number - 1].lstrip()[0] == "#"}
    return len(lines - comments)


def counted() -> Counter[str]:
    """Return the lines of code of rooms, extensions, and folders beside the package."""
    found = Counter[str]()
    package = ROOT / "protonn_edge"
    for folder in (package, *(ROOT / name for name in BESIDE)):
        for path in folder.rglob("*"):
            parts = path.relative_to(ROOT).parts
            if not path.is_file() or LEFT_OUT & {*parts}:
                continue
            inside = parts[1:] if folder == package else parts
            if len(inside) > 1:
                room = "/".join(inside[:2]) if inside[0] == "extensions" else inside[0]
                found[room] += code_lines(path)
    return found


def renewed(text: str, lines: Counter[str]) -> str:
    """Return pyproject.toml with these lines as budgets."""
    rows = "".join(f'"{room}" = {lines[room]}\n' for room in sorted(lines) if lines[room])
    return re.sub(rf"({re.escape(TABLE)}\n(?:#[^\n]*\n)*)(?:\"[^\n]*\n)*", rf"\1{rows}", text)


def main() -> int:
    """Compare or renew the budgets; return the exit code."""
    text, lines = PYPROJECT.read_text("utf-8"), counted()
    if "--renew" in sys.argv[1:]:
        PYPROJECT.write_text(renewed(text, lines), encoding="utf-8")
        return 0
    budgets = tomllib.loads(text)["tool"]["protonn-edge"]["lines"]
    over = {room: n for room, n in lines.items() if n > budgets.get(room, 0)}
    for room, n in sorted(over.items()):
        sys.stderr.write(
            f"{room} has {n:,} lines of code, but its budget in pyproject.toml is "
            f"{budgets.get(room, 0):,}; remove what is needless, or raise it on purpose with "
            "'python tests/lines.py --renew', and say why in the commit\n"
        )
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())
