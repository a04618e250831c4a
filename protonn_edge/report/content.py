"""The content of a report: sections of panels, and the contents of panels."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

_SHORT = 2  # letters that fit a prototype's square
_LETTERS_ON_A_PHONE, _LETTERS = 34, 54  # that fit in all headings of a matrix


@dataclass(frozen=True)
class Table:
    """Rows of text under headings; columns other than the first and `texts` are numbers.

    Attributes
    ----------
    headings : tuple of str
    rows : tuple of tuple of str
    texts : frozenset of int
        The columns of text, apart from the first one.
    best : frozenset of (int, int)
        Cells, by row and column, with the best value.
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
        Intensity of its colour in per cent, by its share of the row.
    kind : {"right", "wrong", "unknown"}
        The meaning of its colour.
    words : str
        The cell in a sentence.
    """

    count: int
    tint: int
    kind: str
    words: str


@dataclass(frozen=True)
class Matrix:
    """A confusion matrix: a row per actual class, a column per answer, None without points."""

    classes: tuple[str, ...]
    answers: tuple[str, ...]
    rows: tuple[tuple[Cell | None, ...], ...]

    @property
    def headings(self) -> str:
        """The style's class for headings: whether the names of answers fit above the columns."""
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
    """A point or a prototype in the plane; positions in px of the figure.

    Attributes
    ----------
    x, y : float
    label : int
        Index of its class, for a point of the true one.
    wrong : bool
        Whether the point was classified wrong.
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
        The points are those of the page, in the same order.
    classes : tuple of str
    names : tuple of (float, float, str)
        Names of classes in the figure, if there are few classes.
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
    """A test point: its picture, the caption, and its index in the data."""

    markup: Markup
    words: str
    index: int


@dataclass(frozen=True)
class Gallery:
    """A row of pictures with captions."""

    pictures: tuple[Picture, ...]


@dataclass(frozen=True)
class Listing:
    """Text to type or copy.

    Attributes
    ----------
    name : str
        Its name.
    text : str
    """

    name: str
    text: str


@dataclass(frozen=True)
class Panel:
    """A figure or another content, and its text.

    Attributes
    ----------
    run : str
        Its results files; empty if it is about all of them.
    figure : Markup or None
        An SVG with a label for screen readers.
    matrix, scatter : Matrix, Scatter or None
        An alternative to a figure.
    caption : str
        A sentence that describes the figure.
    key : tuple of (str, str)
        Colours and their meanings.
    table : Table or None
        The numbers; beside a figure, as an alternative to it.
    table_name : str
        The table's name.
    gallery : Gallery or None
        Pictures.
    listing : Listing or None
        A command or code.
    live : str
        The name by which the page's script finds the panel; empty for others.
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
        The introduction.
    panels : tuple of Panel
    """

    name: str
    title: str
    lead: str
    panels: tuple[Panel, ...]
