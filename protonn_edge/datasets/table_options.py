"""What a person says of a table, apart from what reads it: commands have it as their options."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TableOptions:
    """What a person says of a table.

    Attributes
    ----------
    label : str or None
        The column of labels: its name, its number from 1, ``first`` or ``last``.
    drop : tuple of str
        Columns to leave out, names or numbers from 1.
    delimiter : str or None
        What separates columns, see `protonn_edge.datasets.cells.DELIMITERS`.
    session : str or None
        The column that says which recording a row is from.
    time : str or None
        The column that says when a row was recorded.
    channels : tuple of str
        The columns that are features, in this order; empty for all that are left.
    groups : str or None
        The same, if there is such a column; else it is something else than a column.
    labelled : str or None
        The label of all rows, which no column holds unless it is called ``label`` or the like.
    """

    label: str | None = None
    drop: tuple[str, ...] = ()
    delimiter: str | None = None
    session: str | None = None
    time: str | None = None
    channels: tuple[str, ...] = ()
    groups: str | None = None
    labelled: str | None = None
