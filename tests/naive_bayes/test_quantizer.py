"""From means and variances to integers: how near, and what is refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from chains import replace
from convolution_factory import random_images_of, random_layers
from generated_programs import assert_equal_to_reference
from hypothesis import given, settings
from hypothesis import strategies as st
from model_factory import random_points
from naive_bayes_factory import chain_of, random_naive_bayes_model, tiny_chain

from protonn_edge.chain.integer_chain import own_inputs
from protonn_edge.chain.statistics import InputStatistics, Normalizer
from protonn_edge.codegen.host import host_program
from protonn_edge.errors import InputError
from protonn_edge.kinds.naive_bayes.integers import IntegerNaiveBayes
from protonn_edge.quantization import quantize


@given(
    seed=st.integers(0, 10_000),
    features=st.integers(1, 300),
    classes=st.integers(2, 30),
    bias=st.sampled_from([0.0, 1e3, -1e5]),
)
@settings(max_examples=40, deadline=None)
def test_integer_scores_are_near_those_of_the_float_model(
    seed: int, features: int, classes: int, bias: float
) -> None:
    model = random_naive_bayes_model(seed, features=features, classes=classes)
    reach = np.sqrt(model.head.variances.min(axis=0))
    means = np.clip(model.head.means, -reach, reach)  # within the range of the inputs
    model = replace(model, means=means, bias=model.head.bias + bias)
    integers = quantize(model)
    X = np.clip(random_points(seed, 300, features), model.inputs.lower, model.inputs.upper)
    expected = model.scores(X)
    scores = integers.scores(integers.quantize(X)) * integers.score_scale
    spread = np.sqrt(np.mean(np.square(expected - expected.mean(axis=0))))
    assert np.sqrt(np.mean(np.square(scores - expected))) < 0.03 * spread
    low, high = integers.own_stages[-1].output.ends
    assert low >= -(1 << 31)
    assert high < 1 << 31


@pytest.mark.parametrize(("maximum", "shift"), [(255, 0), (200, 0), (127, 1), (15, 4), (1, 7)])
def test_means_of_whole_features_have_the_bits_that_inputs_leave(maximum: int, shift: int) -> None:
    model = random_naive_bayes_model(features=3, classes=2)
    means = np.array([[0, maximum / 2, maximum], [maximum / 4, 0, 1]])
    whole = replace(
        model,
        means=means,
        variances=np.full((2, 3), maximum**2),
        normalizer=Normalizer("none", np.zeros(3), np.ones(3)),
        inputs=model.inputs.of_whole_numbers(maximum),
    )
    (stage,) = quantize(whole).own_stages
    assert isinstance(stage, IntegerNaiveBayes)
    assert stage.shift == shift
    assert (stage.means == np.rint(means * 2**shift)).all()
    assert (stage.weights == stage.weights.max()).all()


def test_it_takes_the_bytes_of_convolutions_as_they_are() -> None:
    layers = random_layers()
    features = layers.apply(random_images_of(0, 100, layers))
    model = replace(
        random_naive_bayes_model(features=layers.n_outputs),
        normalizer=Normalizer("standard", features.mean(axis=0), np.full(layers.n_outputs, 0.1)),
        inputs=InputStatistics.of(features).with_one_range(),
        feature_stage=layers,
    )
    integers, images = quantize(model), random_images_of(1, 20, layers)
    assert (own_inputs(integers, integers.quantize(images)) == layers.apply(images)).all()
    assert integers.own_stages[0].input_maximum == layers.whole_maximum
    with host_program(integers, sanitize=True) as program:
        assert_equal_to_reference(program, integers, integers.quantize(images))


def test_a_feature_that_the_normalizer_drops_has_no_weight() -> None:
    model = random_naive_bayes_model(features=3, classes=2)
    scale = model.normalizer.scale * [1, 0, 1]
    dropping = replace(model, normalizer=Normalizer("standard", model.normalizer.offset, scale))
    integers, X = quantize(dropping), random_points(0, 100, 3)
    (stage,) = integers.own_stages
    assert isinstance(stage, IntegerNaiveBayes)
    assert stage.weights.any(axis=0).tolist() == [True, False, True]
    answers = integers.predict(integers.quantize(X))
    assert np.mean(answers == dropping.predict(X)) > 0.95


def test_the_largest_weight_has_16_bits_unless_scores_would_overflow() -> None:
    for features, largest in ((12, range(64_000, 65_536)), (2_000, range(1, 50_000))):
        (stage,) = quantize(random_naive_bayes_model(features=features)).own_stages
        assert isinstance(stage, IntegerNaiveBayes)
        assert int(stage.weights.max()) in largest


def test_what_has_no_integers_is_refused() -> None:
    model = random_naive_bayes_model()
    with pytest.raises(InputError, match="normalization 'l2'"):
        quantize(replace(model, normalizer=Normalizer("l2", np.zeros(12), np.ones(12))))
    with pytest.raises(InputError, match="no integer scale fits both"):
        quantize(replace(model, bias=np.full(4, 1e30)))
    no_scale = Normalizer("standard", np.zeros(12), np.zeros(12))
    with pytest.raises(InputError, match="no integer scale fits both"):
        quantize(replace(model, normalizer=no_scale))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bias": np.array([1 << 31, 0, 0])}, "scores from"),
        ({"bias": np.array([0, 0, -(1 << 31)])}, "scores from"),
        ({"shift": 3}, "inputs up to 63, shifted by 3 bits"),
        ({"shift": -1}, "shifted by -1 bits"),
    ],
)
def test_what_could_overflow_is_refused(changes: dict[str, object], words: str) -> None:
    (stage,) = tiny_chain().own_stages
    with pytest.raises(InputError, match=words):
        dataclasses.replace(stage, **changes)  # type: ignore[type-var]


def test_the_hash_depends_on_every_number() -> None:
    (stage,) = tiny_chain().own_stages
    assert isinstance(stage, IntegerNaiveBayes)
    others = [
        dataclasses.replace(stage, means=stage.means ^ np.uint8(1)),
        dataclasses.replace(stage, weights=stage.weights ^ np.uint16(256)),
        dataclasses.replace(stage, bias=stage.bias + np.array([0, 0, 1])),
        dataclasses.replace(stage, shift=1),
    ]
    assert len({chain_of(each).model_sha256 for each in (stage, *others)}) == 5
