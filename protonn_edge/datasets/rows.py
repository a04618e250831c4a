"""The rows of a table as they are written, to divide it into two."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from protonn_edge.datasets import rules
from protonn_edge.datasets.naming import label_text
from protonn_edge.datasets.options import TableOptions
from protonn_edge.datasets.reading import TEXT_LIMIT_BYTES, USUAL_DELIMITERS, check_is_text
from protonn_edge.datasets.tables import TableFile, recording_head
from protonn_edge.errors import InputError
from protonn_edge.system.files import check_file


@dataclass(frozen=True)
class TextRows:
    """The text of a table, row by row, with the label and the group of each row."""

    head: str  # what stands before the rows, with the mark of the encoding
    rows: list[str]
    labels: list[str]
    groups: list[str] | None


def read_rows(path: Path, options: TableOptions, groups: str | None) -> TextRows:
    """Read the rows of a table, each with its line end, and two of their columns.

    - `groups`: the column of groups, by its name or its number from 1; None without groups.
    """
    check_file(path, limit_bytes=TEXT_LIMIT_BYTES)
    if path.suffix.lower() not in USUAL_DELIMITERS:
        raise InputError(
            f"{path} is not a table, as its name ends in neither .csv nor .tsv; save it as one"
        )
    check_is_text(path)
    if recording_head(path) is not None:
        raise InputError(f"{path} is a recording; cut it with 'windows', which has --test, too")
    file = TableFile.opened(path, USUAL_DELIMITERS[path.suffix.lower()], options)
    label = rules.roles_of(file.columns, path, options, None, header=bool(file.header)).label
    of_group = None if groups is None else rules.find_column(file.columns, groups, "--groups", path)
    assert label is not None
    read: list[str] = []
    rows = file.rows(read)
    with path.open("rb") as stream:
        mark = "\ufeff" if stream.read(3) == b"\xef\xbb\xbf" else ""
    head = mark + "".join(read)
    read.clear()
    texts, labels, names = [], [], []
    for _, row in rows:
        text = "".join(read).lstrip("\r\n")
        texts.append(text if text.endswith(("\n", "\r")) else f"{text}\n")
        read.clear()
        labels.append(label_text(row[label.index]))
        if of_group is not None:
            names.append(row[of_group.index].strip())
    return TextRows(head, texts, labels, None if of_group is None else names)
