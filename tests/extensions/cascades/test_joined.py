"""Two models become a cascade: what it answers, what of it is chosen, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from protonn_edge import DenseClassifier, ForestClassifier, LinearClassifier, ProtoNNClassifier
from protonn_edge.codegen.export import export
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.projects.project import build
from protonn_edge.codegen.renderer import render_c
from protonn_edge.data.splits import load_digits_dataset
from protonn_edge.extensions.cascades.kinds.cascade.head import CascadeHead, margins
from protonn_edge.extensions.cascades.kinds.cascade.integers import IntegerCascade
from protonn_edge.extensions.cascades.kinds.cascade.train import joined
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize, stage_losses
from protonn_edge.system.errors import InputError

DIGITS = load_digits_dataset()
X, Y = DIGITS.X_train.astype(np.float32), DIGITS.y_train
LEARNED, HELD = slice(600), slice(600, None)


@cache
def forest() -> Model:
    """Return a small forest."""
    return _trained(ForestClassifier(random_state=0, n_trees=15, size_budget=3_000))


@cache
def network() -> Model:
    """Return a network that is right more often."""
    return _trained(DenseClassifier(random_state=0, epochs=20))


@cache
def of_averages() -> Model:
    """Return a model of averages of pixels."""
    return _trained(LinearClassifier(random_state=0, features="pool:4x4", image_shape=(8, 8)))


@cache
def cascade() -> Model:
    """Return the cascade of the forest and the network."""
    return joined(forest(), network(), X[HELD], Y[HELD])


def _trained(classifier: object) -> Model:
    model: Model = classifier.fit(X[LEARNED], Y[LEARNED]).to_model()
    return model


def _accuracy(model: Model) -> float:
    chain = quantize(model)
    return float(np.mean(chain.predict(chain.quantize(DIGITS.X_test)) == DIGITS.y_test))


def _stage(model: Model) -> IntegerCascade:
    (stage,) = quantize(model).own_stages
    assert isinstance(stage, IntegerCascade)
    return stage


def test_a_cascade_is_about_as_accurate_as_its_second_model() -> None:
    assert _accuracy(cascade()) > _accuracy(forest()) + 0.02
    assert _accuracy(cascade()) > _accuracy(network()) - 0.01


def test_only_some_points_are_passed_on() -> None:
    assert 0.02 < cascade().record["passed_on_share"] < 0.7


def test_a_share_can_be_asked_for() -> None:
    model = joined(of_averages(), network(), X[HELD], Y[HELD], share=0.25)
    assert model.record["passed_on_share"] == pytest.approx(0.25, abs=0.03)


def test_fitted_estimators_are_joined_as_their_models_are() -> None:
    names = np.array([f"digit {each}" for each in range(10)])[Y]
    first = LinearClassifier(random_state=0, features="pool:4x4", image_shape=(8, 8))
    second = DenseClassifier(random_state=0, epochs=20)
    for each in (first, second):
        each.fit(X[LEARNED], names[LEARNED])
    model = joined(first, second, X[HELD], names[HELD])
    same = joined(first.to_model(), second.to_model(), X[HELD], Y[HELD])
    assert quantize(model).model_sha256 == quantize(same).model_sha256


def test_sure_answers_are_those_of_the_first_model() -> None:
    model, chain, first = cascade(), quantize(cascade()), quantize(forest())
    stage = _stage(model)
    own = first.scores(first.quantize(DIGITS.X_test))
    sure = margins(own) >= stage.margin
    assert 0 < np.mean(sure) < 1
    answers = chain.predict(chain.quantize(DIGITS.X_test))
    assert (answers[sure] == own.argmax(axis=1)[sure]).all()


def test_floats_and_integers_agree() -> None:
    chain = quantize(cascade())
    answers = chain.predict(chain.quantize(DIGITS.X_test))
    assert np.mean(answers == cascade().predict(DIGITS.X_test)) > 0.97
    losses = stage_losses(cascade(), DIGITS.X_test, DIGITS.y_test)
    assert [loss.stage for loss in losses] == ["float", "inputs", "W"]


def test_a_model_file_holds_both_models(tmp_path: Path) -> None:
    path = tmp_path / "cascade.npz"
    save_model(cascade(), path)
    read = load_model(path)
    assert quantize(read).model_sha256 == quantize(cascade()).model_sha256


@pytest.mark.parametrize("adds", [False, True])
def test_models_of_different_features_share_the_bytes_of_points(adds: bool) -> None:
    model = joined(of_averages(), network(), X[HELD], Y[HELD], share=0.3)
    model = replace(model, head=replace(model.head, adds=adds))
    chain = quantize(model)
    assert chain.feature_stages == ()
    assert chain.features is not None
    Q = chain.quantize(DIGITS.X_test[:50])
    with host_program(chain, sanitize=True) as program:
        answers, scores = program.run(Q)
    assert (scores == chain.scores(Q)).all()
    assert (answers == chain.predict(Q)).all()


def test_models_of_the_same_features_share_them() -> None:
    model = joined(of_averages(), of_averages(), X[HELD], Y[HELD], share=0.2)
    assert [stage.kind for stage in quantize(model).feature_stages] == ["average_pooling"]


def test_a_build_answers_as_numpy_does(tmp_path: Path) -> None:
    built = build(cascade(), "uno", tmp_path / "project")
    assert built.tried.n > 0
    assert built.tried.mismatches == 0
    assert built.possible.proven


def test_public_names_have_a_prefix() -> None:
    files = render_c(quantize(cascade()), prefix="digit")
    assert "pnn_" not in files["digit_model.c"].replace("pnn_passed", "")


def test_it_is_exported(tmp_path: Path) -> None:
    export(cascade(), "c", tmp_path / "library")
    assert "the first model" in (tmp_path / "library" / "pnn_model.c").read_text("utf-8")


def test_models_of_other_classes_are_refused() -> None:
    other = replace(network(), classes=tuple("abcdefghij"))
    with pytest.raises(InputError, match="the second model's classes: not those of the first"):
        joined(forest(), other, X[HELD], Y[HELD])


def test_a_model_that_a_device_teaches_is_refused() -> None:
    taught = _trained(ProtoNNClassifier(random_state=0, epochs=1, n_prototypes=20, teachable=2))
    with pytest.raises(InputError, match="the second model: a device needs the part 'teaching'"):
        joined(forest(), taught, X[HELD], Y[HELD])


def test_a_cascade_of_cascades_is_refused() -> None:
    with pytest.raises(InputError, match="the second model: a cascade"):
        joined(forest(), cascade(), X[HELD], Y[HELD])


def test_too_few_points_are_refused() -> None:
    with pytest.raises(InputError, match="5 points, expected at least 20"):
        joined(forest(), network(), X[:5], Y[:5])


def test_a_negative_margin_is_refused() -> None:
    head = cascade().head
    assert isinstance(head, CascadeHead)
    with pytest.raises(InputError, match="the cascade's margin: -1"):
        replace(head, margin=-1.0)


@pytest.mark.parametrize("adds", [True, False])
def test_scores_are_added_or_replaced_as_asked(adds: bool) -> None:
    made = joined(forest(), network(), X[HELD], Y[HELD], share=0.3, adds=adds)
    stage = quantize(made).own_stages[0]
    assert isinstance(stage, IntegerCascade)
    assert stage.adds == adds
