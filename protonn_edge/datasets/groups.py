"""Which group each training point is of: a person, a day, a sensor; those of test are others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.archive import ArrayArchive
from protonn_edge.datasets.dataset import Dataset
from protonn_edge.errors import InputError

_FILE_LIMIT_BYTES = 64 << 20
_ARCHIVE_LIMIT_BYTES = 8 << 30


def with_groups(dataset: Dataset, name: str, data: Path) -> Dataset:
    """Return a data set with the groups of its training points.

    Parameters
    ----------
    dataset : Dataset
        What was read from `data`.
    name : str
        An array in `data`, if that is an .npz, or else a file with a line per training point.
    data : Path
        Where the points come from.

    Raises
    ------
    InputError
        If there is no such array or file, it has not one group for each training point, or but one
        group in all.
    """
    names, n = _read(name, data), dataset.X_train.shape[0]
    if names.shape != (n,):
        raise InputError(
            f"the groups {name!r} have the shape {names.shape} for {n:,} training points; give one "
            "for each point"
        )
    distinct, numbers = np.unique(names, return_inverse=True)
    if len(distinct) < 2:
        raise InputError(
            f"the groups {name!r} are all the same; name what differs, or leave --groups out"
        )
    return replace(dataset, groups=numbers.astype(np.int64))


def _read(name: str, data: Path) -> NDArray[Any]:
    if data.suffix == ".npz":
        with ArrayArchive(data, limit_bytes=_ARCHIVE_LIMIT_BYTES) as archive:
            if name in archive.names:
                return archive.read(name)
    path = Path(name)
    if not path.is_file():
        raise InputError(
            f"--groups is {name!r}, neither an array of {data} nor a file; name one of them"
        )
    if path.stat().st_size > _FILE_LIMIT_BYTES:
        raise InputError(f"{path} is too large for a file of groups; give a line per point")
    return np.array(path.read_text("utf-8", errors="replace").splitlines())
