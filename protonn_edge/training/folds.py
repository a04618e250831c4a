"""Folds of cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from protonn_edge.datasets.splits import group_numbers
from protonn_edge.errors import InputError

_FOLDS = 3
_FOLDS_OF_GROUPS = 7  # groups differ more than points: hold out few at a time


def usual_folds(groups: NDArray[Any] | None = None) -> int:
    """Return a sufficient number of folds for points (n,), in groups or not."""
    if groups is None:
        return _FOLDS
    return max(2, min(len(np.unique(groups)), _FOLDS_OF_GROUPS))


def fold_numbers(
    y: NDArray[np.int64], n_folds: int, seed: int, groups: NDArray[Any] | None = None
) -> NDArray[np.int64]:
    """Return for each point the fold that it is tested in.

    - `y` (n,): class indices; each fold has about the same share of each class.
    - `n_folds`: at least 2; reduced if a class has fewer points, also with groups.
    - `seed`: the same seed gives the same folds. Groups are assigned so that classes are balanced,
      so the seed has almost no influence on them.
    - `groups` (n,): points of a group, such as one person, are put into the same fold.

    Returns 0..n_folds - 1.

    Raises `InputError` if a class has only one point, or there are fewer groups than folds.
    """
    least = int(np.bincount(y).min())
    if least < 2:
        raise InputError(
            "a class has only one point, which cannot be used for both training and testing; add "
            "points of that class, or leave it out"
        )
    n_folds = min(n_folds, least)
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


def check_classes_of_groups(y: NDArray[Any], groups: NDArray[Any]) -> None:
    """Refuse points if all points of a class are in one group.

    - `y` (n,): classes.
    - `groups` (n,): the group of each point.

    Raises `InputError` if all points of a class are of the same group.
    """
    for label in np.unique(y):
        if len(np.unique(groups[y == label])) < 2:
            raise InputError(
                f"all points of class {label!s} are in one group, so no model can learn it when "
                "the group is held out; record the class in another group, too, or leave the "
                "groups out"
            )
