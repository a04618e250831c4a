"""From a trained model to a folder that other tools accept."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from numpy.typing import ArrayLike

from protonn_edge.chips.boards import Board, export_board_of
from protonn_edge.codegen.export import rendering, self_test
from protonn_edge.codegen.export.archive import check_archive, is_archive, write_archive
from protonn_edge.codegen.export.folder import check_folder, write_folder
from protonn_edge.codegen.export.naming import names_of
from protonn_edge.codegen.export.rendering import Imprint, Kind, Library
from protonn_edge.codegen.export.self_test import KnownAnswers
from protonn_edge.codegen.export.sensor_windows import SensorWindows
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.planner import Limits, device_plans
from protonn_edge.codegen.verification.tryout import NOT_TRIED, Tried
from protonn_edge.codegen.words import WordPlan
from protonn_edge.data.points.preparation import Preparation
from protonn_edge.model.device_model import DeviceModel, with_integers
from protonn_edge.model.head import FEWER_FEATURES, channels_of
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.system.checks import check_enough
from protonn_edge.system.errors import CheckFailed, InputError
from protonn_edge.system.extensions import check_memories, extensions
from protonn_edge.system.files import resolved

_FOLDER_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}")  # Arduino Lint, LS002 and LS003

_RAW_SCALE_BYTES = 12  # struct raw_scale of the generated C


@dataclass(frozen=True)
class TriedLibrary:
    """An export before it is written, to which extensions add files."""

    kind: Kind
    name: str  # of the library
    prefix: str  # of its C names and files
    files: dict[str, str]  # by names below its folder
    board: Board  # with the memory that a sketch may use
    tried: Tried  # the self-test's result


@dataclass(frozen=True)
class Export:
    """The written export."""

    name: str  # of the library and its header
    prefix: str  # of its C names and files
    files: tuple[str, ...]  # names below the folder, sorted
    vectors: int  # test vectors of the self-test
    plan: Plan | WordPlan  # how the C computes
    flash_bytes: int  # flash of an Arduino program that uses all of it, approximately
    sram_bytes: int  # SRAM of a sketch with the model, including the stack, approximately
    model_sha256: str  # of the integer model
    tried: Tried  # the self-test's result


def export(
    model: Model | DeviceModel,
    kind: Kind,
    folder: Path | str,
    board: Board | str = "uno",
    *,
    name: str | None = None,
    points: ArrayLike | None = None,
    flash_bytes: int | None = None,
    sram_bytes: int | None = None,
    prefix: str | None = None,
    windowing: SensorWindows | None = None,
    imprint: Imprint | None = None,
    tries: bool = True,
    extensions: Sequence[str] = (),
) -> Export:
    """Write a model as a library or as plain C; the same input gives the same bytes.

    The bounds in its README hold for the installed compiler.

    Parameters
    ----------
    model : Model or DeviceModel
        The trained model, or the model with its integers, for which `extensions` are not needed.
    kind : {"arduino", "platformio", "c"}
        The form of the export.
    folder : Path or str
        The library's own folder: new, empty, or an earlier export. A name that ends in ".zip" is
        one of a file with that folder, which the Arduino IDE can add.
    board : Board or str, default="uno"
        The board for which the fastest kernels are chosen that fit together with the self-test.
    name : str, optional
        The library's name, by default the folder's, made valid for the tools.
    points : array of shape (n, features), optional
        Raw points for test vectors; by default, points are made from the model.
    flash_bytes : int, optional
        Flash for the library with a small sketch and the self-test; by default all of it.
    sram_bytes : int, optional
        SRAM for a sketch with the model, including the stack; by default all of it.
    prefix : str, optional
        Prefix of C names and files, by default the library's name, or "pnn" for the Arduino IDE.
        Exports with different prefixes fit into one program.
    windowing : SensorWindows, optional
        A sensor, for an additional sketch that reads it, made for this model and board.
    imprint : Imprint, optional
        The library's author, url and version; by default this tool's.
    tries : bool, default=True
        Whether the self-test runs first, on the emulated board or, for plain C, on this computer.
    extensions : sequence of str, default=()
        The extensions that the code has, such as "observation".

    Raises
    ------
    InputError
        If the model has no integers, the folder or the prefix cannot be used, or plain C with a
        sensor is requested.
    CheckFailed
        If a sketch does not fit the limits, the one that reads the sensor does not fit the board
        or cannot keep up, the board's EEPROM is too small for what the model keeps there, or the
        self-test fails (`WrongAnswers`); nothing is written then.
    """
    folder, chip = Path(folder), export_board_of(board)
    _check_request(kind, folder, windowing)
    name, prefix = names_of(kind, name or _name_of(folder), prefix)
    board = _limited(chip, flash_bytes, sram_bytes)
    device_model = with_integers(model, extensions)
    floats = device_model.floats
    if windowing is not None:
        device_model, windowing = _counting_alike(device_model, windowing)
    vectors = _vectors(device_model, Limits.of(board), points)
    beside = max(vectors.flash_bytes, _raw_bytes(device_model.chain))
    plan = _planned(device_model, kind, Limits.of(board).beside(beside))
    check_memories(device_model.chain, board)
    needed, held = _sketch_sram(plan, windowing)
    if flash_bytes is not None:
        _check_flash(plan.flash_bytes + beside, board, chip, device_model)
    if windowing is not None or isinstance(plan, WordPlan) or sram_bytes is not None:
        _check_sram(needed, held, board, chip, device_model, windowing)
    library = Library(
        name,
        device_model.chain,
        plan,
        vectors,
        from_data=points is not None,
        feature_names=floats.feature_names,
        preparation=Preparation.of_record(floats.record, floats.n_features),
        prefix=prefix,
        windowing=windowing,
        imprint=imprint or Imprint(),
    )
    files = rendering.render_export(kind, library, board)
    tried = _tried(kind, library, files, chip) if tries else NOT_TRIED
    _extend(TriedLibrary(kind, name, prefix, files, chip, tried))
    _write(folder, files)
    return Export(
        name=name,
        prefix=prefix,
        files=tuple(sorted(files)),
        vectors=len(vectors),
        plan=plan,
        flash_bytes=plan.flash_bytes + beside,
        sram_bytes=needed,
        model_sha256=device_model.chain.model_sha256,
        tried=tried,
    )


def _counting_alike(
    device_model: DeviceModel, windowing: SensorWindows
) -> tuple[DeviceModel, SensorWindows]:
    """Return a model that counts what a sensor's sketch counts, and the sketch for this model."""
    chain = replace(device_model.chain, counts=windowing.model.counts)
    return replace(device_model, chain=chain), replace(windowing, model=chain)


def _has(board: Board, chip: Board) -> str:
    """Return that a board, or a chip within the limits of a sketch, has something."""
    return f"{board.name} has" if chip == board else f"{board.name} with your limits has"


def _check_flash(flash: int, board: Board, chip: Board, device_model: DeviceModel) -> None:
    """Raise `CheckFailed` unless the self-test fits the flash of a board."""
    remedy = f"try {', '.join(device_model.remedies.flash)}, or {FEWER_FEATURES}"
    has = _has(board, chip)
    check_enough("the self-test", flash, has, board.flash_bytes, "B of flash", remedy)


def _extend(library: TriedLibrary) -> None:
    """Add files of extensions to a library, and what they say to its README."""
    for each in extensions():
        for name, text in each.library_files(library).items():
            before = library.files[name] if name == "README.md" else ""
            library.files[name] = before + text


def _limited(board: Board, flash_bytes: int | None, sram_bytes: int | None) -> Board:
    """Return a board with no more memory than a sketch may use."""
    return replace(
        board,
        flash_bytes=min(flash_bytes or board.flash_bytes, board.flash_bytes),
        sram_bytes=min(sram_bytes or board.sram_bytes, board.sram_bytes),
    )


def _check_request(kind: Kind, folder: Path, windowing: SensorWindows | None) -> None:
    """Raise `InputError` if a folder, a ZIP file or a sensor cannot be used."""
    if windowing is not None and kind == "c":
        raise InputError("plain C cannot read a sensor; omit --sensor, or use --arduino")
    check_place(folder)
    name = _name_of(folder)
    if (kind == "arduino" or is_archive(folder)) and not _FOLDER_NAME.fullmatch(name):
        raise InputError(
            f"the Arduino tools refuse a library in a folder called {name!r}; choose a name of up "
            "to 63 letters, digits, '_', '-' and '.' that does not begin with '-' or '.'"
        )


def check_place(folder: Path) -> None:
    """Raise `InputError` if an export cannot be put into a folder, or into a file ``.zip``."""
    check = check_archive if is_archive(folder) else check_folder
    check(folder)


def _write(folder: Path, files: Mapping[str, str]) -> None:
    if is_archive(folder):
        write_archive(folder, _name_of(folder), files)
    else:
        write_folder(folder, files)


def _name_of(folder: Path) -> str:
    path = resolved(folder)
    return path.stem if is_archive(path) else path.name


def _tried(kind: Kind, library: Library, files: Mapping[str, str], board: Board) -> Tried:
    if kind == "c":
        return self_test.try_on_host(files)
    if board.proof:
        plain = rendering.render_export("c", library, board)
        return self_test.try_on_host(plain)
    return self_test.try_on_board(files, rendering.render_bare_self_test(library, board), board)


def _sketch_sram(plan: Plan | WordPlan, windowing: SensorWindows | None) -> tuple[int, int]:
    """Return the SRAM of a sketch with the model, and what of it holds samples of a sensor."""
    if windowing is None:
        held = 0
    elif isinstance(plan, Plan):
        held = windowing.ring_samples(plan) * windowing.n_channels
    else:
        held = plan.model.n_features
    return plan.state_bytes + held + rendering.SKETCH_SRAM_BYTES, held


def _check_sram(
    needed: int,
    held: int,
    board: Board,
    chip: Board,
    model: DeviceModel,
    windowing: SensorWindows | None,
) -> None:
    """Raise `CheckFailed` if a sketch with the model takes more SRAM than there is."""
    samples, remedy = "", f"try {model.remedies.sram}, or fewer features"
    if windowing is not None:
        hop = f"give --hop {windowing.window}, or " if windowing.overlapping else ""
        samples = f", {held:,} of these to buffer samples"
        remedy = f"{hop}train on shorter windows or fewer channels"
    has = _has(board, chip)
    check_enough("a sketch", needed, has, board.sram_bytes, f"B of SRAM{samples}", remedy)


def _planned(model: DeviceModel, kind: Kind, limits: Limits) -> Plan | WordPlan:
    """Return the plan; raises `CheckFailed` if a chip could not read all its tables in flash."""
    plan = _plans(model, limits)[0]
    if kind != "c" and plan.table_bytes > limits.table_bytes:
        raise CheckFailed(
            f"the model's tables need {plan.table_bytes:,} B of flash, but the generated code can "
            f"read only {max(0, limits.table_bytes):,} B besides the library's other tables; try "
            f"{' or '.join(model.remedies.flash)}"
        )
    return plan


def _vectors(model: DeviceModel, limits: Limits, points: ArrayLike | None) -> KnownAnswers:
    """Return the test vectors; fewer where the smallest plan that fits leaves no room for all."""
    if points is None:
        vectors = self_test.vectors_from_model(model)
    else:
        vectors = self_test.vectors_from_data(model.chain, points)
    choices = _plans(model, limits)
    room = limits.flash_bytes - min(plan.flash_bytes for plan in choices)
    readable = limits.table_bytes - min(plan.table_bytes for plan in choices)
    return vectors if room <= 0 else vectors.within(min(room, readable))


def _plans(model: DeviceModel, limits: Limits, **chosen: object) -> list[Plan | WordPlan]:
    found = device_plans(model.chain, limits, **chosen)
    return [plan for plan in found if isinstance(plan, (Plan, WordPlan))]


def _raw_bytes(model: IntegerChain) -> int:
    """Return the flash of the tables behind pnn_quantize, which the examples call."""
    raw = model.raw_inputs
    several = len(raw.scales) > 1
    choice_bytes = (2 if len(raw.scales) > 256 else 1) if several else 0
    scale_bytes = _RAW_SCALE_BYTES + raw.fine
    return scale_bytes * len(raw.scales) + choice_bytes * (channels_of(model) or len(raw.choice))
