"""What the manifest of a library has: its name, author, page and version.

A library's name is also that of its header, so it must be neither another header's nor, as Arduino
Lint has it (rules LP010 to LP016), long, with spaces, or with "Arduino" or "library" in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from protonn_edge import __version__
from protonn_edge.codegen import PREFIX
from protonn_edge.errors import InputError, shortened

_LONGEST = 200
_VERSION = re.compile(r"(0|[1-9][0-9]{0,5})(\.(0|[1-9][0-9]{0,5})){2}")

_LENGTH_LIMIT = 32
_SUPERFLUOUS = re.compile(r"arduino|library", re.IGNORECASE)
_DEFAULT = "protonn_model"

# Headers of C, of the Arduino core and its libraries, and of the export itself. File systems may
# not tell upper from lower case.
_C = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal
    stdarg stdbool stddef stdint stdio stdlib string tgmath time wchar wctype"""
_ARDUINO = """alloca binary cdc client eeprom hardwareserial hid ipaddress new pins_arduino
    pluggableusb print printable server softwareserial spi stream udp usbapi usbcore usbdesc wire
    wstring"""
_TAKEN = frozenset(f"{_C} {_ARDUINO}".split())
_EXPORT = ("model", "self_test")


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


def library_name(text: str, prefix: str = PREFIX) -> str:
    """Return the name of a library: a letter, then letters, digits and ``_``, at most 32 in all.

    - `text`: any text. What cannot be in a name becomes ``_``; a name that a header has already
      gets ``_pnn`` behind it.
    - `prefix`: of the export's other files.
    """
    name = text
    while _SUPERFLUOUS.search(name):  # taking a word out may leave another
        name = _SUPERFLUOUS.sub("", name)
    name = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    if not name:
        return _DEFAULT
    if not name[0].isalpha():
        name = f"pnn_{name}"
    name = name[:_LENGTH_LIMIT].rstrip("_")
    taken = _TAKEN | {f"{each}_{header}" for each in (PREFIX, prefix) for header in _EXPORT}
    return f"{name}_pnn" if name.lower() in taken else name
