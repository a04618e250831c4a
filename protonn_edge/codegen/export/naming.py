"""The names of a library: one that all tools accept, and the prefix of its names in C."""

from __future__ import annotations

import re

from protonn_edge.codegen.export.rendering import Kind
from protonn_edge.codegen.renderer import PREFIX, check_prefix, prefix_of

_LENGTH_LIMIT = 32
_SUPERFLUOUS = re.compile(r"arduino|library", re.IGNORECASE)
_DEFAULT = "protonn_model"

# Headers of C, of the Arduino core and its libraries, and of the export itself. File systems may
# ignore case.
_C = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal
    stdarg stdbool stddef stdint stdio stdlib string tgmath time wchar wctype"""
_ARDUINO = """alloca binary cdc client eeprom hardwareserial hid ipaddress new pins_arduino
    pluggableusb print printable server softwareserial spi stream udp usbapi usbcore usbdesc wire
    wstring"""
# Targets that CMake makes itself.
_CMAKE = """all all_build clean depend edit_cache help install list_install_components package
    package_source preinstall rebuild_cache run_tests test zero_check"""
_TAKEN = frozenset(f"{_C} {_ARDUINO} {_CMAKE}".split())
_EXPORT = ("model", "self_test")


def names_of(kind: Kind, text: str, prefix: str | None) -> tuple[str, str]:
    """Return a library's name and the prefix of its C, by default from the name.

    For the Arduino IDE, the prefix is `PREFIX` by default, as in all sketches of the documentation.
    `InputError` for bad prefixes.
    """
    if prefix is None:
        prefix = PREFIX if kind == "arduino" else prefix_of(library_name(text))
    check_prefix(prefix)
    return library_name(text, prefix), prefix


def library_name(text: str, prefix: str = PREFIX) -> str:
    """Return a library's name: a letter, then letters, digits and ``_``, at most 32 in all.

    Its header has the same name, so it must differ from other headers, and its target in CMake from
    CMake's own. Arduino Lint (rules LP010 to LP016) forbids long names, spaces, "Arduino" and
    "library". Forbidden characters become ``_``, and the name of a header, with the `prefix` of
    files too, or a target ends in ``_pnn``.
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
