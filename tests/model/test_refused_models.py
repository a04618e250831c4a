"""A model file whose numbers cannot be computed with is refused when it is loaded."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from chains import replace
from command_line import refusal, run
from evidence_factory import evidence_of
from model_factory import (
    random_model,
    random_points,
    random_pooling_model,
    random_window_model,
    window_features_of,
)
from refusals import refused_by, refuses

from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.expected import known_image_shape
from protonn_edge.model.file import load_model, save_model
from protonn_edge.report.panels import energy_panels


def _stored(path, name):
    with np.load(path) as archive:
        return archive[name].tobytes()


def _head_with(path, **fields):
    """Return the JSON of a file's head with other numbers."""
    text = json.dumps(json.loads(_stored(path, "head")) | fields)
    return np.frombuffer(text.encode(), np.uint8)


@pytest.fixture
def changed(tmp_path):
    """Return a function that writes a model with other arrays and returns the file."""

    def write(model, **arrays):
        path = tmp_path / "model.npz"
        save_model(model, path)
        with np.load(path) as archive:
            kept = {name: archive[name] for name in archive.files}
        np.savez(path, **{**kept, **arrays})
        return path

    return write


@pytest.mark.parametrize("gamma", [5e-324, 1e-16, 1e16, 1e200])
def test_a_gamma_that_overflows_or_vanishes_is_refused(changed, gamma):
    model = random_model()
    path = changed(model, head=_head_with(changed(model), gamma=gamma))
    refuses(run("inspect", path), "gamma", "model.stored")


@pytest.mark.parametrize(
    ("name", "value"), [("scale", 1e31), ("scale", -1e38), ("scale", 1e300), ("offset", 1e300)]
)
def test_an_extreme_normalizer_is_refused(changed, name, value):
    model, array = random_model(), f"normalizer_{name}"
    path = changed(model, **{array: np.full(model.n_inputs, value)})
    refuses(run("inspect", path), f"{array} of feature 0")


@pytest.mark.parametrize("background", [1e39, -1e300])
def test_a_background_of_slants_that_no_pixel_has_is_refused(changed, background):
    model = random_pooling_model(average_pooling((6, 6), (6, 6), (3, 3), deskew=True))
    path = changed(model, **{"features.points.scale.zero": np.array([background])})
    refuses(run("inspect", path), "model.point_format")


@pytest.mark.parametrize("maximum", [0, 256])
def test_averages_beyond_a_byte_are_refused(changed, maximum):
    model = random_pooling_model(average_pooling((6, 6), (6, 6), (3, 3)))
    path = changed(model)
    features = json.loads(_stored(path, "features"))
    features["stages"][-1]["maximum"] = maximum
    text = np.frombuffer(json.dumps(features).encode(), np.uint8)
    refuses(run("inspect", changed(model, features=text)), "largest average", "model.stored")


def _features_with(path, change):
    """Return the JSON of a file's features after a change."""
    features = json.loads(_stored(path, "features"))
    change(features)
    return np.frombuffer(json.dumps(features).encode(), np.uint8)


def _deskewed(first):
    return {"kind": "deskew", "image": {"image_shape": first, "cropped_shape": [6, 4]}}


@pytest.mark.parametrize(
    "change",
    [
        lambda f: f["stages"].insert(0, _deskewed([6, 4])),
        lambda f: f["stages"].insert(1, _deskewed([6, 4])),
        lambda f: f["stages"].pop(0),
        lambda f: f["stages"].pop(),
        lambda f: f["points"].update(shape=[6, 8]),
        lambda f: f["points"].update(shape=[4, 12]),
        lambda f: f["points"].update(shape=[48]),
        lambda f: f["points"].update(is_signal=True),
        lambda f: f["points"].update(from_onset=True),
        lambda f: f["stages"][1].update(by_rows=False),
        lambda f: f["stages"][1]["pooling"].update(image_shape=[4, 6], cropped_shape=[4, 6]),
        lambda f: f["stages"][1]["pooling"].update(cropped_shape=[6, 2], shape=[3, 2]),
        lambda f: f["stages"][1].update(maximum=255),
        lambda f: f.update(kind="gradients"),
    ],
)
def test_stages_that_do_not_fit_their_points_or_each_other_are_refused(changed, change):
    model = random_pooling_model(average_pooling((8, 6), (6, 4), (3, 2), deskew=True))
    text = _features_with(changed(model), change)
    done = run("inspect", changed(model, features=text))
    assert "the model again" in refusal(done)


@pytest.mark.parametrize("gamma", [1e-15, 1e15])
@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e30])
@pytest.mark.parametrize("feature", [1e-45, 3e38])
def test_the_ends_of_the_ranges_give_finite_scores(changed, gamma, scale, feature):
    model = random_model()
    head = _head_with(changed(model), gamma=gamma)
    path = changed(model, head=head, normalizer_scale=np.full(model.n_inputs, scale))
    loaded = load_model(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        points = np.full((3, model.n_features), feature, dtype=np.float32)
        assert np.isfinite(loaded.scores(points)).all()


def test_a_start_too_large_for_float32_is_refused():
    model = random_model(classes=2)
    far = replace(model, prototypes=model.head.prototypes * np.float32(1e30), gamma=1e15)
    X = random_points(0, 30, 12)
    with refused_by("kinds.protonn.train.fitting"):
        ProtoNNClassifier(initial_model=far, epochs=1).fit(X, np.arange(30) % 2)


def test_pixels_far_outside_the_scale_of_slants_are_at_its_ends():
    X = np.array([[-3e38, 0.0, 3e38]], dtype=np.float32)
    assert PixelScale(0.0, 5e-324).to_bytes(X).tolist() == [[0, 0, 255]]


@pytest.mark.parametrize("rate", [5e-324, 1e308])
def test_a_sample_rate_out_of_range_is_refused(tmp_path, changed, rate):
    model = random_window_model(window_features_of("mean,max", 8, 1))
    with np.load(changed(model)) as archive:
        declared = json.loads(archive["features"].tobytes())
    declared["points"]["rate"] = rate
    path = changed(model, features=np.frombuffer(json.dumps(declared).encode(), np.uint8))
    done = run("export", path, "--c", tmp_path / "library")
    assert "sampling rate: " in refusal(done)
    assert not (tmp_path / "library").exists()


@pytest.mark.parametrize("shape", [[-2, -6], [-12, -1], [0, 0], [12, True]])
def test_a_recorded_image_shape_that_is_none_is_left_out(shape):
    record = {"settings": {"image_shape": shape}}
    assert known_image_shape(replace(random_model(), record=record)) is None
    record = {"settings": {"image_shape": [3, 4]}}
    assert known_image_shape(replace(random_model(), record=record)) == (3, 4)


def test_a_run_that_took_no_time_has_no_energy():
    evidence = evidence_of(random_model(), n=20)
    assert energy_panels(evidence)
    still = tuple(replace(result, cycles=0) for result in evidence.results)
    assert energy_panels(replace(evidence, results=still)) == []
