"""Another kind of classifier is named only if it is clearly better on points held out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import run_json
from scipy.stats import binomtest

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.division import Division
from protonn_edge.data.reading import load_dataset
from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.learn.advice import better_kind, leads
from protonn_edge.model.model import Model
from protonn_edge.system.wording import COMMAND_LINE, speaking


def board(seed: int = 0, n: int = 900) -> tuple[np.ndarray, np.ndarray]:
    """Return points of a checkerboard, which no line divides."""
    X = 3 * np.random.default_rng(seed).random((n, 2))
    return X.astype(np.float32), (np.floor(X).sum(axis=1) % 2).astype(int)


def dataset(division: Division | None) -> Dataset:
    return Dataset(*board(), *board(1, 300), ("black", "white"), division=division)


@pytest.fixture(scope="module")
def model() -> Model:
    return LinearClassifier(random_state=0).fit(*board()).to_model()


def test_a_clearly_better_kind_is_named(model: Model) -> None:
    with speaking(COMMAND_LINE):
        notice = better_kind(model, dataset(Division("", share=0.2)), seed=0)
    assert notice is not None
    assert notice.text.endswith("try --classifier forest")
    assert not notice.warning


def test_points_given_for_testing_choose_nothing(model: Model) -> None:
    assert better_kind(model, dataset(None), seed=0) is None
    assert better_kind(model, dataset(Division("")), seed=0) is None


def test_a_weighted_model_has_another_aim(model: Model) -> None:
    record = {**model.record, "settings": {"class_weight": "balanced"}}
    weighted = replace(model, record=record)
    assert better_kind(weighted, dataset(Division("", share=0.2)), seed=0) is None


def test_a_good_model_is_left_alone() -> None:
    X, _ = board()
    labels = (X[:, 0] > 1.5).astype(int)
    new = board(1, 300)[0]
    held_out = Division("", share=0.2)
    easy = Dataset(X, labels, new, (new[:, 0] > 1.5).astype(int), ("a", "b"), division=held_out)
    model = LinearClassifier(random_state=0).fit(X, labels).to_model()
    assert better_kind(model, easy, seed=0) is None


def test_the_lead_is_mcnemars_exact_test() -> None:
    for won in range(12):
        for lost in range(8):
            n = 100
            one, other = np.ones((2, n), bool)
            other[:won] = False
            one[won : won + lost] = False
            expected = (
                won + lost > 0
                and binomtest(won, won + lost, alternative="greater").pvalue < 0.01
                and won - lost >= 2
            )
            assert leads(one, other) == expected
    few = np.ones(1_000, bool)
    few[:12] = False
    assert not leads(np.ones(1_000, bool), few)  # 1.2 points


def test_what_train_names_is_what_it_promises(tmp_path: Path) -> None:
    X, y = board()
    path = tmp_path / "board.csv"
    rows = [f"{a},{b},{'black' if label else 'white'}" for (a, b), label in zip(X, y, strict=True)]
    path.write_text("\n".join(["x,y,label", *rows]))
    words = ("train", path, "-o", tmp_path / "m.npz")
    told = run_json(*words, "--classifier", "linear")
    (advice,) = (each for each in told["notices"] if each["kind"] == "better_kind")
    followed = run_json(*words, "--classifier", "forest")
    assert f"about {100 * followed['accuracy']:.0f} % of" in advice["text"]
    assert followed["accuracy"] > told["accuracy"] + 0.02
    assert len(load_dataset(path).y_train) == 900
