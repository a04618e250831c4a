"""Reading .npz archives: the limits that do not depend on what is in them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.datasets.archive import ArrayArchive


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype="<i2").reshape(2, 3),
        np.arange(6, dtype=">f8").reshape(3, 2),
        np.asfortranarray(np.arange(24, dtype=np.uint8).reshape(2, 3, 4)),
        np.array(["", "né", "ab"]),
        np.array([b"a", b"bc"]),
        np.array([True, False]),
        np.array(3.5),
        np.empty((0, 4), dtype=np.float32),
    ],
)
def test_arrays_are_read_as_numpy_reads_them(tmp_path: Path, array: np.ndarray) -> None:
    np.savez_compressed(tmp_path / "a.npz", array=array)
    with ArrayArchive(tmp_path / "a.npz", limit_bytes=2**20) as archive:
        assert archive.names == ("array",)
        read = archive.read("array")
    assert read.dtype == array.dtype
    assert read.shape == array.shape
    assert np.array_equal(read, array)


def test_too_many_members_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        for index in range(1_001):
            archive.writestr(f"{index}.npy", b"")
    with refused_by("datasets.archive"):
        ArrayArchive(tmp_path / "a.npz", limit_bytes=2**20)


def test_a_member_that_is_no_array_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("a.npy", b"text")
    with (
        ArrayArchive(tmp_path / "a.npz", limit_bytes=2**20) as archive,
        refused_by("datasets.archive"),
    ):
        archive.read("a")
