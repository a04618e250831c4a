"""The content of a report: sections of panels, and the contents of panels."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from markupsafe import Markup

_SHORT = 2  # letters that fit a prototype's square
_LETTERS_ON_A_PHONE, _LETTERS = 34, 54  # that fit in all headings of a matrix


def figure(svg: str, name: str) -> Markup:
    """Return a figure with a name for screen readers, as one picture."""
    words = f'<svg role="img" aria-label="{escape(name)}" '
    return Markup(svg.replace("<svg ", words, 1))  # noqa: S704  (what comes from data is escaped)


@dataclass(frozen=True)
class PageTable:
    """Rows of text under headings; columns other than the first and `texts` are numbers."""

    name: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: frozenset[int] = frozenset()  # the columns of text, apart from the first one
    best: frozenset[tuple[int, int]] = frozenset()  # cells, by row and column, to be bold


@dataclass(frozen=True)
class Cell:
    """A cell of a confusion matrix: a number of points."""

    count: int
    tint: int  # intensity of its colour in per cent, by its share of the row
    kind: str  # the meaning of its colour: right, wrong or unknown
    words: str  # the cell in a sentence


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
    """A point or a prototype in the plane, in px of the figure, with the index of its class."""

    x: float
    y: float
    label: int  # of a point the true one
    wrong: bool = False  # whether the point was classified wrong


@dataclass(frozen=True)
class Scatter:
    """The plane with its points, which are those of the page in the same order, and prototypes."""

    width: int  # in px
    height: int
    points: tuple[Mark, ...]
    prototypes: tuple[Mark, ...]
    classes: tuple[str, ...]
    names: tuple[tuple[float, float, str], ...] = ()  # of classes in the figure, if they are few

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
class Snippet:
    """Text to type or copy, with its name."""

    name: str
    text: str


@dataclass(frozen=True)
class Panel:
    """A figure, a matrix, a plane, pictures or text, with a caption and the numbers as a table."""

    run: str = ""  # its results files; empty if it is about all of them
    figure: Markup | None = None  # an SVG with a label for screen readers
    matrix: Matrix | None = None
    scatter: Scatter | None = None
    caption: str = ""
    key: tuple[tuple[str, str], ...] = ()  # colours and their meanings
    table: PageTable | None = None  # beside a figure, as an alternative to it
    gallery: tuple[Picture, ...] = ()
    listing: Snippet | None = None
    live: str = ""  # the name by which the page's script finds the panel

    @classmethod
    def drawn(
        cls,
        svg: str,
        words: str,
        *,
        title: str = "",
        key: tuple[tuple[str, str], ...] = (),
        table: PageTable | None = None,
    ) -> Panel:
        """Return a figure with its words below it, which its label has behind a title."""
        return cls(figure=figure(svg, title + words), caption=words, key=key, table=table)


@dataclass(frozen=True)
class Section:
    """A part of the report: its anchor, title and introduction, and its panels."""

    name: str
    title: str
    lead: str
    panels: tuple[Panel, ...]
