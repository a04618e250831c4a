"""What teaching does on the host: the rule, the scores and their range, the store, and refusals."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from chains import replace
from chains import replace as with_numbers
from linear_factory import random_linear_model
from model_factory import random_inputs, random_model, tiny_integer_model
from refusals import refused_by
from sklearn.exceptions import NotFittedError

from protonn_edge.data.naming import NO_CLASS
from protonn_edge.extensions.teaching import board as teaching
from protonn_edge.extensions.teaching.examples import Taught
from protonn_edge.extensions.teaching.kinds.teachable.train.classifier import (
    TeachableProtoNNClassifier,
)
from protonn_edge.extensions.teaching.protonn.model import Teachable
from protonn_edge.extensions.teaching.protonn.votes import NearestExamples
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes
from protonn_edge.model.file import load_model, model_bytes, save_model
from protonn_edge.model.integer_chain import IntegerChain, coordinates
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection.held_out import calibrate_rejection
from protonn_edge.system.errors import InputError


def teachable_model(room: int = 7, seed: int = 0, **options: float) -> IntegerChain:
    return quantize(with_numbers(random_model(seed), teachable=room, **options))


def random_examples(model: IntegerChain, n: int, seed: int = 0) -> Taught:
    """Return examples that the model's board may be taught, some of them equal."""
    rng = np.random.default_rng(seed)
    points = coordinates(model, random_inputs(seed, n + 1, model))[:n].astype(np.int8)
    points[1::3] = points[::3][: len(points[1::3])]
    return Taught(points, rng.integers(0, model.n_classes, n).astype(np.uint8))


@pytest.mark.parametrize("new_classes", [0, 2])
def test_the_nearest_examples_vote(new_classes: int) -> None:
    """Three of them, with votes that count twice if they agree; or one, with new classes."""
    model = teachable_model(new_classes=new_classes)
    Q = random_inputs(1, 400, model)
    points = coordinates(model, Q)[[0, 0, 0, 1, 1, 2, 3]].astype(np.int8)
    taught = Taught(points, np.array([0, 0, 0, 0, 1, 2, 1], np.uint8))
    last = model.own_stages[-1]
    assert isinstance(last, IntegerPrototypes)
    assert last.voters is not None
    P, expected, agreements = coordinates(model, Q), [], 0
    for point, scores in zip(P.tolist(), last.run(P).tolist(), strict=True):
        nearest = sorted(
            (sum((a - b) ** 2 for a, b in zip(point, example, strict=True)), label)
            for example, label in zip(taught.points.tolist(), taught.classes, strict=True)
        )[: 1 if new_classes else 3]
        # twice as near as a prototype and cut in the middle of the table, or half as near
        shift, end = last.distance_shift, 128
        nearest = [(2 * r, label) for r, label in nearest]
        if new_classes:
            shift, end = shift + 2, 256
        voters = [(r >> shift, label) for r, label in nearest if r >> shift < end]
        agree = len({label for _, label in voters}) == 1
        agreements += agree
        for place, label in voters:
            scores[label] += int(last.table[place]) * last.voters.vote * (2 if agree else 1)
        expected.append(scores)
    assert 0 < agreements < len(P)
    assert (teaching.with_taught(model, taught).scores(Q) == expected).all()


def test_range_holds_whatever_is_taught() -> None:
    model = teachable_model(room=39)
    low, high = model.own_stages[-1].output.ends
    assert model.own_stages[-1].output.bits == 16
    for label in range(model.n_classes):
        Q = random_inputs(label, 40, model)
        for point in coordinates(model, Q)[:8].astype(np.int8):
            taught = Taught(np.tile(point, (39, 1)), np.full(39, label, np.uint8))
            scores = teaching.with_taught(model, taught).scores(Q)
            assert low <= scores.min() <= scores.max() <= high
            assert scores.max() > high / 3


def test_examples_leave_scores_of_16_bits() -> None:
    """However many there are, because only the nearest vote."""
    model = teachable_model(room=200)
    assert model.own_stages[-1].output.bits == 16
    assert model.own_stages[-1].output.ends[1] < 1 << 15


def test_a_full_store_replaces_the_nearest_example_of_the_class() -> None:
    taught = Taught(np.array([[0, 0], [9, 0], [5, 5]], np.int8), np.array([1, 1, 0], np.uint8))
    assert taught.learn([6, 1], 1, room=3) == Taught(
        np.array([[0, 0], [6, 1], [5, 5]], np.int8), np.array([1, 1, 0], np.uint8)
    )
    assert len(taught.learn([6, 1], 1, room=4)) == 4


def test_an_example_of_a_class_without_any_replaces_the_nearest_of_all() -> None:
    taught = Taught(np.array([[0, 0], [9, 0], [5, 5]], np.int8), np.array([1, 1, 0], np.uint8))
    assert taught.learn([6, 4], 2, room=3) == Taught(
        np.array([[0, 0], [9, 0], [6, 4]], np.int8), np.array([1, 1, 2], np.uint8)
    )


def test_differences_of_coordinates_do_not_wrap_around() -> None:
    taught = Taught(np.array([[-128, 0], [100, 90]], np.int8), np.zeros(2, np.uint8))
    kept = taught.learn([127, 0], 0, room=2)
    assert kept == Taught(np.array([[-128, 0], [127, 0]], np.int8), np.zeros(2, np.uint8))


@pytest.mark.parametrize("seed", range(20))
def test_the_rule_does_not_depend_on_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(-2, 3, (40, 2)).astype(np.int8)  # many equal distances
    classes = rng.integers(0, 4, 40).astype(np.uint8)
    one = other = Taught.nothing(2)
    for point, label in zip(points, classes, strict=True):
        shuffled = rng.permutation(len(other))
        other = Taught(other.points[shuffled], other.classes[shuffled])
        one, other = (each.learn(point, int(label), room=6) for each in (one, other))
        assert one == other
    assert one.forget(1) == other.forget(1)
    assert one.forget(1).counts(4).tolist() == [*one.counts(4)[:1], 0, *one.counts(4)[2:]]


def test_a_store_keeps_what_was_taught() -> None:
    model = teachable_model()
    for n in range(8):
        taught = random_examples(model, n, seed=n)
        store = teaching.stored(model, taught)
        assert len(store) == teaching.store_of(model).size
        assert teaching.recalled(model, store) == taught


def test_the_store_of_another_model_is_empty() -> None:
    model, other = teachable_model(), teachable_model(seed=1)
    store = teaching.stored(model, random_examples(model, 5))
    assert len(teaching.recalled(other, store)) == 0


def test_damaged_bytes_lose_their_record_alone() -> None:
    model, rng = teachable_model(), np.random.default_rng(0)
    taught = random_examples(model, 7)
    whole = teaching.stored(model, taught)
    size = teaching.store_of(model).record
    for slot in range(7):
        store = bytearray(whole)
        place = teaching.store_of(model).header + slot * size + int(rng.integers(size))
        store[place] ^= 1 << int(rng.integers(8))
        kept = np.arange(7) != slot
        left = Taught(taught.points[kept], taught.classes[kept])
        assert teaching.recalled(model, bytes(store)) == left


def test_random_bytes_are_no_examples() -> None:
    model, rng = teachable_model(room=39), np.random.default_rng(0)
    header = teaching.stored(model, random_examples(model, 0))[: teaching.store_of(model).header]
    rest = teaching.store_of(model).size - len(header)
    found = sum(
        len(teaching.recalled(model, header + rng.bytes(rest))) for _ in range(200)
    )  # of 8,000 records with random CRCs, of which 4 in 256 have a class
    assert found == 0


def test_more_records_than_room_are_limited() -> None:
    model = teachable_model()
    whole = teaching.stored(model, random_examples(model, 7))
    size = teaching.store_of(model).record
    crowded = whole[:-size] + whole[teaching.store_of(model).header :][:size]
    assert len(teaching.recalled(model, crowded)) == 7


def test_refusals_of_examples() -> None:
    model = teachable_model()
    with refused_by("taught examples"):
        teaching.with_taught(model, random_examples(model, 8))
    with refused_by("points"):
        teaching.with_taught(model, Taught.nothing(3))
    with refused_by("classes"):
        teaching.with_taught(model, Taught(np.zeros((1, 5), np.int8), np.array([4], np.uint8)))
    with refused_by("extensions.teaching.board"):
        teaching.recalled(model, b"123")
    with refused_by("points"):
        Taught(np.zeros((1, 5), np.int64), np.zeros(1, np.uint8))  # type: ignore[arg-type]
    for other in (quantize(random_model()), quantize(random_linear_model())):
        with refused_by("extensions.teaching.board"):
            teaching.store_of(other)


@pytest.mark.parametrize(
    "numbers",
    [
        {"teachable": -1},
        {"teachable": 250},
        {"teachable": 3, "taught_vote": float("nan")},
        {"teachable": 3, "taught_vote": 1.5},
        {"teachable": 3, "new_classes": 4},
    ],
)
def test_refusals_of_models(numbers: dict[str, float]) -> None:
    with refused_by("extensions.teaching.protonn.model"):
        with_numbers(random_model(), **numbers)


def test_a_file_keeps_the_numbers(tmp_path: object) -> None:
    path = f"{tmp_path}/model.npz"
    save_model(with_numbers(random_model(), teachable=9, taught_vote=0.25, new_classes=2), path)
    head = load_model(path).head
    assert head.voters == Teachable(9, 0.25, 2)
    assert b"teaching" not in model_bytes(random_model())


def test_new_classes_are_no_answers_until_they_are_taught() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 6)).astype(np.float32), rng.integers(0, 3, 300)
    X[:, 0] += 3 * y
    settings = {"n_prototypes": 9, "epochs": 4, "random_state": 0}
    plain = TeachableProtoNNClassifier(**settings).fit(X, y)
    fitted = TeachableProtoNNClassifier(teachable=9, new_classes=2, **settings).fit(X, y)
    assert fitted.model_.classes == ("0", "1", "2", "new 1", "new 2")
    assert (fitted.predict(X) == y).mean() > (plain.predict(X) == y).mean() - 0.05
    assert fitted.predict_proba(X).shape == (300, 3)
    model = quantize(fitted.model_)
    Q = model.quantize(rng.normal(size=(3000, 6)) * 5)
    assert model.predict(Q).max() < 3
    strangers = coordinates(model, model.quantize(X[:5] + 1)).astype(np.int8)
    taught = Taught(strangers, np.full(5, 4, np.uint8))
    assert (teaching.with_taught(model, taught).predict(Q) == 4).any()


@pytest.mark.parametrize("settings", [{"new_classes": 1}, {"teachable": 3, "normalization": "l2"}])
def test_refusals_of_training(settings: dict[str, object]) -> None:
    X = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)
    y = np.arange(40) % 2
    with refused_by("learn.training_request"):
        TeachableProtoNNClassifier(**settings).fit(X, y)


def taught_estimator(
    **settings: object,
) -> tuple[TeachableProtoNNClassifier, np.ndarray, np.ndarray]:
    """Return an estimator of four classes, and points of somebody unlike those of its training."""
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c", "d"])[np.arange(120) % 4]
    X = rng.normal(size=(120, 5)).astype(np.float32) + 3 * np.eye(4, 5)[np.arange(120) % 4]
    settings = {"n_projections": 4, "epochs": 5, "random_state": 0, "teachable": 20, **settings}
    return TeachableProtoNNClassifier(**settings).fit(X, y), X + 2, y


def test_an_estimator_answers_as_a_board_that_was_taught_the_same() -> None:
    classifier, X, y = taught_estimator()
    before = classifier.decision_function(X)
    file = model_bytes(classifier.to_model())
    for part in (slice(0, 7), slice(7, 23)):  # three more than there is room for
        assert classifier.partial_teach(X[part], y[part]) is classifier
    model = quantize(classifier.to_model())
    taught = Taught.nothing(4)
    for point, label in zip(coordinates(model, model.quantize(X[:23])), y[:23], strict=True):
        taught = taught.learn(point, "abcd".index(label), 20)
    board = teaching.with_taught(model, taught)
    Q = model.quantize(X)
    scores = classifier.decision_function(X)
    assert np.array_equal(np.rint(scores / model.score_scale), board.scores(Q))
    assert np.array_equal(classifier.predict(X), classifier.classes_[board.predict(Q)])
    assert (classifier.predict_proba(X).argmax(axis=1) == scores.argmax(axis=1)).all()
    assert model_bytes(classifier.to_model()) == file
    again = pickle.loads(pickle.dumps(classifier))
    assert np.array_equal(again.decision_function(X), scores)
    assert not np.allclose(before, scores)


def test_training_forgets_what_was_taught() -> None:
    taught, X, y = taught_estimator()
    taught.partial_teach(X[:8], y[:8])
    untaught, _, _ = taught_estimator()
    for each in (taught, untaught):
        each.fit(X, y)
    assert np.array_equal(taught.decision_function(X), untaught.decision_function(X))


def test_a_taught_estimator_rejects_as_the_board() -> None:
    classifier, X, y = taught_estimator()
    calibrate_rejection(classifier, X - 2, y, rate=0.2)
    classifier.partial_teach(X[:12], y[:12])
    model = quantize(classifier.to_model())
    indices = teaching.after_teaching(
        model, model.quantize(X[:12]), np.searchsorted(classifier.classes_, y[:12])
    ).predict(model.quantize(X))
    answers = classifier.predict(X, unknown="?")
    assert 0 < (answers == "?").sum() < len(X)
    assert np.array_equal(answers == "?", indices == NO_CLASS)


def test_what_cannot_be_taught_is_refused() -> None:
    classifier, X, y = taught_estimator()
    with pytest.raises(InputError, match="'e', which is not among the training classes"):
        classifier.partial_teach(X[:1], ["e"])
    with pytest.raises(NotFittedError):
        TeachableProtoNNClassifier(teachable=5).partial_teach(X, y)
    classifier, X, y = taught_estimator(teachable=0)
    with refused_by("extensions.teaching.board"):
        classifier.partial_teach(X, y)
    with pytest.raises(ValueError, match="3 features"):
        classifier.partial_teach(X[:, :3], y)


def test_the_hash_changes_with_the_room_for_examples_and_their_vote() -> None:
    model = tiny_integer_model()
    others = [
        replace(model, voters=NearestExamples(room=room, vote=vote))
        for room, vote in ((2, 9), (3, 9), (2, 8))
    ]
    assert len({each.model_sha256 for each in (model, *others)}) == 4
