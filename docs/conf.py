"""How Sphinx makes the documentation; `make docs` runs it. Nothing here asks the network."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from pygments.lexers.special import TextLexer

from protonn_edge import __version__
from protonn_edge.cli.train_options import flags_of, parameters_of
from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.learn.parameters import SharedParameters
from protonn_edge.model.registry import ESTIMATOR, REGRESSORS, variants

if TYPE_CHECKING:
    from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))  # for the module `declared`

project = "protonn-edge"
author = "protonn-edge contributors"
version = release = __version__
html_title = f"protonn-edge {__version__}"

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "sphinx_click", "sphinx_copybutton"]
exclude_patterns = ["_build"]
smartquotes = False  # two hyphens begin an option

# --- pages ---------------------------------------------------------------------------------------

myst_heading_anchors = 4
# Pages that are read on a repository's site, too, have links that work there.
_ELSEWHERE = {
    "../README.md": "index.md",
    "../CONTRIBUTING.md": "contributing.md",
    "../firmware/PROTOCOL.md": "protocol.md",
}
# The index names the other pages. These are below one of them in the navigation.
_BELOW = {
    "tutorial-gesture": ("phone",),
    "live": ("studio", "recording", "sensors", "audio"),
    "which-model": ("training", "kinds", "image-features"),
    "rejection": ("values",),
    "harness": ("boards", "any-board", "protocol"),
    "testing": ("agents",),
    "export": ("micropython",),
    "results": ("research",),
    "architecture": ("contributing",),
}

# Benchmarks print a line per row. A table of many columns and few rows is turned to fit the page.
_TABLE = re.compile(r"^\|.*\n\|[-:| ]+\|\n(?:\|.*\n)+", re.MULTILINE)
_MANY_COLUMNS, _FEW_ROWS = 10, 7  # with the headings

# Where this stands, the page lists the parameters of each kind of classifier, as they are declared.
_SETTINGS = "<!-- the settings of each kind -->"
# Where this stands, the page describes every estimator, with the methods that few of them have.
_ESTIMATORS = "<!-- every estimator -->"
_OWN_METHODS = ("partial_teach", "score_samples")
# Where these stand, a page has tables of what code declares.
_ARRAYS, _MESSAGES = "<!-- every array -->", "<!-- every message -->"

# --- the glossary --------------------------------------------------------------------------------

# The first use of a word on a page leads to the glossary, except of words with other meanings.
_AMBIGUOUS = {
    *("chain", "class", "confidence", "features", "fold", "group", "host", "kernel", "label"),
    *("margin", "plan", "precision", "score", "stage", "take", "window"),
}
# Neither a part of a longer word, nor of a number with a unit, such as 1,440 B.
_WORD = r"(?<![\w'/.-])(?<!\d )(?<!flash )(?<!SRAM )(({words})s?)(?![\w'/-])"
_NOT_LINKED = (nodes.reference, nodes.literal, nodes.literal_block, nodes.title, nodes.table)

# --- Python --------------------------------------------------------------------------------------

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc's sections say the types, with shapes and units
default_role = "code"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
# No other project's inventory is fetched, so only what is this package's own can be linked.
nitpick_ignore_regex = [("py:.*", r"(?!protonn_edge\.).*")]

# --- HTML ----------------------------------------------------------------------------------------

html_theme = "furo"
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
pygments_style, pygments_dark_style = "default", "monokai"
html_static_path = html_css_files = ["site.css"]
# Only what a reader types is copied: neither the prompts nor what a command prints.
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"


def setup(app: Sphinx) -> None:
    """Teach Sphinx the frames of the protocol, and where links out of this folder lead."""
    app.add_lexer("frame", TextLexer)
    app.connect("source-read", _read)
    app.connect("include-read", lambda _app, _path, _page, source: _within(source))
    app.connect("doctree-read", _anchor_words)
    app.connect("doctree-resolved", _link_words)


def _read(_app: Sphinx, page: str, source: list[str]) -> None:
    _within(source)
    if page in _BELOW:
        source[0] += "\n".join(["", "```{toctree}", ":hidden:", "", *_BELOW[page], "```", ""])


def _within(source: list[str]) -> None:
    for outside, page in _ELSEWHERE.items():
        source[0] = source[0].replace(f"]({outside}", f"]({page}")
    source[0] = _TABLE.sub(_turned, source[0].replace("](docs/", "]("))
    if _SETTINGS in source[0]:
        source[0] = source[0].replace(_SETTINGS, "\n\n".join(map(_settings_of, CLASSIFIERS)))

    if _ESTIMATORS in source[0]:
        more = (each for kind in CLASSIFIERS for each in variants(kind, ESTIMATOR))
        each = [*CLASSIFIERS.values(), *more, *REGRESSORS.values()]
        source[0] = source[0].replace(_ESTIMATORS, "\n".join(map(_described, each)))
    if {_ARRAYS, _MESSAGES} & {*source[0].splitlines()}:
        import declared

        source[0] = source[0].replace(_ARRAYS, declared.tables_of_arrays())
        source[0] = source[0].replace(_MESSAGES, declared.table_of_messages())


def _described(estimator: type) -> str:
    """Return the entry of an estimator."""
    own = [name for name in _OWN_METHODS if hasattr(estimator, name)]
    members = [f"   :members: {', '.join(own)}"] if own else []
    lines = [f".. autoclass:: protonn_edge.{estimator.__name__}", *members]
    return "\n".join(["```{eval-rst}", *lines, "```"])


def _turned(table: re.Match[str]) -> str:
    """Return a table of Markdown with a row per column, if that is narrower."""
    rows = [re.split(r" *(?<!\\)\| *", line.strip("| ")) for line in table[0].splitlines()]
    del rows[1]  # the line below the headings
    if len(rows) > _FEW_ROWS or len(rows[0]) < _MANY_COLUMNS:
        return table[0]
    columns = [f"| {' | '.join(cells)} |" for cells in zip(*rows, strict=True)]
    return "\n".join([columns[0], "|---" * len(rows) + "|", *columns[1:], ""])


def _settings_of(kind: str) -> str:
    """Return a table of the parameters that belong to a kind of classifier."""
    shared = SharedParameters.parameters
    rows = [
        f"| {', '.join(f'`{flag}`' for flag in flags_of(name, declared))} | {declared.help} |"
        for name, declared in parameters_of(kind).items()
        if not (declared.common and name in shared)
    ]
    return "\n".join([f"### {kind}", "", "| setting | meaning |", "|---|---|", *rows])


def _anchor_words(app: Sphinx, tree: nodes.document) -> None:
    """Give each row of the glossary an anchor."""
    if app.env.docname == "glossary":
        for row in _rows_of(tree):
            name = row.children[0].astext()
            row["ids"] = ["word-" + nodes.make_id(name) if name[1:] else f"letter-{ord(name)}"]


def _rows_of(glossary: nodes.document) -> list[nodes.row]:
    return [row for row in glossary.findall(nodes.row) if isinstance(row.parent, nodes.tbody)]


@cache
def _meanings(app: Sphinx) -> dict[str, tuple[str, str]]:
    """Return the anchor and the meaning of each word of the glossary that pages link."""
    found = {}
    for row in _rows_of(app.env.get_doctree("glossary")):
        name, meaning, *_ = (cell.astext() for cell in row.children)
        for word in name.split(", "):
            if word not in _AMBIGUOUS:
                found[word] = row["ids"][0], meaning.replace("\n", " ")
    return found


def _link_words(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Link the first use of each word of the glossary on a page."""
    if page == "glossary":
        return
    about_protonn = re.search(r"\bW\b.*\bZ\b", tree.astext(), re.DOTALL)
    left = {word: meant for word, meant in _meanings(app).items() if about_protonn or len(word) > 1}
    to_glossary = app.builder.get_relative_uri(page, "glossary")
    for text in list(tree.findall(nodes.Text)):
        if not any(isinstance(above, _NOT_LINKED) for above in _above(text)):
            text.parent.replace(text, _linked(text.astext(), left, to_glossary))


def _above(node: nodes.Node) -> list[nodes.Node]:
    return [] if node.parent is None else [node.parent, *_above(node.parent)]


def _linked(text: str, left: dict[str, tuple[str, str]], uri: str) -> list[nodes.Node]:
    """Return a text with links from the words that are left, which are then removed."""
    parts: list[nodes.Node] = []
    while left and (found := re.search(_WORD.format(words="|".join(map(re.escape, left))), text)):
        anchor, meaning = left[found[2]]
        for word in [word for word, (other, _) in left.items() if other == anchor]:
            del left[word]
        link = nodes.reference("", found[1], internal=True, refuri=f"{uri}#{anchor}")
        link["reftitle"], link["classes"] = meaning, ["word"]
        parts += [nodes.Text(text[: found.start()]), link]
        text = text[found.end() :]
    return [*parts, nodes.Text(text)]
