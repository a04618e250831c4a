"""Reading .npz archives: what no content excuses, and limits of size."""

from __future__ import annotations

import io
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.data.files import arrays
from protonn_edge.data.files.archive import ArrayArchive
from protonn_edge.data.reading import load_dataset


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
    with refused_by("data.files.archive"):
        ArrayArchive(tmp_path / "a.npz", limit_bytes=2**20)


def npy(header: bytes) -> bytes:
    """Return an array with any header."""
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(60)


def pickled(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=True)
    return stream.getvalue()


TEXT = np.array(["a", "b"]).view(np.uint32).copy()
TEXT[0] = 0x110000
MEMBERS = {
    "text": b"text",
    "a pickled object": pickled(np.array([{"a": 1}, None], dtype=object)),
    "no Unicode": pickled(TEXT.view("<U1")),
    "no shape": npy(b"{'descr': '<f4', 'fortran_order': False, }"),
    "fields": npy(b"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3, 5), }"),
    "complex numbers": npy(b"{'descr': '<c8', 'fortran_order': False, 'shape': (3, 5), }"),
    "a program": npy(b"__import__('os').getcwd()"),
    "brackets": npy(b"[" * 5_000),
    "nothing": npy(b""),
    "an open bracket": npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4"),
    "an open text": npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), '''"),
    "an odd escape": npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), '\\d': 1}"),
    "a number of 5,000 digits": npy(b"{'descr': '<f4', 'shape': (" + b"9" * 5_000 + b",)}"),
    **{
        shape: npy(f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode())
        for shape in ("(1000000, 1000000)", "(-1, 5)", "15", "(True, 5)", "(2if 1else 2, 4)")
    },
}


@pytest.mark.parametrize("name", MEMBERS)
def test_a_member_that_is_no_array_is_refused_before_memory_is_taken(
    tmp_path: Path, name: str
) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("a.npy", MEMBERS[name])
    with (
        warnings.catch_warnings(record=True) as warned,
        ArrayArchive(tmp_path / "a.npz", limit_bytes=2**20) as archive,
        refused_by("data.files.archive"),
    ):
        warnings.simplefilter("always")
        archive.read("a")
    assert not warned


def test_a_member_twice_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", a=np.zeros(3))
    with zipfile.ZipFile(tmp_path / "a.npz", "a") as archive, pytest.warns(match="Duplicate"):
        archive.writestr("a.npy", b"")
    with refused_by("data.files.archive"):
        ArrayArchive(tmp_path / "a.npz", limit_bytes=2**20)


def test_an_unusual_compression_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a.npy", b"")
    with refused_by("data.files.archive"):
        ArrayArchive(tmp_path / "a.npz", limit_bytes=2**20)


def test_a_file_that_would_unpack_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "FILE_LIMIT_BYTES", 1_500)
    np.savez_compressed(tmp_path / "data.npz", X=np.zeros((1_000, 10)), y=np.zeros(1_000))
    with refused_by("data.files.archive"):
        load_dataset(tmp_path / "data.npz")


def test_too_many_values_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "TABLE_LIMIT_BYTES", 40)
    np.savez(tmp_path / "data.npz", X=np.zeros((4, 3)), y=[0, 1, 0, 1])
    with refused_by("data.files.arrays"):
        load_dataset(tmp_path / "data.npz")
