"""Who stands behind an exported library, as its manifest tells."""

from __future__ import annotations

import re
from dataclasses import dataclass

from protonn_edge import __version__
from protonn_edge.errors import InputError, shortened

_LONGEST = 200
_VERSION = re.compile(r"(0|[1-9][0-9]{0,5})(\.(0|[1-9][0-9]{0,5})){2}")


@dataclass(frozen=True)
class Imprint:
    """Author, page and version of a library.

    Attributes
    ----------
    author : str
        A name, or "name <address>".
    url : str
        Where people find more about the library.
    version : str
        Of the library: three numbers with points, as the Arduino tools ask for.

    Raises
    ------
    InputError
        If a manifest cannot say one of them.
    """

    author: str = "protonn-edge contributors"
    url: str = "https://proceedings.mlr.press/v70/gupta17a.html"
    version: str = __version__

    def __post_init__(self) -> None:
        for name, text in (("author", self.author), ("url", self.url)):
            if not text.isprintable() or not 1 <= len(text.strip()) <= _LONGEST:
                raise InputError(
                    f"the library's {name} is {shortened(repr(text))}; use 1 to {_LONGEST} "
                    "printable characters"
                )
        if not re.match("https?://[^ ]+$", self.url):
            raise InputError(
                f"the library's url is {shortened(repr(self.url))}; use an address that begins "
                "with https://"
            )
        if not _VERSION.fullmatch(self.version):
            raise InputError(
                f"the library's version is {shortened(repr(self.version))}; use three numbers, "
                "such as 1.0.0"
            )
