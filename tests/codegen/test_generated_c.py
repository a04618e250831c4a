"""The generated C on the host: it compiles without a warning and gives the reference's integers."""

from __future__ import annotations

import numpy as np
import pytest
from chains import numbers_of, replace
from drawn_poolings import poolings
from generated_programs import assert_equal_to_reference
from hypothesis import given, settings
from hypothesis import strategies as st
from model_factory import (
    random_images,
    random_inputs,
    random_model,
    random_pooling_model,
    tiny_gradients_model,
    tiny_integer_model,
    tiny_pooling_model,
)
from plans import of_weights_for, plan_with

from protonn_edge.chain.features import Features
from protonn_edge.chain.integer_chain import named_stages
from protonn_edge.codegen import render_c
from protonn_edge.codegen.context import c_comment, c_string
from protonn_edge.codegen.host import host_program
from protonn_edge.features.average_pooling.making import average_pooling
from protonn_edge.features.deskew.integers import BYTES
from protonn_edge.kernels.matvec.kernels import KERNELS, KernelName
from protonn_edge.quantization import IntegerChain, quantize


@pytest.mark.parametrize(
    "model", [tiny_integer_model(), tiny_pooling_model(), tiny_gradients_model()]
)
def test_golden_model_gives_the_reference_scores_under_sanitizers(model: IntegerChain) -> None:
    with host_program(model, sanitize=True) as program:
        assert_equal_to_reference(program, model, random_inputs(0, 200, model))


@pytest.mark.parametrize(
    ("features", "projections", "prototypes", "classes"),
    [(1, 1, 1, 2), (40, 21, 300, 26), (1500, 3, 5, 2), (16, 255, 3, 255)],
)
def test_extreme_sizes_give_the_reference_scores_under_sanitizers(
    features: int, projections: int, prototypes: int, classes: int
) -> None:
    model = quantize(
        random_model(
            features=features, projections=projections, prototypes=prototypes, classes=classes
        )
    )
    with host_program(model, sanitize=True) as program:
        assert_equal_to_reference(program, model, random_inputs(1, 50, model))


# Besides those of `conformance`.
POOLINGS = [
    average_pooling((28, 28), (28, 28), (16, 16)),
    average_pooling((28, 28), (24, 24), (12, 12)),
    average_pooling((16, 16), (16, 16), (1, 1)),
    average_pooling((3, 300), (2, 280), (1, 200)),
    average_pooling((50, 1), (50, 1), (35, 1)),
    average_pooling((28, 28), (24, 24), (12, 12), deskew=True),
    average_pooling((9, 11), (7, 8), (7, 3), deskew=True),
    average_pooling((32, 32), (32, 32), (16, 16), deskew=True),
]


@pytest.mark.parametrize("pooling", POOLINGS, ids=str)
def test_poolings_give_the_reference_scores_under_sanitizers(pooling: Features) -> None:
    model = quantize(random_pooling_model(pooling))
    Q = random_images(1, 30, pooling)
    Q[0], Q[1] = 0, 255
    with host_program(model, sanitize=True) as program:
        assert_equal_to_reference(program, model, Q)


@given(
    seed=st.integers(0, 1_000),
    pooling=poolings(
        st.tuples(st.integers(1, 20), st.integers(1, 20)),
        crops=True,
        scales=st.sampled_from([None, BYTES]),
    ),
)
@settings(max_examples=7, deadline=None)
def test_random_poolings_give_the_reference_scores(seed: int, pooling: Features) -> None:
    model = quantize(random_pooling_model(pooling, seed))
    Q = random_images(seed, 40, pooling)
    Q[0], Q[1] = 0, 255
    with host_program(model, sanitize=True) as program:
        assert_equal_to_reference(program, model, Q)


def test_clamped_projection_gives_the_reference_scores() -> None:
    model = tiny_integer_model()
    assert named_stages(model)["projection"].clamps
    assert "clamped to 0..span[k]" in render_c(model)["pnn_model.c"]
    with host_program(model, sanitize=True) as program:
        assert_equal_to_reference(program, model, random_inputs(2, 200, model))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("without", [0, 4, 19, slice(None)])
def test_features_without_weights_give_the_reference_scores(
    kernel: KernelName, without: int | slice
) -> None:
    model = quantize(random_model(features=20, projections=12))
    projection = numbers_of(model)["projection"].copy()
    projection[10:, without] = 0
    projection[:, 19 if without == 19 else 20 :] = 0
    model = of_weights_for(kernel, replace(model, projection=projection))
    with host_program(model, plan_with(model, kernel)) as program:
        assert_equal_to_reference(program, model, random_inputs(0, 50, model))


def test_wide_accumulators_and_wide_scores_give_the_reference_scores() -> None:
    model = quantize(random_model(features=1500, projections=7, gamma_numerator=12.0))
    model = replace(model, labels=np.sign(numbers_of(model)["labels"]) * np.int8(127))
    assert (numbers_of(model)["accumulator_bits"], model.own_stages[-1].output_bits) == (24, 32)
    with host_program(model, sanitize=True) as program:
        assert_equal_to_reference(program, model, random_inputs(3, 50, model))


@given(name=st.text(max_size=20))
def test_any_class_name_becomes_a_harmless_literal_and_comment(name: str) -> None:
    literal = c_string(name)
    assert not set('"\n\r?') & set(literal)
    unescaped = literal.encode().decode("unicode_escape").encode("latin-1")
    assert unescaped.decode() == name
    assert "*/" not in c_comment(name)
    assert all(each not in c_comment(name) for each in ("/*", "//", "\\", "|", "<", "]("))


def test_letters_of_other_scripts_stay_in_comments() -> None:
    assert c_comment("Überhitzung (°C) 温度\u202e;") == "Überhitzung (°C) 温度__"


def test_hostile_class_names_compile_and_keep_their_text() -> None:
    names = ("*/ #error", '"); }', "??/\n\\", "\u00fcn\u00efc\u00f6de 7", "</script>")
    base = quantize(random_model(classes=5))
    model = replace(base, classes=names)
    with host_program(model) as program:
        assert_equal_to_reference(program, model, random_inputs(4, 10, model))


def test_rendering_is_repeatable() -> None:
    assert render_c(quantize(random_model(5))) == render_c(quantize(random_model(5)))
