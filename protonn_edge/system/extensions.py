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

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from protonn_edge.system.errors import InputError
from protonn_edge.system.lazy import folders_of

_BRINGS = re.compile("^BRINGS = {", re.MULTILINE)


def brought(point: str) -> dict[str, Any]:
    """Return what extensions bring at a point, by their names."""
    return {
        _name_of(folder): _imported(f"{folder}.{place}")
        for folder in extension_packages()
        if (place := import_module(folder).BRINGS.get(point)) is not None
    }


def _name_of(package: str) -> str:
    below = package.split(".")
    return below[2] if below[1] == "extensions" else below[-1]


@cache
def extension_packages() -> tuple[str, ...]:
    """Return the packages of extensions: those with `BRINGS`, in this package and in kinds."""
    packages = folders_of("protonn_edge") + folders_of("protonn_edge.extensions")
    for room in ("kinds", "extensions"):
        packages += [part for one in folders_of(f"protonn_edge.{room}") for part in folders_of(one)]
    return tuple(each for each in packages if _BRINGS.search(_text_of(each)))


def _text_of(package: str) -> str:
    """Return the text of a package's ``__init__.py``, without importing the package."""
    spec = find_spec(package)
    return "" if spec is None else Path(str(spec.origin)).read_text("utf-8")


@cache
def _imported(place: str) -> Any:
    module, name = place.split(":")
    return getattr(import_module(module), name)


def extended(chain: Any, model: Any, names: Iterable[str]) -> Any:
    """Return an integer chain as the firmware with some extensions needs it.

    At the point "device model", an extension has the choice by which a plan shows this, and a
    function of the chain and its float model, which raises `InputError` if it is impossible.
    """
    for name in names:
        chain = brought("device model")[name][1](chain, model)
    return chain


def forms_of(chain: Any, model: Any) -> Iterator[Any]:
    """Yield an integer chain, and the forms that extensions make of it, where they are possible."""
    yield chain
    for _, form_of in brought("device model").values():
        with suppress(InputError):
            yield form_of(chain, model)


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
    on_any_chip: ClassVar[bool] = False  # or only on AVRs
    receives: ClassVar[bool] = False  # whether a board with a sensor receives requests for it

    @property
    def status_bytes(self) -> int:
        """Bytes of the body of the message that a board with a sensor sends about once a second."""
        return 0

    def check_memory(self, board: Any) -> None:
        """Raise `CheckFailed` if a board lacks the memory for what it keeps."""


def parts_of(model: Any) -> tuple[FirmwarePart, ...]:
    """Return the parts of the firmware of a model; those without integers have none."""
    parts = (part_of(model) for part_of in brought("parts").values())
    return tuple(part for part in parts if part is not None)


def check_memories(model: Any, board: Any) -> None:
    """Raise `CheckFailed` if a board lacks the memory for what parts of the firmware keep."""
    for part in parts_of(model):
        part.check_memory(board)
