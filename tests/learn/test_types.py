"""What an editor and mypy know of the estimators, in programs that use the package."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import protonn_edge
from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.model.registry import ESTIMATOR, REGRESSORS, variants

PACKAGE = Path(protonn_edge.__file__).parent
VARIANTS = [each for kind in CLASSIFIERS for each in variants(kind, ESTIMATOR)]
ESTIMATORS = (*CLASSIFIERS.values(), *VARIANTS, *REGRESSORS.values())
NAMES = [each.__name__ for each in ESTIMATORS]
# `--strict` reports an ignored error that is none.
OF_EACH = """
assert_type({name}(random_state=0).fit(X, y), {name})
assert_type({name}().score(X, y), float)
assert_type({name}().fit(X, y).to_model(), Model)
{name}(no_such_parameter=4)  # type: ignore[call-arg]
{name}(random_state="x")  # type: ignore[arg-type]
{name}().fit(X, y, n_epochs=4)  # type: ignore[call-arg]
"""
IMPORTED = "".join(f"    {name},\n" for name in sorted([*NAMES, "Model", "WindowFeatures"]))
PROGRAM = f'''"""What type checkers know of each estimator: `make lint` checks this program."""

from typing import assert_type

import numpy as np

from protonn_edge import (
{IMPORTED})

X, y = np.zeros((4, 2)), [0, 1, 0, 1]
assert_type(WindowFeatures(channels=1).fit(X), WindowFeatures)
''' + "".join(OF_EACH.format(name=name) for name in NAMES)
CHECKED = Path(__file__).with_name("typed_estimators.py")


def test_the_program_that_mypy_checks_has_every_estimator() -> None:
    assert CHECKED.read_text("utf-8") == PROGRAM, f"write what follows into {CHECKED}:\n{PROGRAM}"


@pytest.mark.nightly
def test_mypy_knows_every_estimator_where_the_package_is_installed(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="needs mypy: pip install '.[lint]'")
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.stdout.startswith("Success"), done.stdout
    assert done.returncode == 0


def names_in(stub: Path) -> set[str]:
    """Return the names that a stub imports."""
    imports = (
        node for node in ast.parse(stub.read_text("utf-8")).body if isinstance(node, ast.ImportFrom)
    )
    return {each.asname or each.name for node in imports for each in node.names}


def test_type_checkers_know_every_name_of_the_package() -> None:
    assert {*protonn_edge.__all__} <= names_in(PACKAGE / "__init__.pyi") | {"__version__"}
