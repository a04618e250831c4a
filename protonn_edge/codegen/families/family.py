"""What is different in a family of chips: firmware, linked programs, and boards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from protonn_edge.chips.avr.program import Sections
from protonn_edge.chips.boards import Board
from protonn_edge.chips.emulator.board import RunningBoard
from protonn_edge.codegen.plan import DevicePlan
from protonn_edge.model.device_model import DeviceModel
from protonn_edge.model.head import Remedies
from protonn_edge.system.errors import CheckFailed, InputError, InvalidValue
from protonn_edge.system.extensions import parts_of

if TYPE_CHECKING:
    from protonn_edge.chips.avr.functions import Function
    from protonn_edge.chips.avr.paths import Paths

ProjectFiles = dict[str, bytes | str]
"""The contents of a project's files, by their names below its folder, with ``/``."""


class NoCompiler(InvalidValue):
    """A compiler is missing, but a project can be written, which an upload compiles."""


class LinkedFirmware(Protocol):
    """A linked firmware."""

    @property
    def path(self) -> Path:
        """Its ELF file; the compiler's other files are below the same folder."""

    @property
    def sections(self) -> Sections:
        """Bytes by where they end up."""

    @property
    def code(self) -> bytes:
        """What is written into the flash."""


class Stack(NamedTuple):
    """The most bytes of stack that a program uses, or may use."""

    bytes: int
    path: tuple[str, ...] = ()  # the functions on the deepest path, if it is known


class BuildsFirmware(ABC):
    """What differs in projects and in how they are compiled."""

    settings: ClassVar[str]  # a project's file with settings, which its user may change
    written: ClassVar[Sequence[str]]  # what is in a project's folder after a build, for people
    sensors: ClassVar[bool] = False  # whether there is firmware that reads sensors
    extends: ClassVar[bool] = False  # whether the firmware can have the parts of extensions

    @abstractmethod
    def wrote(self, folder: Path) -> bool:
        """Return whether a folder has a project for such a chip."""

    def check_board(self, board: Board) -> None:
        """Raise `InputError` if there is no such board with a chip of this family."""

    def check_extensions(self, names: Sequence[str], board: Board) -> None:
        """Raise `InputError` if the firmware of such a chip cannot have these extensions."""
        if names and not self.extends:
            raise InputError(
                f"the firmware of {board.name} does not support {', '.join(names)} yet; choose an "
                "AVR with --board, or a model without it"
            )

    def check_model(self, model: DeviceModel, board: Board) -> None:
        """Raise `InputError` if the firmware of such a chip cannot have this model."""
        kinds = [part.name for part in parts_of(model.chain) if not part.on_any_chip]
        in_floats = ["float builds"] * bool(model.chain.score_tolerance)  # of research
        self.check_extensions(kinds + in_floats, board)

    @abstractmethod
    def sources(self, board: Board) -> ProjectFiles:
        """Return the files of a new project: the firmware without the model, and settings."""

    def descriptions(self, _board: Board) -> Mapping[str, str]:
        """Return the files that are written again with each build."""
        return {}

    def check_folder(self, folder: Path, board: Board) -> None:
        """Raise `InputError` if a project for this board cannot be put into a folder."""

    @abstractmethod
    def board_name(self, folder: Path) -> str | None:
        """Return the package's name for the board of a project; None if it is someone's own."""

    @abstractmethod
    def product(self, board: Board) -> Path:
        """Return the path of the linked program, below the project's folder."""

    @abstractmethod
    def compile(self, folder: Path, board: Board) -> Path:
        """Compile and link a project; return the path of the ELF file.

        Raises `InputError` if there is no compiler, and `CheckFailed` if it refuses the sources.
        It is `NoCompiler` if `upload` has another compiler.
        """

    def more_products(self, _program: LinkedFirmware) -> ProjectFiles:
        """Return files that are made of a program and stay in the project."""
        return {}


class MachineCode(Protocol):
    """The machine code of a linked program, which is followed along every branch and call.

    Each method raises `CheckFailed` if the code cannot be followed.
    """

    def entries(self, name: str) -> Collection[int]:
        """Return the addresses of a function and its copies; `InputError` if there is none."""

    def labels(self) -> Mapping[str, Sequence[int]]:
        """Return the addresses of the labels by which the source marks spans."""

    def predictions(self) -> Collection[str]:
        """Return the functions that each make a prediction, as the source states."""

    def handlers(self) -> Mapping[int, int]:
        """Return the addresses of interrupt handlers, by the numbers of their vectors."""

    def functions(self, entries: Collection[int]) -> Mapping[int, Function]:
        """Return all functions that run below some addresses, by theirs."""

    def floats(self) -> Sequence[str]:
        """Return the routines for floating point."""

    def paths(self, entry: str) -> Paths:
        """Return the shortest and the longest path through a function."""

    def longest(
        self,
        starts: Mapping[int, int | tuple[int, int]],
        ends: Collection[int] = (),
        limits: Mapping[str, int] | None = None,
    ) -> int:
        """Return the most cycles from places, passed so often, or at least and at most, to others.

        `limits` has how often labels are passed at most, by their names.
        """

    def stack(self, entry: str | None = None) -> int:
        """Return the most bytes of stack below a function, or of the whole program."""


class ReadsPrograms(ABC):
    """What differs in linked programs."""

    proves: ClassVar[bool] = False  # whether it follows the machine code

    @abstractmethod
    def read(self, elf: Path) -> LinkedFirmware:
        """Return the program in an ELF file; `InputError` if it has none of this family."""

    def follow(self, _program: Any) -> MachineCode:
        """Return a program's machine code; `CheckFailed` if that of this family is not followed."""
        raise CheckFailed("the machine code of such a chip is not followed")

    @abstractmethod
    def share(self, elf: Path) -> Sections:
        """Return the bytes of a program that are the model's."""

    @abstractmethod
    def stack(self, program: LinkedFirmware, board: Board) -> Stack:
        """Return the stack that a program needs, for the check of its SRAM."""

    def check_plan(self, plan: DevicePlan, board: Board, remedies: Remedies) -> None:
        """Raise `CheckFailed` if firmware with this plan cannot work, before it is compiled."""

    def check_program(
        self, program: Any, plan: DevicePlan, board: Board, remedies: Remedies
    ) -> None:
        """Raise `CheckFailed` if a linked firmware violates a rule of this family."""

    def paths(self, _program: Any, _plan: DevicePlan, board: Board) -> Paths:
        """Return the paths of a prediction through the machine code, by which cycles are proven."""
        raise CheckFailed(f"the cycles of {board.name} are measured, but not proven")

    def bound(self, _program: Any, _plan: DevicePlan, _board: Board) -> tuple[int, int] | None:
        """Return the least and the most cycles of a prediction; None if they are not proven."""
        return None


class RunsBoards(ABC):
    """What differs in boards, emulated and real."""

    emulators: ClassVar[Sequence[str]]  # that can be chosen, the preferred one first

    @abstractmethod
    def find_emulator(self, name: str | None, board: Board) -> tuple[str, str]:
        """Return an emulator's name, the preferred one's without a name, and a remark on it.

        Raises `InputError` if it is not installed.
        """

    @abstractmethod
    def emulated(self, elf: Path | None, board: Board, **options: object) -> RunningBoard:
        """Return the emulated board with a program or none, to be used in a ``with``.

        Raises `InputError` if it cannot be emulated here.
        """

    def watched(
        self, program: Any, _plan: DevicePlan, board: Board, emulator: str | None = None
    ) -> AbstractContextManager[RunningBoard]:
        """Return the emulated board, which checks what is stated of the program's cycles."""
        return self.emulated(program.path, board, emulator=emulator)

    @abstractmethod
    def connected(self, board: Board) -> str:
        """Return how a board must be connected for an upload, after "connected"."""

    @abstractmethod
    def upload(self, folder: Path, port: str | None, environment: str | None) -> Upload:
        """Return the upload of a project, which has not begun."""

    def upload_words(self, _folder: Path, _environment: str) -> list[str]:
        """Return the options of 'upload' that a project needs."""
        return []


class Upload(Protocol):
    """An upload that is about to begin."""

    @property
    def environment(self) -> str:
        """The name of the board's environment."""

    @property
    def where(self) -> str | None:
        """The port or the drive; None if it has no name."""

    @property
    def why(self) -> str:
        """Why it was chosen."""

    @property
    def shown(self) -> str:
        """The port or the drive, for people."""

    def run(self) -> None:
        """Compile the project, and write its program to the board."""


class Family(BuildsFirmware, ReadsPrograms, RunsBoards):
    """What differs between boards with chips of different families."""

    @abstractmethod
    def has(self, board: Board) -> bool:
        """Return whether a board has a chip of this family, for which there is firmware."""
