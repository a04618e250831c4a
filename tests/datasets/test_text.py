"""Data sets as text: tables with commas or tabs, libsvm, folders with train.txt and test.txt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused_by

from protonn_edge.datasets import TableOptions, libsvm, load_dataset, reading
from protonn_edge.datasets import dataset as dataset_module
from protonn_edge.datasets.points import read_table
from protonn_edge.errors import InputError


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# --- tables --------------------------------------------------------------------------------------


def test_the_label_is_in_the_last_column(tmp_path: Path) -> None:
    dataset = load_dataset(write(tmp_path / "d.csv", "0.5,2,1\n -1e2 ,3,2\n"))
    assert np.array_equal(dataset.X_train, [[0.5, 2], [-100, 3]])
    assert dataset.classes == ("1", "2")
    assert dataset.y_train.tolist() == [0, 1]
    assert len(dataset.X_test) == 0


@pytest.mark.parametrize("name", ["label", "Class", "TARGET"])
def test_a_header_may_name_the_label_column(tmp_path: Path, name: str) -> None:
    dataset = load_dataset(write(tmp_path / "d.csv", f"x,{name},y\n1,up,2\n3,down,4\n"))
    assert dataset.feature_names == ("x", "y")
    assert dataset.classes == ("down", "up")
    assert np.array_equal(dataset.X_train, [[1, 2], [3, 4]])


def test_a_header_without_a_label_name_leaves_the_label_last(tmp_path: Path) -> None:
    dataset = load_dataset(write(tmp_path / "d.tsv", "x\ty\tkind\n1\t2\ta\n3\t4\tb\n"))
    assert dataset.feature_names == ("x", "y")
    assert dataset.classes == ("a", "b")


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff2,1\n3,2\n",
        "2,1\r\n3,2\r\n",
        "\n2,1\n\n3,2",
        '"2","1"\n"3","2"\n',
        "2,1.0\n3,+2\n",
    ],
)
def test_marks_line_ends_blank_lines_and_quotes_do_not_matter(tmp_path: Path, text: str) -> None:
    dataset = load_dataset(write(tmp_path / "d.csv", text))
    assert dataset.classes == ("1", "2")
    assert dataset.X_train.tolist() == [[2], [3]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1,2,3\n2,3\n", r"d.csv:2 has 2 columns, but line 1 has 3"),
        ("1,2,3\n\n2,3,4,5\n", r"d.csv:3 has 4 columns, but line 1 has 3"),
        ("1,2,3\n2,x,4\n", r"d.csv:2 has 'x' in column 2"),
        ("1,2,3\n2,,4\n", r"d.csv:2 has '' in column 2"),
        ("1,2,3\n2,nan,4\n", r"d.csv:2 has 'nan' in column 2"),
        ("1,2,3\n2,inf,4\n", r"d.csv:2 has 'inf' in column 2"),
        ("1,2,3\n2,1e39,4\n", r"d.csv:2 has '1e39' in column 2"),
        ("1,2,3\n2,1_0,4\n", r"d.csv:2 has '1_0' in column 2"),
        ("x,label,y\n1,a,2\n3,b,?\n", r"d.csv:3 has '\?' in column 'y'"),
        ("1,2\n3, \n", r"d.csv:2 has no label in column 2"),
        ("1\n2\n", "one column"),
        ("\n\n", "no rows"),
        ("a,b,c\n", "no points"),
        ("label,x,class\na,1,b\n", "2 columns named"),
        ("1,2\n3,2\n", "column 2, contains only the value 2; name the column of labels with"),
        ("x,label\n1,2\n3,2\n", "only one class"),
        ("label,x\na,1\n\x1b[2J,2\n", "printable"),
        (b"1,\xff\n", "UTF-8"),
        ("1," + "9" * 200_000 + "\n", "d.csv"),
    ],
)
def test_a_bad_table_is_told_with_its_line(tmp_path: Path, text: str | bytes, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        load_dataset(write(tmp_path / "d.csv", text))
    assert "\n" not in str(caught.value)


numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(st.integers(-5, 5), numbers, numbers), min_size=1, max_size=20))
def test_a_written_table_comes_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, float, float]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "roundtrip.tsv"
    path.write_text("".join(f"{label}\t{a!r}\t{b!r}\n" for label, a, b in rows))
    table = read_table(path, delimiter="\t", options=TableOptions(label="first"))
    assert table.labels == [str(label) for label, _, _ in rows]
    assert np.array_equal(table.X, np.array([row[1:] for row in rows], dtype=np.float32))


# --- libsvm --------------------------------------------------------------------------------------


def test_libsvm_text_is_read(tmp_path: Path) -> None:
    text = "+1 1:0.5 3:-2 # note\n\n-1 2:1e-3\n-1\n"
    dataset = load_dataset(write(tmp_path / "d.libsvm", text))
    assert np.allclose(dataset.X_train, [[0.5, 0, -2], [0, 1e-3, 0], [0, 0, 0]])
    assert dataset.classes == ("-1", "1")
    assert dataset.y_train.tolist() == [1, 0, 0]


@pytest.mark.parametrize("name", ["usps", "usps.t", "letter.scale", "d.txt", "d.SVM", "d.svmlight"])
def test_libsvm_text_is_known_by_its_first_line_or_its_name(tmp_path: Path, name: str) -> None:
    assert load_dataset(write(tmp_path / name, "1 1:2\n2 1:3\n")).classes == ("1", "2")


@pytest.mark.parametrize(
    "text",
    [
        "1 0:2\n",
        "1 1:2\n2 2:1 2:3\n",
        "1 1:2\n2 3:1 2:3\n",
        "1 1:2\n2 1:x\n",
        "1 1:2\n2 -1:3\n",
        "1 1:2\n2 1:nan\n",
        "1 1:2\n2 1:1e39\n",
        "1 1:2\n2 1_0:3\n",
        "1 1:2\n2 qid\n",
        "1 1:2\n1,,3 1:2\n",
        "1 1:2\n1:3 2:2\n",
        "1 1000001:2\n",
        "1 1" + "0" * 5000 + ":2\n",
        "1\n2\n",
        "# nothing\n",
        b"1 1:\xff\n",
    ],
)
def test_bad_libsvm_text_is_told_with_its_line(tmp_path: Path, text: str | bytes) -> None:
    with refused_by("datasets.libsvm", "datasets.text"):
        load_dataset(write(tmp_path / "d.svm", text))


def test_a_file_that_would_be_a_huge_table_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_module, "TABLE_LIMIT_BYTES", 4_000)
    path = write(tmp_path / "d.svm", "1 1000:1\n2 1:1\n")
    with pytest.raises(InputError, match="table of 2 x 1,000 values, but the limit is 1,000"):
        load_dataset(path)


def test_more_pairs_than_memory_is_meant_for_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libsvm, "_PAIRS_LIMIT", 3)
    with refused_by("datasets.libsvm"):
        load_dataset(write(tmp_path / "d.svm", "1 1:1 2:1\n2 1:1 2:1\n"))


# --- folders and everything else -----------------------------------------------------------------


def test_a_folder_of_tables_has_a_training_and_a_test_part(tmp_path: Path) -> None:
    write(tmp_path / "train.txt", "1\t0.5\t1\n2\t1.5\t2\n")
    write(tmp_path / "test.txt", "2\t3\t4\n")
    dataset = load_dataset(tmp_path)
    assert dataset.X_train.shape == (2, 2)
    assert dataset.X_test.tolist() == [[3, 4]]
    assert dataset.y_test.tolist() == [1]


def test_a_folder_of_libsvm_text_is_as_wide_as_its_wider_part(tmp_path: Path) -> None:
    write(tmp_path / "train.txt", "1 1:1\n2 2:1\n")
    write(tmp_path / "test.txt", "2 4:1\n")
    dataset = load_dataset(tmp_path)
    assert dataset.X_train.shape == (2, 4)
    assert dataset.X_test.tolist() == [[0, 0, 0, 1]]


def test_a_folder_without_test_txt_has_no_test_part(tmp_path: Path) -> None:
    write(tmp_path / "train.txt", "1\t0.5\n2\t1.5\n")
    assert len(load_dataset(tmp_path).y_test) == 0


def test_a_test_label_that_training_lacks_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "train.txt", "1\t0.5\n2\t1.5\n")
    write(tmp_path / "test.txt", "1\t1\nx\t1\n")
    with refused_by("datasets.dataset"):
        load_dataset(tmp_path)


def test_a_folder_without_train_txt_is_refused(tmp_path: Path) -> None:
    with refused_by("datasets.reading"):
        load_dataset(tmp_path)


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    with refused_by("datasets.reading"):
        load_dataset(write(tmp_path / "d.xlsx", "1,2\n"))


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
    monkeypatch.setattr(reading, "TEXT_LIMIT_BYTES", 5)
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
