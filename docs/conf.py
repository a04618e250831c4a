"""How Sphinx makes the documentation; `make docs` runs it. Nothing here asks the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pygments.lexers.special import TextLexer

from protonn_edge import __version__
from protonn_edge.cli.train_options import parameters_of
from protonn_edge.training.base import CLASSIFIERS
from protonn_edge.training.parameters import SharedParameters

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "protonn-edge"
author = "protonn-edge contributors"
version = release = __version__
html_title = f"protonn-edge {__version__}"

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "sphinx_click", "sphinx_copybutton"]
exclude_patterns = ["_build"]
smartquotes = False  # two hyphens begin an option

# --- pages ---------------------------------------------------------------------------------------

myst_heading_anchors = 3
# Pages that are read on a repository's site, too, have links that work there.
_ELSEWHERE = {
    "../README.md": "index.md",
    "../CHANGELOG.md": "changelog.md",
    "../CONTRIBUTING.md": "contributing.md",
    "../firmware/PROTOCOL.md": "protocol.md",
}
# The index names the other pages. These are below one of them in the navigation.
_BELOW = {
    "own-sensor": ("recording", "sensors", "audio", "live"),
    "which-model": (
        *("linear", "naive-bayes", "dense", "forest", "bonsai"),
        *("gradients", "convolution-training", "basis-images"),
    ),
    "tuning": ("accuracy", "cluster"),
    "rejection": ("one-class", "health"),
    "pytest": ("lab", "mlperf", "continuous-integration"),
    "real-board": ("boards", "emulator", "harness", "power"),
    "conversion": ("networks",),
    "commands": ("guide", "model-file", "protocol"),
    "generated-code": ("linked-programs",),
    "results": ("comparisons", "paper", "energy", "changelog"),
    "algorithm": ("training", "arithmetic", "convolution", "planner"),
    "architecture": ("internals", "adding-a-stage", "contributing"),
}

# Where this stands, the page lists the parameters of each kind of classifier, as they are declared.
_SETTINGS = "<!-- the settings of each kind -->"

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


def _read(_app: Sphinx, page: str, source: list[str]) -> None:
    _within(source)
    if page in _BELOW:
        source[0] += "\n".join(["", "```{toctree}", ":hidden:", "", *_BELOW[page], "```", ""])


def _within(source: list[str]) -> None:
    for outside, page in _ELSEWHERE.items():
        source[0] = source[0].replace(f"]({outside}", f"]({page}")
    source[0] = source[0].replace("](docs/", "](")
    if _SETTINGS in source[0]:
        source[0] = source[0].replace(_SETTINGS, "\n\n".join(map(_settings_of, CLASSIFIERS)))


def _settings_of(kind: str) -> str:
    """Return a table of the parameters that belong to a kind of classifier."""
    shared = SharedParameters.parameters
    rows = [
        f"| `{declared.option or f'--set {name}'}` | {declared.help} |"
        for name, declared in parameters_of(kind).items()
        if not (declared.common and name in shared)
    ]
    return "\n".join([f"### {kind}", "", "| setting | meaning |", "|---|---|", *rows])
