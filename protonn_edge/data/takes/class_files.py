"""Folders of tables whose rows are points, with a column of labels or named after their classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from protonn_edge.data.naming import Notice, listed
from protonn_edge.data.options import TableOptions
from protonn_edge.data.points.dataset import Table
from protonn_edge.data.points.expected import Expected
from protonn_edge.data.roles.table_points import read_table
from protonn_edge.data.tables.table_file import opened_table
from protonn_edge.data.takes.take_names import unsaid_names
from protonn_edge.data.takes.take_notices import repeated, unread
from protonn_edge.data.takes.takes import (
    TABLES,
    Take,
    are_named_after_files,
    groups_of,
    refuse_recurring,
    takes_in,
)
from protonn_edge.system.errors import InputError, lacking

_GROUPS = "files"  # the name of groups that files or their folders are


def has_tables(folder: Path) -> bool:
    """Return whether a folder has tables, in itself or in its folders."""
    places = (path for pattern in ("*", "*/*", "*/*/*") for path in folder.glob(pattern))
    return any(path.suffix.lower() in TABLES for path in places)


def read_class_files(
    folder: Path, options: TableOptions, expected: Expected | None
) -> tuple[Table, Table | None]:
    """Return the rows of a folder's tables as points of a training and, perhaps, a test part.

    The label is found as in one table, unless files or folders are named after classes.

    Raises `InputError` if there are times, as in recordings.
    """
    takes = takes_in(folder, options.name, TABLES, labelled=True)
    if (beside := next((each.labels_file for each in takes if each.labels_file), None)) is not None:
        raise InputError(
            f"{beside} has intervals of labels of a recording; cut the folder into windows with "
            "'protonn-edge windows'"
        )
    given = replace(options, name=None)
    of_training = [take for take in takes if not take.tested]
    if not of_training:
        raise lacking(folder, "training part", "add one, or name its folder 'train'")
    train = _read(folder, of_training, given, expected)
    labelled = not are_named_after_files(train, takes)
    if not labelled:
        takes_in(folder, options.name, TABLES)  # refuses names without a class
        if options.name is None:
            refuse_recurring(folder, takes, recorded=False)
    notices = [*train.notices, *unread(folder, takes, TABLES), *repeated(takes, labelled=labelled)]
    if options.name is None and len(takes) > 1:
        notices += unsaid_names(takes, labelled=labelled)
    if not labelled:
        text = "each row is a point of the class that its file or its folder is named after"
        notices.append(Notice("rows", text))
    train = replace(_grouped(train, of_training, labelled=labelled), notices=tuple(notices))
    return _with_test(train, [take for take in takes if take.tested], given, expected)


def _grouped(table: Table, takes: Sequence[Take], *, labelled: bool) -> Table:
    """Return a table whose sessions are its files, or what they share, if it has no others."""
    groups = groups_of(table, takes, labelled=labelled)
    if groups is None or table.layout is None or table.sessions is not None:
        return table
    return replace(table, sessions=groups, layout=replace(table.layout, session=_GROUPS))


def _with_test(
    train: Table, takes: Sequence[Take], options: TableOptions, expected: Expected | None
) -> tuple[Table, Table | None]:
    """Return the parts of a folder; the test part has the label of the training part, or none."""
    of_label = [each for each in train.columns if each.role == "label"]
    label = of_label[0] if len(of_label) == 1 else None
    if label is not None and options.label is None:
        options = replace(options, label=label.name or str(label.index + 1))
    if label is not None and label.name and expected is None:
        lacking_it = [
            take for take in takes if label.name not in opened_table(take.path, options).names
        ]
        takes = [take for take in takes if take not in lacking_it]
        if lacking_it:
            text = f"left out because they do not have {label.title}: "
            text += f"{listed(take.name for take in lacking_it)}; 'predict' answers for them"
            notice = Notice("no_samples", text, warning=True)
            train = replace(train, notices=(*train.notices, notice))
    if not takes:
        return train, None
    test = _read(Path(train.source), takes, options, expected or Expected.of_training(train))
    own = {column.name for column in train.columns}
    told = [note for note in test.notices if note.kind != "surplus" or not own >= {*note.columns}]
    return train, replace(test, notices=tuple(told))


def _read(
    folder: Path, takes: Sequence[Take], options: TableOptions, expected: Expected | None
) -> Table:
    """Return the rows of the tables of a part."""
    paths = [take.path for take in takes]
    labels = [take.label for take in takes]
    table = read_table(
        paths,
        options,
        expected=expected,
        labels=labels if all(labels) else None,
    )
    if table.times is not None:
        raise InputError(
            f"{folder} has times in column {table.times.name!r}, as recordings do; cut them with "
            "'protonn-edge windows', or use each row as a point with "
            f"--drop {table.times.name!r}"
        )
    return replace(table, source=str(folder))
