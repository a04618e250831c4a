"""What is learned from normal points alone, and from their table to a report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import run_json, succeed

from protonn_edge.data.naming import NO_CLASS
from protonn_edge.extensions.one_class.kinds.one_class.train.classifier import (
    OneClassProtoNNClassifier,
)
from protonn_edge.model.file import load_model
from protonn_edge.model.model import raw_ends
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection.held_out import calibrate_rejection
from protonn_edge.system.errors import InputError

RNG = np.random.default_rng(0)
FEATURES = 6
RATE = 0.1


def normal_points(n: int) -> np.ndarray:
    """Return points in two clusters."""
    centres = np.where(RNG.random((n, 1)) < 0.5, -4.0, 4.0)
    return (centres + RNG.normal(0, 1, (n, FEATURES))).astype(np.float32)


NORMAL, HELD_OUT = normal_points(1000), normal_points(1000)
BETWEEN = RNG.normal(0, 0.5, (200, FEATURES)).astype(np.float32)


@pytest.fixture(scope="module")
def classifier() -> OneClassProtoNNClassifier:
    fitted = OneClassProtoNNClassifier(one_class=True, n_prototypes=8, random_state=0).fit(NORMAL)
    return calibrate_rejection(fitted, NORMAL, np.zeros(len(NORMAL)), rate=RATE, by=["distance"])


def share_rejected(classifier: OneClassProtoNNClassifier, X: np.ndarray) -> float:
    integers = quantize(classifier.to_model())
    return float(np.mean(integers.predict(integers.quantize(X)) == NO_CLASS))


def test_false_alarms_are_as_asked(classifier: OneClassProtoNNClassifier) -> None:
    error = np.sqrt(2 * RATE * (1 - RATE) / len(NORMAL))  # of the threshold, and of what is tested
    assert abs(share_rejected(classifier, HELD_OUT) - RATE) < 3 * error


def test_points_between_clusters_are_not_normal(classifier: OneClassProtoNNClassifier) -> None:
    assert share_rejected(classifier, BETWEEN) == 1


def test_a_device_sees_a_bit_beyond_the_normal_range(classifier: OneClassProtoNNClassifier) -> None:
    model = classifier.to_model()
    assert np.allclose(
        np.ptp([model.inputs.lower, model.inputs.upper], axis=0), 2 * np.ptp(NORMAL, axis=0)
    )
    beyond = np.full((1, FEATURES), 1.4 * NORMAL.max(), dtype=np.float32)
    assert share_rejected(classifier, beyond) == 1


def test_predictions_are_the_normal_class_or_unknown(classifier: OneClassProtoNNClassifier) -> None:
    assert classifier.classes_.tolist() == ["normal"]
    assert set(classifier.predict(HELD_OUT, unknown=-1).tolist()) == {"normal", -1}
    assert set(classifier.predict(BETWEEN).tolist()) == {"normal"}
    assert classifier.to_model().predict(BETWEEN).tolist() == [NO_CLASS] * len(BETWEEN)


def test_scores_decide_too() -> None:
    fitted = OneClassProtoNNClassifier(one_class=True, n_prototypes=8, random_state=0)
    fitted.fit(NORMAL, np.full(len(NORMAL), "fine"))
    calibrate_rejection(fitted, HELD_OUT, rate=RATE)
    assert fitted.classes_.tolist() == ["fine"]
    assert share_rejected(fitted, BETWEEN) == 1
    with pytest.raises(InputError, match="one class has no margin"):
        calibrate_rejection(fitted, HELD_OUT, rate=RATE, by=["margin"])


def test_several_classes_are_refused() -> None:
    y = np.arange(len(NORMAL)) % 3
    with pytest.raises(InputError, match="has 3 classes, but one_class is set"):
        OneClassProtoNNClassifier(one_class=True).fit(NORMAL, y)


def test_windows_of_samples_reach_beyond_the_normal_range() -> None:
    settings = {"features": "mean,deviation,max", "window_shape": (FEATURES // 2, 2)}
    model = (
        OneClassProtoNNClassifier(one_class=True, random_state=0, **settings).fit(NORMAL).to_model()
    )
    lower, upper = raw_ends(model)
    samples = NORMAL.reshape(-1, 2)
    assert (lower < samples.min(axis=0) - 0.4 * np.ptp(samples, axis=0)).all()
    assert (upper > samples.max(axis=0) + 0.4 * np.ptp(samples, axis=0)).all()


def write(path: Path, n: int, others: int) -> Path:
    """Write points of a machine that runs, and of one that is broken."""
    X = np.concatenate([RNG.normal(100, 10, (n, 4)), RNG.normal(160, 10, (others, 4))])
    rows = [
        ",".join(["fine" if i < n else "broken", *map(str, x.round().astype(int))])
        for i, x in enumerate(X)
    ]
    path.write_text("\n".join(["label,a,b,c,d", *rows]) + "\n")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give normal.csv, mixed.csv and test.csv."""
    place = tmp_path_factory.mktemp("machine")
    write(place / "normal.csv", 300, 0)
    write(place / "mixed.csv", 300, 60)
    write(place / "test.csv", 40, 20)
    return place


@pytest.fixture(scope="module")
def model_file(folder: Path) -> Path:
    path = folder / "model.npz"
    options = ["--one-class", "--normal", "fine", "--rejection", "5%", "--prototypes", 8]
    record = run_json("train", folder / "mixed.csv", "-o", path, *options)
    assert (record["one_class"]["normal"], record["one_class"]["others"]) == (60, 60)
    assert record["one_class"]["found"] == 60
    assert record["one_class"]["false_alarms"] <= 10
    return path


def test_points_of_one_class_are_enough(folder: Path) -> None:
    path = folder / "alone.npz"
    done = succeed("train", folder / "normal.csv", "-o", path, "--one-class", "--holdout", 0.5)
    assert "false alarms" in done.stdout
    assert "of 150 normal points" in done.stdout
    assert "detected" not in done.stdout


@needs_emulated_avr
def test_a_device_tells_normal_from_all_else(
    folder: Path, model_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = folder / "test.csv"
    succeed("build", model_file, "--data", data)
    run_record = run_json("hil", data, "--emulate", "-o", "results.csv")
    assert (run_record["n"], run_record["mismatches"], run_record["lost"]) == (60, 0, 0)
    assert (run_record["others"], run_record["others_found"]) == (20, 20)
    assert run_record["accuracy"] > 0.8
    confusion = run_record["confusion"]
    assert [sum(row) for row in confusion] == [40, 20]
    assert confusion[1] == [0, 20]
    told = succeed("report", "results.csv", "--data", data, "-o", "report.html")
    assert "100.00 % of 20 other points" in told.stdout
    assert "unknown" in (tmp_path / "report.html").read_text()
    assert quantize(load_model(model_file)).model_sha256 == run_record["model_sha256"]


def test_an_export_of_one_class_answers_unknown(model_file: Path, tmp_path: Path) -> None:
    succeed("export", model_file, "--c", tmp_path / "library", "--library", "prefix=one")
    header = (tmp_path / "library" / "one_model.h").read_text()
    assert "ONE_UNKNOWN" in header
    assert "ONE_UNKNOWN" in (tmp_path / "library" / "README.md").read_text()
    succeed("inspect", model_file)
