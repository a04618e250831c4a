"""``convert`` reads and writes what the reference implementation does."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from command_line import assert_one_sentence, run, run_json, succeed
from extensions.conversion.additions import write_run
from extensions.conversion.files import BOOSTERS, flowers, stored
from model_factory import random_model
from sklearn.datasets import load_iris
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from protonn_edge.data.reading import load_dataset
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.policy import with_rules
from protonn_edge.policy.rejection.rule import Rejection


def convert(*arguments: object) -> Result:
    return run("convert", *arguments)


@pytest.fixture
def foo(tmp_path: Path) -> Path:
    return write_run(tmp_path / "foo").parents[1]


def results_of(foo: Path) -> Path:
    return foo / "results" / "ProtoNNTrainer_d3_m6"


def test_a_runs_results_become_a_model(foo: Path, tmp_path: Path):
    record = run_json("convert", results_of(foo), "-o", tmp_path / "model.npz")
    model, data = load_model(tmp_path / "model.npz"), load_dataset(foo)
    assert model.classes == ("1", "2", "3")
    assert (model.head.n_projections, model.head.n_prototypes, model.head.gamma) == (3, 6, 0.4)
    assert record["float_accuracy"] == np.mean(model.predict(data.X_test) == data.y_test) > 0.9
    assert record["accuracy"] > 0.9
    assert "accuracy_floor" in model.record
    expected = np.exp(-0.16 * np.square(data.X_test[:, None, :3] - 3 * np.eye(3)).sum(axis=2))
    np.testing.assert_allclose(model.scores(data.X_test), 2 * expected, rtol=1e-5)


def test_the_data_may_lie_elsewhere_or_beside(foo: Path, tmp_path: Path):
    results = results_of(foo)
    for name in ("W", "B", "Z", "gamma"):
        (foo / name).write_bytes((results / name).read_bytes())
    for source, options in ((foo, []), (results, ["--data", foo]), (results, [])):
        assert convert(source, "-o", tmp_path / "model.npz", *options).exit_code == 0


@pytest.mark.parametrize("layout", ["text", "npy"])
def test_there_and_back(foo: Path, tmp_path: Path, layout: str):
    first, again, folder = tmp_path / "model.npz", tmp_path / "again.npz", tmp_path / "run"
    assert convert(results_of(foo), "-o", first).exit_code == 0
    record = run_json(
        "convert", first, "-o", folder, "--reference", f"layout={layout}", "--data", foo
    )
    assert (record["same_answers"], record["n"], record["layout"]) == (1.0, 30, layout)
    assert convert(folder, "-o", again, "--data", foo).exit_code == 0
    X = load_dataset(foo).X_test
    assert np.array_equal(load_model(first).scores(X), load_model(again).scores(X))


def test_an_rbf_that_is_cut_is_mentioned(foo: Path, tmp_path: Path):
    model = tmp_path / "model.npz"
    succeed("train", foo, "-o", model, "--prototypes", 6, "--epochs", 3)
    done = convert(model, "-o", tmp_path / "run", "--data", foo)
    assert done.exit_code == 0, done.output
    assert "% of 30 points\n" in done.stdout
    assert "the model ignores RBF values below 0.00781" in done.stdout


def test_thresholds_that_are_left_out_are_mentioned(tmp_path: Path):
    model = with_rules(random_model(), Rejection(margin=0.1))
    save_model(model, tmp_path / "model.npz")
    done = convert(tmp_path / "model.npz", "-o", tmp_path / "run")
    assert done.exit_code == 0, done.output
    assert 'the reference implementation never answers "unknown"' in done.stdout


def test_sets_of_labels_go_there_and_back(tmp_path: Path):
    rng, data = np.random.default_rng(0), tmp_path / "sets.svm"
    sets = [sorted({1, int(k), 4}) for k in rng.integers(1, 4, 60)]
    rows = [" ".join(f"{i}:{v:.3f}" for i, v in enumerate(x, 1)) for x in rng.random((60, 6))]
    lines = (",".join(map(str, y)) + " " + row for y, row in zip(sets, rows, strict=True))
    data.write_text("\n".join(lines) + "\n")
    model, folder, again = (tmp_path / name for name in ("m.npz", "run", "again.npz"))
    options = ("--prototypes", 5, "--epochs", 2, "--normalization", "l2")
    succeed("train", data, "-o", model, *options)
    done = convert(model, "-o", folder)
    assert done.exit_code == 2
    assert "scales points to unit norm, which a matrix cannot do" in done.stderr
    done = convert(
        model, "-o", folder, "--reference", "features=normalized", "--data", data, "--json"
    )
    assert json.loads(done.stdout)["same_answers"] == 1.0
    assert (
        convert(folder, "-o", again, "--data", data, "--reference", "normalization=l2").exit_code
        == 0
    )
    assert load_model(again).policy.predicts == "labels"


@pytest.fixture
def machine(foo: Path, tmp_path: Path) -> Path:
    """Give an SVC of the data in a file of skops."""
    data = load_dataset(foo)
    names = np.array(data.classes)
    machine = SVC().fit(data.X_train, names[data.y_train])
    return stored(tmp_path / "machine.skops", machine)


def test_an_estimator_becomes_a_model(foo: Path, machine: Path, tmp_path: Path):
    options = ("-o", tmp_path / "model.npz", "--data", foo, "--epochs", 3, "--budget", 200)
    done = convert(machine, *options, "--json")
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert (record["estimator"], record["n"], record["held_out"]) == ("SVC", 30, True)
    assert record["accuracy"] > 0.9
    assert record["model_bytes"] <= 200
    assert "SVC of" in done.stderr
    model = load_model(tmp_path / "model.npz")
    assert model.classes == ("1", "2", "3")
    assert "accuracy_floor" in model.record
    succeed("export", tmp_path / "model.npz", "--c", tmp_path / "c")


@pytest.mark.parametrize("name", ["iris.json", "iris.ubj", "iris.txt"])
@pytest.mark.parametrize("names", [["0", "1", "2"], ["lily", "rose", "tulip"]], ids="".join)
def test_boosted_trees_become_a_model(name: str, names: list[str], tmp_path: Path):
    data = flowers(tmp_path / "flowers.csv", names)
    record = run_json("convert", BOOSTERS / name, "-o", tmp_path / "model.npz", "--data", data)
    assert record["accuracy"] > 0.94
    assert record["agreement"] > 0.98
    assert load_model(tmp_path / "model.npz").classes == tuple(names)


@pytest.mark.parametrize("names", [["tulip", "lily", "rose"], ["2", "0", "1"]], ids="".join)
def test_numbers_of_classes_are_named_in_the_order_of_the_training(
    names: list[str], tmp_path: Path
):
    data, order = flowers(tmp_path / "flowers.csv", names), ",".join(names)
    command = (BOOSTERS / "iris.txt", "-o", tmp_path / "model.npz", "--data", data, "--json")
    wrong = json.loads(convert(*command).stdout)
    assert wrong["accuracy"] < 0.1
    warnings = [each["text"] for each in wrong["notices"] if each["kind"] == "order_of_classes"]
    assert [text.rpartition("; ")[2] for text in warnings] == [
        f"if the estimator was trained with that order, use --classes '{order}'"
    ]
    right = json.loads(convert(*command, "--classes", order).stdout)
    assert right["accuracy"] > 0.94
    assert "order_of_classes" not in str(right["notices"])
    assert load_model(tmp_path / "model.npz").classes == tuple(names)


@pytest.mark.parametrize("names", [["0", "1", "2"], ["lily", "rose", "tulip"]], ids="".join)
def test_a_network_becomes_a_model(names: list[str], tmp_path: Path):
    from extensions.conversion.onnx_factory import perceptron  # it skips without onnx

    X, y = load_iris(return_X_y=True)
    fitted = MLPClassifier((8,), max_iter=400, random_state=0, learning_rate_init=0.02).fit(X, y)
    (tmp_path / "net.onnx").write_bytes(perceptron(fitted.coefs_, fitted.intercepts_))
    data = flowers(tmp_path / "flowers.csv", names)
    done = convert(tmp_path / "net.onnx", "-o", tmp_path / "m.npz", "--data", data, "--json")
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert record["accuracy"] > 0.94
    assert record["agreement"] > 0.98
    assert "B of flash and" in done.stderr
    assert load_model(tmp_path / "m.npz").classes == tuple(names)
    done = convert(tmp_path / "net.onnx", "-o", tmp_path / "n.npz", "--data", data, "--bits", "4")
    assert_one_sentence(done, "cannot have weights of 4 bits")
    more = ["--fine-tune", "--epochs", 6, "--json"]
    done = convert(tmp_path / "net.onnx", "-o", tmp_path / "m.npz", "--data", data, *more)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["fine_tuning"]["tested"] == 30
    assert "points: accuracy" in done.stderr
