"""The script of the report's page, which includes the emulated Uno.

If it cannot be built, the report has no script, and explains why.
"""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.errors import ProtoNNEdgeError
from protonn_edge.toolchain.javascript import PAGE, script_file


@dataclass(frozen=True)
class PageScript:
    """The script, or the reason why there is none.

    Attributes
    ----------
    text : str or None
        The JavaScript.
    missing : str
        Without a text, a part of a sentence: what is missing, and what to do.
    """

    text: str | None
    missing: str = ""


def page_script() -> PageScript:
    """Return the script of the page: an existing one, or one built now."""
    try:
        return PageScript(script_file(PAGE).read_text("utf-8"))
    except (ProtoNNEdgeError, OSError) as error:
        return PageScript(None, str(error))
