"""Regular expressions for what users write take time in proportion to its length.

All patterns of these packages are found by importing their modules, and each is tried, in the way
in which its module uses it, on long texts of the characters that it knows.
"""

from __future__ import annotations

import ast
import inspect
import re
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from itertools import product
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import pytest

import protonn_edge

PACKAGES = ("data", "extensions.sensing", "extensions.studio")
METHODS = ("fullmatch", "match", "search", "findall", "finditer", "sub", "split")
SIZES = (64, 256, 1024, 4096, 16384)
FLOOR_S = 0.02  # shorter times say nothing; one of 16,384 linear steps is far below
GROWTH = 8  # of the time for a text four times as long: 4 if it is linear, 16 if it is quadratic
ENDS = ("\0", "a", "0", ")")


def modules() -> Iterator[ModuleType]:
    """Yield all modules of the packages that are there."""
    root = Path(protonn_edge.__file__).parent
    for package in PACKAGES:
        folder = root.joinpath(*package.split("."))
        for found in walk_packages([str(folder)], f"protonn_edge.{package}."):
            yield import_module(found.name)


def patterns_in(value: object) -> Iterator[re.Pattern[str]]:
    """Yield the patterns of a value, also those in a collection or of a cached function."""
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, dict):
        yield from patterns_in([*value, *value.values()])
    elif isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from patterns_in(each)
    elif hasattr(value, "cache_info") and not inspect.signature(value).parameters:
        yield from patterns_in(value())


@cache
def uses() -> dict[tuple[str, str], set[str]]:
    """Return the methods of patterns that modules use, by module and by the name before the dot."""
    found: dict[tuple[str, str], set[str]] = {}
    for module in modules():
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                name = node.value.id if isinstance(node.value, ast.Name) else ""
                found.setdefault((module.__name__, name), set()).add(node.attr)
    return found


def methods_of(name: str, value: object) -> set[str]:
    """Return how a pattern is used by its name, or else that all of its text has to match."""
    places = (
        methods
        for (module, used), methods in uses().items()
        if used == name and vars(import_module(module)).get(name) is value
    )
    return set().union(*places) or {"fullmatch"}


def hostile_texts(pattern: re.Pattern[str]) -> Iterator[Callable[[int], str]]:
    """Yield texts of any size, of one or two characters of the pattern again and again."""
    literals = {*re.sub(r"\\[a-zA-Z]|\?P<\w+>|[][?*+{}|^$\\]", "", pattern.pattern)}
    known = sorted({*" a0-,:", *[each for each in literals if each.isascii()]})
    units = [*known, *map("".join, product(sorted({*" a0-,:", *known[:12]}), repeat=2))]
    for unit, begin, end in product(units, ("", "a", "0", "["), ENDS):
        yield (
            lambda size, unit=unit, begin=begin, end=end: (  # type: ignore[misc]
                begin + (unit * size)[:size] + end
            )
        )


def seconds_of(call: Callable[[str], Any], text: str, repeat: int = 1) -> float:
    times = []
    for _ in range(repeat):
        start = time.thread_time()
        call(text)
        times.append(time.thread_time() - start)
    return min(times)


def worst_growth(call: Callable[[str], Any], pattern: re.Pattern[str]) -> tuple[float, str]:
    """Return the largest growth of the time with the size, and the text; 0 if all are fast."""
    texts = list(hostile_texts(pattern))
    for size in SIZES[:-1]:
        texts.sort(key=lambda text: seconds_of(call, text(size)), reverse=True)
        texts = texts[: len(texts) // 4 + 1]
        for text in texts[:8]:
            longer = seconds_of(call, text(4 * size), 3)
            if longer > FLOOR_S:
                return longer / seconds_of(call, text(size), 3), text(12)
    return 0.0, ""


CASES = {
    f"{module.__name__.removeprefix('protonn_edge.')} {name} {number} {method}": (pattern, method)
    for module in modules()
    for name, value in vars(module).items()
    for number, pattern in enumerate(patterns_in(value))
    for method in sorted(methods_of(name, value))
}


@pytest.mark.parametrize("case", CASES)
def test_the_time_of_a_pattern_grows_as_its_text(case: str) -> None:
    pattern, method = CASES[case]
    use = getattr(pattern, method)
    if method == "sub":
        use = partial(use, "")
    growth, text = worst_growth(use, pattern)
    assert growth <= GROWTH, (pattern.pattern, text)


def test_a_quadratic_pattern_is_found() -> None:
    pattern = re.compile(r"\s*a?\s*b")
    assert worst_growth(pattern.fullmatch, pattern)[0] > GROWTH
