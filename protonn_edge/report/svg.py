"""One style for all figures, and the conversion of matplotlib figures to parts of a page.

Figures are drawn in a few colours for roles. In the page each becomes a CSS variable, so that the
same figure suits light and dark pages and paper. Text remains text, in the page's font. The same
figure gives the same bytes on every machine.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

# Placeholder colours of the roles, which no figure has by chance.
INK, MUTED, RULE = "#010203", "#040506", "#070809"
ACCENT, SECOND, THIRD = "#0a0b0c", "#0d0e0f", "#101112"
LIMIT, PAPER = "#131415", "#161718"
_VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    RULE: "rule",
    ACCENT: "accent",
    SECOND: "second",
    THIRD: "third",
    LIMIT: "limit",
    PAPER: "paper",
}

_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_URL = re.compile(r"url\(#([^)]+)\)")
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_FAMILY = re.compile(r"font-family: [^;]*;? ?")
_FONT_AT_ONCE = re.compile(r"font: (?:[a-z]+ )*([\d.]+px) [^;]*")  # as older versions write it
_NO_TURN = "rotate(-0 "
_MARK = "mark:"
_PLACES = {"d", "x", "y", "transform"}
_NUMBER = re.compile(r"-?\d+\.\d+")  # rounded to a tenth of a px, which is invisible

_POINTS_PER_INCH = 72
_FONT = "DejaVu Sans"  # comes with matplotlib, so that positions are the same everywhere
_STYLE: dict[Any, Any] = {
    "axes.edgecolor": RULE,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.labelcolor": MUTED,
    "axes.labelsize": 12,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.spines.left": False,
    "figure.facecolor": "none",
    "font.family": [_FONT],
    "font.size": 12,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "legend.edgecolor": "none",
    "legend.facecolor": "none",
    "legend.fontsize": 12,
    "legend.labelcolor": INK,
    "lines.linewidth": 1.6,
    "lines.solid_capstyle": "round",
    "patch.linewidth": 0,
    "svg.fonttype": "none",
    "text.color": INK,
    "text.parse_math": False,  # a $ in a name is a $
    "xtick.color": RULE,
    "xtick.labelcolor": MUTED,
    "xtick.labelsize": 12,
    "xtick.major.size": 3,
    "ytick.color": RULE,
    "ytick.labelcolor": MUTED,
    "ytick.labelsize": 12,
    "ytick.major.size": 0,
}

WIDTH = 400
"""Width of a figure, in px of the page; a phone shows it a little smaller."""


def variable(colour: str) -> str:
    """Return the name of a role's colour in the page's style sheet."""
    return _VARIABLES[colour]


def mark(words: str) -> str:
    """Return the gid of a part of a figure that shows its value on hover."""
    return _MARK + words


@contextmanager
def axes(height: float, salt: str, *, width: float = WIDTH) -> Iterator[tuple[Axes, list[str]]]:
    """Yield axes of a new figure to draw on, and a list that has its SVG at the end.

    Parameters
    ----------
    height, width : float
        In px.
    salt : str
        Distinguishes the ids of this figure from those of other figures in the page.
    """
    drawn: list[str] = []
    with mpl.rc_context(_STYLE | {"svg.hashsalt": salt}), warnings.catch_warnings():
        # A name may have letters that the font for measuring lacks; the page's font has them.
        warnings.filterwarnings("ignore", message=".*[Gg]lyph", category=UserWarning)
        size = (width / _POINTS_PER_INCH, height / _POINTS_PER_INCH)
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        figure.get_layout_engine().set(w_pad=0.01, h_pad=0.02)  # type: ignore[union-attr,call-arg]
        yield figure.add_subplot(), drawn
        drawn.append(_for_page(_rendered(figure), width, height))


def _rendered(figure: Figure) -> str:
    stream = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    # savefig() writes the same, but draws everything a second time for the layout.
    figure.canvas.print_svg(stream, metadata=nothing)  # type: ignore[attr-defined]
    return stream.getvalue()


def _for_page(svg: str, width: float, height: float) -> str:
    """Return the figure as an element of a page: without prolog and unused ids."""
    root = ElementTree.fromstring(svg)  # noqa: S314  (what matplotlib just wrote)
    used = {name for part in root.iter() for name in _references(part)}
    for part in root.iter():
        _clean(part, used)
    for definitions in root.findall("defs"):  # the page has these few rules, for all figures
        if definitions.find("style") is not None:
            root.remove(definitions)
    root.attrib.clear()
    root.attrib |= {"viewBox": f"0 0 {width:g} {height:g}", "width": f"{width:g}"}
    return ElementTree.tostring(root, encoding="unicode")


def _clean(part: ElementTree.Element, used: set[str]) -> None:
    """Reduce a part to what the page needs, in the page's colours and font."""
    part.tag = part.tag.removeprefix(_SVG)
    target = part.attrib.pop(_LINK, None)
    if target is not None:
        part.set("href", target)
    if part.get("id") not in used:
        _tell(part, part.attrib.pop("id", ""))
    for name in sorted(_PLACES & part.attrib.keys()):
        part.set(name, _NUMBER.sub(_short, part.attrib[name]))
    if "style" in part.attrib:
        part.set("style", _in_page_style(part.attrib["style"]))
    if part.get("transform", "").startswith(_NO_TURN):
        part.attrib.pop("transform")
    for space in ("text", "tail"):
        if not (getattr(part, space) or "").strip():
            setattr(part, space, None)


def _tell(part: ElementTree.Element, gid: str) -> None:
    """Add texts to a part that is a mark: a title for browsers, and all for the script."""
    if gid.startswith(_MARK):
        part.set("class", "mark")
        title = ElementTree.Element("title")
        title.text = gid.removeprefix(_MARK)
        part.insert(0, title)


def _short(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")


def _references(part: ElementTree.Element) -> list[str]:
    """Return the ids that an element's attributes refer to."""
    found = [part.get(_LINK, "").removeprefix("#")]
    return found + [name for value in part.attrib.values() for name in _URL.findall(value)]


def _in_page_style(style: str) -> str:
    """Return a style with the page's colours, and its font."""
    style = _FONT_AT_ONCE.sub(r"font-size: \1", _FAMILY.sub("", style))
    return _COLOUR.sub(lambda found: f"var(--{_VARIABLES.get(found[0], 'ink')})", style)


def figure(svg: str, name: str) -> Markup:
    """Return a figure with a name for screen readers, as one picture."""
    words = f'<svg role="img" aria-label="{escape(name)}" '
    return Markup(svg.replace("<svg ", words, 1))  # noqa: S704  (what comes from data is escaped)
