"""Folds of cross-validation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.drift import stretches_of
from protonn_edge.data.roles.groups import group_numbers, overlapping_runs
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError

_FOLDS = 3
_FOLDS_OF_GROUPS = 7  # groups differ more than points: hold out few at a time
_FEW_POINTS, _FOLDS_OF_FEW, _DIVISIONS_OF_FEW = 200, 5, 4


def usual_folds(groups: Array | None = None) -> int:
    """Return a sufficient number of folds for points (n,), in groups or not."""
    if groups is None:
        return _FOLDS
    return max(2, min(len(np.unique(groups)), _FOLDS_OF_GROUPS))


def with_groups_to_divide(dataset: Dataset) -> tuple[Dataset, list[Notice]]:
    """Return points whose groups can be held out in turn, and a warning if they are no groups.

    Blocks of rows that drift are groups. A single group, as of two people of whom one is held out
    for testing, is divided between points, or where overlapping windows end.
    """
    division = dataset.division
    if dataset.groups is None and division is not None and division.blocks:
        stretches = stretches_of(dataset.y_train, division.blocks)
        return replace(dataset, groups=stretches), []
    if dataset.groups is None or len(set(dataset.groups.tolist())) > 1:
        return dataset, []
    runs = overlapping_runs(dataset)
    divided = runs if runs is not None and runs[-1] > 0 else None
    parts = "points" if divided is None else "runs of overlapping windows"
    text = (
        "all points for training are from one group, so the search compares models in "
        f"cross-validation by folds of its {parts}, which overestimates the figures for other "
        "groups"
    )
    if dataset.division is not None and dataset.division.share:
        text += "; those on the held-out points are of another group (to search by groups, record "
        text += "more of them, or hold none out with --holdout 0)"
    return replace(dataset, groups=divided), [Notice("one_group", text, warning=True)]


def search_folds(
    y: NDArray[np.int64], n_folds: int | None, seed: int, groups: Array | None = None
) -> NDArray[np.int64]:
    """Return the folds in which a search tests each point, (n, r); see `fold_numbers`.

    By default, few points without groups are divided several times, into folds of other numbers:
    in a single division, chance would choose among many models.
    """
    few = n_folds is None and groups is None and len(y) < _FEW_POINTS
    n_folds = n_folds or (_FOLDS_OF_FEW if few else usual_folds(groups))
    seeds = range(seed, seed + (_DIVISIONS_OF_FEW if few else 1))
    parts = [fold_numbers(y, n_folds, each, groups) for each in seeds]
    return np.stack([each + i * (each.max() + 1) for i, each in enumerate(parts)], axis=1)


def fold_numbers(
    y: NDArray[np.int64], n_folds: int, seed: int, groups: Array | None = None
) -> NDArray[np.int64]:
    """Return, for each point, the fold 0..n_folds - 1 in which it is tested.

    Each fold gets about the same share of each class y (n,), and only whole groups. Groups are
    assigned so that classes are balanced, so the seed hardly matters for them. There are fewer
    folds, but at least two, if a class has fewer points.

    Raises `InputError` if a class has only one point, or there are fewer groups than folds.
    """
    least = int(np.bincount(y).min())
    if least < 2:
        raise InputError(
            "a class has only one point, which cannot be used for both training and testing; add "
            "points of that class, or leave the class out"
        )
    n_folds = min(n_folds, least)
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold  # takes a second

    if groups is None:
        splitter: Any = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    else:
        groups = group_numbers(groups, len(y))
        n_groups = int(groups.max()) + 1
        if n_groups < n_folds:
            raise InputError(
                f"there are {n_groups:,} groups for {n_folds:,} folds, and a group is never split; "
                "use fewer folds, or leave the groups out"
            )
        splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    numbers = np.zeros(len(y), dtype=np.int64)
    for number, (_, tested) in enumerate(splitter.split(np.zeros((len(y), 1)), y, groups)):
        numbers[tested] = number
    _, without_gaps = np.unique(numbers, return_inverse=True)  # small groups may leave a fold empty
    filled: NDArray[np.int64] = without_gaps
    return filled


def check_classes_of_groups(y: Array, groups: Array) -> None:
    """Refuse points of classes y (n,) if all points of a class are in one group."""
    for label in np.unique(y):
        if len(np.unique(groups[y == label])) < 2:
            raise InputError(
                f"all points of class {label!s} are in one group, so no model can learn this class "
                "when the group is held out; record the class in another group, too, or leave the "
                "groups out"
            )
