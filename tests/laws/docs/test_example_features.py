"""The example of docs/contributing.md as features of a model: trained, saved, generated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run

from protonn_edge.codegen.export import export
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.planner import plans
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn import requests
from protonn_edge.model.file import load_model, model_bytes, save_model
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError

DIGITS = load_digits_dataset()
BRIEF = {"n_projections": 8, "n_prototypes": 30, "epochs": 8, "random_state": 0}


@pytest.fixture
def classifier(example: None, monkeypatch: pytest.MonkeyPatch) -> type[ProtoNNClassifier]:
    """Return the classifier, with one more line in the registry of what features ask for."""
    from scale.request import ScaleRequest

    monkeypatch.setattr(requests, "REQUESTS", [*requests.REQUESTS, ScaleRequest])
    return ProtoNNClassifier


def trained(classifier: type[ProtoNNClassifier], **settings: Any) -> Model:
    asked = {"features": "scale:0.99", **settings}
    fitted = classifier(**BRIEF, **asked).fit(DIGITS.X_train, DIGITS.y_train)
    return fitted.to_model(classes=DIGITS.classes)


def test_it_is_asked_for_like_all_others(classifier: type[ProtoNNClassifier]) -> None:
    assert classifier().asked is None
    asked = classifier(features="scale:0.5").asked
    assert asked is not None
    assert asked.kind == "scale"
    with pytest.raises(InputError, match="'scale:much' of the features must look like scale:0.99"):
        trained(classifier, features="scale:much")
    with pytest.raises(
        InputError, match="'pool:4x4' of the features cannot be combined with scale:0.5"
    ):
        trained(classifier, features="scale:0.5,pool:4x4")


def test_scaled_features_are_learned_from(classifier: type[ProtoNNClassifier]) -> None:
    model = trained(classifier)
    assert model.features is not None
    scaled = DIGITS.X_test * (255 / 16) * 0.99 ** np.arange(64)
    np.testing.assert_allclose(model.features.apply(DIGITS.X_test), scaled, atol=3)
    assert np.mean(model.predict(DIGITS.X_test) == DIGITS.y_test) > 0.9


def test_images_are_moved_before_they_are_scaled(classifier: type[ProtoNNClassifier]) -> None:
    model = trained(classifier, image_shape=(8, 8), augment=True)
    assert np.mean(model.predict(DIGITS.X_test) == DIGITS.y_test) > 0.9


def test_its_file_is_read_as_it_was(classifier: type[ProtoNNClassifier], tmp_path: Path) -> None:
    model = trained(classifier)
    save_model(model, tmp_path / "model.npz")
    loaded = load_model(tmp_path / "model.npz")
    assert loaded.features == model.features
    assert model_bytes(loaded) == model_bytes(model)
    described = json.loads(run("inspect", tmp_path / "model.npz", "--json").stdout)
    assert described["feature_stages"] == [
        {"kind": "scale", "factors": {"shape": [64]}, "maximum": 255}
    ]


def test_its_c_gives_the_scores_of_the_reference(classifier: type[ProtoNNClassifier]) -> None:
    model = trained(classifier)
    integers = quantize(model)
    assert [stage.kind for stage in integers.stages][:2] == ["scale", "projection"]
    Q = integers.quantize(DIGITS.X_test[:50])
    assert np.mean(integers.predict(Q) == model.predict(DIGITS.X_test[:50])) > 0.9
    for plan in plans(integers):
        with host_program(integers, plan, sanitize=True) as program:
            assert (program.run(Q)[1] == integers.scores(Q)).all()


def test_an_export_checks_itself(classifier: type[ProtoNNClassifier], tmp_path: Path) -> None:
    written = export(trained(classifier), "c", tmp_path / "digits", prefix="pnn")
    assert written.vectors > 2
