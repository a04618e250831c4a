"""A new kind of classifier: parameters and a learner of its own, everything else from the base."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, replace
from pathlib import Path
from typing import Any

import click
import extension_parts
import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from trainings import DIGITS

from protonn_edge.cli.command import command
from protonn_edge.cli.train_options import (
    ClassifierCommand,
    GivenClassifier,
    classifier_options,
)
from protonn_edge.kinds.protonn.head import ProtoNNHead
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.base import DeviceClassifier
from protonn_edge.learn.learner import LEARNERS
from protonn_edge.learn.parameters import Number, parameter
from protonn_edge.learn.progress import EpochReport, Learned
from protonn_edge.learn.search import BEST
from protonn_edge.learn.training_set import TrainingSet
from protonn_edge.model.file import load_model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.registry import PARAMETERS
from protonn_edge.policy.confidence.rule import Sharpness
from protonn_edge.system.errors import InputError


@dataclass(kw_only=True, eq=False, repr=False)
class NearestMean(DeviceClassifier):
    """One prototype a class, its mean, in the space of the features."""

    width: float = parameter(1.0, Number(float, 1e-3, 1e3), help="Of the kernel.", option="--width")

    def learn(self, data: TrainingSet) -> Learned:
        points, Y = data.points, data.targets()
        counted = np.ones(len(points)) if points.weight is None else points.weight
        means = (Y.T * counted) @ points.X / (Y.T @ counted)[:, None]
        D = points.X.shape[1]
        head = ProtoNNHead(
            projection=np.eye(D, dtype=np.float32),
            prototypes=means.T.astype(np.float32),
            labels=np.eye(len(means), dtype=np.float32),
            gamma=self.width / np.sqrt(D),
        )
        report = EpochReport(1, 1, 0.0, 1.0)
        return Learned.at_once(head, report, self.callback, facts={"trainer": "means"})


def fitted(**settings: Any) -> NearestMean:
    return NearestMean(random_state=0, **settings).fit(DIGITS.X_train, DIGITS.y_train)


def test_it_predicts_and_says_how_sure_it_is() -> None:
    classifier = fitted()
    assert classifier.score(DIGITS.X_test, DIGITS.y_test) > 0.8
    shares = classifier.predict_proba(DIGITS.X_test)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert classifier.sharpness_ != 1  # its scores are no logits
    assert classifier.to_model().policy.find(Sharpness) == Sharpness(classifier.sharpness_)
    assert classifier.decision_function(DIGITS.X_test).shape == (len(DIGITS.y_test), 10)


def test_settings_do_not_change() -> None:
    settings = NearestMean(clip=0.25).frozen()
    for name in ("clip", "features", "brand_new"):
        with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
            setattr(settings, name, 0)
    assert settings.clip == 0.25


def test_what_it_remarks_is_a_warning_and_in_the_record() -> None:
    class Remarking(NearestMean):
        def learn(self, data: TrainingSet) -> Learned:
            return replace(super().learn(data), remarks=("the means are far apart",))

    with pytest.warns(ConvergenceWarning, match="the means are far apart"):
        classifier = Remarking(random_state=0).fit(DIGITS.X_train, DIGITS.y_train)
    assert classifier.remarks_ == ("the means are far apart",)
    assert classifier.to_model().record["remarks"] == ["the means are far apart"]
    assert "remarks" not in fitted().to_model().record


@pytest.mark.parametrize(
    "classifier",
    [NearestMean(), ProtoNNClassifier(epochs=3, n_prototypes=20, random_state=0)],
    ids=["means", "protonn"],
)
def test_an_accuracy_floor_is_set_and_saved(classifier: Any, tmp_path: Path) -> None:
    digit = np.array([f"digit {label}" for label in range(10)])  # not what the model counts with
    classifier = clone(classifier).fit(DIGITS.X_train, digit[DIGITS.y_train])
    classifier.set_accuracy_floor(DIGITS.X_test, digit[DIGITS.y_test]).save(tmp_path / "model.npz")
    model = load_model(tmp_path / "model.npz")
    integers = quantize(model)
    share = np.mean(integers.predict(integers.quantize(DIGITS.X_test)) == DIGITS.y_test)
    assert share - 0.05 < model.record["accuracy_floor"] < share
    with pytest.raises(InputError, match="y has the label 'digit 10'"):
        classifier.set_accuracy_floor(DIGITS.X_test[:1], ["digit 10"])


def test_a_model_for_floats_alone_has_no_floor() -> None:
    classifier = fitted(normalization="l2").set_accuracy_floor(DIGITS.X_test, DIGITS.y_test)
    assert "accuracy_floor" not in classifier.to_model().record


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> click.Command:
    """Give a command that makes a classifier of its options, of one kind more."""
    monkeypatch.setitem(LEARNERS, "means", NearestMean)
    monkeypatch.setitem(PARAMETERS, "means", NearestMean)

    declared = classifier_options((*PARAMETERS, BEST))

    @command("make", ClassifierCommand)
    def made(given: GivenClassifier = declared) -> None:
        made = given.untrained(7)
        changed = {name: getattr(made, name) for name in given.parameters()}
        click.echo(f"{type(made).__name__} {made.random_state} {changed}")

    return made.extended


@pytest.mark.parametrize(
    ("options", "made"),
    [
        ([], "ProtoNNLearner 7 {}"),
        (["--epochs", "9"], "ProtoNNLearner 7 {'epochs': 9}"),
        (["--classifier", "means"], "NearestMean 7 {}"),
        (
            ["--classifier", "means", "--width", "2", "--clip", "0.25"],
            "NearestMean 7 {'clip': 0.25, 'width': 2.0}",
        ),
    ],
)
def test_the_command_line_makes_it(make: click.Command, options: list[str], made: str) -> None:
    assert CliRunner().invoke(make, options).output.strip() == made


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param(
            ["--classifier", "means", "--optimizer", "joint"],
            "--optimizer is given, but the cla",
            marks=extension_parts.needs("research"),
        ),
        (["--classifier", "means", "--no-augment"], "--augment is given, but the classifier 'me"),
        (["--width", "2"], "--width is given, but the classifier 'protonn' has no such parameter"),
        (["--classifier", "trees"], "'trees' is not one of 'protonn', "),
        (["--classifier", "svm"], "'convert' takes other kinds of classifiers, trained with"),
        (["--classifier", "regression"], "trained with scikit-learn"),
        (["--classifier", "WeightedMeans"], "did you mean 'means'?; docs/which-model.md"),
        (["--classifier", "prtonn"], "did you mean 'protonn'?; docs/which-model.md"),
        (["--classifier", "means", "--width", "0"], "0.0 is not in the range"),
    ],
)
def test_options_of_another_kind_are_refused_by_name(
    make: click.Command, options: list[str], words: str
) -> None:
    done = CliRunner().invoke(make, options)
    assert done.exit_code == 2
    assert words in done.output
