"""What a report is made of: sections of panels, and what a panel can hold."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True)
class Table:
    """Rows of text under headings; all columns but the first are numbers, unless `texts` says so.

    Attributes
    ----------
    headings : tuple of str
    rows : tuple of tuple of str
    texts : frozenset of int
        The columns, beside the first, that are text.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Gallery:
    """A row of pictures, each with words below it."""

    pictures: tuple[tuple[Markup, str], ...]


@dataclass(frozen=True)
class Panel:
    """Something to look at, and its words.

    Attributes
    ----------
    run : str
        The results files that it is about; empty where that is all of them.
    figure : Markup or None
        An SVG that is labelled for a screen reader.
    caption : str
        A sentence that says what the figure shows.
    key : tuple of (str, str)
        Colours and what they stand for.
    table : Table or None
        The numbers; where there is a figure, for those who want them or cannot see it.
    table_name : str
        What the table has.
    gallery : Gallery or None
        Pictures.
    """

    run: str = ""
    figure: Markup | None = None
    caption: str = ""
    key: tuple[tuple[str, str], ...] = ()
    table: Table | None = None
    table_name: str = ""
    gallery: Gallery | None = None


@dataclass(frozen=True)
class Section:
    """A part of the report.

    Attributes
    ----------
    name : str
        Its anchor.
    title : str
    lead : str
        What one should know before one looks.
    panels : tuple of Panel
    """

    name: str
    title: str
    lead: str
    panels: tuple[Panel, ...]
