"""Parts of data: held-out points, and points of one class."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice, listed, names_at, quoted
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.division import Division
from protonn_edge.data.points.drift import ENDS, Drift, drift_in
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError
from protonn_edge.system.meant import did_you_mean

_DIGITS_TEST_FRACTION = 0.25


def load_digits_dataset(seed: int = 0) -> Dataset:
    """Return scikit-learn's handwritten digits: 8x8 images, 10 classes, 1,797 points.

    The seed draws a quarter of each class, about 449 points in all, as the test part.
    """
    return holdout(_digits(), _DIGITS_TEST_FRACTION, seed)


@functools.cache
def _digits() -> Dataset:
    """Return all digits for training; scikit-learn reads them from text each time."""
    # Imported here, since it takes half a second, and reading a model does not need it.
    from sklearn.datasets import load_digits

    digits = load_digits()
    return Dataset(
        X_train=digits.data.astype(np.float32),
        y_train=digits.target.astype(np.int64),
        X_test=np.empty((0, 64), dtype=np.float32),
        y_test=np.empty(0, dtype=np.int64),
        classes=tuple(str(name) for name in digits.target_names),
        feature_names=tuple(digits.feature_names),
    )


def holdout(dataset: Dataset, fraction: float, seed: int, *, by_rows: bool = False) -> Dataset:
    """Split the training part of `dataset` in two, by groups if it has some, else by classes.

    An existing test part is ignored. The fraction, between 0 and 1, is the share of groups, or of
    each class, that becomes the test part; at least one point of each class remains for training.
    If rows without groups drift, the test part has blocks of them, unless `by_rows`; see `drift`.

    Raises `InputError` if the fraction is out of range or too small to hold out a point, or if the
    remaining groups lack a class.
    """
    if not 0.0 < fraction < 1.0:
        raise InputError(
            f"the share of points to hold out is {fraction:g}; it must lie between 0 and 1"
        )
    y, groups = dataset.y_train, dataset.groups
    found = None if by_rows or groups is not None else drift_of(dataset)
    division = replace(dataset.division or Division(""), share=fraction, seed=seed)
    if found is not None:
        names = names_at(found.columns.tolist(), dataset.feature_names)
        drifting = list(names) if found.part == ENDS else []
        division = replace(division, blocks=found.part, drifting=drifting)
        dataset = replace(dataset, notices=(*dataset.notices, about_drift(dataset, found)))
    chosen = division.chosen(y, groups)
    if not chosen.any():
        what = "points" if groups is None else "groups"
        count = y.shape[0] if groups is None else len(np.unique(groups))
        why = "use a larger share, such as 0.5"
        if groups is None and y.ndim == 1 and np.bincount(y).max() < 2:
            why = "each class needs at least two points"
        if groups is not None and y.ndim == 1:
            why = "each class needs points in at least two groups"
        raise InputError(f"a share of {fraction:g} holds out none of the {count:,} {what}; {why}")
    if dataset.division is not None:
        dataset = replace(dataset, division=division)
    return _divided(dataset, chosen, division)


def drift_of(dataset: Dataset) -> Drift | None:
    """Return the evidence that training points drift; see `drift_in`."""
    return drift_in(dataset.X_train, dataset.y_train, ordered=dataset.in_recorded_order)


def of_held_out(dataset: Dataset, division: Division) -> Array:
    """Return the training points (n, D) as held-out ones are tested."""
    X, names = dataset.X_train, dataset.feature_names
    return division.tested(X, dataset.y_train, names, ordered=dataset.in_recorded_order)


def about_drift(dataset: Dataset, found: Drift) -> Notice:
    """Return the warning about evidence for blocks that must be held out."""
    of_numbers = dataset.predicts == "value"
    held = "whole blocks of rows with one label"
    if found.part == ENDS:
        held = f"the last rows of each {'tenth' if of_numbers else 'block with one label'}"
    names = names_at(found.columns.tolist(), dataset.feature_names)
    if found.promised is None:
        text = (
            "most rows are nearly equal to the row before, as samples of a recording are, so "
            f"{held} are held out, and not rows at random; name the recording of each row with "
            "--groups, or use 'protonn-edge windows'"
        )
        return Notice("neighbours", text, warning=True)
    unit = "an R2 of {:.2f}" if of_numbers else "{:.0%} right answers"
    at_random, of_blocks = (unit.format(each) for each in found.promised)
    options = {each.feature: each.flag_value for each in dataset.columns}
    drop = [options.get(place, "") for place in found.columns.tolist()]
    remedy = "record each class several times, in turn"
    if of_numbers:
        remedy = "record on several days, in another order"
    if all(drop) and len(drop) < dataset.n_features:
        remedy += f", or leave out what drifts with --drop {','.join(drop)}"
    text = (
        f"rows of {'nearby numbers' if of_numbers else 'a class'} were recorded one after the "
        f"other, and {'columns' if names[1:] else 'column'} {listed(names)} drifted meanwhile, so "
        f"{held} are held out{', with that drift at random' if found.part == ENDS else ''} (a "
        f"linear model has {of_blocks} for them, but {at_random} for rows at random); {remedy}, or "
        "hold out rows at random with --holdout-rows"
    )
    return Notice("drift", text, warning=True, columns=names)


def named_groups(dataset: Dataset, names: Sequence[str]) -> list[int]:
    """Return the numbers of the groups with these names.

    Raises `InputError` if there is no such group, or no other one.
    """
    known = dataset.group_names
    for name in names:
        if name not in known:
            found = did_you_mean(name, known) or f"; the data has {listed(known) or 'none'}"
            raise InputError(
                f"--holdout: {quoted(name)} is not a share from 0 to below 1, such as 20%, and no "
                f"group of the data{found}"
            )
    numbers = sorted({known.index(name) for name in names})
    if len(numbers) == len(known):
        raise InputError("--holdout names all groups of the data; leave some for training")
    return numbers


def hold_groups_out(dataset: Dataset, numbers: Sequence[int]) -> Dataset:
    """Return a data set with some of its groups as the test part; an existing one is ignored.

    Raises `InputError` if the other groups lack a class.
    """
    assert dataset.groups is not None
    chosen = np.isin(dataset.groups, numbers)
    if dataset.y_train.ndim == 1 and dataset.predicts == "class":
        absent = np.setdiff1d(range(dataset.n_classes), dataset.y_train[~chosen])
        if missing := [dataset.classes[label] for label in absent.tolist()]:
            raise InputError(
                f"only groups that --holdout names have points of {listed(missing)}; hold out "
                "other groups"
            )
    return _divided(dataset, chosen, Division(""))


def _divided(dataset: Dataset, chosen: NDArray[np.bool_], division: Division) -> Dataset:
    """Return a data set whose test part is the chosen training points (n,)."""
    y, groups = dataset.y_train, dataset.groups
    classes = range(dataset.n_classes) if y.ndim == 1 else []  # sets of labels have none
    if groups is not None and dataset.group_names:
        names = listed(dataset.group_names[group] for group in np.unique(groups[chosen]))
        notice = Notice("held_out", f"groups held out for testing: {names}")
        dataset = replace(dataset, notices=(*dataset.notices, notice))
    dataset = relearned(dataset, ~chosen)
    absent = np.setdiff1d(classes, y[chosen]).tolist() if len(classes) else []
    if missing := tuple(dataset.classes[label] for label in absent):
        text = (
            "classes whose recall is unknown because no held-out point belongs to them: "
            f"{listed(missing)}; add {'points' if groups is None else 'groups with such points'}, "
            "or hold out a larger share"
        )
        notice = Notice("held_out", text, warning=True, columns=missing)
        dataset = replace(dataset, notices=(*dataset.notices, notice))
    tested = None if groups is None else groups[chosen]
    X_test = of_held_out(dataset, division)[chosen]
    kept = kept_rows(dataset, ~chosen)
    return replace(kept, X_test=X_test, y_test=y[chosen], test_groups=tested)


def relearned(dataset: Dataset, chosen: NDArray[np.bool_]) -> Dataset:
    """Return a data set with gaps filled by values learned from the chosen training points (n,)."""
    if dataset.gaps is None or dataset.preparation is None:
        return dataset
    preparation, X = dataset.preparation.refilled(
        dataset.X_train, dataset.gaps, chosen, dataset.feature_names
    )
    return replace(dataset, X_train=X, preparation=preparation)


def kept_rows(dataset: Dataset, rows: NDArray[np.bool_]) -> Dataset:
    """Return a data set with some of its training points, which no longer form a recording."""
    groups = None if dataset.groups is None else dataset.groups[rows]
    X, y = dataset.X_train[rows], dataset.y_train[rows]
    gaps = None if dataset.gaps is None else dataset.gaps[rows]
    kept = replace(dataset, X_train=X, y_train=y, groups=groups, gaps=gaps)
    return replace(kept, sessions=None, times=None)
