"""Extensions: ideas that add to firmware, and to everything around it. Each is one folder.

The rest of the package has points, such as "messages", at which it asks for what extensions bring.
The folder of an extension is in this package; its constant `BRINGS` has, by the names of points,
what it brings there, as "module:name" in the folder, imported when a point is asked about. Nothing
outside of the folder imports it. If the folder is deleted, the idea is gone: what still refers to
it, such as a model file, is refused in one sentence. A kind of classifier that does something of
its own for an extension has a folder of the extension's name, with a `BRINGS` of its own.

At the point "parts", an extension has a function of a device's model that returns a `FirmwarePart`,
or None. Other points are documented where they are asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

from protonn_edge.system.lazy import folders_of

KNOWN = {
    "observation": "--observe --health",
    "teaching": "--teachable --new-classes --teach --teaching",
}
"""The options and commands of every extension, by which one that is not installed is recognized."""


@cache
def installed() -> tuple[str, ...]:
    """Return the names of the extensions that this installation has."""
    return tuple(name for name in KNOWN if find_spec(f"protonn_edge.{name}") is not None)


def brought(point: str) -> dict[str, Any]:
    """Return what extensions bring at a point, by their names."""
    return {
        name: _imported(f"{folder}.{place}")
        for name in installed()
        for folder in _folders(name)
        if (place := import_module(folder).BRINGS.get(point)) is not None
    }


@cache
def _folders(extension: str) -> tuple[str, ...]:
    """Return the packages of an extension: its own, and its parts in kinds of classifiers."""
    parts = (f"{kind}.{extension}" for kind in folders_of("protonn_edge.kinds"))
    return f"protonn_edge.{extension}", *(part for part in parts if find_spec(part) is not None)


@cache
def _imported(place: str) -> Any:
    module, name = place.split(":")
    return getattr(import_module(module), name)


def missing(words: Iterable[str]) -> str | None:
    """Return a sentence if a word is of an extension that is not installed, else None.

    The word may be one of its options or commands, or the name of an array of a model file, such as
    "name.array".
    """
    for word in words:
        for name, own in KNOWN.items():
            is_own = word in own.split() or word.partition(".")[0] == name
            if is_own and name not in installed():
                return f"{name} is not installed; install protonn-edge with it"
    return None


def extended(chain: Any, model: Any, names: Iterable[str]) -> Any:
    """Return an integer chain as the firmware with some extensions needs it.

    At the point "device model", an extension has how a plan shows this, and a function of the chain
    and its float model, which raises `InputError` if it is impossible.
    """
    for name in names:
        chain = brought("device model")[name][1](chain, model)
    return chain


class FirmwarePart:
    """A part of a model's firmware: its facts, and its templates in ``templates/``.

    Templates that a part does not have are "".
    """

    name: ClassVar[str]  # of the extension, and of its header in ``firmware/``
    # macros of the functions in the model's header
    header: ClassVar[str] = ""
    # macros of the firmware of a board with a sensor, and of sketches and texts of an export
    live: ClassVar[str] = ""
    export: ClassVar[str] = ""
    # the templates of sketches of an export, by their names; and of those that read the board's own
    # sensor, and need pins for buttons
    sketches: ClassVar[Mapping[str, str]] = {}
    live_sketches: ClassVar[Mapping[str, str]] = {}
    receives: ClassVar[bool] = False  # whether a board with a sensor receives requests for it

    @property
    def status_bytes(self) -> int:
        """Bytes of the body of the message that a board with a sensor sends about once a second."""
        return 0


def parts_of(model: Any) -> tuple[FirmwarePart, ...]:
    """Return the parts of the firmware of a model; those without integers have none."""
    parts = (part_of(model) for part_of in brought("parts").values())
    return tuple(part for part in parts if part is not None)
