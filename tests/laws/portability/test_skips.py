"""A test is skipped for want of what one can install, never of what the tests bring themselves."""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).parents[2]


def looked_for() -> dict[str, str]:
    """Return the modules whose absence skips a test, each with the file that looks for it."""
    found = {}
    for path in sorted(TESTS.rglob("*.py")):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "importorskip" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("importorskip"):
                name = node.args[0]
                if isinstance(name, ast.Constant):
                    found[str(name.value)] = path.name
    return found


def test_no_test_is_skipped_for_want_of_a_module_of_the_tests():
    ours = {path.stem for path in TESTS.rglob("*.py")}
    wanted = {name: file for name, file in looked_for().items() if name.split(".")[0] in ours}
    assert len(looked_for()) > 5
    assert not wanted
