"""Another kind takes the place of the default only if it is clearly better on points held out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run, run_json

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.division import Division
from protonn_edge.data.points.values import ValueDataset
from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.kinds.linear.value.train import LinearRegressor
from protonn_edge.learn.better_kind import BetterKind, better_kind
from protonn_edge.model.file import load_model, model_bytes
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.wording import COMMAND_LINE, Interface, speaking

HELD_OUT = Division("", share=0.2)
KEPT = "--classifier protonn keeps ProtoNN)"


def board(seed: int = 0, n: int = 900) -> tuple[np.ndarray, np.ndarray]:
    """Return points of a checkerboard, which no line divides."""
    X = 3 * np.random.default_rng(seed).random((n, 2))
    return X.astype(np.float32), (np.floor(X).sum(axis=1) % 2).astype(int)


def steps(seed: int = 0, n: int = 900) -> tuple[np.ndarray, np.ndarray]:
    """Return points with a number that rises in steps, as leaves do."""
    X = np.random.default_rng(seed).random((n, 2))
    return X.astype(np.float32), (np.floor(4 * X[:, 0]) * np.floor(3 * X[:, 1]))[:, None] + 0.25


def of_board(n: int = 300, **facts: Any) -> Dataset:
    return Dataset(*board(), *board(1, n), ("black", "white"), **{"division": HELD_OUT, **facts})


def of_steps(n: int = 300) -> Dataset:
    return ValueDataset(*steps(), *steps(1, n), ("height",), division=HELD_OUT)


@pytest.fixture(scope="module")
def line() -> LinearClassifier:
    return LinearClassifier(random_state=0).fit(*board())


@pytest.fixture(scope="module")
def better(line: LinearClassifier) -> BetterKind:
    found = better_kind(line, of_board(), seed=0)
    assert found is not None
    return found


def right(model: Model, dataset: Dataset) -> float:
    integers = quantize(model)
    return float(np.mean(integers.predict(integers.quantize(dataset.X_test)) == dataset.y_test))


def test_a_clearly_better_kind_is_taken_by_its_integers(better: BetterKind) -> None:
    model = better.learner.model_
    assert model.head.kind == "forest"
    assert 1 - better.errors["forest"] == pytest.approx(right(model, of_board()))
    assert better.to_record() == {"kinds": {"n": 300, "errors": better.errors}}


def test_the_same_seed_takes_the_same_model(line: LinearClassifier, better: BetterKind) -> None:
    again = better_kind(line, of_board(), seed=0)
    assert again is not None
    assert again.errors == better.errors
    assert model_bytes(again.learner.model_) == model_bytes(better.learner.model_)


def test_the_line_has_all_figures_and_the_way_back(better: BetterKind) -> None:
    with speaking(COMMAND_LINE):
        shown = better.notice()
    forest, linear = (f"{100 * (1 - better.errors[kind]):.0f} %" for kind in ("forest", "linear"))
    assert shown.text == (
        f"kind forest: {forest} of 300 held-out points correct, linear {linear} (chosen on these "
        "points; --classifier linear keeps linear)"
    )
    assert not shown.warning


def test_an_interface_without_the_option_keeps_the_rest_of_the_line(better: BetterKind) -> None:
    with speaking(Interface(form=None)):
        assert better.notice().text.endswith("(chosen on these points)")


@pytest.mark.parametrize("division", [None, Division(""), replace(HELD_OUT, held=[1])])
def test_points_given_for_testing_choose_nothing(
    line: LinearClassifier, division: Division | None
) -> None:
    assert better_kind(line, of_board(division=division), seed=0) is None


def test_few_points_choose_nothing(line: LinearClassifier) -> None:
    assert better_kind(line, of_board(99), seed=0) is None


def test_the_points_of_few_groups_choose_nothing(line: LinearClassifier) -> None:
    groups = np.arange(300) % 3
    assert better_kind(line, of_board(test_groups=groups), seed=0) is None
    assert better_kind(line, of_board(test_groups=np.arange(300) % 60), seed=0) is not None


def test_a_good_model_is_left_alone_without_a_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = board()
    new = board(1, 300)[0]
    easy = of_board()
    labels, tested = ((each[:, 0] > 1.5).astype(int) for each in (X, new))
    easy = replace(easy, y_train=labels, y_test=tested)
    line = LinearClassifier(random_state=0).fit(X, labels)
    monkeypatch.setattr("protonn_edge.learn.better_kind.PARAMETERS", None)
    assert better_kind(line, easy, seed=0) is None


def test_numbers_take_the_forest_if_its_errors_are_clearly_smaller() -> None:
    X, y = steps()
    line = LinearRegressor(random_state=0).fit(X, y[:, 0])
    found = better_kind(line, of_steps(), seed=0)
    assert found is not None
    assert [*found.errors] == ["linear", "forest"]
    assert found.errors["forest"] < 0.5 * found.errors["linear"]
    with speaking(COMMAND_LINE):
        text = found.notice().text
    assert text.startswith(f"kind forest: mean absolute error {found.errors['forest']:.3g} on 300")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("board") / "board.csv"
    X, y = board()
    rows = [f"{a},{b},{'black' if label else 'white'}" for (a, b), label in zip(X, y, strict=True)]
    path.write_text("\n".join(["x,y,label", *rows]))
    return path


def test_train_takes_the_kind_and_the_model_keeps_the_figures(table: Path) -> None:
    written = table.with_name("m.npz")
    told = run_json("train", table, "-o", written)
    (notice,) = (each for each in told["notices"] if each["kind"] == "better_kind")
    assert notice["text"].endswith(KEPT)
    model = load_model(written)
    assert model.head.kind == "forest"
    assert model.record["kinds"] == told["kinds"]
    assert [*told["kinds"]["errors"]] == ["protonn", "linear", "forest"]
    assert told["accuracy"] == pytest.approx(1 - told["kinds"]["errors"]["forest"])
    named = run_json("train", table, "-o", table.with_name("f.npz"), "--classifier", "forest")
    assert named["model_sha256"] == told["model_sha256"]


@pytest.mark.parametrize(
    "option",
    [
        ("--classifier", "protonn"),
        ("--prototypes", "8"),
        ("--budget", "2kB"),
        ("--class-weight", "balanced"),
        ("--teachable", "2"),
        ("--rejection", "0.01"),
        ("--holdout", "0"),
    ],
)
def test_a_named_kind_or_an_option_of_one_is_kept(table: Path, option: tuple[str, str]) -> None:
    written = table.with_name("kept.npz")
    result = run("train", table, "-o", written, *option)
    assert "keeps ProtoNN" not in result.output
    assert load_model(written).head.kind == "protonn"
