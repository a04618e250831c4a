"""Layers of convolutions as a part of a model: its file, its words, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from chains import replace
from convolution_factory import random_convolution, random_images_of, random_layers, random_model

from protonn_edge.chain.file import load_model, model_bytes, save_model
from protonn_edge.chain.integer_chain import own_inputs
from protonn_edge.chain.model import Model
from protonn_edge.codegen import make_plan
from protonn_edge.errors import InputError
from protonn_edge.features.convolution.stage import Convolutions
from protonn_edge.features.deskew.deskew import PixelScale
from protonn_edge.quantization import measure_activity, quantize


@pytest.fixture(scope="module")
def model() -> Model:
    """Return scores of layers, with the activity that plans count their means for."""
    found = random_model(random_layers())
    integers, images = quantize(found), random_images_of(3, 20, random_layers())
    return replace(found, activity=measure_activity(integers, integers.quantize(images)))


def test_the_features_are_the_bytes_of_the_last_layer(model: Model) -> None:
    integers, images = quantize(model), random_images_of(1, 20, random_layers())
    Q = integers.quantize(images)
    assert (255 - images == Q).all()
    assert (own_inputs(integers, Q) == random_layers().apply(images)).all()
    assert (
        integers.inputs.quantize(random_layers().apply(images)) == own_inputs(integers, Q)
    ).all()
    assert (integers.scores(Q) == model.scores(images)).all()
    assert random_layers().apply(images.astype(np.float32)).dtype == np.float32


def test_a_model_file_gives_the_same_layers(model: Model, tmp_path: Path) -> None:
    save_model(model, tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert model_bytes(again) == model_bytes(model)
    assert quantize(again).model_sha256 == quantize(model).model_sha256
    assert make_plan(quantize(again), activity=again.activity).mean_cycles is not None
    images = random_images_of(2, 5, random_layers())
    assert (again.scores(images) == model.scores(images)).all()


def test_every_weight_is_in_the_hash(model: Model) -> None:
    stage = random_layers()
    first = stage.layers[0]
    weights = first.weights.copy()  # type: ignore[union-attr]
    weights[-1, -1, -1, -1] ^= 1
    other = replace(stage, layers=(replace(first, weights=weights), *stage.layers[1:]))
    changed = quantize(replace(model, feature_stage=other))
    assert changed.model_sha256 != quantize(model).model_sha256


def test_its_words_name_all_random_layers() -> None:
    stage = random_layers()
    assert stage.facts(()) == (
        ("features", "156: 13x12, averaged to 6x6"),
        ("layers", "6x6x4 from 3x3 kernels, 4x4x4 from depthwise 3x3 kernels, 2x2x4 from averages"),
        ("values D", "16"),
    )
    described = stage.describe(())
    assert described["averaged_shape"] == [6, 6]
    assert [each["kind"] for each in described["layers"]] == [*["convolution"] * 2, "pooling"]
    assert described["layers"][1]["depthwise"]


@pytest.mark.parametrize(
    ("name", "place", "number", "sentence"),
    [
        ("convolution_layers", (0, 0), 4, "a row that describes no valid layer"),
        ("convolution_layers", (0, 6), 0, "a layer without weights"),
        ("convolution_layers", (0, 6), 60_000, "has fewer values than the layers need"),
        ("convolution_layers", (2, 1), 5, "pooling of 5x2 pixels"),
        (
            "convolution_layers",
            (0, 2),
            2,
            "has fewer values than the layers need|a kernel of 3x2 pixels",
        ),
        ("convolution_layers", (0, 1), -1, "whole numbers from 0 to 65,535"),
        ("convolution_image", (0,), 0, "the shape .* is not two"),
        ("convolution_pixels", (1,), 0, "the step 0"),
        ("convolution_bias", (0,), 40_000, "accumulators from"),
    ],
)
def test_damaged_arrays_are_refused(
    name: str, place: tuple[int, ...], number: int, sentence: str
) -> None:
    arrays = {key: array.copy() for key, array in random_layers().to_arrays().items()}
    arrays[name][place] = number
    with pytest.raises(InputError, match=sentence):
        Convolutions.from_arrays(arrays)


def test_a_missing_array_and_a_wrong_type_are_refused() -> None:
    arrays = random_layers().to_arrays()
    with pytest.raises(InputError, match="'convolution_bias' is missing"):
        Convolutions.from_arrays({k: v for k, v in arrays.items() if k != "convolution_bias"})
    weights = arrays["convolution_weights"]
    for sentence, wrong in {
        "has the type int64": weights.astype(np.int64),
        "has 72 more values than the layers": np.tile(weights, 2),
    }.items():
        with pytest.raises(InputError, match=f"'convolution_weights' {sentence}"):
            Convolutions.from_arrays(arrays | {"convolution_weights": wrong})
    assert Convolutions.from_arrays({}) is None


def test_layers_that_do_not_fit_together_are_refused() -> None:
    first, *_ = random_layers().layers
    with pytest.raises(InputError, match="layer 2 takes 6x6 with values up to 15, but receives"):
        Convolutions((first, first))
    with pytest.raises(InputError, match="give at least one"):
        Convolutions(())


def test_a_classifier_takes_the_values_as_they_are(model: Model) -> None:
    inputs = quantize(model).inputs
    with pytest.raises(InputError, match="rescales the last layer's values of 0 to 255"):
        random_layers().integer_stages(replace(inputs, maximum=127))


def test_layers_of_whole_images_come_back_from_their_arrays() -> None:
    first = random_convolution(0, (6, 7, 2), 4, input_maximum=63, maximum=255, shift=11)
    second = random_convolution(1, (4, 5, 4), 3, input_maximum=255)
    stage = Convolutions((first, second), None, PixelScale(0.0, 1.0))
    arrays = stage.to_arrays()
    again = Convolutions.from_arrays(arrays)
    assert again is not None
    assert [layer.input_maximum for layer in again.layers] == [63, 255]
    for name, array in again.to_arrays().items():
        assert (array == arrays[name]).all()
