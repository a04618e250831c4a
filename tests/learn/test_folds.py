"""Folds have a share of each class, and never split a group."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused_by

from protonn_edge.learn.folds import (
    check_classes_of_groups,
    fold_numbers,
    search_folds,
    usual_folds,
)

Y = np.repeat(np.arange(3), 30)


def test_each_fold_has_its_share_of_each_class():
    folds = fold_numbers(Y, 3, seed=1)
    counts = [np.bincount(Y[folds == fold]).tolist() for fold in range(3)]
    assert counts == [[10, 10, 10]] * 3
    assert np.array_equal(folds, fold_numbers(Y, 3, seed=1))
    assert not np.array_equal(folds, fold_numbers(Y, 3, seed=2))


def test_a_rare_class_makes_fewer_folds():
    assert fold_numbers(np.append(Y, [3, 3]), 5, seed=0).max() == 1


def test_a_rare_class_makes_fewer_folds_of_groups_without_a_warning(recwarn):
    y = np.array([0] * 40 + [1] * 4)
    folds = fold_numbers(y, 7, 0, np.arange(44) % 11)
    assert folds.max() == 3
    assert not recwarn.list


@given(seed=st.integers(0, 2**32 - 1))
def test_no_fold_is_empty(seed):
    generator = np.random.default_rng(seed)
    y = np.append(generator.integers(0, 2, 8), [0, 0, 1, 1])
    groups = generator.integers(0, 4, 12)
    groups[:4] = np.arange(4)
    folds = fold_numbers(y, 3, seed, groups)
    assert set(folds) == set(range(folds.max() + 1))
    assert all(len(set(folds[groups == group])) == 1 for group in set(groups))


def test_a_class_of_a_single_group_is_named():
    y, groups = np.array(["walks", "rests", "walks"]), np.array([0, 0, 1])
    with refused_by("learn.folds"):
        check_classes_of_groups(y, groups)


def test_points_of_a_group_come_into_one_fold():
    groups = np.array([f"person {i % 9}" for i in range(len(Y))])
    folds = fold_numbers(Y, 3, seed=0, groups=groups)
    assert all(len(set(folds[groups == group])) == 1 for group in set(groups))
    assert set(folds) == {0, 1, 2}


@pytest.mark.parametrize(("n_groups", "folds"), [(30, 7), (5, 5), (1, 2)])
def test_groups_have_more_folds_where_there_are_enough(n_groups, folds):
    assert usual_folds() < 7
    assert usual_folds(np.arange(90) % n_groups) == folds


def test_few_points_are_divided_several_times_for_a_search():
    folds = search_folds(Y, None, seed=0)
    assert folds.shape == (90, 4)
    counts = [np.bincount(Y[(folds == fold).any(axis=1)]).tolist() for fold in range(20)]
    assert counts == [[6, 6, 6]] * 20
    assert [set(column) for column in folds.T] == [set(range(k, k + 5)) for k in (0, 5, 10, 15)]
    assert not np.array_equal(folds[:, 0] + 5, folds[:, 1])


@pytest.mark.parametrize(
    ("repeats", "n_folds", "groups"), [(1, 4, None), (1, None, np.arange(90) % 9), (3, None, None)]
)
def test_a_search_divides_more_points_or_groups_once_or_as_asked(repeats, n_folds, groups):
    y = np.tile(Y, repeats)
    folds = search_folds(y, n_folds, 1, groups)
    once = fold_numbers(y, n_folds or usual_folds(groups), 1, groups)
    assert np.array_equal(folds, once[:, None])


@pytest.mark.parametrize(
    ("y", "groups"), [(np.append(Y, 3), None), (Y, np.zeros(5)), (Y, np.arange(90) % 2)]
)
def test_what_cannot_be_folded_is_refused(y, groups):
    with refused_by("data.roles.groups", "learn.folds"):
        fold_numbers(y, 3, seed=0, groups=groups)
