"""A budget of bytes determines the sizes of a model, by the paper's rules, and is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trainings import DIGITS, OPTIMIZERS, protonn

from protonn_edge.kinds.protonn.train.budget_rules import ModelSizes, sizes_within
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError


def sizes(budget: int, D: int, L: int, n: int = 100_000, **more: Any) -> ModelSizes:
    return sizes_within(budget, n_features=D, n_classes=L, n_points=n, **more)


@given(
    st.integers(1, 40_000),
    st.integers(1, 2_000),
    st.integers(2, 100),
    st.integers(2, 100_000),
)
def test_a_budget_is_kept_and_nothing_fits_below_the_least(
    budget: int, D: int, L: int, n: int
) -> None:
    least = D + L + L * L
    if budget < least:
        with pytest.raises(InputError, match=f"takes {least:,} B"):
            sizes(budget, D, L, n)
        return
    found = sizes(budget, D, L, n)
    assert 1 <= found.n_projections <= min(D, 255)
    assert 1 <= found.n_prototypes <= n
    assert found.device_bytes(D, L) <= budget


@given(st.integers(1, 20_000), st.integers(1, 1_000), st.integers(2, 100))
def test_a_budget_is_kept_by_weights_of_4_bits(budget: int, D: int, L: int) -> None:
    try:
        found = sizes(budget, D, L, projection_bits=4)
    except InputError:
        assert budget < D + L + L * L
        return
    d, m = found.n_projections, found.n_prototypes
    assert (d + 1) // 2 * D + (d + L) * m <= budget
    assert d >= sizes(budget, D, L).n_projections


@pytest.mark.parametrize(
    ("kilobytes", "d"), [(0.5, 5), (1, 5), (2, 10), (4, 15)]
)  # 2, 4, 8, 16 in the paper
def test_two_classes_have_the_papers_outputs_where_nothing_is_left_over(
    kilobytes: float, d: int
) -> None:
    budget = int(1_000 * kilobytes)
    features = (budget - 40 * (d + 2)) // d  # just room for 40 prototypes
    found = sizes(budget, features, 2)
    assert found.n_projections == d
    assert found.n_prototypes >= 40


def test_fewer_outputs_make_room_for_prototypes_where_w_is_large() -> None:
    assert sizes(4_000, 784, 2).n_projections == 4
    assert sizes(2_000, 256, 10) == ModelSizes(5, 48)


def test_what_prototypes_leave_over_goes_into_outputs_first() -> None:
    found = sizes(16_000, 256, 10)
    assert found.n_projections == 42
    assert found.n_prototypes == 100
    assert sizes(100_000, 16, 4).n_projections == 16
    assert sizes(100_000, 16, 4).n_prototypes == (100_000 - 256) // 20


def test_there_are_no_more_prototypes_than_points() -> None:
    assert sizes(16_000, 20, 3, n=50).n_prototypes == 50


def test_outputs_given_by_something_else_are_kept() -> None:
    assert sizes(4_000, 64, 10, n_projections=8) == ModelSizes(8, (4_000 - 512) // 18)
    with pytest.raises(InputError, match="takes 692 B"):
        sizes(600, 64, 10, n_projections=8)


def fit(**settings: Any) -> ProtoNNClassifier:
    chosen = {"epochs": 2, "random_state": 0} | settings
    return protonn(**chosen).fit(DIGITS.X_train, DIGITS.y_train)


@pytest.mark.parametrize("budget", [200, 900, 4_000])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_integers_of_a_model_stay_within_its_budget(budget: int, optimizer: str) -> None:
    model = fit(budget=budget, **OPTIMIZERS[optimizer]).to_model()
    taken = quantize(model).model_bytes
    assert taken <= budget
    assert taken > budget - model.n_features - 2 * model.head.n_prototypes - model.n_classes - 100
    assert model.record["settings"]["budget"] == budget


def test_weights_of_4_bits_stay_within_a_budget_with_more_projections() -> None:
    wide, packed = (fit(budget=2_000, projection_bits=bits).to_model() for bits in (8, 4))
    assert packed.head.n_projections > wide.head.n_projections
    assert quantize(packed).model_bytes <= 2_000


def test_a_projection_that_is_given_is_kept_within_a_budget() -> None:
    model = fit(budget=2_000, init_projection=np.eye(64)[:7]).to_model()
    assert model.head.n_projections == 7
    assert quantize(model).model_bytes <= 2_000
    assert fit(budget=8_000, init_projection="identity").to_model().head.n_projections == 64


def test_a_budget_does_not_change_the_sizes_of_a_model_to_go_on_from() -> None:
    with pytest.raises(InputError, match="budget is given, but the model to start from"):
        fit(budget=900, initial_model=fit().to_model())


def test_a_budget_too_small_for_anything_names_the_smallest_that_is_not() -> None:
    with pytest.raises(InputError, match="budget: 173 B.*takes 174 B") as caught:
        fit(budget=173)
    assert "\n" not in str(caught.value)
    assert quantize(fit(budget=174).to_model()).model_bytes == 174
