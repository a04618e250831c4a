"""The style of the report's figures, and the parts of matplotlib's SVG that a page uses.

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
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

WIDTH = 400  # of a figure, in px of the page; a phone shows it a little smaller
MARK = "mark:"
"""The prefix of the gid of an element that shows its name to the pointer."""

# Placeholder colours of the roles, which no figure has by chance, and their names in the page.
ROLES = {
    (INK := "#010203"): "ink",
    (MUTED := "#040506"): "muted",
    (RULE := "#070809"): "rule",
    (ACCENT := "#0a0b0c"): "accent",
    (SECOND := "#0d0e0f"): "second",
    (THIRD := "#101112"): "third",
    (LIMIT := "#131415"): "limit",
}
_POINTS_PER_INCH = 72
_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_URL = re.compile(r"url\(#([^)]+)\)")
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_FAMILY = re.compile(r"font-family: [^;]*;? ?")
_FONT_AT_ONCE = re.compile(r"font: (?:[a-z]+ )*([\d.]+px) [^;]*")  # as older versions write it
_NUMBER = re.compile(r"-?\d+\.\d+")  # rounded to a tenth of a px, which is invisible
_PLACES = ("d", "transform", "x", "y")
_STYLE: dict[Any, Any] = {
    "axes.edgecolor": RULE,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.labelcolor": MUTED,
    "axes.linewidth": 0.8,
    **dict.fromkeys(("axes.spines.right", "axes.spines.top", "axes.spines.left"), False),
    "figure.facecolor": "none",
    "font.family": ["DejaVu Sans"],  # comes with matplotlib, so that positions are the same
    **dict.fromkeys(("font.size", "axes.labelsize", "xtick.labelsize", "ytick.labelsize"), 12),
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.solid_capstyle": "round",
    "patch.linewidth": 0,
    "svg.fonttype": "none",
    "svg.hashsalt": "protonn-edge",  # the same ids each time
    "text.color": INK,
    "text.parse_math": False,  # a $ in a name is a $
    **dict.fromkeys(("xtick.color", "ytick.color"), RULE),
    **dict.fromkeys(("xtick.labelcolor", "ytick.labelcolor"), MUTED),
    "xtick.major.size": 3,
    "ytick.major.size": 0,
}


@contextmanager
def drawing(height: float, *, width: float = WIDTH) -> Iterator[tuple[Axes, list[str]]]:
    """Yield axes of a new figure of this size in px, and a list that has its SVG at the end."""
    drawn: list[str] = []
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # A name may have letters that the font for measuring lacks; the page's font has them.
        warnings.filterwarnings("ignore", message=".*[Gg]lyph", category=UserWarning)
        size = (width / _POINTS_PER_INCH, height / _POINTS_PER_INCH)
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        figure.get_layout_engine().set(w_pad=0.01, h_pad=0.02)  # type: ignore[union-attr,call-arg]
        yield figure.add_subplot(), drawn
        stream = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        # savefig() writes the same, but draws everything a second time for the layout.
        figure.canvas.print_svg(stream, metadata=nothing)  # type: ignore[attr-defined]
        drawn.append(_for_page(stream.getvalue(), width, height))


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


def _references(part: ElementTree.Element) -> list[str]:
    """Return the ids that an element's attributes refer to."""
    references = [part.get(_LINK, "").removeprefix("#")]
    return references + [name for value in part.attrib.values() for name in _URL.findall(value)]


def _clean(part: ElementTree.Element, used: set[str]) -> None:
    """Reduce an element to the parts that the page needs, in the page's colours and font."""
    part.tag = part.tag.removeprefix(_SVG)
    target = part.attrib.pop(_LINK, None)
    if target is not None:
        part.set("href", target)
    if part.get("id") not in used:
        gid = part.attrib.pop("id", "")
        if gid.startswith(MARK):  # a title for browsers, and all for the script
            part.set("class", "mark")
            part.insert(0, title := ElementTree.Element("title"))
            title.text = gid.removeprefix(MARK)
    for name in _PLACES:
        if name in part.attrib:
            part.set(name, _NUMBER.sub(_short, part.attrib[name]))
    if "style" in part.attrib:
        style = _FONT_AT_ONCE.sub(r"font-size: \1", _FAMILY.sub("", part.attrib["style"]))
        part.set("style", _COLOUR.sub(lambda c: f"var(--{ROLES.get(c[0], 'ink')})", style))
    if part.get("transform", "").startswith("rotate(-0 "):
        part.attrib.pop("transform")
    for space in ("text", "tail"):
        if not (getattr(part, space) or "").strip():
            setattr(part, space, None)


def _short(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")
