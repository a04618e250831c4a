"""Every option of training reaches the estimator, and what cannot be meant is one sentence."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from command_line import refusal, run, run_json, succeed
from extension_parts import additions, needs
from small_images import write_images

from protonn_edge.model.file import load_model, model_bytes
from protonn_edge.model.model import Model


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_images(tmp_path_factory.mktemp("images") / "images.csv")


def run_train(data: Path, *options: object) -> Result:
    sizes = () if {"--start-from", "--classifier"} & {*options} else ("--prototypes", 4)
    return run("train", data, "-o", data.parent / "model.npz", *sizes, *options)


def train(data: Path, *options: object) -> Model:
    brief = ("--iterations", "2", "--pass-epochs", "2")
    result = run_train(data, *(brief if "alternating" in options else ("--epochs", 3)), *options)
    assert result.exit_code == 0, result.output
    return load_model(data.parent / "model.npz")


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        (["--init-projection", "gaussian"], "init_projection", "gaussian"),
        (["--init-prototypes", "sample"], "init_prototypes", "sample"),
        (["--class-weight", "balanced"], "class_weight", "balanced"),
        (["--no-quantization-aware"], "quantization_aware", False),
        (["--image-shape", "3x4", "--augment"], "image_shape", [3, 4]),
        (["--image-shape", "3x4", "--features", "pool:2x2"], "features", "pool:2x2"),
        (
            ["--image-shape", "3x4", "--features", "crop:2x4,pool:1x2"],
            "features",
            "crop:2x4,pool:1x2",
        ),
        (
            ["--image-shape", "3x4", "--features", "conv:2x3,max", "--network-epochs", "2"],
            "features",
            "conv:2x3,max",
        ),
        (["--image-shape", "3x4", "--augment"], "augment", True),
        (["--image-shape", "3x4", "--augment-share", "0.5"], "augment", 0.5),
        (["--batch-size", 8], "batch_size", 8),
        (["--projection-bits", 4], "projection_bits", 4),
        *additions("options that are settings").values(),
    ],
)
def test_options_are_settings(data: Path, options: list[str], name: str, value: object) -> None:
    settings = train(data, *options).record["settings"]
    assert settings[name] == value
    in_turn = "alternating" in options
    assert (settings.get("pass_epochs") == 2, settings["epochs"] == 3) == (in_turn, not in_turn)


def test_training_goes_on_from_a_file(data: Path) -> None:
    first = train(data, "--projection-dim", 2)
    (data.parent / "first.npz").write_bytes((data.parent / "model.npz").read_bytes())
    further = train(data, "--start-from", data.parent / "first.npz")
    assert further.head.n_projections == 2
    assert (
        further.record["settings"]["initial_model"]
        == f"model {hashlib.sha256(model_bytes(first)).hexdigest()}"
    )


def test_a_model_to_start_from_keeps_its_bits(data: Path) -> None:
    for bits in (4, 8):
        train(data, "--projection-bits", bits)
        first = data.parent / f"first{bits}.npz"
        first.write_bytes((data.parent / "model.npz").read_bytes())
        assert train(data, "--start-from", first).head.projection_bits == bits


def run_with_budget(data: Path, budget: str, *options: object) -> Result:
    arguments = ["train", data, "-o", data.parent / "model.npz", "--epochs", 2, "--json"]
    return run(*arguments, "--budget", budget, *options)


@pytest.mark.parametrize(
    ("text", "limit"), [("0.3kB", 300), ("300", 300), ("300 B", 300), ("0.25 KiB", 256)]
)
def test_a_budget_is_bytes_of_the_integer_model(data: Path, text: str, limit: int) -> None:
    result = run_with_budget(data, text)
    assert result.exit_code == 0, result.output
    assert limit - 20 < json.loads(result.stdout)["model_bytes"] <= limit
    settings = load_model(data.parent / "model.npz").record["settings"]
    assert settings["budget"] == limit
    assert settings["n_prototypes"] is None


def test_a_restart_with_a_smaller_learning_rate_is_told(data: Path) -> None:
    result = run_train(data, "--epochs", 20, "--learning-rate", 3, "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["restarts"]
    for sentence in record["restarts"]:
        assert sentence in result.stderr
    assert "diverged at the learning rate 3 in epoch" in record["restarts"][0]
    assert "restarted at 1" in record["restarts"][0]


def test_epochs_are_reported_where_all_matrices_are_trained_at_once(data: Path) -> None:
    result = run_train(data, "--epochs", 3, "--verbose", "--json", "--holdout", 0)
    assert result.exit_code == 0, result.output
    lines = [line for line in result.stderr.splitlines() if line.startswith("epoch")]
    assert [line.split(",")[0] for line in lines] == [f"epoch {index} of 3" for index in (1, 2, 3)]
    assert "test accuracy" not in lines[0]  # there is no test part
    assert json.loads(result.stdout)["n"] == 0


@needs("conversion")
def test_training_goes_on_from_the_reference_implementations_files(data: Path) -> None:
    model = train(data, "--projection-dim", 3, "--normalization", "none")
    folder = data.parent / "reference"
    folder.mkdir()
    for name, matrix in (
        ("W", model.head.projection),
        ("B", model.head.prototypes),
        ("Z", model.head.labels),
        ("gamma", [[model.head.gamma]]),
    ):
        np.savetxt(folder / name, matrix, delimiter="\t", fmt="%.9g")
    raw = train(data, "--start-from", folder)
    assert raw.head.n_projections == 3
    assert raw.normalizer.kind == "none"
    assert raw.head.gamma == pytest.approx(model.head.gamma)
    scaled = train(data, "--start-from", folder, "--normalization", "standard")
    assert scaled.normalizer.kind == "standard"
    (folder / "Z").write_text("1\t2\n3\n")
    result = run_train(data, "--start-from", folder)
    assert result.exit_code == 2
    assert "Z:2: 1, expected 2 numbers" in result.stderr


@pytest.mark.parametrize(
    ("names", "fits"),
    [
        ([f"x{i}" for i in range(12)], True),
        ([f"Probe {i + 1} (mV)" for i in range(12)], True),
        ([f"{0.02 * i:.2f} s" for i in range(12)], True),
        ([f"ax[{i}]" for i in range(12)], True),
        ([f"pixel_{i // 4}_{i % 4}" for i in range(12)], False),
        ([f"{axis}{i}" for i in range(4) for axis in "xyz"], False),
        ([f"x{i}" for i in reversed(range(12))], False),
        ([chr(97 + i) for i in range(12)], False),
        (["Höhe", *(f"x{i}" for i in range(11))], False),
    ],
)
def test_features_of_windows_ask_if_columns_are_no_samples_in_order(
    tmp_path: Path, names: list[str], fits: bool
) -> None:
    rng, data = np.random.default_rng(0), tmp_path / "d.csv"
    rows = [[*rng.normal(i % 2, 1, 12).round(2), "ab"[i % 2]] for i in range(60)]
    lines = [",".join(map(str, row)) for row in [[*names, "label"], *rows]]
    data.write_text("\n".join(lines) + "\n")
    words = ("train", data, "--classifier", "linear", "-o", tmp_path / "m.npz")
    asked = run(*words, "--features", "mean,deviation")
    if fits:
        assert asked.exit_code == 0
        return
    sentence = refusal(asked)
    assert "in order" in sentence
    assert repr(names[0]) in sentence
    assert "--window 12x1" in sentence
    succeed(*words, "--features", "mean,deviation", "--window", "12x1")
    succeed(*words)


@pytest.mark.parametrize(
    ("shape", "notice"),
    [((32, 3), "features"), ((16, 8), "features"), ((8, 8), "samples"), ((300, 2), "samples")],
)
def test_arrays_without_a_rate_are_windows_or_a_notice_names_their_shape(
    tmp_path: Path, shape: tuple[int, int], notice: str
) -> None:
    X, y = np.random.default_rng(0).normal(size=(70, *shape)), np.arange(70) % 2
    np.savez(tmp_path / "arrays.npz", X=X.astype(np.float32), y=y)
    words = ("train", tmp_path / "arrays.npz", "-o", tmp_path / "m.npz", "--classifier", "linear")
    (found,) = (each for each in run_json(*words)["notices"] if each["kind"] == notice)
    assert load_model(tmp_path / "m.npz").features is None or notice == "features"
    if notice == "samples" and shape[0] < 256:
        assert found["text"].endswith("or --image-shape 8x8 if they are images")
        told = run_json(*words, "--window", "8x8", "--features", "mean,max")
        assert notice not in {each["kind"] for each in told["notices"]}


def test_a_share_is_written_as_people_write_it(data: Path) -> None:
    for share in (".25", "0.25", "25%", "25 %", "2.5e-1"):
        done = run_train(data, "--classifier", "linear", "--holdout", share, "--json")
        assert json.loads(done.stdout)["n"] == 16


def test_training_goes_on_with_the_columns_of_the_model(data: Path) -> None:
    names = train(data, "--projection-dim", 2).feature_names
    first, turned = data.with_name("first.npz"), data.with_name("turned.csv")
    first.write_bytes(data.with_name("model.npz").read_bytes())
    lines = [line.split(",") for line in data.read_text().splitlines()]
    turned.write_text("".join(f"{','.join([label, *cells[::-1]])}\n" for label, *cells in lines))
    assert train(turned, "--start-from", first).feature_names == names


def test_the_shape_of_a_window_alone_asks_for_its_features(tmp_path: Path) -> None:
    rows = [
        ",".join(f"{n % 2 + (n * k * 7 % 13) / 9:.2f}" for k in range(1, 13)) for n in range(60)
    ]
    lines = [f"{row},{'ab'[n % 2]}\n" for n, row in enumerate(rows)]
    (tmp_path / "t.csv").write_text("".join(lines))
    model = tmp_path / "m.npz"
    succeed("train", tmp_path / "t.csv", "-o", model, "--classifier", "linear", "--window", "6x2")
    features = load_model(model).features
    assert features is not None
    assert features.points.is_signal
