"""Trees of gated sums: their training, their integers, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from avr_tools import EMULATED_AVR, skip_without
from chains import replace
from extensions.research.bonsai_factory import (
    random_bonsai_model,
    random_kernel_chain,
    random_kernel_model,
    tiny_kernel_chain,
)
from finite_differences import assert_slope
from measured_predictions import build_program, measure
from model_factory import random_inputs, random_points
from refusals import refused_by

from protonn_edge.codegen.planner import make_plan
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.extensions.research.kinds.bonsai.integers import Sums
from protonn_edge.extensions.research.kinds.bonsai.train import (
    BonsaiClassifier,
    LocalDeepKernelClassifier,
    TreeClassifier,
    TreeParameters,
    tree_gradient,
)
from protonn_edge.learn.objective import cross_entropy
from protonn_edge.model.head import matrices_of
from protonn_edge.model.integer_chain import named_stages
from protonn_edge.model.quantization import quantize
from protonn_edge.model.stored import described
from protonn_edge.system.errors import InputError

DIGITS = load_digits_dataset()
SOME = slice(0, 600)
both = pytest.mark.parametrize("kind", [BonsaiClassifier, LocalDeepKernelClassifier])


def fitted(kind: type[TreeClassifier], **settings: Any) -> TreeClassifier:
    settings = {"epochs": 15, "random_state": 0, **settings}
    return kind(**settings).fit(DIGITS.X_train[SOME], DIGITS.y_train[SOME])


def test_the_projection_of_many_features_has_at_most_a_row_per_point() -> None:
    rng, y = np.random.default_rng(0), np.arange(8) % 2
    X = rng.normal(size=(8, 4_100)) + y[:, None]
    model = BonsaiClassifier(n_projections=10, epochs=2, random_state=0).fit(X, y).to_model()
    assert model.head.projection.shape == (7, 4_100)  # 8 points differ in 7 directions


@pytest.mark.parametrize(("classes", "projections"), [(2, 4), (3, 4), (3, 0)])
def test_the_gradient_is_that_of_differences(classes: int, projections: int) -> None:
    rng = np.random.default_rng(0)
    rows, columns = (1 if classes == 2 else classes), (projections or 6) + 1
    shapes = ((projections, 6), (7 * rows, columns), (7 * rows, columns), (3, columns))
    matrices = [rng.normal(size=shape) for shape in shapes]
    X, weights = rng.normal(size=(20, 6)), rng.random(20)
    sharpness = np.array([1.3, 0.4, 2.0])
    Y = np.eye(classes)[rng.integers(0, classes, 20)]

    def value_at() -> tuple[float, TreeParameters]:
        return tree_gradient(TreeParameters(*matrices), X, Y, cross_entropy, sharpness, weights)

    for matrix, slope in zip(matrices, value_at()[1], strict=True):
        assert_slope(lambda: value_at()[0], matrix, slope)


def test_coordinates_of_training_points_are_within_1() -> None:
    model = fitted(BonsaiClassifier, sparsity_projection=0.3).to_model()
    reach = np.abs(model.head.coordinates(model.normalized(DIGITS.X_train[SOME]))).max(axis=0)
    np.testing.assert_allclose(reach, 1, atol=1e-4)


@both
def test_shares_of_weights_are_kept(kind: type[TreeClassifier]) -> None:
    shares = {"sparsity_weights": 0.3, "sparsity_gates": 0.2, "sparsity_branches": 0.5}
    model = fitted(kind, depth=2, **shares).to_model()
    for name, share in zip("WVT", shares.values(), strict=True):
        matrix = matrices_of(model.head)[name]
        assert np.count_nonzero(matrix) <= share * matrix.size
        assert np.count_nonzero(matrix) > 0.9 * share * matrix.size - 1


def test_every_branch_of_a_thin_tree_keeps_weights() -> None:
    thin = {"sparsity_branches": 0.05, "learning_rate": 0.02, "batch_size": 32}
    model = fitted(LocalDeepKernelClassifier, depth=4, **thin).to_model()
    assert np.count_nonzero(matrices_of(model.head)["T"], axis=1).min() >= 2


@both
def test_two_classes_have_one_row_a_node(kind: type[TreeClassifier]) -> None:
    X, y = DIGITS.X_train[SOME], DIGITS.y_train[SOME] >= 5
    classifier = kind(depth=2, epochs=15, random_state=0).fit(X, y)
    assert classifier.model_.head.weights.shape[0] == 7
    assert classifier.score(DIGITS.X_test, DIGITS.y_test >= 5) > 0.8


def test_training_that_diverges_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "protonn_edge.extensions.research.kinds.bonsai.train.cross_entropy",
        lambda scores, *_: (float("inf"), np.full_like(scores, np.inf), None),
    )
    with refused_by("learn.loop"):
        fitted(BonsaiClassifier)


def test_a_constant_feature_has_no_weight_and_the_model_has_integers() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), np.arange(200) % 2
    X[:, 0] += 3 * y
    X[:, 3] = 7
    classifier = BonsaiClassifier(epochs=10, random_state=0).fit(X, y)
    projection = classifier.model_.head.projection
    assert projection.shape == (4, 5)
    assert not projection[:, 3].any()
    integers = quantize(classifier.model_)
    assert (integers.predict(integers.quantize(X)) == classifier.predict(X)).mean() > 0.9


def test_a_kernel_has_no_projection() -> None:
    model = random_kernel_model(features=12)
    assert set(matrices_of(model.head)) == {"W", "V", "T"}
    with pytest.raises(InputError, match="normalizer_scale: 11 features, expected 12"):
        replace(model, normalizer=random_kernel_model(features=11).normalizer)


def test_one_large_weight_does_not_make_the_others_coarse() -> None:
    model = random_kernel_model(1, features=40)
    weights = model.head.weights.copy()
    weights[:, 0] = 30
    inputs, X = model.inputs, random_points(1, 300, 40)
    deviation = inputs.deviation.copy()
    deviation[0] /= 1e4
    X[:, 0] = inputs.mean[0]
    model = replace(model, weights=weights, inputs=replace(inputs, deviation=deviation))
    integers, expected = quantize(model), model.scores(X)
    scores = integers.scores(integers.quantize(X)) * integers.score_scale
    assert np.median(np.abs(scores - expected)) < 0.1 * expected.std()


@pytest.mark.parametrize(
    "changes",
    [
        {"weight_shift": 9},
        {"weight_shift": 0},
        {"weights": Sums(np.full((9, 40), 127, np.int8), np.zeros(9, int))},
        {"branches": Sums(np.zeros((2, 40), np.int8), np.zeros(2, int))},
        {"gates": Sums(np.zeros((6, 40), np.int8), np.zeros(6, int))},
        {"table": np.zeros(255, np.int8)},
    ],
)
def test_what_could_overflow_is_refused(changes: dict[str, object]) -> None:
    stage = named_stages(random_kernel_chain(0))["bonsai_tree"]
    with refused_by("model.integer_stage"):
        replace(stage, **changes)


def test_the_first_stage_of_a_tree_behind_a_projection_describes_its_sums() -> None:
    first, last = quantize(random_bonsai_model()).own_stages
    assert described(first)["accumulator_bits"] == 16
    assert "accumulator_bits" not in described(last)


HIGHEST = 32_767 - 128  # of a shifted gate: half a table is added to it, in 16 bits


@pytest.mark.parametrize("constant", [5_000.0, -5_000.0])
def test_a_gate_that_no_input_changes(tmp_path: Path, constant: float) -> None:
    skip_without(*EMULATED_AVR)
    model = random_kernel_model(depth=0, classes=2)
    gates = np.zeros_like(model.head.gates)
    gates[:, -1] = constant
    chain = quantize(replace(model, gates=gates))
    assert abs(chain.own_stages[-1].gates.bias).min() > 8_000_000
    Q = random_inputs(0, 8, chain)
    measured = measure(build_program(chain, make_plan(chain), tmp_path), chain, Q)
    assert measured.scores.tolist() == chain.scores(Q).tolist()


def test_the_largest_gate_fits_the_walk() -> None:
    chain = tiny_kernel_chain()
    zeros, most = np.zeros((9, 6), np.int8), np.full(9, (HIGHEST << 7) + 127)
    replace(chain, gates=zeros, gate_bias=most)
    with refused_by("model.integer_stage"):
        replace(chain, gates=zeros, gate_bias=most + 1)
