"""Each rule that gives the answer has all macros of sketches and texts that a class has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from protonn_edge.system.files import resource

EXPORT = resource("templates") / "export"


def macros(path: Path) -> set[str]:
    """Return the names of the macros in a template."""
    return set(re.findall(r"{% macro (\w+)\(", path.read_text("utf-8")))


@pytest.mark.parametrize("path", sorted(EXPORT.glob("policy/*.ino.j2")), ids=lambda path: path.stem)
def test_a_rule_has_the_macros_of_a_class(path: Path) -> None:
    assert macros(EXPORT / "answer.j2") <= macros(path)
