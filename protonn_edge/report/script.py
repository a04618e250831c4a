"""The script of the report's page, which has the emulated Uno in it.

Where it cannot be made the report does without it, and says why.
"""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.errors import ProtoNNEdgeError
from protonn_edge.toolchain.javascript import PAGE, script_file


@dataclass(frozen=True)
class PageScript:
    """The script, or why there is none.

    Attributes
    ----------
    text : str or None
        JavaScript in one piece.
    missing : str
        Without a text, a part of a sentence: what is not there, and what to do.
    """

    text: str | None
    missing: str = ""


def page_script() -> PageScript:
    """Return the script of the page: the one that is ready, or one that is made now."""
    try:
        return PageScript(script_file(PAGE).read_text("utf-8"))
    except (ProtoNNEdgeError, OSError) as error:
        return PageScript(None, str(error))
