"""Parts of data: held-out points, groups, points of one class, and rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.datasets.archive import ArrayArchive
from protonn_edge.datasets.dataset import Dataset, MultiLabelDataset, dense_features
from protonn_edge.datasets.naming import NO_CLASS, Notice, did_you_mean, listed
from protonn_edge.datasets.options import TableOptions
from protonn_edge.errors import InputError
from protonn_edge.system.files import check_file

_DIGITS_TEST_FRACTION = 0.25
_MOST_DRAWS = 200
_GROUPS_LIMIT_BYTES = 64 << 20
_ARCHIVE_LIMIT_BYTES = 8 << 30


def load_digits_dataset(seed: int = 0) -> Dataset:
    """Return scikit-learn's handwritten digits: 8x8 images, 10 classes, 1,797 points.

    The seed draws a quarter of each class, about 449 points in all, as the test part.
    """
    # Imported here, since it takes half a second, and reading a model does not need it.
    from sklearn.datasets import load_digits  # noqa: PLC0415

    digits = load_digits()
    whole = Dataset(
        X_train=digits.data.astype(np.float32),
        y_train=digits.target.astype(np.int64),
        X_test=np.empty((0, 64), dtype=np.float32),
        y_test=np.empty(0, dtype=np.int64),
        classes=tuple(str(name) for name in digits.target_names),
        feature_names=tuple(digits.feature_names),
    )
    return holdout(whole, _DIGITS_TEST_FRACTION, seed)


def holdout(dataset: Dataset, fraction: float, seed: int) -> Dataset:
    """Split the training part of `dataset` in two, by groups if it has some, else by classes.

    An existing test part is ignored. The fraction, between 0 and 1, is the share of groups, or of
    each class, that becomes the test part; at least one point of each class remains for training.

    Raises `InputError` if the fraction is out of range or too small to hold out a point, or if the
    remaining groups lack a class.
    """
    if not 0.0 < fraction < 1.0:
        raise InputError(
            f"the share of points to hold out is {fraction:g}; it must lie between 0 and 1"
        )
    y, groups = dataset.y_train, dataset.groups
    classes = range(dataset.n_classes) if y.ndim == 1 else []  # sets of labels have none
    if groups is None:
        units, what = np.arange(y.shape[0]), "points"
        shares = [np.flatnonzero(y == label) for label in classes] or [units]
    else:
        names, units = np.unique(groups, return_inverse=True)
        shares, what = [np.arange(len(names))], "groups"
    generator = np.random.default_rng(seed)

    def drawn() -> NDArray[np.bool_]:
        chosen = np.zeros(sum(map(len, shares)), dtype=np.bool_)
        for members in shares:
            count = min(round(fraction * len(members)), len(members) - 1)
            chosen[generator.permutation(members)[: max(count, 0)]] = True
        return chosen

    by_groups = groups is not None and len(classes) > 0
    held_out = _with_all_classes(drawn, units, y) if by_groups else drawn()
    if not held_out.any():
        raise InputError(
            f"a share of {fraction:g} holds out none of the {len(held_out):,} {what}; use a larger "
            "share"
        )
    if groups is not None and dataset.group_names:
        notice = held_out_groups(dataset.group_names[group] for group in names[held_out])
        dataset = replace(dataset, notices=(*dataset.notices, notice))
    chosen = held_out[units]
    dataset = _relearned(dataset, ~chosen)
    if by_groups and len(np.unique(y[~chosen])) < len(classes):
        raise InputError(
            f"holding out {fraction:g} of the {len(held_out):,} groups leaves at least one class "
            "without training points; use a smaller share, or another seed"
        )
    absent = np.setdiff1d(classes, y[chosen]).tolist() if by_groups else []
    if missing := tuple(dataset.classes[label] for label in absent):
        text = (
            "classes whose recall is unknown because no held-out point belongs to them: "
            f"{listed(missing)}; add groups with such points, or hold out a larger share"
        )
        notice = Notice("held_out", text, warning=True, columns=missing)
        dataset = replace(dataset, notices=(*dataset.notices, notice))
    return replace(_kept(dataset, ~chosen), X_test=dataset.X_train[chosen], y_test=y[chosen])


def held_out_groups(names: Iterable[str]) -> Notice:
    """Return a notice of the groups of the test part."""
    return Notice("held_out", f"groups held out for testing: {listed(names)}")


def _with_all_classes(
    draw: Callable[[], NDArray[np.bool_]], of_group: NDArray[np.int64], classes: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return the first of some draws of groups (groups,) with points of every class in both parts.

    If there is none, the one with the fewest classes missing, above all from the training part.
    """
    has = np.zeros((int(of_group.max()) + 1, int(classes.max()) + 1), np.bool_)
    has[of_group, classes] = True
    in_one_group = int((has.sum(axis=0) == 1).sum())
    best, least = np.zeros(len(has), np.bool_), [len(has.T), len(has.T)]
    for _ in range(_MOST_DRAWS):
        chosen = draw()
        missing = [int((~has[part].any(axis=0)).sum()) for part in (~chosen, chosen)]
        if missing < least:
            best, least = chosen, missing
        if missing <= [0, in_one_group]:
            break
    return best


def chosen_for_test(
    n: int,
    share: float,
    seed: int,
    labels: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> NDArray[np.bool_]:
    """Return which of n rows, (n,), become the test part: about a share, in whole groups if given.

    With labels, about the same share of each class.
    """
    generator = np.random.default_rng(seed)
    chosen = np.zeros(n, np.bool_)
    classes = np.zeros(n, np.int64)
    if labels is not None:
        classes = np.unique(labels, return_inverse=True)[1]
    if groups is None:
        for label in range(int(classes.max(initial=-1)) + 1):
            members = generator.permutation(np.flatnonzero(classes == label))
            chosen[members[: round(share * len(members))]] = True
    else:
        names, of_group = np.unique(groups, return_inverse=True)
        counts = np.zeros((len(names), int(classes.max()) + 1))
        np.add.at(counts, (of_group, classes), 1)

        def drawn() -> NDArray[np.bool_]:
            picked = np.zeros(len(names), np.bool_)
            short = share * counts.sum(axis=0)  # rows of each class still to choose
            for group in generator.permutation(len(names)):
                rest = short - counts[group]
                if (rest**2).sum() < (short**2).sum():
                    short, picked[group] = rest, True
            return picked

        chosen = _with_all_classes(drawn, of_group, classes)[of_group]
    if chosen.all() or not chosen.any():
        what = "rows" if groups is None else "groups"
        raise InputError(f"a share of {share:g} leaves one part without {what}; use another share")
    return chosen


def _relearned(dataset: Dataset, chosen: NDArray[np.bool_]) -> Dataset:
    """Return a data set with gaps filled by values learned from the chosen training points (n,)."""
    if dataset.gaps is None or dataset.preparation is None:
        return dataset
    preparation, X = dataset.preparation.refilled(
        dataset.X_train, dataset.gaps, chosen, dataset.feature_names
    )
    return replace(dataset, X_train=X, preparation=preparation)


def _kept(dataset: Dataset, rows: NDArray[np.bool_]) -> Dataset:
    """Return a data set with some of its training points, which no longer form a recording."""
    groups = None if dataset.groups is None else dataset.groups[rows]
    X, y = dataset.X_train[rows], dataset.y_train[rows]
    gaps = None if dataset.gaps is None else dataset.gaps[rows]
    held_out = (
        np.zeros(len(rows), np.bool_) if dataset.held_out is None else dataset.held_out.copy()
    )
    held_out[~held_out] = ~rows
    kept = replace(dataset, X_train=X, y_train=y, groups=groups, gaps=gaps, held_out=held_out)
    return replace(kept, sessions=None, times=None)


# --- groups ---------------------------------------------------------------------------------------


def with_groups(dataset: Dataset, name: str, data: Path) -> Dataset:
    """Add groups of training points to a data set that was read from `data`.

    The name is that of an array in `data` if that is an .npz, of a column of sessions or persons in
    a table, or of a file with one line per training point.

    Raises `InputError` if there is no such array, column or file, if it does not give one group per
    training point, or if there is only one group.
    """
    of_session = dataset.layout is not None and dataset.layout.session == name
    names = (
        dataset.sessions
        if of_session and dataset.sessions is not None
        else group_names(name, data, columns=[column.name for column in dataset.columns])
    )
    numbers = group_numbers(names, dataset.X_train.shape[0])
    if not numbers.any():
        raise InputError(
            f"all points have the same group in {name!r}; choose other groups, or leave --groups "
            "out"
        )
    first = np.unique(numbers, return_index=True)[1].tolist()
    return replace(dataset, groups=numbers, group_names=tuple(str(names[row]) for row in first))


def group_numbers(names: ArrayLike, n: int) -> NDArray[np.int64]:
    """Return the numbers, from 0 in the order of their names, of groups (n,)."""
    named = np.asarray(names)
    if named.shape != (n,):
        raise InputError(
            f"the groups have the shape {named.shape} for {n:,} points; give one group per point"
        )
    for row, name in enumerate(named.tolist()):
        if name in ("", None) or name != name:  # noqa: PLR0124 - as NaN does
            raise InputError(f"the group of point {row} is missing; give one group per point")
    if named.dtype.kind == "O":
        named = named.astype(str)
    numbers: NDArray[np.int64] = np.unique(named, return_inverse=True)[1].astype(np.int64)
    return numbers


def group_names(
    name: str, data: Path, options: TableOptions | None = None, columns: Sequence[str] = ()
) -> NDArray[Any]:
    """Return the names of groups from an array or a column of `data`, or from a file's lines.

    A column is considered only if `options`, with which the table `data` was read, are given.
    Errors suggest one of the `columns` or arrays.
    """
    if data.suffix == ".npz":
        with ArrayArchive(data, limit_bytes=_ARCHIVE_LIMIT_BYTES) as archive:
            if name in archive.names:
                return archive.read(name)
            columns = archive.names
    path = Path(name)
    if not path.exists():
        what = f"{'an array' if data.suffix == '.npz' else 'a column'} of {data}"
        hint = did_you_mean(name, columns) or "; give a file with one line per training point"
        raise InputError(f"--groups is {name[:40]!r}, which is neither {what} nor a file{hint}")
    check_file(path, limit_bytes=_GROUPS_LIMIT_BYTES)
    text = path.read_text("utf-8-sig", errors="replace")
    return np.array([line.strip() for line in text.rstrip().split("\n")])


# --- one class ------------------------------------------------------------------------------------


def of_normal_points(dataset: Dataset, normal: str | None = None) -> Dataset:
    """Return a data set with only normal training points: of this class if there are several.

    Test points of other classes get the label `NO_CLASS`. Without a test part, the training points
    of the other classes become the test part.
    """
    if isinstance(dataset, MultiLabelDataset):
        raise InputError("points have sets of labels; use data with one label per point")
    if normal is None and dataset.n_classes > 1:
        raise InputError(
            f"the data has {dataset.n_classes:,} classes, {listed(dataset.classes)}; name the "
            "normal class with --normal"
        )
    name = dataset.classes[0] if normal is None else normal
    if name not in dataset.classes:
        raise InputError(
            f"--normal is {name[:40]!r}, which is not one of the classes {listed(dataset.classes)}"
        )
    index = dataset.classes.index(name)
    dataset = _relearned(dataset, dataset.y_train == index)
    X = dense_features(dataset.X_train, "the training part")
    X_test, y_test = dense_features(dataset.X_test, "the test part"), dataset.y_test
    chosen = dataset.y_train == index
    if not len(y_test):
        X_test, y_test = X[~chosen], dataset.y_train[~chosen]
    kept = _kept(replace(dataset, X_train=X), chosen)
    return replace(
        kept,
        y_train=np.zeros_like(kept.y_train),
        X_test=X_test,
        y_test=np.where(y_test == index, 0, NO_CLASS),
        classes=(name,),
    )


def hold_out_normal(dataset: Dataset, fraction: float, seed: int) -> Dataset:
    """Return the data set with a share of the normal training points moved to the test part."""
    held_out = holdout(dataset, fraction, seed)
    others = dataset.y_test == NO_CLASS
    X_test = dense_features(dataset.X_test, "the test part")[others]
    return replace(
        held_out,
        X_test=np.concatenate([dense_features(held_out.X_test, "the test part"), X_test]),
        y_test=np.concatenate([held_out.y_test, dataset.y_test[others]]),
    )
