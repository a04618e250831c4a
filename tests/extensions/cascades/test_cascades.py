"""Two models become a cascade: what it answers, what of it is chosen, and what is refused."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, run_json, succeed
from extensions.cascades.cascade_factory import cascade_of
from forest_factory import random_chain
from generated_programs import write_c
from linear_factory import random_linear_model
from model_factory import random_points, random_window_model, random_windows, window_features_of

from protonn_edge import DenseClassifier, ForestClassifier, LinearClassifier
from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.export import export
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.projects.project import build
from protonn_edge.codegen.renderer import render_c
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.extensions.cascades.kinds.cascade.head import CascadeHead, margins
from protonn_edge.extensions.cascades.kinds.cascade.integers import (
    IntegerCascade,
    PartStages,
)
from protonn_edge.extensions.cascades.kinds.cascade.train import joined
from protonn_edge.extensions.cascades.tuning import faster_cascade
from protonn_edge.extensions.teaching.kinds.teachable.train.classifier import (
    TeachableProtoNNClassifier,
)
from protonn_edge.learn.folds import fold_numbers
from protonn_edge.learn.search import ANY, BEST, FASTEST
from protonn_edge.learn.search import choice as choices
from protonn_edge.learn.search.choice import Refitted, refit
from protonn_edge.learn.search.limits import Figures, TuningLimits
from protonn_edge.learn.search.points import TrialPoints
from protonn_edge.learn.search.store import Record
from protonn_edge.learn.searched import KIND
from protonn_edge.model.file import load_model
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize, stage_losses
from protonn_edge.system.errors import InputError, InvalidValue

DIGITS = load_digits_dataset()
X, Y = DIGITS.X_train.astype(np.float32), DIGITS.y_train
LEARNED, HELD = slice(600), slice(600, None)


@cache
def forest() -> Model:
    """Return a small forest."""
    return _trained(
        ForestClassifier(random_state=0, ensemble="random", n_trees=15, size_budget=3_000)
    )


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
    export(cascade(), "c", tmp_path / "both")
    assert "the first model" in (tmp_path / "both" / "both_model.c").read_text("utf-8")


SECONDS = {
    "the second model's classes: not those of the first": lambda: replace(
        network(), classes=tuple("abcdefghij")
    ),
    "the second model: a device needs the part 'teaching'": lambda: _trained(
        TeachableProtoNNClassifier(random_state=0, epochs=1, n_prototypes=20, teachable=2)
    ),
    "the second model: a cascade": cascade,
}


@pytest.mark.parametrize("words", SECONDS)
def test_what_cannot_be_a_second_model_is_refused(words: str) -> None:
    with pytest.raises(InputError, match=words):
        joined(forest(), SECONDS[words](), X[HELD], Y[HELD])


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


def _forest(seed: int, bias: int) -> PartStages:
    """Return a forest whose scores are near a number."""
    stage = random_chain(seed, trees=3, features=6, classes=2, share=0).own_stages[0]
    return PartStages((replace(stage, bias=np.full(2, bias)),), 0)


def test_a_second_model_that_would_never_answer_is_refused() -> None:
    """Its parameters took flash, and the comparison with a margin of 0 made compilers warn."""
    first, second = (random_linear_model(seed) for seed in (0, 1))
    X = random_points(2, 60, 12)
    with pytest.raises(InputError, match="the second model would answer none of the 60 points"):
        joined(first, second, X, first.predict(X))


def test_a_product_that_is_added_fits_though_the_sum_is_smaller() -> None:
    """Twice a score near 23,000 exceeded the 16 bits of an int, which is undefined."""
    stage = IntegerCascade(_forest(1, -20_000), _forest(2, 23_000), 1000, 1, 2, adds=True)
    assert stage.output.ends[1] < 1 << 15
    assert stage.output.bits == 32


@pytest.mark.parametrize("margin", [0, 1 << 16])
def test_a_margin_that_no_difference_can_decide_is_refused(margin: int) -> None:
    with pytest.raises(InvalidValue, match="the cascade's margin"):
        IntegerCascade(_forest(1, 0), _forest(2, 0), margin, 1, 1)


def test_values_with_decimals_have_one_form_of_scales(tmp_path: Path) -> None:
    """Scales of raw values had a field that those of computed features lacked."""
    features = [window_features_of(text) for text in ("mean,max", "deviation,bands:2")]
    chains = [quantize(random_window_model(each)) for each in features]
    chain = cascade_of(*chains, random_windows(0, 20, features[0]))
    chain = replace(chain, raw_exponents=np.full(chain.n_features, 2))
    write_c(chain, tmp_path)
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", "pnn_model.c"]
    subprocess.run(command, check=True, timeout=60, cwd=tmp_path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two models, and points that they have not learned."""
    folder = tmp_path_factory.mktemp("cascade")
    digits = load_digits_dataset()
    X, y = digits.X_train.astype(np.float32), digits.y_train
    np.savez(folder / "learned.npz", X=X[:600], y=y[:600])
    np.savez(folder / "held.npz", X=X[600:], y=y[600:])
    np.savez(folder / "unlabelled.npz", X=X[600:])
    for name, options in (("first", "--trees 3 --size-budget 600"), ("second", "--trees 20")):
        words = f"--classifier forest {options} --holdout 0 --seed 0".split()
        succeed("train", folder / "learned.npz", "-o", folder / f"{name}.npz", *words)
    return folder


def test_two_models_become_one(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "cascade.npz"
    models = ["--calibrate", folder / "first.npz", "--then", folder / "second.npz"]
    record = run_json("train", folder / "held.npz", *models, "-o", output)
    model = load_model(output)
    assert record["passed_on_share"] == model.record["passed_on_share"] > 0
    assert model.head.kind == "cascade"
    assert record["model_sha256"] == quantize(model).model_sha256
    assert "confidence" in quantize(model).policy.c_functions
    rejecting = tmp_path / "rejecting.npz"
    rate = ["--rejection", "5%", "--rejection-by", "margin"]
    done = succeed("train", folder / "held.npz", "--calibrate", output, *rate, "-o", rejecting)
    assert "unknown if" in done.output
    assert [each.name for each in load_model(rejecting).policy.other_answers] == ["unknown"]


def test_the_share_that_is_passed_on_is_printed(folder: Path, tmp_path: Path) -> None:
    models = ["--calibrate", folder / "first.npz", "--then", folder / "second.npz"]
    options = ["--pass-on", "20%", "-o", tmp_path / "cascade.npz"]
    done = succeed("train", folder / "held.npz", *models, *options)
    assert "passed on" in done.output
    assert "unknown" not in done.output


def test_points_without_classes_are_refused(folder: Path, tmp_path: Path) -> None:
    models = ["--calibrate", folder / "first.npz", "--then", folder / "second.npz"]
    output = tmp_path / "cascade.npz"
    refused = run("train", folder / "unlabelled.npz", *models, "-o", output)
    assert "--then needs the classes of all points in DATA" in refusal(refused)


FAST, ACCURATE = (
    Record(number, settings, "complete", Figures("", 1, 1, cycles), (score,), accuracies=(score,))
    for number, settings, cycles, score in (
        (0, {KIND: "forest", "n_trees": 10, "size_budget": 3_000}, 500.0, 0.9),
        (1, {KIND: "dense", "epochs": 10}, 9_000.0, 0.95),
    )
)


def searched(limits: TuningLimits) -> tuple[TrialPoints, Refitted]:
    """Return the points of a search, and its most accurate candidate."""
    X, y = DIGITS.X_train, DIGITS.y_train
    points = TrialPoints(X, y, fold_numbers(y, 3, 0), load_board("uno"), limits, classifier=ANY)
    names = DIGITS.classes
    return points, refit(points, [ACCURATE], seed=0, classes=names, feature_names=(), search={})


@pytest.fixture
def _not_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choices, "_linked", lambda *_: None)


@pytest.mark.usefixtures("_not_linked")
def test_a_faster_cascade_is_taken_only_where_a_fast_model_is_wanted() -> None:
    points, alone = searched(TuningLimits())
    trials = [FAST, ACCURATE]
    fast = faster_cascade(points, FASTEST, trials, alone)
    assert (fast.model.head.kind, fast.candidate.number) == ("cascade", 1)
    assert fast.fit.figures.known_cycles < alone.fit.figures.known_cycles
    assert fast.model.record["tuning"]["chosen"] == alone.model.record["tuning"]["chosen"]
    assert faster_cascade(points, BEST, trials, alone) is alone
    assert faster_cascade(points, FASTEST, [ACCURATE], alone) is alone


@pytest.mark.usefixtures("_not_linked")
def test_a_cascade_beyond_a_limit_is_not_taken() -> None:
    _, alone = searched(TuningLimits())
    points, alone = searched(TuningLimits(sram_bytes=alone.fit.figures.sram_bytes + 1))
    assert faster_cascade(points, FASTEST, [FAST, ACCURATE], alone) is alone
