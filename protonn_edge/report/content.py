"""What a report is made of: sections of panels, and what a panel can hold."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

_SHORT = 2  # letters that a prototype's square has room for
_LETTERS_ON_A_PHONE, _LETTERS = 34, 54  # that all headings of a matrix have room for


@dataclass(frozen=True)
class Table:
    """Rows of text under headings; all columns but the first are numbers, unless `texts` says so.

    Attributes
    ----------
    headings : tuple of str
    rows : tuple of tuple of str
    texts : frozenset of int
        The columns, beside the first, that are text.
    best : frozenset of (int, int)
        Cells, by row and column, that have the better value.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: frozenset[int] = frozenset()
    best: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Cell:
    """A cell of a confusion matrix.

    Attributes
    ----------
    count : int
        Points.
    tint : int
        How much of its colour it has, in per cent; it grows with the share of the row.
    kind : {"right", "wrong", "unknown"}
        What its colour says.
    words : str
        The cell in a sentence.
    """

    count: int
    tint: int
    kind: str
    words: str


@dataclass(frozen=True)
class Matrix:
    """A confusion matrix: a row per actual class, a column per answer, None where no point is."""

    classes: tuple[str, ...]
    answers: tuple[str, ...]
    rows: tuple[tuple[Cell | None, ...], ...]

    @property
    def headings(self) -> str:
        """Whether the names of answers fit above the columns as they are, as the style says it."""
        letters = len(self.answers) * max(map(len, self.answers))
        if letters <= _LETTERS_ON_A_PHONE:
            return "level"
        return "level-if-wide" if letters <= _LETTERS else "upright"

    @property
    def digits(self) -> int:
        """Digits of the largest count."""
        counts = (cell.count for row in self.rows for cell in row if cell is not None)
        return len(str(max(counts, default=0)))


@dataclass(frozen=True)
class Mark:
    """A point or a prototype in the plane; places in px of the figure.

    Attributes
    ----------
    x, y : float
    label : int
        Index of its class: of a point, the true one.
    wrong : bool
        Whether the point got another answer.
    """

    x: float
    y: float
    label: int
    wrong: bool = False


@dataclass(frozen=True)
class Scatter:
    """The plane with its points and prototypes.

    Attributes
    ----------
    width, height : int
        In px.
    points, prototypes : tuple of Mark
        The points are those of the page, in their order.
    classes : tuple of str
    names : tuple of (float, float, str)
        Names of classes in the figure, where few classes leave room for them.
    """

    width: int
    height: int
    points: tuple[Mark, ...]
    prototypes: tuple[Mark, ...]
    classes: tuple[str, ...]
    names: tuple[tuple[float, float, str], ...] = ()

    @property
    def short(self) -> bool:
        """Whether the names of classes fit into the prototypes' squares."""
        return max(map(len, self.classes)) <= _SHORT


@dataclass(frozen=True)
class Picture:
    """A test point: its picture, the words below it, and its index in the data."""

    markup: Markup
    words: str
    index: int


@dataclass(frozen=True)
class Gallery:
    """A row of pictures, each with words below it."""

    pictures: tuple[Picture, ...]


@dataclass(frozen=True)
class Listing:
    """Text to be typed or copied.

    Attributes
    ----------
    name : str
        What it is.
    text : str
    """

    name: str
    text: str


@dataclass(frozen=True)
class Panel:
    """Something to look at, and its words.

    Attributes
    ----------
    run : str
        The results files that it is about; empty where that is all of them.
    figure : Markup or None
        An SVG that is labelled for a screen reader.
    matrix, scatter : Matrix, Scatter or None
        What takes the place of a figure.
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
    listing : Listing or None
        A command or code.
    live : str
        The name by which the page's script finds the panel; empty if it need not.
    """

    run: str = ""
    figure: Markup | None = None
    matrix: Matrix | None = None
    scatter: Scatter | None = None
    caption: str = ""
    key: tuple[tuple[str, str], ...] = ()
    table: Table | None = None
    table_name: str = ""
    gallery: Gallery | None = None
    listing: Listing | None = None
    live: str = ""


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
