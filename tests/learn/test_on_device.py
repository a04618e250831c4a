"""The way from a fitted classifier to a board, in Python."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from model_factory import random_model
from refusals import refused_by
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.planner import make_plan
from protonn_edge.codegen.projects.project import build
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.watch import forms_of
from protonn_edge.system.errors import InputError


@needs_emulated_avr
def test_from_scikit_learn_to_an_uno_in_ten_lines(tmp_path: Path) -> None:
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=100, random_state=0)
    classifier = ProtoNNClassifier(epochs=10, random_state=0).fit(X_train, y_train)
    written = classifier.export(tmp_path / "digits")  # a library for the Arduino IDE
    built = classifier.build(str(tmp_path / "project"))  # or a PlatformIO project
    measured = classifier.measure(X_test, y_test)  # on the emulated Uno

    assert "library.properties" in written.files
    assert built.usage.flash_bytes <= load_board("uno").flash_bytes
    assert (measured.summary.n, measured.agreement.mismatches) == (100, 0)
    assert measured.summary.accuracy > 0.9
    assert f"accuracy: {100 * measured.summary.accuracy:.2f} % of 100 points" in repr(measured)
    assert "of stack" in built._repr_html_()


def test_paths_and_boards_may_be_texts(tmp_path: Path) -> None:
    save_model(random_model(), str(tmp_path / "model.npz"))
    model = load_model(str(tmp_path / "model.npz"))
    with pytest.raises(InputError, match="no board is called 'unos'"):
        build(model, "unos", str(tmp_path / "project"))
    assert not (tmp_path / "project").exists()


def test_what_has_arrays_is_shown_by_its_facts() -> None:
    model = replace(random_model(), classes=("a", "<b>", "c", "d"))
    integers = quantize(model)
    for each in (model, *forms_of(integers, model), make_plan(integers)):
        assert len(repr(each)) < 500
        assert "array(" not in repr(each)
        assert each._repr_html_().startswith(f"<table><caption>{type(each).__name__}</caption>")
    assert "4 (a, <b>, c, d)" in repr(model)
    assert "4 (a, &lt;b&gt;, c, d)" in model._repr_html_()
    assert f"model: {integers.model_sha256[:16]}" in repr(integers)
    many = replace(random_model(classes=12), classes=tuple(f"class {i}" for i in range(12)))
    assert "12 (class 0, class 1, class 2, class 3, class 4, ...)" in repr(many)


def test_points_of_other_classes_are_not_measured() -> None:
    X, y = load_digits(return_X_y=True)
    classifier = ProtoNNClassifier(epochs=1, random_state=0).fit(X[y < 5], y[y < 5])
    with refused_by("learn.given_points"):
        classifier.measure(X, np.sort(y))
