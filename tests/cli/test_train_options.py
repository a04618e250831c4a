"""Every option of training reaches the estimator, and what cannot be meant is one sentence."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from command_line import refusal, run, succeed
from extension_parts import additions, needs

from protonn_edge.model.file import load_model, model_bytes
from protonn_edge.model.model import Model


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a file of 60 images of 3x4 pixels in two classes."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    rows = rng.integers(0, 9, (60, 12)) + 6 * y[:, None] * (np.arange(12) < 6)
    path = tmp_path_factory.mktemp("images") / "images.csv"
    lines = [
        f"{'ab'[label]}," + ",".join(map(str, row)) for label, row in zip(y, rows, strict=True)
    ]
    header = "label," + ",".join(f"p{index}" for index in range(12))
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def run_train(data: Path, *options: object) -> Result:
    sizes = () if "--start-from" in options else ("--prototypes", 4)
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
    for bits, other in ((4, 8), (8, 4)):
        train(data, "--projection-bits", bits)
        first = data.parent / f"first{bits}.npz"
        first.write_bytes((data.parent / "model.npz").read_bytes())
        assert train(data, "--start-from", first).head.projection_bits == bits
        result = run_train(data, "--start-from", first, "--projection-bits", other)
        assert result.exit_code == 2
        said = "--projection-bits is given, but the model to start from has its own"
        assert said in " ".join(result.stderr.split())


def test_sizes_are_not_given_with_a_model_to_start_from(data: Path) -> None:
    train(data)
    first = data.parent / "first.npz"
    first.write_bytes((data.parent / "model.npz").read_bytes())
    for options, said in (
        (
            ("--prototypes", 9),
            "--prototypes has no effect, because the model to start from determines",
        ),
        (
            ("--gamma", "2"),
            "--gamma has no effect, because the model to start from determines",
        ),
        (
            ("--normalization", "none"),
            "--normalization is given, but the model to start from has its own",
        ),
    ):
        assert said in refusal(run_train(data, "--start-from", first, *options))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--image-shape", "16"], "16x16"),
        (["--image-shape", "0x12"], "16x16"),
        (["--image-shape", "4x4", "--augment"], "16 pixels"),
        (["--augment"], "--augment moves images, but their size is not given"),
        (["--group-shift", 2], "--group-shift moves points only between the groups that --groups"),
        (["--classifier", "trees"], "'trees' is not "),
        (["--features", "mean,pool:2x2"], "'pool:2x2' is not a feature"),
        (
            ["--features", "pool:2x2,mean"],
            "the term 'mean' of the features cannot be combined with pool",
        ),
        (["--features", "pool:2"], "the term 'pool:2' of the features must look like pool:4x4"),
        (["--features", "men,max"], "the term 'men' of the features is not one of mean, deviation"),
        (
            ["--features", "deskwe,pool:2x2"],
            "auto, deskew, crop; correct or remove it",
        ),
        (
            ["--features", "crop:6x6/4,pool:2x2"],
            "features must look like crop:20x20",
        ),
        (["--features", "deskew,mean"], "the term 'deskew' of the features is for images, but"),
        (["--features", "audio:4x4,onset:x"], "'onset:x' of the features must have a level of 1"),
        (["--groups", "nowhere.txt"], "'nowhere.txt', which is neither a column"),
        (["--groups", ""], "--groups is empty; name an array, a column or a file"),
        (["--gamma", "2", "--gamma-numerator", "3"], "--gamma-numerator has no effect"),
        (
            ["--init-projection", "identity", "--projection-dim", "2"],
            "--projection-dim has no effect, because --init-projection 'identity' keeps all",
        ),
        (["--features", "pool:2x2"], "the shape of the image is not given"),
        (["--features", "conv:2x3"], "give its height and width with --image-shape"),
        (["--image-shape", "3x4", "--features", "conv:2x4"], "the layer '2x4' is unknown"),
        (["--image-shape", "3x4", "--features", "conv:2x5"], "2x5 does not fit in the 3x4 values"),
        (
            ["--image-shape", "3x4", "--features", "crop:3x3,conv:2x3"],
            "can use a crop only",
        ),
        (["--features", "conv:2x3,bits:3"], "must have 8, 4 or 2 bits per weight"),
        (["--trees", "3"], "--trees is given, but the classifier 'protonn' has no such parameter"),
        (["--set", "gamma=3"], "--set gamma=3 is an option of its own now; give --gamma 3"),
        (["--set=quantization_aware=false"], "give --no-quantization-aware"),
        (["--set", "augment=0.5"], "give --augment-share 0.5"),
        (["--set", "augment=False"], "give --no-augment"),
        (["--set", "quantization_aware=False"], "give --no-quantization-aware"),
        (["--set", "quantization_aware=0.5"], "now; give --quantization-aware"),
        (["--set", "class_weight=none"], "now; omit --class-weight for none"),
        (["--set", "gamma=None"], "now; omit --gamma for none"),
        (["--set", "n_prototypes=3"], "give --prototypes 3"),
        (["--set", "gama=3"], "--set gama=3 is no option; give the option --NAME VALUE"),
        (
            ["--read", "label=a b"],
            "--read 'label=a b' is an option of its own now; give --label 'a b'",
        ),
        (["--gamma"], "option '--gamma' requires an argument; give --gamma and its value"),
        (["--network-moved-share", "2"], "--network-moved-share"),
        (
            ["--image-shape", "3x4", "--features", "crop:2x2"],
            "prepares images but computes no features",
        ),
        (["--image-shape", "3x4", "--features", "pool:3x4"], "changes nothing"),
        (["--start-from", "nowhere.npz"], "nowhere.npz"),
        (["--projection-dim", 13], "--projection-dim is 13, but the projection has only 12 inputs"),
        (["--prototypes", 61], "--prototypes is 61, but the data has only 48 training points"),
        (["--projection-bits", 5], "'5' is not one of"),
        (
            ["--projection-bits", 4, "--normalization", "l2"],
            "--projection-bits is not possible",
        ),
        *additions("options that cannot be meant").values(),
        (["--lambda-w", 0], "0"),
        (["--sparsity-prototypes", "1.5"], "1.5"),
        (["--learning-rate", 1e9], "diverges at the learning rate 1e+09"),
    ],
)
def test_what_cannot_be_meant_is_refused(data: Path, options: list[str], words: str) -> None:
    result = run_train(data, *options)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.output


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


@pytest.mark.parametrize(
    ("budget", "options", "words"),
    [
        (
            "17",
            [],
            "budget: 17 B, but the smallest model of 12 features and 2 classes takes 18",
        ),
        ("0", [], "'0' is not a number of bytes"),
        ("much", [], "'much' is not a number of bytes"),
        ("16MB", [], "'16MB' is not a number of bytes"),
        ("-5", [], "'-5' is not a number of bytes"),
        (
            "1kB",
            ["--prototypes", 4],
            "--prototypes is given, but --budget determines the sizes; leave --prototypes out",
        ),
        (
            "1kB",
            ["--projection-dim", 4],
            "--projection-dim is given, but --budget determines the sizes",
        ),
    ],
)
def test_a_budget_that_cannot_be_kept_is_refused(
    data: Path, budget: str, options: list[str], words: str
) -> None:
    result = run_with_budget(data, budget, *options)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.output


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
