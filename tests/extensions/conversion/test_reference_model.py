"""The folders that other ProtoNN programs write: both layouts, and what is wrong with one."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.extensions.conversion.protonn.reference import (
    ReferenceModel,
    read_reference_model,
    write_reference_model,
)
from protonn_edge.kinds.protonn.head import rbf
from protonn_edge.system.errors import InputError

RNG = np.random.default_rng(0)
W = RNG.normal(size=(3, 7)).astype(np.float32)
B = RNG.normal(size=(3, 5)).astype(np.float32)
Z = RNG.normal(size=(2, 5)).astype(np.float32)
GAMMA = 0.625


def write_text(folder: Path, delimiter: str = "\t") -> None:
    for name, matrix in (("W", W), ("B", B), ("Z", Z), ("gamma", np.array([[GAMMA]]))):
        np.savetxt(folder / name, matrix, delimiter=delimiter, fmt="%.9g")


def write_lines(folder: Path) -> None:
    """Write texts with the line ends of another system."""
    write_text(folder)
    for name in ("W", "B", "Z", "gamma"):
        path = folder / name
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def write_npy(folder: Path) -> None:
    for name, array in (("W", W.T), ("B", B), ("Z", Z), ("gamma", np.float64(GAMMA))):
        np.save(folder / f"{name}.npy", array)


@pytest.mark.parametrize(
    "write", [write_text, lambda folder: write_text(folder, " "), write_npy, write_lines]
)
def test_both_layouts_hold_the_same_model(tmp_path: Path, write: Callable[[Path], None]) -> None:
    write(tmp_path)
    found = read_reference_model(tmp_path)
    assert np.array_equal(found.projection, W)
    assert np.array_equal(found.prototypes, B)
    assert np.array_equal(found.labels, Z)
    assert found.gamma == GAMMA
    assert (found.projection.shape[1], len(found.labels)) == (7, 2)


def test_a_square_projection_is_turned_as_its_program_meant_it(tmp_path: Path) -> None:
    square = RNG.normal(size=(3, 3)).astype(np.float32)
    write_npy(tmp_path)
    np.save(tmp_path / "W.npy", square.T)
    assert np.array_equal(read_reference_model(tmp_path).projection, square)


def test_a_projection_saved_the_other_way_round_is_recognized(tmp_path: Path) -> None:
    write_npy(tmp_path)
    np.save(tmp_path / "W.npy", W)
    assert np.array_equal(read_reference_model(tmp_path).projection, W)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("W", "1\t2\n3\n"),
        ("W", "1\ttwo\n"),
        ("W", "1\tnan\n"),
        ("W", "1\t1e999\n"),
        ("W", "1\t1e39\n"),
        ("B", ""),
        ("B", "\n\n"),
        ("B", "1\t2\n"),
        ("Z", "1\t2\n"),
        ("gamma", "0\n"),
        ("gamma", "nan\n"),
        ("gamma", "1\t2\n"),
        ("Z", "\x00ÿ"),
    ],
)
def test_a_damaged_text_file_is_named(tmp_path: Path, name: str, text: str) -> None:
    write_text(tmp_path)
    (tmp_path / name).write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match=rf"{name}\b") as caught:
        read_reference_model(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["W", "B", "Z", "gamma"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    write_text(tmp_path)
    (tmp_path / name).unlink()
    with refused_by("extensions.conversion.protonn.reference", "system.files"):
        read_reference_model(tmp_path)


def header(shape: tuple[int, ...], descr: str = "<f4") -> bytes:
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    "content",
    [
        b"no array",
        header((2**39, 2**20)),
        header((3, 5)) + b"\x00" * 59,
        header((3, 5), "|O") + pickle.dumps([1]),
        header((3, 5), "<U9") + bytes(540),
        b"\x93NUMPY\x01\x00\xff\xff{",
        b"\x93NUMPY\t\x00",
    ],
)
def test_a_damaged_npy_file_is_named(tmp_path: Path, content: bytes) -> None:
    write_npy(tmp_path)
    (tmp_path / "B.npy").write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_reference_model(tmp_path)
    assert "\n" not in str(caught.value)
    assert "B.npy" in str(caught.value)


def test_a_file_of_another_order_in_memory_is_read_right(tmp_path: Path) -> None:
    write_npy(tmp_path)
    np.save(tmp_path / "B.npy", np.asfortranarray(B.astype(">f8")))
    np.testing.assert_array_equal(read_reference_model(tmp_path).prototypes, B)


def test_its_scores_are_those_of_the_formula(tmp_path: Path) -> None:
    write_text(tmp_path)
    found = read_reference_model(tmp_path)
    x = RNG.normal(size=7)
    expected = sum(Z[:, j] * np.exp(-(GAMMA**2) * np.sum((B[:, j] - W @ x) ** 2)) for j in range(5))
    scores = rbf((x @ found.projection.T)[None], found.prototypes, found.gamma) @ found.labels.T
    np.testing.assert_allclose(scores[0], expected, rtol=1e-5)


MODEL = ReferenceModel(W, B, Z, GAMMA)


def test_text_is_what_the_program_writes(tmp_path: Path) -> None:
    write_reference_model(MODEL, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["B", "W", "Z", "gamma"]
    for name, matrix in (("W", W), ("B", B), ("Z", Z)):
        np.testing.assert_array_equal(
            np.loadtxt(tmp_path / name, delimiter="\t", dtype=np.float32), matrix
        )
    assert (tmp_path / "gamma").read_bytes() == b"0.625\n"


def test_npy_is_what_the_python_programs_write(tmp_path: Path) -> None:
    write_reference_model(MODEL, tmp_path, "npy")
    assert np.array_equal(np.load(tmp_path / "W.npy"), W.T)
    assert np.load(tmp_path / "W.npy").dtype == np.float32
    assert np.load(tmp_path / "gamma.npy").shape == ()
    assert np.load(tmp_path / "gamma.npy") == GAMMA


def test_other_files_stay_and_the_other_layout_is_not_mixed_in(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("1\t2\n")
    write_reference_model(MODEL, tmp_path)
    assert (tmp_path / "train.txt").read_text() == "1\t2\n"
    with pytest.raises(InputError, match="W: it belongs to a model in the other layout"):
        write_reference_model(MODEL, tmp_path, "npy")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with refused_by("extensions.conversion.protonn.reference"):
        write_reference_model(MODEL, tmp_path / "run")
