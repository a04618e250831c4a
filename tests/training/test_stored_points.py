"""Points that are too many for memory: read in blocks, each once an epoch, and never all held."""

from __future__ import annotations

import json
import mmap
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from protonn_edge.chain.file import model_bytes
from protonn_edge.chain.statistics import InputStatistics
from protonn_edge.datasets import load_digits_dataset
from protonn_edge.errors import InputError
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.training import stored_points
from protonn_edge.training.normalization import RunningInputs
from protonn_edge.training.points import TrainingSet
from protonn_edge.training.stored_points import StoredPoints, StoredSet, chunks_of, is_large

DIGITS = load_digits_dataset()


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a thousand points too many, and pools and samples small."""
    monkeypatch.setattr(stored_points, "LARGE_BYTES", 100_000)
    monkeypatch.setattr(stored_points, "POOL_BYTES", 40_000)
    monkeypatch.setattr(stored_points, "BLOCK_BYTES", 5_000)
    monkeypatch.setattr(stored_points, "SAMPLE_POINTS", 400)


def fit(X: Any, y: Any, *weights: Any, **settings: Any) -> ProtoNNClassifier:
    chosen = {"n_projections": 8, "n_prototypes": 30, "epochs": 10, "random_state": 0} | settings
    return ProtoNNClassifier(**chosen).fit(X, y, *weights)


def mapped(folder: Path, X: np.ndarray) -> np.ndarray:
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def test_only_large_arrays_of_points_are_read_in_blocks(small_limits: None) -> None:
    assert is_large(DIGITS.X_train)
    assert not is_large(DIGITS.X_train[:100])
    assert not is_large(DIGITS.X_train.tolist())


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_a_mapped_file_is_learned_as_well_as_points_in_memory(
    tmp_path: Path, small_limits: None, dtype: type
) -> None:
    order = np.argsort(DIGITS.y_train)  # sorted by class, as such files often are
    X = mapped(tmp_path, DIGITS.X_train[order].astype(dtype))
    classifier = fit(X, DIGITS.y_train[order], epochs=30)
    assert classifier.score(DIGITS.X_test, DIGITS.y_test) > 0.93
    assert classifier.n_iter_ == 30
    record = classifier.to_model().record
    assert record["n_train"] == len(X)


def test_it_is_the_array_and_not_the_mapping_that_counts(
    tmp_path: Path, small_limits: None
) -> None:
    on_disk = fit(mapped(tmp_path, DIGITS.X_train), DIGITS.y_train)
    in_memory = fit(DIGITS.X_train, DIGITS.y_train)
    assert model_bytes(on_disk.to_model()) == model_bytes(in_memory.to_model())


def test_statistics_and_digest_are_those_of_all_points(
    monkeypatch: pytest.MonkeyPatch, small_limits: None
) -> None:
    stored = fit(DIGITS.X_train, DIGITS.y_train, epochs=1).to_model()
    monkeypatch.undo()
    plain = fit(DIGITS.X_train, DIGITS.y_train, epochs=1).to_model()
    for name in ("lower", "upper"):
        assert np.array_equal(getattr(stored.inputs, name), getattr(plain.inputs, name))
    for name in ("mean", "deviation"):
        np.testing.assert_allclose(
            getattr(stored.inputs, name), getattr(plain.inputs, name), rtol=1e-5, atol=1e-6
        )
    assert np.mean(stored.inputs.background == plain.inputs.background) > 0.9
    assert stored.record["data_sha256"] == plain.record["data_sha256"]


def test_the_same_seed_gives_the_same_bytes(small_limits: None) -> None:
    first, again, other = (
        model_bytes(fit(DIGITS.X_train, DIGITS.y_train, random_state=seed, epochs=2).to_model())
        for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other


def a_set(weights: np.ndarray | None = None) -> StoredSet:
    X = np.arange(1_000 * 25, dtype=np.float64).reshape(1_000, 25)
    points = StoredPoints(X, np.arange(1_000) % 4, weights)
    sample = TrainingSet.of_targets(X[:8].astype(np.float32), np.arange(8) % 4)
    return StoredSet.of(points, sample, np.ones(25, dtype=np.bool_), lambda raw: raw)


@pytest.mark.parametrize("size", [1, 7, 64, 5_000])
def test_every_point_is_in_one_batch_an_epoch(small_limits: None, size: int) -> None:
    batches = list(a_set().batches(size, np.random.default_rng(0)))
    assert len(batches) == -(-1_000 // size)
    rows = np.concatenate([batch.rows for batch in batches])
    assert np.array_equal(np.sort(rows), np.arange(1_000))
    assert not np.array_equal(rows, np.arange(1_000))
    for batch in batches:
        assert np.array_equal(batch.X[:, 0], 25.0 * batch.rows)
        assert np.array_equal(batch.Y.argmax(axis=1), batch.rows % 4)


def test_a_batch_mixes_blocks_that_lie_far_apart(small_limits: None) -> None:
    batch = next(a_set().batches(64, np.random.default_rng(0)))
    assert len(np.unique(batch.rows // 50)) > 4


def test_points_without_weight_are_left_out(small_limits: None) -> None:
    weights = np.where(np.arange(1_000) % 3 == 0, 0.0, 2.0)
    stored = a_set(weights)
    batches = list(stored.batches(64, np.random.default_rng(0)))
    rows = np.concatenate([batch.rows for batch in batches])
    assert np.array_equal(np.sort(rows), np.flatnonzero(weights))
    assert len(stored) == len(rows)
    assert all(np.array_equal(batch.weights, np.ones(len(batch.rows))) for batch in batches)


def test_what_is_done_to_the_points_is_done_in_turn() -> None:
    changed = a_set().through(lambda X: X + 1).through(lambda X: X * 2)
    batch = next(changed.batches(4, np.random.default_rng(0)))
    assert np.array_equal(batch.X[:, 0], 2 * (25.0 * batch.rows + 1))


def test_points_of_weight_0_count_for_nothing(small_limits: None) -> None:
    absent = DIGITS.y_train == 3
    weights = np.where(absent, 0.0, 1.0)
    moved = np.where(absent[:, None], 1_000.0, DIGITS.X_train)
    classifier = fit(moved, DIGITS.y_train, weights, epochs=2)
    assert 3 not in classifier.classes_
    assert classifier.to_model().inputs.upper.max() == DIGITS.X_train.max()


def test_a_rare_class_is_in_the_sample(small_limits: None) -> None:
    y = np.where(np.arange(1_347) == 700, 77, DIGITS.y_train)
    assert 77 in fit(DIGITS.X_train, y, epochs=1).classes_


def test_a_value_that_is_no_number_is_found_by_its_row(tmp_path: Path, small_limits: None) -> None:
    X = DIGITS.X_train.copy()
    X[1_200, 5] = np.nan
    with pytest.raises(InputError, match="row 1,200 of X has NaN in feature 5"):
        fit(mapped(tmp_path, X), DIGITS.y_train)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"optimizer": "alternating"}, "optimizer is alternating, which needs all points"),
        ({"augment": True, "image_shape": (8, 8)}, "augment is True, which needs all points"),
        ({"n_prototypes": 2_000}, "number of prototypes is 2,000, but the training data has 1,347"),
    ],
)
def test_what_cannot_be_done_in_blocks_is_refused(
    small_limits: None, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        fit(DIGITS.X_train, DIGITS.y_train, **settings)


def test_text_is_no_points(small_limits: None) -> None:
    with pytest.raises(InputError, match="only numbers can be read in blocks"):
        fit(DIGITS.X_train.astype(str), DIGITS.y_train)


def test_a_budget_holds_for_many_points_too(small_limits: None) -> None:
    model = fit(DIGITS.X_train, DIGITS.y_train, n_prototypes=None, budget=900, epochs=1).to_model()
    assert model.head.projection.size + model.head.prototypes.size + model.head.labels.size <= 900


@pytest.mark.parametrize("parts", [1, 3, 50])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_statistics_of_parts_are_those_of_the_whole(parts: int, offset: float) -> None:
    rng = np.random.default_rng(0)
    X = (offset + rng.normal(size=(200, 3)) * [1, 10, 0]).astype(np.float64)
    weights = rng.uniform(0.5, 2.0, 200)
    running = RunningInputs(3)
    for part, of_part in zip(np.array_split(X, parts), np.array_split(weights, parts), strict=True):
        running.add(part, of_part)
    whole = InputStatistics.of(X, weights)
    found = running.inputs(whole.background)
    for name in ("lower", "upper", "mean", "deviation"):
        np.testing.assert_allclose(getattr(found, name), getattr(whole, name), rtol=1e-9, atol=1e-7)


def test_pages_of_a_private_mapping_are_kept(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", np.zeros((1_000, 10), dtype=np.float32))
    X = np.load(tmp_path / "X.npy", mmap_mode="c")
    X[:] = 1.0
    assert all((chunk == 1.0).all() for _, chunk in chunks_of(X))
    assert (X == 1.0).all()


_CHILD = """
import json, pathlib, sys
import numpy as np
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.training import stored_points
for limit in ("LARGE_BYTES", "POOL_BYTES", "BLOCK_BYTES", "SAMPLE_POINTS"):
    setattr(stored_points, limit, getattr(stored_points, limit) // 2)
def peak():
    # Not ru_maxrss: that begins at the peak of the process that this one was started from.
    status = pathlib.Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])
small = np.random.default_rng(0).normal(size=(600, 200)).astype(np.float32)
settings = {"n_projections": 5, "n_prototypes": 20, "epochs": 1, "random_state": 0}
ProtoNNClassifier(**settings).fit(small, np.arange(600) % 4)
before = peak()
X, y = np.load(sys.argv[1], mmap_mode="r"), np.load(sys.argv[2])
classifier = ProtoNNClassifier(**settings).fit(X, y)
print(json.dumps({"bytes": X.nbytes, "more": peak() - before, "score": classifier.score(X, y)}))
"""


@pytest.fixture
def large_file(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """Write 270,000 points of 200 features, 216 MB, in four classes: for half of the limits."""
    rng = np.random.default_rng(0)
    n, D = 270_000, 200
    y = rng.integers(0, 4, n)
    centres = rng.normal(size=(4, D)).astype(np.float32)
    X = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float32, (n, D))
    X[:] = centres[y] + rng.standard_normal((n, D), dtype=np.float32)
    X.flush()
    np.save(tmp_path / "y.npy", y)
    yield tmp_path / "X.npy", tmp_path / "y.npy"
    (tmp_path / "X.npy").unlink()


@pytest.mark.skipif(
    not hasattr(mmap, "MADV_DONTNEED") or sys.platform != "linux",
    reason="only Linux counts and returns the pages of a mapped file; run it there",
)
def test_a_large_file_takes_less_memory_than_half_of_it(large_file: tuple[Path, Path]) -> None:
    result = subprocess.run(
        [sys.executable, "-c", _CHILD, *map(str, large_file)],
        capture_output=True,
        check=True,
        timeout=900,
        cwd=Path(stored_points.__file__).parents[2],
    )
    measured = json.loads(result.stdout)
    assert measured["more"] < 0.5 * measured["bytes"]
    assert measured["score"] > 0.9


def test_images_in_blocks_are_pooled_as_those_in_memory(
    monkeypatch: pytest.MonkeyPatch, small_limits: None
) -> None:
    shapes = {"image_shape": (8, 8), "features": "pool:4x4"}
    stored = fit(DIGITS.X_train, DIGITS.y_train, epochs=20, **shapes)
    monkeypatch.undo()
    plain = fit(DIGITS.X_train, DIGITS.y_train, epochs=20, **shapes)
    for name in ("lower", "upper", "mean", "deviation", "background"):
        np.testing.assert_allclose(
            getattr(stored.model_.inputs, name), getattr(plain.model_.inputs, name), rtol=1e-5
        )
    assert stored.model_.n_inputs == 16
    assert stored.score(DIGITS.X_test, DIGITS.y_test) > 0.85
    assert stored.score_samples(DIGITS.X_test).shape == (450,)
