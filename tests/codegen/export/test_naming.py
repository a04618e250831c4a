"""Whatever people call their models, the tools get a name that they take."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protonn_edge.codegen.export.naming import library_name, names_of
from protonn_edge.codegen.renderer import check_prefix


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("digits", "digits"),
        ("My model, v2", "My_model_v2"),
        ("Arduino_Digits", "Digits"),
        ("ArduArduinoino", "protonn_model"),
        ("7segments", "pnn_7segments"),
        ("", "protonn_model"),
        ("höhe", "h_he"),
        ("math", "math_pnn"),
        ("Wire", "Wire_pnn"),
        ("pnn_model", "pnn_model_pnn"),
        ("test", "test_pnn"),
        ("x" * 50, "x" * 32),
    ],
)
def test_names(text: str, name: str):
    assert library_name(text) == name


@pytest.mark.parametrize("text", ["wave_model", "Wave_Self_Test", "pnn_model"])
def test_headers_of_a_prefix_keep_their_names(text: str):
    assert library_name(text, "wave") == f"{text}_pnn"


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("Wake word", "wake_word"),
        ("class", "class_pnn"),
        ("math", "math_pnn"),
        ("7segments", "pnn_7segments"),
        ("", "protonn_model"),
        ("gesture_recognizer", "gesture_recogni"),
        ("fourteen_chars_and", "fourteen_chars"),
        ("Forest", "forest_pnn"),
        ("average pooling", "average_poo_pnn"),
    ],
)
def test_names_in_c_begin_with_the_name_except_for_the_arduino_ide(text: str, prefix: str):
    assert names_of("c", text, None)[1] == names_of("platformio", text, None)[1] == prefix
    assert names_of("arduino", text, None)[1] == "pnn"
    assert names_of("c", text, "own")[1] == "own"


@given(st.text(max_size=60) | st.from_regex("(arduino|library|[a-z0-9 _]){0,9}", fullmatch=True))
def test_any_text_gives_a_name_that_tools_take(text: str):
    name = library_name(text)
    assert re.fullmatch("[A-Za-z][A-Za-z0-9_]{0,31}", name)
    assert not re.search("arduino|library", name, re.IGNORECASE)
    assert library_name(name) == name
    named, prefix = names_of("c", text, None)
    check_prefix(prefix)
    assert named.lower() not in {f"{prefix}_model", f"{prefix}_self_test"}
