"""The meaning of cells: numbers, what is attached to them, gaps and texts; and of their marks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protonn_edge.data.tables.cells import (
    Form,
    Meaning,
    Notation,
    _meaning_of,
    is_label,
    loses_differences,
    meaning_of,
    number_in,
    plain_values,
    stamped,
)


def meaning(cells: Sequence[str], delimiter: str = ",", decimal: str | None = None) -> Meaning:
    return meaning_of(cells, np.ones(len(cells), int), Notation.of(cells, delimiter, decimal))


@pytest.mark.parametrize(
    ("cell", "before", "number", "after"),
    [
        ("0.02 g", "", "0.02", " g"),
        ("0.02g", "", "0.02", "g"),
        ("4.1%", "", "4.1", "%"),
        ("4.1 %", "", "4.1", " %"),
        ("23.5°C", "", "23.5", "°C"),
        ("9.81 m/s^2", "", "9.81", " m/s^2"),
        ("9.81 m/s²", "", "9.81", " m/s²"),
        ("0.5;", "", "0.5", ";"),
        ("x:0.07", "x:", "0.07", ""),
        ("x = -0.07", "x =", "-0.07", ""),
        ("acc1: 7", "acc1:", "7", ""),
        ("[0.068", "[", "0.068", ""),
        ("0.029]", "", "0.029", "]"),
        ("$5.00", "$", "5.00", ""),
        ("12 rpm", "", "12", " rpm"),
    ],
)
def test_what_is_attached_to_a_number_is_separated(
    cell: str, before: str, number: str, after: str
) -> None:
    assert number_in(cell) == (Form(before, after, is_hexadecimal=False), number)


@pytest.mark.parametrize(
    "cell", ["", "abc", "1.2.3", "12:30", "1;2", "7 8", "g 1 2", "192.168.0.1", "A3B4", "--5", "5-"]
)
def test_other_texts_have_no_number(cell: str) -> None:
    assert number_in(cell) is None


@pytest.mark.parametrize(("cell", "value"), [("6.5D-03", 6.5e-3), ("1d2", 100), ("2.0E-02", 0.02)])
def test_exponents_of_fortran_are_read(cell: str, value: float) -> None:
    assert meaning([cell]).values.tolist() == [value]


def test_numbers_among_mostly_texts_are_texts() -> None:
    assert meaning(["red", "blue", "green", "1.5"]).kind == "text"


@pytest.mark.parametrize(
    ("cell", "parts"),
    [
        ("14:00:00.020 -> -0.015", ("14:00:00.020", "-0.015")),
        ("14:00:00,020 → 7", ("14:00:00,020", "7")),
        ("2024-05-01 14:00:00.020 -> 0.1", ("2024-05-01 14:00:00.020", "0.1")),
        ("2024-05-01T14:00:00 -> x:0.1", ("2024-05-01T14:00:00", "x:0.1")),
        ("10:00:00.020 0.1", ("10:00:00.020", "0.1")),
        ("14:00:00", None),
        ("14:00:00 +0200", None),
        ("2:00:00 PM", None),
        ("14:00:00 -> ready", None),
    ],
)
def test_a_time_stamp_is_separated_from_its_number(
    cell: str, parts: tuple[str, str] | None
) -> None:
    assert stamped(cell) == parts


# --- marks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "delimiter", "notation"),
    [
        (["1.5", "2"], ",", Notation()),
        (["1,56", "2"], ",", Notation(",")),
        (["1,5", "1.234"], ";", Notation(",", ".")),
        (["1,234.5"], ";", Notation(".", ",")),
        (["1,234,567"], ",", Notation(".", ",")),
        (["1.234.567"], ";", Notation(",", ".")),
        (["1,363", "9,806"], ",", Notation(",", "", "1,363")),
        (["1.363", "9.806"], ";", Notation(".", "", "1.363")),
        (["1.363", "9.806"], ",", Notation()),
        (["1.5", "1,5"], ";", Notation(".", "", "", is_mixed=True)),
    ],
)
def test_marks_tell_the_notation_or_are_doubtful(
    cells: list[str], delimiter: str, notation: Notation
) -> None:
    found = Notation.of(cells, delimiter, None)
    assert (found.decimal, found.doubtful) == (notation.decimal, notation.doubtful)
    assert found.is_mixed == notation.is_mixed
    assert found.thousands == notation.thousands


@given(value=st.integers(-(10**12), 10**12), cents=st.integers(0, 99), comma=st.booleans())
def test_separated_thousands_come_back(value: int, cents: int, comma: bool) -> None:
    text = f"{value:,}.{cents:02}"
    cell = text.translate(str.maketrans(",.", ".,")) if comma else text
    assert meaning([cell, "0,5" if comma else "0.5"], ";").values[0] == float(f"{value}.{cents:02}")


@given(cell=st.text("0123456789.,- eExg:[]'%_", max_size=12))
def test_any_cell_has_one_meaning(cell: str) -> None:
    for delimiter in ",;":
        found = meaning([cell], delimiter)
        assert found.kind in ("number", "text", "empty", "date")
        if found.kind == "number":
            assert np.isnan(found.values[0]) == found.unreadable[0]


# --- gaps -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cell", "expected"), [("none", True), ("-", True), ("NA", False)])
def test_some_marks_may_be_classes(cell: str, expected: bool) -> None:
    assert is_label(cell) is expected


# --- columns of many cells ------------------------------------------------------------------------


@given(
    numbers=st.lists(st.floats(-1e6, 1e6), min_size=5, max_size=9),
    odd=st.lists(st.sampled_from(["", "NA", "x", "1 g", "1e39", "1_0", "1,2,3", "0x1f"])),
    decimal=st.sampled_from(".,"),
)
def test_odd_cells_mean_the_same_among_few_and_many_plain_numbers(
    numbers: list[float], odd: list[str], decimal: str
) -> None:
    notation = Notation(decimal)
    texts = [*(f"{number!r}".replace(".", decimal) for number in numbers), *odd[:4]]
    texts = list(dict.fromkeys(texts))
    many = meaning_of(texts, np.ones(len(texts), np.int64), notation)
    each = _meaning_of(texts, [1] * len(texts), 0, notation)
    np.testing.assert_array_equal(many.values, each.values)
    assert (many.kind, many.form, [*many.unreadable]) == (each.kind, each.form, [*each.unreadable])


def test_a_plain_number_has_nothing_attached_and_fits_single_precision() -> None:
    cells = ["1e39", "2", "1_0", "1,5", "2.5", "x", "nan", " 3 "]
    np.testing.assert_array_equal(
        plain_values(cells, "."), [np.nan, 2, np.nan, np.nan, 2.5, np.nan, np.nan, 3]
    )
    np.testing.assert_array_equal(
        plain_values(cells, ","), [np.nan, 2, np.nan, 1.5, np.nan, np.nan, np.nan, 3]
    )


@given(low=st.integers(0, 2**40), spread=st.integers(1, 2**20))
def test_lost_differences_are_those_that_single_precision_rounds_away(
    low: int, spread: int
) -> None:
    values = low + np.linspace(0, spread, 2000)
    different = len(np.unique(values.astype(np.float32)))
    if different < 256:
        assert loses_differences(float(low), float(low + spread))
    elif different > 1024:
        assert not loses_differences(float(low), float(low + spread))
