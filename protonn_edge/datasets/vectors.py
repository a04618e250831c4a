"""Feature vectors in a folder: a table for each class, or a folder of tables, named after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from protonn_edge.datasets.dataset import Table
from protonn_edge.datasets.naming import Notice
from protonn_edge.datasets.options import USUAL_DELIMITERS, TableOptions
from protonn_edge.datasets.points import read_table
from protonn_edge.datasets.roles import Expected
from protonn_edge.datasets.takes import TABLES, takes_in
from protonn_edge.errors import InputError, lacking


def has_tables(folder: Path) -> bool:
    """Return whether a folder has tables, in itself or in its folders."""
    places = (path for pattern in ("*", "*/*", "*/*/*") for path in folder.glob(pattern))
    return any(path.suffix.lower() in TABLES for path in places)


def read_class_files(
    folder: Path, options: TableOptions, expected: Expected | None
) -> tuple[Table, Table | None]:
    """Return the rows of a folder's tables as points, labelled by the names of files or folders.

    Raises `InputError` if there are times, as in recordings.
    """
    takes = takes_in(folder, options.name, TABLES)
    given = replace(options, name=None, labelled=takes[0].label)

    def part(tested: bool) -> Table | None:
        chosen = [take for take in takes if take.tested == tested]
        if not chosen:
            return None
        paths: Sequence[Path] = [take.path for take in chosen]
        usual = USUAL_DELIMITERS[paths[0].suffix.lower()]
        labels = [take.label for take in chosen]
        table = read_table(paths, delimiter=usual, options=given, expected=expected, labels=labels)
        if table.times is not None:
            raise InputError(
                f"{folder} has times in column {table.times.name!r}, as recordings do; cut them "
                "with 'protonn-edge windows', or use each row as a point with --read "
                f"drop={table.times.name!r}"
            )
        text = "each row is a point of the class that its file or its folder is named after"
        return replace(table, source=str(folder), notices=(*table.notices, Notice("rows", text)))

    train, test = part(False), part(True)
    if train is None:
        raise lacking(folder, "training part", "add one, or name its folder 'train'")
    return train, test
