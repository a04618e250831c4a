"""No sentence shows a placeholder: a text that names a variable in braces is an f-string.

Ruff's RUF027 finds only bare names, and the refusals of `training`, which are filled in later.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import protonn_edge

PACKAGE = Path(protonn_edge.__file__).parent
PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)[^{}]*\}")
OF_RICH = "{task."  # its progress bars fill these in
OF_NAMES = "{take}"  # fields of a pattern of names
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def named_in(node: ast.AST) -> set[str]:
    """Return the names in braces of a text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {match[1] for match in PLACEHOLDER.finditer(node.value)}
    return set()


def forgotten(source: str) -> Iterator[str]:
    """Yield the texts in a function that name one of its variables, but are no f-strings."""
    tree = ast.parse(source)
    if not any(named_in(each) for each in ast.walk(tree)):
        return
    for function in ast.walk(tree):
        if isinstance(function, FUNCTIONS):
            names = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
            names |= {
                each.id
                for each in ast.walk(function)
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
            }
            for each in ast.walk(function):
                if named_in(each) & names:
                    yield each.value


@pytest.mark.parametrize(
    ("text", "count"),
    [('f"{x[0].y}"', 0), ('"no {x}"', 1), ('"no " "{x[0].y:,} B"', 1), ('"{other}"', 0)],
)
def test_a_forgotten_f_is_found(text: str, count: int) -> None:
    assert len(list(forgotten(f"def f(x):\n    return {text}\n"))) == count


def test_every_text_with_a_placeholder_is_an_f_string() -> None:
    found = [text for path in PACKAGE.rglob("*.py") for text in forgotten(path.read_text("utf-8"))]
    assert [text for text in found if not text.startswith(OF_RICH) and OF_NAMES not in text] == []
