"""The paper's algorithm: slopes, Armijo's rule, thresholds, reports, no step backwards."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from chains import replace
from click.testing import Result
from command_line import run
from extensions.research.paper.test_joint import start
from refusals import refused_by
from small_images import write_images

from protonn_edge.extensions.research.kinds.paper.train import alternating
from protonn_edge.extensions.research.kinds.paper.train.alternating import (
    alternate,
    armijo_step,
    batch_size_for,
)
from protonn_edge.extensions.research.kinds.paper.train.classifier import PaperProtoNNClassifier
from protonn_edge.extensions.research.kinds.paper.train.losses import LOSSES
from protonn_edge.learn.objective import Parameters, objective, objective_gradient
from protonn_edge.learn.progress import EpochReport

SETTINGS = PaperProtoNNClassifier(
    loss="squared_error", iterations=4, pass_epochs=5, batch_size=1000, step_sizes="inverse_sqrt"
)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_slopes_are_the_parts_of_the_whole_gradient(loss: str, weighted: bool) -> None:
    parameters, data = start()
    if weighted:
        weight = np.linspace(0.5, 1.5, 120, dtype=np.float32)
        data = replace(data, points=replace(data.points, weight=weight))
    X, Y, weight = data.points.X, data.targets(), data.points.weight
    whole = objective_gradient(parameters, X, Y, LOSSES[loss], weight)
    for name, place in {"W": 0, "B": 1, "Z": 2}.items():
        slope = alternating._SLOPES[name](parameters, data, LOSSES[loss])
        value, gradient = slope(list(parameters)[place], slice(None))
        assert value == pytest.approx(whole[0], rel=1e-5)
        np.testing.assert_allclose(gradient, list(whole[1])[place], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("steps", ["inverse", "inverse_sqrt"])
@pytest.mark.parametrize("batch_size", [1000, 32])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_objective_never_rises(steps: str, batch_size: int, loss: str) -> None:
    settings = replace(SETTINGS, step_sizes=steps, batch_size=batch_size, loss=loss)
    parameters, data = start()
    before = objective(parameters, data.points.X, data.targets(), LOSSES[loss])
    values = [before, *(r.objective for r in alternate(*start(), settings).history)]
    assert all(later <= earlier for earlier, later in itertools.pairwise(values))
    assert values[-1] < 0.9 * before


def test_each_matrix_is_reported_after_its_turn() -> None:
    seen: list[EpochReport] = []
    parameters, data = start()
    data = replace(data, test=data.points.part(slice(30)))
    trained = alternate(parameters, data, replace(SETTINGS, callback=seen.append))
    assert tuple(seen) == trained.history
    assert [report.parameter for report in seen] == ["Z", "B", "W"] * 4
    assert [report.epoch for report in seen] == list(range(5, 61, 5))
    assert {report.epochs for report in seen} == {60}
    assert seen[-1].objective == pytest.approx(
        objective(trained.parameters, data.points.X, data.targets(), LOSSES["squared_error"])
    )
    assert all(report.test_accuracy is not None for report in seen)


@pytest.mark.parametrize("steps", ["inverse", "inverse_sqrt"])
def test_shares_of_non_zero_entries_are_never_exceeded(steps: str) -> None:
    shares = {"projection": 0.3, "prototypes": 0.5, "labels": 0.4}
    sparsities = {f"sparsity_{name}": share for name, share in shares.items()}
    settings = replace(SETTINGS, step_sizes=steps, **sparsities)
    V, C, Z, _ = alternate(*start(), settings).parameters
    assert np.count_nonzero(V) <= 9  # of 32
    assert np.count_nonzero(C) <= 12  # of 24
    assert np.count_nonzero(Z) <= 7  # of 18


def test_the_start_is_left_as_it_was_and_the_seed_decides() -> None:
    parameters, data = start()
    before = parameters.copy()
    settings = replace(SETTINGS, batch_size=32)
    first, again = (alternate(parameters, data, settings).parameters for _ in range(2))
    for matrix, other, original, kept in zip(first, again, before, parameters, strict=True):
        assert np.array_equal(matrix, other)
        assert np.array_equal(original, kept)


@pytest.mark.parametrize(("curvature", "step"), [(1.0, 1.0), (4.0, 0.25), (1000.0, 2.0**-10)])
def test_armijos_step_fits_the_curvature(curvature: float, step: float) -> None:
    def slope(A: np.ndarray, _: slice) -> tuple[float, np.ndarray]:
        return curvature / 2 * float((A**2).sum()), curvature * A

    # f(A - step f') <= f(A) - 0.3 step |f'|^2 holds for steps of at most 1.4 / curvature.
    assert armijo_step(slope, np.ones((2, 2)), slice(None), 1.0, 1024.0) == step


def test_armijos_step_is_no_longer_than_allowed() -> None:
    def slope(A: np.ndarray, _: slice) -> tuple[float, np.ndarray]:
        return float(A.sum()), np.ones_like(A)

    assert armijo_step(slope, np.ones((2, 2)), slice(None), 1.0, 8.0) == 8.0


def test_many_points_are_taken_in_batches() -> None:
    assert batch_size_for(10_000, 10) == 10_000
    assert batch_size_for(10_001, 10) == 1_024


def test_a_start_out_of_reach_is_refused_in_one_sentence() -> None:
    (V, C, Z, sharpness), data = start()
    far = Parameters(V, C + np.float32(1e3), Z, sharpness)
    with refused_by("extensions.research.kinds.paper.train.alternating"):
        alternate(far, data, SETTINGS)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_images(tmp_path_factory.mktemp("images") / "images.csv")


def run_train(data: Path, *options: object) -> Result:
    sizes = () if "--start-from" in options else ("--prototypes", 4)
    return run("train", data, "-o", data.parent / "model.npz", *sizes, *options)


def test_each_matrixs_turn_is_reported_as_the_reference_does(data: Path) -> None:
    options = ["--optimizer", "alternating", "--iterations", "2", "--pass-epochs", "3"]
    result = run_train(data, *options, "--holdout", 0.25, "--verbose")
    assert result.exit_code == 0, result.output
    lines = [line for line in result.stdout.splitlines() if line.startswith("iteration")]
    assert [line.split(", ")[1][:2] for line in lines] == ["Z:", "B:", "W:"] * 2
    assert [line.split(",")[0] for line in lines] == [
        f"iteration {index} of 2" for index in (1, 1, 1, 2, 2, 2)
    ]
    for line in lines:
        assert re.search(
            r"objective \d+\.\d{4}, training accuracy [\d.]+ %, test accuracy [\d.]+ %$", line
        )
