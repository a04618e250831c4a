"""The content of a report: its inputs besides evidence, and sections of panels."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from markupsafe import Markup

from protonn_edge.chips.toolchain.javascript import PAGE, script_file
from protonn_edge.report.evidence import Evidence
from protonn_edge.system.errors import InputError, InvalidValue, ProtoNNEdgeError
from protonn_edge.system.files import read_file
from protonn_edge.system.schema import Check, list_of, record_of

_Taken = TypeVar("_Taken")

_LARGEST_FILE = 8 << 20
_MOST_CANDIDATES = 10_000
_LETTERS_ON_A_PHONE, _LETTERS = 34, 54  # that fit in all headings of a matrix


def figure(svg: str, name: str) -> Markup:
    """Return a figure with a name for screen readers, as one picture."""
    opening = f'<svg role="img" aria-label="{escape(name)}" '
    return Markup(svg.replace("<svg ", opening, 1))  # noqa: S704  (text from data is escaped)


@dataclass(frozen=True)
class PageTable:
    """Rows of text under headings; columns other than the first and `texts` are numbers."""

    name: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: frozenset[int] = frozenset()  # the columns of text, apart from the first one


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
    """A point in the plane, in px of the figure, with the index of its class."""

    x: float
    y: float
    label: int


@dataclass(frozen=True)
class Scatter:
    """The plane with points."""

    width: int  # in px
    height: int
    points: tuple[Mark, ...]
    classes: tuple[str, ...]
    names: tuple[tuple[float, float, str], ...] = ()  # in the figure


@dataclass(frozen=True)
class Picture:
    """A test point: its picture, the caption, its index in the data, and its values in words."""

    markup: Markup
    words: str
    index: int
    details: str = ""


@dataclass(frozen=True)
class Panel:
    """A figure, a matrix, a plane, pictures or text, with a caption and the numbers as a table."""

    figure: Markup | None = None  # an SVG with a label for screen readers
    matrix: Matrix | None = None
    scatter: Scatter | None = None
    caption: str = ""
    key: tuple[tuple[str, str], ...] = ()  # colours and their meanings
    table: PageTable | None = None  # an alternative next to a figure
    gallery: tuple[Picture, ...] = ()
    listing: tuple[str, str] | None = None  # text to type or copy, behind its name
    live: str = ""  # the name by which the page's script finds the panel

    @classmethod
    def drawn(
        cls,
        svg: str,
        caption: str,
        *,
        title: str = "",
        key: tuple[tuple[str, str], ...] = (),
        table: PageTable | None = None,
    ) -> Panel:
        """Return a figure with its words below it, which its label has behind a title."""
        return cls(figure=figure(svg, title + caption), caption=caption, key=key, table=table)


@dataclass(frozen=True)
class Section:
    """A part of the report: its anchor, title and introduction, and its panels."""

    name: str
    title: str
    lead: str
    panels: tuple[Panel, ...]
    folded: bool = False  # whether it is among the details, which a reader opens


class SectionOfRun(NamedTuple):
    """A section whose panels show a run."""

    name: str  # its anchor
    title: str
    lead: str
    panels: Callable[[Evidence], list[Panel]]


# --- what a report is made of beside evidence: a meter's reading, the page's script ---------------


@dataclass(frozen=True)
class ShownFile:
    """A kind of file that a report shows beside the runs."""

    key: str  # of the JSON object in such a file
    written_by: str  # the command that writes it, in quotes
    read: Callable[[Path, str], Any]  # of its path and the SHA-256 of the model that was run


def keys_in(path: Path) -> set[str]:
    """Return the keys of the JSON object in a file; none if it has no object."""
    content = read_file(path, limit_bytes=_LARGEST_FILE)
    try:
        record = json.loads(content)
    except (ValueError, RecursionError):
        return set()
    return set(record) if isinstance(record, dict) else set()


def not_output(path: Path, written: str) -> InputError:
    """Return the error for a file that is not the output of a command."""
    return InvalidValue(path, f"not the output of {written}", "name a file with this output")


@contextmanager
def record_in(path: Path, written: str, model_sha256: str | None = None) -> Iterator[Any]:
    """Yield the JSON in a file, which may have to be about a model; `InputError` otherwise.

    - `written`: the command that wrote it.
    """
    contents = read_file(path, limit_bytes=_LARGEST_FILE)
    try:
        record = json.loads(contents)
        recorded_sha256 = model_sha256 and record["model_sha256"]
        yield record
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise not_output(path, written) from error
    if recorded_sha256 != model_sha256:
        raise InvalidValue(
            path,
            "about a different model from the one in the results",
            f"use {written} with the model of the results",
        )


def objects_of(
    kind: Callable[..., _Taken], checks: Mapping[str, Check], records: Any
) -> tuple[_Taken, ...]:
    """Return the objects of some records, which may have other keys; `ValueError` if unfit."""
    fields = [{name: each[name] for name in checks} for each in records]
    if not fields or not list_of(record_of(checks), _MOST_CANDIDATES)(fields):
        raise ValueError("a number is out of range")
    return tuple(
        kind(**{name: tuple(x) if isinstance(x, list) else x for name, x in each.items()})
        for each in fields
    )


def check_lengths(*lists: Sequence[float]) -> None:
    """Raise `ValueError` unless the lists have one length, above 0."""
    lengths = set(map(len, lists))
    if len(lengths) != 1 or 0 in lengths:
        raise ValueError("lists differ in length, or are empty")


@dataclass(frozen=True)
class PageScript:
    """The script of the page, which includes the emulated Uno, or the reason why there is none."""

    text: str | None  # JavaScript
    missing: str = ""  # without a text: the reason and the remedy, a part of a sentence


def page_script() -> PageScript:
    """Return the script of the page: an existing one, or one built now."""
    try:
        return PageScript(script_file(PAGE).read_text("utf-8"))
    except (ProtoNNEdgeError, OSError) as error:
        return PageScript(None, str(error))
