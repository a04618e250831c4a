"""Layers of convolutions as a part of a model: its file, its words, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from chains import replace
from convolution_factory import random_convolution, random_images_of, random_layers, random_model
from refusals import refused_by
from stored_features import from_arrays, to_arrays

from protonn_edge.chain.file import load_model, model_bytes, save_model
from protonn_edge.chain.integer_chain import own_inputs
from protonn_edge.chain.model import Model
from protonn_edge.cli.inspect import _features, _sizes
from protonn_edge.codegen import make_plan
from protonn_edge.errors import InputError
from protonn_edge.features.convolution.making import layered
from protonn_edge.features.deskew.integers import PixelScale
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
    averages, first, *others = stage.stages
    weights = first.weights.copy()  # type: ignore[union-attr]
    weights[-1, -1, -1, -1] ^= 1
    other = replace(stage, stages=(averages, replace(first, weights=weights), *others))
    changed = quantize(replace(model, features=other))
    assert changed.model_sha256 != quantize(model).model_sha256


def test_its_words_name_all_random_layers() -> None:
    model = random_model(random_layers())
    facts = _sizes(model)
    assert [name for name, _ in facts] == [
        *("features", "average pooling", "convolution", "convolution 2", "pooling"),
        "features D",
    ]
    assert facts[2][1].startswith("shape 6x6x1, weights 4x3x3x1, ")
    described = _features(model)["feature_stages"]
    assert [each["kind"] for each in described][1:] == [*["convolution"] * 2, "pooling"]


def damaged(stage: int, **changes: object) -> dict[str, np.ndarray]:
    """Return the arrays of layers with other numbers in one of the stages."""
    arrays = to_arrays(random_layers())
    text = json.loads(arrays["features"].tobytes())
    text["stages"][stage] |= changes
    return arrays | {"features": np.frombuffer(json.dumps(text).encode(), np.uint8)}


@pytest.mark.parametrize(
    ("stage", "changes"),
    [
        (1, {"kind": "layer"}),
        (1, {"shape": [6, 6]}),
        (1, {"stride": [1, 1.5]}),
        (3, {"window": [5, 2]}),
        (3, {"how": "least"}),
        (2, {"input_maximum": 14}),
    ],
)
def test_damaged_numbers_are_refused(stage: int, changes: dict[str, object]) -> None:
    with refused_by(
        "chain.integer_stage", "chain.registry", "chain.stored", "features.images.image_rows"
    ):
        from_arrays(damaged(stage, **changes))


def test_damaged_arrays_are_refused() -> None:
    arrays = to_arrays(random_layers())
    name = "features.stages.1.weights"
    with pytest.raises(InputError, match=f"{name}: missing"):
        from_arrays({key: each for key, each in arrays.items() if key != name})
    with pytest.raises(InputError, match="of the type int8"):
        from_arrays(arrays | {name: arrays[name].astype(np.int64)})
    with pytest.raises(InputError, match="do not fit"):
        from_arrays(arrays | {name: arrays[name].ravel()})
    with pytest.raises(InputError, match="features.more: unknown"):
        from_arrays(arrays | {"features.more": arrays[name]})


def test_layers_that_do_not_fit_together_are_refused() -> None:
    first, *_ = random_layers().stages[1:]
    with refused_by("chain.features"):
        layered((first, first))
    with refused_by("features.convolution.making"):
        layered(())


def test_a_classifier_takes_the_values_as_they_are(model: Model) -> None:
    inputs = quantize(model).inputs
    with refused_by("chain.integer_stage"):
        random_layers().feeding(replace(inputs, maximum=127))


def test_layers_of_whole_images_come_back_from_their_arrays() -> None:
    first = random_convolution(0, (6, 7, 2), 4, input_maximum=63, maximum=255, shift=11)
    second = random_convolution(1, (4, 5, 4), 3, input_maximum=255)
    stage = layered((first, second), None, PixelScale(0.0, 1.0))
    arrays = to_arrays(stage)
    again = from_arrays(arrays)
    assert [layer.input_maximum for layer in again.stages] == [63, 255]
    for name, array in to_arrays(again).items():
        assert (array == arrays[name]).all()
