"""Classes that only the owner teaches: their names, and no answers before they are taught."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from byte_programs import answered_by, host_program
from chains import replace
from command_line import succeed
from hypothesis import given
from hypothesis import strategies as st
from model_factory import random_inputs, random_model, sharp

from protonn_edge import load_model, save_model
from protonn_edge.extensions.teaching.board import with_taught
from protonn_edge.extensions.teaching.examples import Taught
from protonn_edge.extensions.teaching.kinds.teachable.train.classifier import (
    TeachableProtoNNClassifier,
)
from protonn_edge.extensions.teaching.protonn.model import (
    with_new_classes,
)
from protonn_edge.model.integer_chain import IntegerChain, coordinates
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.confidence.rule import Confidence

TESTS = Path(__file__).parents[2]
N_OLD, N_NEW = 3, 2
OPTIONS = {"teachable": 5, "new_classes": N_NEW, "epochs": 1, "n_prototypes": 6, "random_state": 0}


def model_with_new_classes(seed: int = 0) -> Model:
    old = random_model(seed, classes=N_OLD, prototypes=30)
    labels = with_new_classes(old.head.labels, N_NEW)
    names = tuple(f"class {label}" for label in range(N_OLD + N_NEW))
    return replace(old, labels=labels, teachable=9, new_classes=N_NEW, classes=names)


def fitted(n_points: int = 60) -> tuple[TeachableProtoNNClassifier, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(n_points) % N_OLD
    X = rng.normal(size=(n_points, 4)) + 3 * y[:, None]
    return TeachableProtoNNClassifier(**OPTIONS).fit(X, y), X, y


@pytest.mark.parametrize("seed", range(20))
def test_rounding_does_not_let_it_win(seed: int) -> None:
    model = quantize(model_with_new_classes(seed))
    labels = model.own_stages[-1].labels
    assert (labels[:N_OLD].sum(axis=0, dtype=np.int64) >= 0).all()
    assert not labels[N_OLD:].any()
    Q = np.random.default_rng(seed).integers(
        0, model.quantizer.maximum + 1, (500, model.n_features)
    )
    assert model.predict(Q.astype(np.uint8)).max() < N_OLD


def test_labels_are_rounded_by_less_than_one() -> None:
    model = model_with_new_classes()
    labels = quantize(model).own_stages[-1].labels
    exact = model.head.labels / np.abs(model.head.labels).max() * np.abs(labels).max()
    assert np.abs(np.sort(labels.ravel()) - np.sort(exact.ravel())).max() < 1


def confidence_in_c(model: IntegerChain, folder: Path, Q: np.ndarray) -> list[int]:
    """Return what generated C says, on this computer."""
    main = TESTS / "policy" / "confidence" / "confidence_main.c"
    return list(answered_by(host_program(model, main, folder), Q.tobytes()))


def test_it_takes_no_share_of_the_confidence(tmp_path: Path) -> None:
    classifier, X, _ = fitted()
    model = quantize(classifier.model_)
    assert model.policy.find(Confidence) is not None
    assert model.policy.find(Confidence).n_new == N_NEW
    per_cent = model.policy.find(Confidence).percent(model.scores(model.quantize(X)))
    assert np.abs(per_cent / 100 - classifier.predict_proba(X).max(axis=1)).max() < 0.06
    assert confidence_in_c(model, tmp_path, model.quantize(X)) == per_cent.tolist()


def test_an_example_gives_it_its_share() -> None:
    model = sharp(quantize(model_with_new_classes()), 1e-6)
    Q = random_inputs(0, 1, model)
    taught = Taught(coordinates(model, Q).astype(np.int8), np.array([N_OLD], np.uint8))
    before, after = (
        each.policy.find(Confidence).percent(each.scores(Q))
        for each in (model, with_taught(model, taught))
    )
    assert (before, after) == (33, 25)  # of three classes, then of four


@given(scores=st.lists(st.integers(-3, 3), min_size=2, max_size=5))
def test_confidence_is_at_most_100_whatever_the_scores(scores: list[int]) -> None:
    assert Confidence.of(0.5, len(scores) - 1).percent([scores])[0] <= 100


def test_its_model_is_trained_further(tmp_path: Path) -> None:
    classifier, X, y = fitted()
    model = classifier.model_
    assert model.head.voters.before_training(model).classes == ("0", "1", "2")
    further = TeachableProtoNNClassifier(**OPTIONS, initial_model=model).fit(X, y)
    assert further.model_.n_classes == 5
    data, start, path = tmp_path / "t.csv", tmp_path / "start.npz", tmp_path / "m.npz"
    rows = [",".join(map(str, [*point, label])) for point, label in zip(X.tolist(), y, strict=True)]
    data.write_text("\n".join(["a,b,c,d,label", *rows]) + "\n")
    save_model(classifier.to_model(feature_names=tuple("abcd")), start)
    words = ["train", data, "-o", path, "--start-from", start, "--epochs", 1, "--holdout", 0.25]
    succeed(*words, "--teachable", 5, "--new-classes", 1)
    assert load_model(path).classes == ("0", "1", "2", "new 1")
    succeed(*words)
    assert load_model(path).classes == ("0", "1", "2")


WORDS = ("--epochs", 1, "--prototypes", 6, "--teachable", 5)


def table(path: Path, names: tuple[str, ...]) -> Path:
    rng, n = np.random.default_rng(0), 20 * len(names)
    rows = [f"{names[i % len(names)]},{rng.normal(99 * (i % len(names)), 9)}" for i in range(n)]
    path.write_text("\n".join(["label,a", *rows]) + "\n")
    return path


@pytest.mark.parametrize(
    ("names", "further"),
    [(("x", "y", "z"), ("new 1", "new 2")), (("new 1", "x"), ("new 2", "new 3"))],
)
def test_further_classes_have_names_of_their_own(
    tmp_path: Path, names: tuple[str, ...], further: tuple[str, ...]
) -> None:
    data, path = table(tmp_path / "t.csv", names), tmp_path / "m.npz"
    succeed("train", data, "-o", path, *WORDS, "--new-classes", 2, "--holdout", 0.25)
    assert load_model(path).classes == (*names, *further)


@pytest.mark.parametrize(("new", "classes"), [(249, 251), (252, 254)])
def test_too_much_room_is_refused_before_the_training(new: int, classes: int) -> None:
    X, seen = np.arange(40.0).reshape(20, 2), []
    with pytest.raises(ValueError, match=f"with {classes} classes"):
        TeachableProtoNNClassifier(teachable=5, new_classes=new, callback=seen.append).fit(
            X, np.arange(20) % 2
        )
    assert not seen
