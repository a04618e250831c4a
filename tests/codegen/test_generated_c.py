"""The generated C on the host: it compiles without a warning and gives the reference's integers."""

from __future__ import annotations

import pytest
from chains import replace
from generated_programs import assert_equal_to_reference
from hypothesis import given
from hypothesis import strategies as st
from model_factory import (
    random_inputs,
    random_model,
)

from protonn_edge.codegen.context import c_comment, c_string
from protonn_edge.codegen.host import host_program
from protonn_edge.model.quantization import quantize


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
