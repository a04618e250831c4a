"""The file that a model was trained on, and how training divided it.

A model's record has the digest of the file, the held-out share, the seed and the name of the
groups. The same file is divided in the same way again, so that commands find the held-out rows in
it. A checksum detects rows, labels or groups other than in training, because of other options.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.archive import ArrayArchive
from protonn_edge.datasets.dataset import Dataset, Table, is_sparse
from protonn_edge.datasets.naming import NO_CLASS, in_order
from protonn_edge.datasets.options import TableOptions
from protonn_edge.datasets.splits import group_names, held_out_rows
from protonn_edge.errors import InputError
from protonn_edge.system.files import check_file

RECORDED = "file"
"""The entry of a model's record that contains the division of its file."""

_LIMIT_BYTES = 8 << 30
_OWN_GROUPS = "groups"  # the array of an .npz file
_LEAST_SAMPLES = 8  # of a window; rows of tables with few columns may agree by chance,
_LEAST_COLUMNS = 16
_PAIRS = 64  # of windows, which are looked at to find strides
_LEAST_SHARED = 8  # a window shares at least this part of its samples with the next one
_OVERLAPPING = 4  # if windows overlap, at least one in this many is followed by such a one
_AT_ONCE = 1 << 24  # bytes of windows that are compared


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file or, for a folder, of the names and contents of all files."""
    if path.is_dir():
        files = sorted(each for each in path.rglob("*") if each.is_file())
        parts = (f"{each.relative_to(path).as_posix()}\0{digest_of(each)}\n" for each in files)
        return hashlib.sha256("".join(parts).encode(errors="surrogateescape")).hexdigest()
    check_file(path, limit_bytes=_LIMIT_BYTES, may_be_empty=True)
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; check its permissions") from error


@dataclass(frozen=True)
class Division:
    """The division of a file into rows for training and held-out rows."""

    sha256: str  # of the file, see `digest_of`
    share: float = 0.0  # that was held out; 0 if all rows were for training
    seed: int = 0
    groups: str = ""  # the array, column or file of groups; empty for rows or overlapping windows
    label: str = ""  # the column of labels
    check: int = 0  # the CRC-32 of the bits of the held-out rows

    @classmethod
    def of(cls, path: Path, dataset: Dataset, groups: str) -> Self:
        """Return the division of a file that was read as a data set, with nothing held out."""
        labels = [each.name for each in dataset.columns if each.role == "label"]
        name = "" if dataset.groups is None else Path(groups).name
        return cls(digest_of(path), groups=name, label="".join(labels[:1]))

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        """Read and check the division in a model's record; None if there is none."""
        if (entry := record.get(RECORDED)) is None:
            return None
        try:
            division = cls(**entry)
            kinds = {name: type(value) for name, value in vars(cls("")).items()}
            fits = all(type(value) is kinds[name] for name, value in asdict(division).items())
            fits = fits and 0 <= division.share < 1 and 0 <= division.seed < 1 << 64
        except (TypeError, KeyError):
            fits = False
        if not fits:
            raise InputError(
                f"array 'record' has an entry {RECORDED!r} that is damaged; train the model again"
            )
        return division

    def to_record(self) -> dict[str, Any]:
        """Return the entry of a model's record."""
        return {RECORDED: asdict(self)}

    def holding_out(
        self, share: float, seed: int, y: Any, groups: NDArray[np.int64] | None
    ) -> Self:
        """Return the division of rows with labels y and groups (n,), see `chosen`."""
        divided = replace(self, share=share, seed=seed)
        return replace(divided, check=_check_of(divided.chosen(y, groups)))

    def chosen(self, y: Any, groups: NDArray[np.int64] | None) -> NDArray[np.bool_]:
        """Return which rows are held out, (n,): some of the classes in y, all of `NO_CLASS`."""
        rows = y != NO_CLASS if y.ndim == 1 else np.ones(y.shape[0], np.bool_)
        of_rows = None if groups is None else groups[rows]
        held_out = ~rows
        held_out[rows] = held_out_rows(y[rows], self.share, self.seed, of_rows)
        return held_out

    def held_out_of(
        self,
        table: Table,
        classes: tuple[str, ...],
        alone: str | None,
        path: Path,
        options: TableOptions | None,
    ) -> NDArray[np.bool_]:
        """Return the held-out points (n,) of a table that was read from the divided file.

        The file may name its `classes`; a model with one class was trained on points of this one
        `alone`. Raises `InputError` if other rows, labels or groups were read than in training.
        """
        groups = None
        if self.groups:
            beside = path.parent / self.groups
            name = str(beside) if beside.is_file() else self.groups
            names = group_names(name, path, options or TableOptions())
            if table.kept is not None and len(names) == len(table.kept):
                names = names[table.kept]
            if names.shape == (table.X.shape[0],):
                groups = np.unique(names, return_inverse=True)[1].astype(np.int64)
        else:
            groups = overlapping_runs(table)
        order = (alone,) if alone is not None else classes or in_order(set(table.labels))
        number = {name: index for index, name in enumerate(order)}
        y = np.array([number.get(label, NO_CLASS) for label in table.labels])
        chosen = self.chosen(y, groups)
        if _check_of(chosen) != self.check:
            raise InputError(
                f"the model was trained on {path}, but with other options, which give other rows, "
                "labels or groups; use the options of the training, or train the model again"
            )
        return chosen


def _check_of(chosen: NDArray[np.bool_]) -> int:
    return zlib.crc32(np.packbits(chosen).tobytes(), len(chosen))


def with_own_groups(dataset: Dataset, path: Path) -> tuple[Dataset, str]:
    """Return a data set with the groups of its file, and their name; unchanged if it has none.

    Groups are an array called ``groups``, or a column of sessions or persons. If most windows
    overlap the next one, each run of such windows is a group, without a name.
    """
    layout, named = dataset.layout, ""
    if path.suffix == ".npz" and path.is_file():
        with ArrayArchive(path, limit_bytes=_LIMIT_BYTES) as archive:
            named = _OWN_GROUPS if _OWN_GROUPS in archive.names else ""
    elif layout is not None and dataset.sessions is not None:
        named = layout.session
    if named:
        names = group_names(named, path) if path.suffix == ".npz" else None
        if names is None:
            names = np.array([session.strip() for session in dataset.sessions or ()])
        if names.shape != (dataset.X_train.shape[0],):
            raise InputError(
                f"{path} has an array 'groups' of the shape {names.shape} for "
                f"{dataset.X_train.shape[0]:,} training points; give one group per point, or "
                "rename the array"
            )
        every, groups = np.unique(names, return_inverse=True)
        if len(every) > 1:
            titles = tuple(map(str, every.tolist()))
            return replace(dataset, groups=groups.astype(np.int64), group_names=titles), named
    runs = overlapping_runs(dataset)
    if runs is not None and runs[-1] > 0:
        return replace(dataset, groups=runs), ""
    return dataset, ""


def overlapping_runs(points: Table | Dataset) -> NDArray[np.int64] | None:
    """Return the run of each window (n,), if windows share samples with the next one; else None.

    A run is a sequence of windows, each of which begins with samples at the end of the one before.
    """
    X = points.X if isinstance(points, Table) else points.X_train
    if is_sparse(X) or points.pixels or len(X) < 3:
        return None
    samples, channels = (*points.point_shape, 1)[:2] if points.point_shape else (X.shape[1], 1)
    least = _LEAST_SAMPLES if points.point_shape else _LEAST_COLUMNS
    if samples < least or samples * channels != X.shape[1]:
        return None
    windows = X.reshape(len(X), samples, channels)
    follows = np.zeros(len(X) - 1, np.bool_)
    at_once = max(1, _AT_ONCE // X[:1].nbytes)
    for stride in _strides(windows):
        for begin in range(0, len(follows), at_once):
            rows = slice(begin, min(begin + at_once, len(follows)))
            after = slice(begin + 1, rows.stop + 1)
            equal = windows[rows, stride:] == windows[after, : samples - stride]
            follows[rows] |= equal.all(axis=(1, 2))
    if _OVERLAPPING * follows.sum() < len(follows):
        return None
    return np.concatenate([[0], np.cumsum(~follows)]).astype(np.int64)


def _strides(windows: NDArray[np.float32]) -> list[int]:
    """Return how many samples later the next window begins, in some pairs that share samples."""
    n, samples, _ = windows.shape
    strides = set()
    for row in np.unique(np.linspace(0, n - 2, _PAIRS).astype(int)).tolist():
        one, other = windows[row], windows[row + 1]
        begins = 1 + np.flatnonzero((one[1:] == other[0]).all(axis=1))
        begins = begins[begins <= samples - max(3, samples // _LEAST_SHARED)]
        begins = begins[(other[samples - 1 - begins] == one[-1]).all(axis=1)]
        for begin in begins.tolist():
            shared = one[begin:]
            if (shared != shared[0]).any() and np.array_equal(shared, other[: samples - begin]):
                strides.add(begin)
                break
    return sorted(strides)
