"""The reader of a file or a folder, by the format that its name or its first line shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.files.arrays import read_npz
from protonn_edge.data.files.libsvm import (
    LIBSVM_SUFFIXES,
    contains_libsvm,
    looks_like_libsvm,
    read_libsvm,
)
from protonn_edge.data.options import SHOWN, USUAL_DELIMITERS, TableOptions
from protonn_edge.data.points.dataset import Table, widened
from protonn_edge.data.points.expected import Expected
from protonn_edge.data.points.label_sets import as_label_sets
from protonn_edge.data.roles.table_points import read_table
from protonn_edge.data.tables.text import TEXT_LIMIT_BYTES, check_is_text
from protonn_edge.system.errors import InputError, unneeded
from protonn_edge.system.files import check_file

_OPEN_SUFFIXES = (".txt", ".t", ".tr", ".scale", "")
_OF_TABLES = ("tables", "class files"), "a table with columns, such as a .csv file"
_OF_KINDS: dict[str, tuple[tuple[str, ...], str]] = {  # options for other data
    "name": (("images", "class files"), "a folder of images or tables"),
    "size": (("images",), "a folder of images"),
    "files": ((), "a folder of recordings for 'windows'"),
}


def refuse_options(path: Path, options: TableOptions | None, kind: str = "") -> None:
    """Refuse options that do not apply to this kind of data."""
    given = replace(
        options or TableOptions(),
        groups=None,
        sample_rate=None,
        labelled=None,
        normal=None,
        target=None,
    )
    for name, value in vars(given).items():
        kinds, other = _OF_KINDS.get(name, _OF_TABLES)
        if value and value != SHOWN and kind not in kinds:
            flag = f"--{name.replace('_', '-')}"
            raise unneeded(flag, f"needs {other}, and {path} is not one")


def is_archive(path: Path) -> bool:
    """Return whether a path is read as an archive of arrays, by its name."""
    return path.suffix.lower() == ".npz" and not path.is_dir()


def read_parts(
    path: Path, options: TableOptions | None, expected: Expected | None = None
) -> tuple[Table, Table | None, tuple[str, ...]]:
    """Return the training part, the test part if there is one, and the classes if named."""
    if is_archive(path):
        refuse_options(path, options)
        return read_npz(path)
    train, test = _read_tables(path, options, expected)
    if options is not None and options.rows and options.rows < len(train.X):
        train = train.parted(_spread(len(train.X), options.rows))
    if options is not None and options.labels:
        train, test = as_label_sets(train), test and as_label_sets(test)
    return train, test, ()


def _spread(n: int, some: int) -> NDArray[np.bool_]:
    """Return some of n rows, evenly spread, (n,)."""
    rows = np.zeros(n, np.bool_)
    rows[np.arange(some) * n // some] = True
    return rows


def _read_tables(
    path: Path, options: TableOptions | None, expected: Expected | None
) -> tuple[Table, Table | None]:
    if not path.is_dir():
        return _text_table(path, options, expected), None
    if (path / "train.txt").is_file():
        return _reference_layout(path, options, expected)
    from protonn_edge.data.takes.class_files import has_tables, read_class_files  # only for folders
    from protonn_edge.data.takes.images import has_images, read_images

    if has_images(path):
        refuse_options(path, options, "images")
        return read_images(path, options or TableOptions(), labelled=expected is None)
    if has_tables(path):
        refuse_options(path, options, "class files")
        return read_class_files(path, options or TableOptions(), expected)
    raise InputError(
        f"{path} is a folder without train.txt, tables or images; name a file, or cut a folder of "
        "recordings with 'protonn-edge windows'"
    )


def _reference_layout(
    path: Path, options: TableOptions | None, expected: Expected | None
) -> tuple[Table, Table | None]:
    train = _text_table(path / "train.txt", options, expected, label_first=True)
    if not (path / "test.txt").exists():
        return train, None
    # libsvm files may leave out last features that are zero
    if looks_like_libsvm(path / "train.txt"):
        test = _text_table(path / "test.txt", options, expected)
        width = max(train.X.shape[1], test.X.shape[1])
        return widened(train, width), widened(test, width)
    like = expected or Expected.of_training(train)
    return train, _text_table(path / "test.txt", options, like, label_first=True)


def is_text_table(path: Path) -> bool:
    """Return whether a file is read as a table of text."""
    suffix = path.suffix.lower()
    is_open = suffix in _OPEN_SUFFIXES and path.is_file() and not looks_like_libsvm(path)
    return not path.is_dir() and (suffix in USUAL_DELIMITERS or is_open)


def _text_table(
    path: Path,
    options: TableOptions | None,
    expected: Expected | None,
    *,
    label_first: bool = False,
) -> Table:
    suffix = path.suffix.lower()
    if suffix not in (*USUAL_DELIMITERS, *LIBSVM_SUFFIXES, *_OPEN_SUFFIXES) and path.exists():
        from protonn_edge.data.takes.takes import WAVES  # only for folders, and for this sentence

        remedy = "convert the file to one of these formats"
        if suffix in WAVES:
            remedy = "cut the sound into windows with 'protonn-edge windows'"
        raise InputError(
            f"{path} ends in {suffix!r}, which is not one of .npz, .csv, .tsv, .libsvm, .svm, "
            f".svmlight, .txt; {remedy}"
        )
    check_file(path, limit_bytes=TEXT_LIMIT_BYTES)
    check_is_text(path)
    if suffix in LIBSVM_SUFFIXES or (suffix in _OPEN_SUFFIXES and looks_like_libsvm(path)):
        refuse_options(path, options)
        table = read_libsvm(path)
        return table if expected is None else widened(table, expected.n_features)
    refuse_options(path, options, "tables")
    if (options is None or options.delimiter is None) and contains_libsvm(path):
        raise InputError(f"{path} contains libsvm text; let its name end in .libsvm")
    return read_table(path, options, expected=expected, label_first=label_first)
