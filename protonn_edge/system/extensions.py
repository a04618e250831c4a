"""Extensions: ideas that add to the core, each complete in one folder.

An extension is a package in `protonn_edge.extensions`, or one that another distribution names in
the entry points `protonn_edge.extensions`. Its ``__init__`` has an object of a subclass of
`Extension`, `EXTENSION`, which states what it adds. The core asks all extensions, and
imports none of them; an extension may import the core, and the extensions that it names. If the
folder is deleted, the idea is gone.

Beside its code, a folder may have

``commands``   a module for each command, named after it, whose first line describes it
``kinds``      kinds of classifiers, and ``features``, kinds of features, as the core's
``templates``  templates, and ``firmware``, C, that belong beside the core's
``emulator``   C of parts of the emulated board, compiled with the core's
``meters``     a module or package with `instrument_of`, as in `protonn_edge.device.instruments`
``pytest_plugin``  a module that pytest loads for all tests

These are found without importing the extension: ``import protonn_edge`` finds kinds, and may itself
be imported by an extension's ``__init__``, which therefore imports nothing of the package but this
module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, TypeVar

from protonn_edge.system.errors import InputError
from protonn_edge.system.lazy import folders_of

_FOLDERS = "protonn_edge.extensions"
_Kind = TypeVar("_Kind")


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


class AddedOptions:
    """Options that are added to a command: the defaults of a dataclass's fields."""

    # for `protonn_edge.cli.command.command`
    NEEDS: ClassVar[Mapping[str, str]] = {}
    APART: ClassVar[Mapping[str, str]] = {}
    EXAMPLES: ClassVar[Sequence[str]] = ()

    @property
    def extensions(self) -> tuple[str, ...]:
        """The names of the extensions that a model's firmware has because of these options."""
        return ()


class Extension:
    """What an extension adds to the core; by default nothing.

    A method imports what it returns, so that a command imports only what it uses.
    """

    name: ClassVar[str]
    has_sensors: ClassVar[bool] = False  # whether it has firmware that reads sensors
    # the titles of groups of options in a command's help, by option
    option_groups: ClassVar[Mapping[str, str]] = {}

    # --- the command line ---

    def options(self, command: str) -> type[AddedOptions] | None:
        """Return the options that it adds to a command.

        The command's module names what it calls, such as `InspectAddition` of `inspect`.
        """

    # --- firmware and devices ---

    def part_of(self, model: Any) -> FirmwarePart | None:
        """Return the part of the firmware of a device's model."""

    def family(self) -> Any:
        """Return the `protonn_edge.codegen.families.Family` of chips that it adds, or None."""

    def messages(self) -> Sequence[type[Any]]:
        """Return kinds of `protonn_edge.device.protocol.Message`."""
        return ()

    # --- reports and libraries ---

    def report_parts(self) -> Sequence[Any]:
        """Return sections of a report, and files of other commands that it shows.

        `SectionOfRun` and `ShownFile` of `protonn_edge.report.content`.
        """
        return ()

    def library_files(self, _library: Any, /) -> Mapping[str, str]:
        """Return more files of a `protonn_edge.codegen.export.exporting.TriedLibrary`, by names.

        A text named ``README.md`` goes to the end of the README.
        """
        return {}

    # --- what few extensions add to ---

    def addition_to(self, name: str) -> object:
        """Return what it adds to a part of the core, a kind or another extension; None for nothing.

        Each of these has a class, of which an object is returned; see `additions_to`:

        ==============  ================================================================
        "data"          `protonn_edge.data.points.instruments.SensorFiles`
        "firmware"      `protonn_edge.model.watch.DeviceForm`
        "measurement"   `protonn_edge.device.session.Statement`
        "planner"       `protonn_edge.codegen.planner.OwnProgram`
        "start-from"    `protonn_edge.model.other_files.ForeignFolder`
        "protonn"       `protonn_edge.kinds.protonn.additions.ProtoNNAddition`
        "proof"         `protonn_edge.extensions.proof.additions.ProofAddition`
        "sensing"       `protonn_edge.extensions.sensing.listener.StreamPart`
        ==============  ================================================================
        """


@cache
def packages() -> tuple[str, ...]:
    """Return the names of the packages of all extensions, the bundled ones first."""
    return (*folders_of(_FOLDERS), *sorted({each.value for each in entry_points(group=_FOLDERS)}))


def folders_in_packages(name: str) -> Iterator[tuple[str, Path]]:
    """Yield the extensions' folders of a name, such as ``commands``, each after its package."""
    for package in packages():
        spec = find_spec(package)
        for place in (spec and spec.submodule_search_locations) or ():
            if (folder := Path(place, name)).is_dir():
                yield f"{package}.{name}", folder


def modules_in_packages(name: str) -> Iterator[ModuleType]:
    """Yield the extensions' modules of a name, such as ``meters``; `InputError` for broken ones."""
    for package in packages():
        try:
            found = import_module(f"{package}.{name}") if find_spec(f"{package}.{name}") else None
        except ImportError as error:
            raise broken(package, error) from error
        if found is not None:
            yield found


@cache
def extensions() -> tuple[Extension, ...]:
    """Return all extensions that are installed, in the order of their names.

    Raises `InputError` if a package is not an extension, or two extensions have the same name.
    """
    found: dict[str, Extension] = {}
    for package in packages():
        try:
            extension = import_module(package).EXTENSION
        except (ImportError, AttributeError) as error:
            raise broken(package, error) from error
        if extension.name in found:
            raise InputError(
                f"the installed extension {package} has the name {extension.name!r} of another "
                "one; uninstall one of them"
            )
        found[extension.name] = extension
    return tuple(sorted(found.values(), key=lambda each: each.name))


def broken(package: str, error: Exception) -> InputError:
    """Return the error about an extension's package, or one in it, that cannot be imported."""
    return InputError(
        f"the installed extension {package} cannot be loaded ({error}); uninstall it, or install a "
        "version that fits this protonn-edge"
    )


def missing_extension(name: str) -> InputError:
    """Return the error about a model that needs an extension that is not installed."""
    return InputError(
        f"the model needs the extension {name[:40]!r}, which is not installed; install a version "
        "of protonn-edge that has it"
    )


def additions_to(name: str, kind: type[_Kind]) -> dict[str, _Kind]:
    """Return what extensions add to what asks for it by a name, by the extensions' names."""
    found = {each.name: each.addition_to(name) for each in extensions()}
    assert all(each is None or isinstance(each, kind) for each in found.values())
    return {extension: each for extension, each in found.items() if isinstance(each, kind)}


def parts_of(model: object) -> tuple[FirmwarePart, ...]:
    """Return the parts of the firmware of a model; those without integers have none."""
    parts = (each.part_of(model) for each in extensions())
    return tuple(part for part in parts if part is not None)


def check_memories(model: object, board: object) -> None:
    """Raise `CheckFailed` if a board lacks the memory for what parts of the firmware keep."""
    for part in parts_of(model):
        part.check_memory(board)
