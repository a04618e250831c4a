"""Limits of text files; tables come back as they were written; any bytes are read or refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused_by

from protonn_edge.data import formats
from protonn_edge.data.files import libsvm
from protonn_edge.data.points import dataset as dataset_module
from protonn_edge.data.reading import load_dataset
from protonn_edge.system.errors import InputError


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# --- libsvm --------------------------------------------------------------------------------------


def test_a_file_that_would_be_a_huge_table_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_module, "TABLE_LIMIT_BYTES", 4_000)
    path = write(tmp_path / "d.svm", "1 1000:1\n2 1:1\n")
    with pytest.raises(InputError, match="2 x 1,000 values, but the limit is 1,000"):
        load_dataset(path)


def test_more_pairs_than_memory_is_meant_for_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libsvm, "_PAIRS_LIMIT", 3)
    with refused_by("data.files.libsvm"):
        load_dataset(write(tmp_path / "d.svm", "1 1:1 2:1\n2 1:1 2:1\n"))


# --- folders and everything else -----------------------------------------------------------------


def test_missing_and_empty_files_are_refused(tmp_path: Path) -> None:
    for name in ("missing.csv", "missing.npz", "missing", "missing.xlsx"):
        with refused_by("system.files"):
            load_dataset(tmp_path / name)
    for name in ("empty.csv", "empty.npz", "empty.libsvm"):
        with refused_by("system.files"):
            load_dataset(write(tmp_path / name, ""))


def test_a_text_file_above_the_limit_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "TEXT_LIMIT_BYTES", 5)
    with refused_by("system.files"):
        load_dataset(write(tmp_path / "d.csv", "1,2\n2,3\n"))


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".libsvm", ".txt", ".npz", ""])
@given(content=st.one_of(st.binary(max_size=60), st.text('12.,:\t\n -ea#"', max_size=40)))
def test_any_bytes_are_read_or_refused_but_never_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, content: bytes | str
) -> None:
    path = write(tmp_path_factory.getbasetemp() / f"any{suffix}", content)
    try:
        dataset = load_dataset(path)
    except InputError as error:
        assert "\n" not in str(error)  # noqa: PT017  (most contents are refused, a few are not)
        return
    assert np.isfinite(dataset.X_train).all()
    assert dataset.n_classes >= 2


@given(base=st.integers(-(2**40), 2**40), spread=st.integers(10, 10**6))
def test_different_whole_numbers_stay_different(
    tmp_path_factory: pytest.TempPathFactory, base: int, spread: int
) -> None:
    """Numbers beyond 24 bits lost their last digits."""
    rng = np.random.default_rng(spread)
    values = base + rng.permutation(np.repeat(np.linspace(0, spread, 10).astype(int), 4))
    rows = [f"{value},{rng.normal():.3f},{'ab'[row % 2]}\n" for row, value in enumerate(values)]
    path = write(tmp_path_factory.getbasetemp() / "large.csv", "p,q,label\n" + "".join(rows))
    X = load_dataset(path, keep="p").X_train
    assert len(np.unique(X[:, 0])) == len(np.unique(values))
