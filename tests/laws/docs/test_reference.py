"""The generated reference is complete: estimators, arrays of model files, and messages."""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from checkout import CHECKOUT
from stored_models import stored_models

import protonn_edge
from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.model.file import _ARRAYS, _OPTIONAL_ARRAYS, model_bytes
from protonn_edge.model.registry import ESTIMATOR, REGRESSORS, variants

VARIANTS = [each for kind in CLASSIFIERS for each in variants(kind, ESTIMATOR)]
ESTIMATORS = [*CLASSIFIERS.values(), *VARIANTS, *REGRESSORS.values()]


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the module of the documentation that makes the tables."""
    monkeypatch.syspath_prepend(CHECKOUT / "docs")
    return importlib.import_module("declared")


def test_every_array_of_a_model_file_has_a_row_with_a_meaning(declared: ModuleType) -> None:
    rows = [row for each in declared.arrays().values() for row in each]
    patterns = [re.escape(row.name).replace(r"\*", ".*") for row in rows]
    kept = {
        re.sub(r"\.\d+(?=\.|$)", ".N", name)
        for model in stored_models().values()
        for name in np.load(io.BytesIO(model_bytes(model))).files
    }
    names = {*_ARRAYS, *_OPTIONAL_ARRAYS} | kept
    assert len(names) > 40
    assert [name for name in names if not any(re.fullmatch(each, name) for each in patterns)] == []
    assert [row.name for row in rows if not row.meaning] == []


def test_every_message_that_code_declares_has_a_row(declared: ModuleType) -> None:
    found = {
        node.name
        for path in Path(protonn_edge.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef) and any(each.arg == "number" for each in node.keywords)
    }
    assert found == {each.__name__ for each in declared.every_message()}
    table = declared.table_of_messages()
    assert table.count("\n") == 1 + len(found)
    assert "`sensor_number` u8: of 1 analog, 2 microphone" in table


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: each.__name__)
def test_an_estimator_describes_each_parameter(estimator: type) -> None:
    described = re.findall(r"^(\w[\w, ]*) : ", inspect.getdoc(estimator) or "", re.MULTILINE)
    names = {name for each in described for name in each.split(", ")}
    assert {*estimator().get_params(deep=False)} <= names  # type: ignore[attr-defined]
