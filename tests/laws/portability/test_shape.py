"""The package's shape: functions, classes and modules that a reader can hold in mind.

Ruff limits complexity (C901) and statements (PLR0915). What is larger than the limits below stands
in the tables: they only shrink. Strike out what is no longer there, and add nothing.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import protonn_edge

PACKAGE = Path(protonn_edge.__file__).parent
SHIM = PACKAGE / "chips" / "toolchain" / "shim"  # PlatformIO's

FUNCTION_LINES = 60  # without its docstring, and the options that a command declares
METHODS = 15  # with its properties
MODULE_LINES = 450

LONG_FUNCTIONS: set[str] = set()
LARGE_CLASSES = {"system/extensions.py Extension"}  # all that an extension may add, at one place
LONG_MODULES: set[str] = set()
TWO_MEANINGS: set[str] = set()
"""Names of classes that several modules have."""


@cache
def trees() -> dict[str, tuple[int, ast.Module]]:
    """Return the lines and the syntax tree of each module, by its path in the package."""
    texts = {
        path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8")
        for path in sorted(PACKAGE.rglob("*.py"))
        if not path.is_relative_to(SHIM)
    }
    return {name: (text.count("\n"), ast.parse(text)) for name, text in texts.items()}


def nodes(*kinds: type[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """Yield the classes or functions of the package, each with its module's path."""
    for name, (_, tree) in trees().items():
        yield from ((name, node) for node in ast.walk(tree) if isinstance(node, kinds))


def length(function: ast.FunctionDef) -> int:
    """Return the lines of a function without decorators, docstring and declared options."""
    calls = [each for each in function.args.defaults if isinstance(each, ast.Call)]
    declared = sum(each.end_lineno - each.lineno + 1 for each in calls)
    first = function.body[0]
    docstring = first.end_lineno - first.lineno + 1 if ast.get_docstring(function) else 0
    return function.end_lineno - function.lineno + 1 - docstring - declared


def test_functions_fit_on_a_screen() -> None:
    found = {
        f"{name} {node.name}"
        for name, node in nodes(ast.FunctionDef, ast.AsyncFunctionDef)
        if length(node) > FUNCTION_LINES
    }
    assert found <= LONG_FUNCTIONS


def test_classes_have_few_methods_and_properties() -> None:
    found = {
        f"{name} {node.name}"
        for name, node in nodes(ast.ClassDef)
        if sum(isinstance(each, ast.FunctionDef) for each in node.body) > METHODS
    }
    assert found <= LARGE_CLASSES


def test_modules_are_short() -> None:
    assert {name for name, (lines, _) in trees().items() if lines > MODULE_LINES} <= LONG_MODULES


def test_the_name_of_a_class_has_one_meaning() -> None:
    places = defaultdict(set)
    for name, node in nodes(ast.ClassDef):
        places[node.name].add(name)
    assert {name for name, where in places.items() if len(where) > 1} <= TWO_MEANINGS
