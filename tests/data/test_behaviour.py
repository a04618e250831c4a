"""What numbers do from row to row: what counts, rises, identifies, repeats or copies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protonn_edge.data.roles.behaviour import (
    Behaviour,
    alternates,
    behaviour_of,
    is_copy,
)
from protonn_edge.data.roles.indicators import exclusive_sets

RNG = np.random.default_rng(0)
NOISE = RNG.normal(0, 9, 300)


def behaviour(values: Sequence[float] | np.ndarray, begins: Sequence[int] = ()) -> Behaviour:
    marks = np.isin(np.arange(len(values)), [0, *begins])
    return behaviour_of(np.array(values, np.float64), marks)


@given(
    first=st.floats(-1e9, 1e9),
    step=st.sampled_from([1e-3, 0.02, 1.0, 20.0, 4e4]),
    falls=st.booleans(),
    rows=st.integers(9, 200),
)
def test_even_steps_count_whatever_their_size(
    first: float, step: float, falls: bool, rows: int
) -> None:
    found = behaviour(first + step * np.arange(rows) * (1 - 2 * falls))
    assert found.kind == "counter"
    assert f"it {'falls' if falls else 'rises'} by about {step:.3g} from row to row" in (
        found.evidence
    )


def test_gaps_do_not_hide_a_counter() -> None:
    values = np.arange(100.0)
    values[[0, 3, 4, 50, 99]] = np.nan
    assert behaviour(values).kind == "counter"


def test_ticks_of_a_coarse_clock_are_not_beyond_doubt() -> None:
    found = behaviour(np.arange(300) // 25)
    assert found.kind == "ticks"
    assert "at regular intervals" in found.evidence


@pytest.mark.parametrize("values", [np.sort(NOISE), np.cumsum(RNG.exponential(1, 300))])
def test_uneven_steps_in_one_direction_rise(values: np.ndarray) -> None:
    assert behaviour(values).kind == "rises"
    assert behaviour(-values).evidence.startswith("it falls")


@pytest.mark.parametrize("step", [1, 7])
def test_shuffled_numbers_of_rows_count(step: int) -> None:
    found = behaviour(np.random.default_rng(2).permutation(200) * step)
    assert found == Behaviour(
        "counter", "it has evenly spaced numbers, a different one in each row"
    )


def test_different_whole_numbers_identify_rows() -> None:
    values = np.random.default_rng(3).choice(10_000_000, 400, replace=False)
    assert behaviour(values).kind == "distinct"


def test_numbers_that_stay_for_long_are_runs() -> None:
    found = behaviour(np.repeat([4, 9, 2], 40))
    assert found.kind == "runs"
    assert found.evidence == "it changes only 2 times in 120 rows, as a session does"
    by_take = behaviour(np.repeat([4, 9, 2], 40), [40, 80])
    assert "and only between takes" in by_take.evidence


@pytest.mark.parametrize(
    "values",
    [
        NOISE,
        np.round(NOISE),
        np.sin(np.arange(300) / 9),
        np.full(300, 5.0),
        RNG.integers(0, 3, 300),
        RNG.random(300) < 0.03,
        np.round(RNG.normal(0, 3000, 300)),
        np.arange(8)[::-1] % 2,
        [1, 2, 3, 4],
        [],
    ],
)
def test_measurements_do_nothing_of_this(values: np.ndarray) -> None:
    assert behaviour(values) == Behaviour()


# --- several columns ------------------------------------------------------------------------------


def test_values_that_take_turns_alternate() -> None:
    assert alternates(np.arange(40) % 2)
    assert alternates(np.arange(60) % 3)


@pytest.mark.parametrize(
    "codes", [np.arange(40) // 20, np.zeros(40), np.arange(40), np.arange(10) % 2]
)
def test_values_in_runs_or_all_different_do_not_alternate(codes: np.ndarray) -> None:
    assert not alternates(codes.astype(np.int64))


def test_a_copy_has_one_value_for_each_class() -> None:
    labels = RNG.integers(0, 3, 60)
    assert is_copy(np.array([2, 0, 1])[labels], labels)
    assert not is_copy(np.array([1, 0, 1])[labels], labels)
    wrong = np.array([2, 0, 1])[labels]
    wrong[5] = (wrong[5] + 1) % 3
    assert not is_copy(wrong, labels)
    assert not is_copy(labels[:10], labels[:10])


@given(st.integers(0, 10_000))
def test_indicators_of_two_labels_are_two_sets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = rng.permutation(np.arange(60) % 3)
    second = rng.permutation(np.arange(60) % 4)
    some = rng.random(60) < 0.5
    columns = [first == 0, second == 0, first == 1, some, second == 1, first == 2]
    columns += [second == 2, second == 3]
    found = sorted(map(tuple, exclusive_sets(np.stack(columns, axis=1))))
    covers = [np.stack([columns[i] for i in each]).sum(axis=0) for each in found]
    assert all((cover == 1).all() for cover in covers)
    assert len({i for each in found for i in each}) == sum(map(len, found))
    assert len(found) >= 2


@pytest.mark.parametrize(
    "columns",
    [
        [[1, 0, 1, 0] * 5, [0, 1, 0, 0] * 5],  # rows without any
        [[1, 0, 1, 0] * 5, [1, 1, 0, 1] * 5],  # rows with two
        [[1] * 20, [0] * 20],  # constant
        [[1, 0] * 10],
        [[1, 0], [0, 1]],  # few rows
    ],
)
def test_other_columns_of_ones_and_zeros_are_no_set(columns: list[list[int]]) -> None:
    assert not list(exclusive_sets(np.array(columns, np.bool_).T))
