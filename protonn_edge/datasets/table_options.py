"""The options for reading a table, apart from the readers, which commands need not import."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TableOptions:
    """Options for reading a table.

    Attributes
    ----------
    label : str or None
        The column of labels: its name, its number from 1, ``first`` or ``last``.
    drop : tuple of str
        Columns to leave out, names or numbers from 1.
    delimiter : str or None
        The delimiter of columns, see `protonn_edge.datasets.cells.DELIMITERS`.
    session : str or None
        The column of sessions, which tells recordings apart.
    time : str or None
        The column of times.
    channels : tuple of str
        The columns that are features, in this order; empty for all others.
    groups : str or None
        The column of groups, if there is one of this name; otherwise, it is not a column.
    labelled : str or None
        The label of all rows, in the absence of a column called ``label`` or the like.
    """

    label: str | None = None
    drop: tuple[str, ...] = ()
    delimiter: str | None = None
    session: str | None = None
    time: str | None = None
    channels: tuple[str, ...] = ()
    groups: str | None = None
    labelled: str | None = None
