"""Groups of training points: persons, days or sensors; test points are of other groups."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.datasets.archive import ArrayArchive
from protonn_edge.datasets.dataset import Dataset
from protonn_edge.errors import InputError
from protonn_edge.system.files import check_file

_FILE_LIMIT_BYTES = 64 << 20
_ARCHIVE_LIMIT_BYTES = 8 << 30


def with_groups(dataset: Dataset, name: str, data: Path) -> Dataset:
    """Return a data set with the groups of its training points.

    Parameters
    ----------
    dataset : Dataset
        What was read from `data`.
    name : str
        An array in `data`, if that is an .npz; a column of sessions or persons in a table; or else
        a file with a line per training point.
    data : Path
        Where the points come from.

    Raises
    ------
    InputError
        If there is no such array or file, it does not have one group per training point, or there
        is only one group.
    """
    of_session = dataset.layout is not None and dataset.layout.session == name
    names = dataset.sessions if of_session and dataset.sessions is not None else _read(name, data)
    numbers = group_numbers(names, dataset.X_train.shape[0])
    if not numbers.any():
        raise InputError(
            f"the groups {name!r} are all the same; name what differs, or leave --groups out"
        )
    return replace(dataset, groups=numbers)


def group_numbers(names: ArrayLike, n: int) -> NDArray[np.int64]:
    """Return groups (n,), named by texts or numbers, as numbers from 0 on, in order of the names.

    Raises
    ------
    InputError
        If there is not one group for each of `n` points, or a name is missing.
    """
    named = np.asarray(names)
    if named.shape != (n,):
        raise InputError(
            f"the groups have the shape {named.shape} for {n:,} training points; give one for each "
            "point"
        )
    missing = [
        row for row, name in enumerate(named.tolist()) if name in ("", None) or _is_nan(name)
    ]
    if missing:
        raise InputError(f"the group of point {missing[0]} is missing; name one for each point")
    if named.dtype.kind == "O":
        named = named.astype(str)
    numbers: NDArray[np.int64] = np.unique(named, return_inverse=True)[1].astype(np.int64)
    return numbers


def _is_nan(name: object) -> bool:
    return isinstance(name, float) and math.isnan(name)


def _read(name: str, data: Path) -> NDArray[Any]:
    if data.suffix == ".npz":
        with ArrayArchive(data, limit_bytes=_ARCHIVE_LIMIT_BYTES) as archive:
            if name in archive.names:
                return archive.read(name)
    path = Path(name)
    if not path.exists():
        array = f"an array of {data} nor " if data.suffix == ".npz" else ""
        raise InputError(
            f"--groups is {name!r}, {'neither' if array else 'not'} {array}a file; give one with "
            "a line per training point"
        )
    check_file(path, limit_bytes=_FILE_LIMIT_BYTES)
    text = path.read_text("utf-8-sig", errors="replace")
    return np.array([line.strip() for line in text.rstrip().split("\n")])
