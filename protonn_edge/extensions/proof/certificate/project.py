"""The certificate of a project that 'build' wrote: from the model's integers to the firmware."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.chips.boards import Board
from protonn_edge.chips.emulator.programs import hex_chunks
from protonn_edge.codegen.families import family_of, read_program
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.projects.folder import Project, exclusive, nothing_built
from protonn_edge.codegen.projects.project import BuildOptions, Trial, trial_build
from protonn_edge.codegen.renderer import render_c
from protonn_edge.codegen.verification import agreement
from protonn_edge.codegen.verification.tryout import trial_points
from protonn_edge.data.naming import listed
from protonn_edge.device.results import Result
from protonn_edge.device.runner import ReferenceAnswers
from protonn_edge.extensions.proof.certificate import claims
from protonn_edge.extensions.proof.certificate.claims import Certificate, Claim, Settings
from protonn_edge.extensions.proof.certificate.eva import memory_safety
from protonn_edge.extensions.proof.certificate.every_input import every_input
from protonn_edge.extensions.proof.certificate.program import (
    image_sha256,
    program_claims,
    subject_of,
)
from protonn_edge.model.device_model import DeviceModel
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.system.errors import CheckFailed, DeviceError, InvalidValue
from protonn_edge.system.files import read_file

_SOURCES = (".c", ".h", ".npz", ".json")
_LARGEST_HEX = 1 << 20
_RESTORE = "to restore them, delete them, and run 'protonn-edge build' again"


def certify_project(folder: Path, board: Board, settings: Settings) -> Certificate:
    """Return the certificate of a project; its firmware is compiled again in another folder.

    Raises `InputError` if nothing was built there, or a generated file differs from what `build`
    writes; `CheckFailed` if a claim is false: the firmware does not fit,
    differs from its compiled sources, or an execution answers another score than NumPy.
    """
    project = Project(folder)
    if not project.built:
        raise nothing_built(folder, "")
    model = project.model()
    with exclusive(folder):
        reference, plan = project.generated(board)
        assert isinstance(plan, Plan), "the plan of an AVR"
        device_model = DeviceModel(model, reference)
        Q, edited = trial_points(device_model, settings.points), _edits(project.edited_files(board))
        options = BuildOptions(plan=plan)
        with _naming(edited), trial_build(device_model, board, folder, options) as trial:
            program, run = trial.program, partial(_results, trial, board)
            if settings.entry != Settings.entry and not program.names.copies_of(settings.entry):
                raise InvalidValue(
                    folder,
                    f"its firmware has no function {settings.entry[:40]}",
                    "omit --entry, or name one of the firmware's functions with it",
                )
            _check_products(project, program, board)
            made = (
                *arithmetic_claims(reference),
                _files_claim(edited),
                memory_safety(render_c(reference, plan), asked=settings.prove),
                *every_input(
                    program, reference, plan, run, asked=settings.every_input, edited=edited
                ),
                *firmware_claims(
                    program,
                    plan,
                    board,
                    settings.entry,
                    own_sources=not edited,
                ),
                *_executions(trial, board, Q),
            )
        hashes = dict(_hashes(folder, model, reference.model_sha256))
        hashes[claims.FIRMWARE] = image_sha256(program)
        return Certificate(subject_of("project", program), settings, hashes, made)


def _check_products(project: Project, program: LinkedProgram, board: Board) -> None:
    """Refuse a compiled project with another program, which 'hil' would run or 'upload' write.

    They compile it first, as is done here: that renews what is older than its sources, but not
    what SCons takes for up to date.
    """
    linked = project.linked(board)
    if linked is not None:
        _check_product(linked, program, board)
    if (project.folder / family_of(board).product(board)).parent.is_dir():
        _check_product(project.compile(board), program, board)


def _check_product(elf: Path, program: LinkedProgram, board: Board) -> None:
    """Refuse an ELF file, or the HEX file beside it, of another program."""
    if read_program(elf, board).code != program.code:
        raise _another_program(elf)
    image = elf.with_suffix(".hex")
    if image.is_file():
        flash = dict(hex_chunks(read_file(image, limit_bytes=_LARGEST_HEX), image))
        places = [*accumulate(map(len, flash.values()), initial=0)]
        if [*flash] != places[:-1] or b"".join(flash.values()) != program.code:
            raise _another_program(image)


def _another_program(product: Path) -> CheckFailed:
    return CheckFailed(
        f"{product} differs from what its sources compile to; delete the folder "
        f"{product.parent}, and verify the project again"
    )


def firmware_claims(
    program: LinkedProgram,
    plan: Plan,
    board: Board,
    entry: str = Settings.entry,
    *,
    own_sources: bool = False,
) -> Iterator[Claim]:
    """Yield the claims about the linked firmware of a plan, as `program_claims`.

    Unless another entry is named, the cycles are those of a prediction as the firmware measures it,
    which other commands print. If features are pushed as they arrive, nothing calls the usual
    entry: `main` is followed.
    """
    family = family_of(board)
    code = family.follow(program)
    if entry != Settings.entry:
        return program_claims(program, code, entry, own_sources=own_sources)
    paths = partial(family.paths, program, plan, board)
    followed = entry if plan.buffered else "main"
    return program_claims(program, code, followed, own_sources=own_sources, prediction=paths)


def arithmetic_claims(reference: IntegerChain) -> Iterator[Claim]:
    """Yield the claims about a model's integers, and about C that `Project.generated` compared."""
    low, high = reference.own_stages[-1].output.ends
    yield Claim(
        "ranges",
        f"no sum overflows its integer for any input; scores are from {low:,} to {high:,} and take "
        f"{reference.own_stages[-1].output.bits} bits",
        claims.PROVEN,
        "the ranges of all stages, computed from their weights (docs/generated-code.md)",
    )
    yield Claim(
        "sources",
        "the generated C is what protonn-edge generates for the model and the plan",
        claims.PROVEN,
        "generating it again, and comparing each byte",
    )


def _edits(files: Sequence[str]) -> str:
    """Return which of a project's files someone edited, and the way back; "" if none."""
    return f"not as 'build' writes them: {listed(files)}; {_RESTORE}" if files else ""


@contextmanager
def _naming(edited: str) -> Iterator[None]:
    """Name the files that someone edited, if any, as what may have made a claim false."""
    try:
        yield
    except CheckFailed as error:
        if not edited or isinstance(error, DeviceError):  # a lost board is no claim
            raise
        fact = str(error).rpartition("; ")[0]
        raise CheckFailed(f"{fact}; {edited}") from error


def _files_claim(edited: str) -> Claim:
    """Return the claim that a project has the package's files, which pass inputs and answers on."""
    sentence = "all other files that the firmware is compiled from are those of protonn-edge"
    if not edited:
        return Claim(
            "files", sentence, claims.PROVEN, "comparing each byte with what 'build' writes"
        )
    return Claim("files", sentence, claims.NOT_CHECKED, edited)


def _executions(trial: Trial, board: Board, Q: NDArray[np.uint8]) -> Iterator[Claim]:
    """Run the points and yield claims; raises `CheckFailed` at the first difference."""
    reference = trial.model.chain
    with host_program(reference, trial.plan, sanitize=True) as program:
        on_host = agreement.compare("host C", ReferenceAnswers.of(reference, Q), *program.run(Q))
    yield agreed("host-c", on_host, "gcc's address and undefined-behaviour sanitizers")
    on_board, results = _compared(trial, board, Q)
    yield agreed("firmware", on_board, "the firmware, over its serial line")
    yield from cycles_measured(results, f"the timer of the {on_board.execution}")


def _compared(
    trial: Trial, board: Board, Q: NDArray[np.uint8]
) -> tuple[agreement.Agreement, list[Result]]:
    """Run points on the emulated board, and compare its answers with the model's."""
    name = f"emulated {board.name}"
    with agreement.watched_board(trial.program, trial.plan, board) as emulated:
        return agreement.verify_device(
            name, emulated.url, trial.model.chain, Q, board=board, possible=trial.possible
        )


def _results(trial: Trial, board: Board, Q: NDArray[np.uint8]) -> list[Result]:
    """Return the answers of the emulated board."""
    return _compared(trial, board, Q)[1]


def cycles_measured(results: Sequence[Result], by: str) -> Iterator[Claim]:
    """Yield the measured cycles of predictions, if any."""
    cycles = [result.cycles for result in results if result.cycles is not None]
    if cycles:
        took = f"took {min(cycles):,} to {max(cycles):,} cycles"
        sentence = f"a prediction, including the functions that it calls, {took}"
        yield Claim("cycles-measured", sentence, claims.MEASURED, by, max(cycles), len(cycles))


def agreed(name: str, compared: agreement.Agreement, by: str) -> Claim:
    """Return the claim that an execution agrees with NumPy; raises `CheckFailed` if not."""
    failure = agreement.disagreement([compared])
    if failure is not None:
        raise failure
    sentence = f"{compared.execution} returns the same scores as the integer model in NumPy"
    return Claim(name, sentence, claims.MEASURED, by, points=compared.n)


def _hashes(folder: Path, model: Model, model_sha256: str) -> Iterator[tuple[str, str]]:
    """Yield the SHA-256 of the firmware's ingredients, by name, sources by their paths."""
    yield claims.MODEL, model_sha256
    data = model.record.get("data_sha256")
    if isinstance(data, str):
        yield claims.TRAINING_DATA, data
    for path in sorted(folder.glob("firmware/**/*")):
        if path.suffix in _SOURCES and path.is_file():
            name = path.relative_to(folder).as_posix()
            yield name, hashlib.sha256(path.read_bytes()).hexdigest()
