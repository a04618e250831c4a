"""The part of `verify` that lists what is proven and measured of a build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

import click
import numpy as np
from numpy.typing import ArrayLike, NDArray
from rich.table import Table

from protonn_edge.chips.boards import load_board
from protonn_edge.cli.command import Output, option
from protonn_edge.cli.firmware_additions import BuildChecks
from protonn_edge.cli.options import PATH
from protonn_edge.cli.paths import CERTIFICATE, REPORT, OutputFile, check_there
from protonn_edge.codegen.export.folder import LIVE, check_project, written_in
from protonn_edge.codegen.families import family_in, family_of, read_program
from protonn_edge.codegen.families.family import Family
from protonn_edge.codegen.renderer import PREFIX
from protonn_edge.extensions.proof.certificate import points
from protonn_edge.extensions.proof.certificate.claims import (
    POINTS,
    PROVEN,
    Certificate,
    Claim,
    Settings,
    read_certificate,
)
from protonn_edge.extensions.proof.certificate.every_input import in_sketch
from protonn_edge.extensions.proof.certificate.library import certify_library, is_library
from protonn_edge.extensions.proof.certificate.program import certify_program
from protonn_edge.extensions.proof.certificate.project import certify_project
from protonn_edge.learn.evaluation.terminal import row_table
from protonn_edge.model.device_model import load_device_model
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.errors import CheckFailed, InputError, InvalidValue, unneeded
from protonn_edge.system.files import write_atomically

_SHOWN = 3
_PREDICT = "_predict"  # the end of the name of a model's function


@dataclass(frozen=True)
class CertificateOptions(BuildChecks):
    """The options as they were given."""

    APART: ClassVar[Mapping[str, str]] = {
        "--points --prove --every-input --check -o": "data",
        "--check": "--board --entry --points --prove --every-input -o",
    }
    EXAMPLES: ClassVar[Sequence[str]] = (
        ". -o certificate.json",
        ". --check certificate.json",
        "model.npz sketch.elf",
    )

    entry: str = option("For a build: bound the cycles of this function.", shown=Settings.entry)
    points: int = option(
        "For a project: number of generated points on which its C code and firmware are run.",
        click.IntRange(*POINTS),
        shown=Settings.points,
    )
    prove: bool = option(
        "For a project: prove with Frama-C that the C code has no undefined behaviour.",
        is_flag=True,
    )
    every_input: bool = option(
        "For a project: prove that pnn_predict, as linked in its firmware, computes the model's "
        "scores for every input; fail without a proof, or if files of the firmware were edited.",
        is_flag=True,
    )
    output: tuple[Path, ...] = option(
        "For a build: write the certificate as JSON or, with a name that ends in .html, as a page; "
        "repeatable.",
        OutputFile(CERTIFICATE, REPORT, dir_okay=False),
        multiple=True,
    )
    earlier: Path | None = option(
        "For a build: verify it again with the settings of this certificate, and compare the "
        "results.",
        PATH,
        flag="--check",
    )

    def certify(self, out: Output, path: Path, board_name: str) -> None:
        """Print what is proven and measured of a build, and write it or compare it.

        Raises `CheckFailed` if a claim is false or differs.
        """
        check_there(path)
        settings = Settings(board_name, self.entry, self.points, self.prove, self.every_input)
        if self.earlier is not None:
            _check(out, path, read_certificate(self.earlier))
            return
        _check_applicable(path, settings)
        certificate = _certify(out, path, settings)
        remedy = "omit --every-input to check the other claims alone"
        self._say(out, certificate, _unproven(certificate, remedy) if self.every_input else None)

    def certify_sketch(self, out: Output, elf: Path, model: Path, board_name: str) -> None:
        """Print what is proven of a linked program that calls the library of a model.

        The entry is its function for a prediction. Raises `CheckFailed` if a claim is false.
        """
        board, integers = load_board(board_name), load_device_model(model).chain
        _check_followed(family_of(board), board.name)
        prefix = self.entry.removesuffix(_PREDICT)
        if prefix == self.entry:
            raise unneeded(
                "--entry",
                f"is {self.entry[:40]!r}, but only a function {PREFIX}{_PREDICT} is proven",
            )
        settings = Settings(board_name, self.entry)
        program = read_program(elf, board)
        pushes = bool(program.names.copies_of(f"{prefix}_push"))
        if not program.names.copies_of(self.entry):
            others = sorted({*family_of(board).follow(program).predictions()} - {self.entry})
            remedy = (
                f"name its function with --entry {others[0]}" if others else _remedy(prefix, pushes)
            )
            raise InvalidValue(elf, f"it does not call {self.entry}", remedy)
        with out.status("proving"):
            proven = partial(in_sketch, model=integers, prefix=prefix)
            certificate = certify_program(elf, board, settings, proven)
        # Functions that a sketch calls may have no name of their own when it is linked.
        remedy = (
            "link the library of this model, put all features into an array, and pass it to "
            f"{self.entry}; 'verify MODEL DATA' compares all scores instead"
        )
        self._say(out, certificate, _unproven(certificate, remedy))

    def _say(
        self, out: Output, certificate: Certificate, failure: CheckFailed | None = None
    ) -> None:
        for file in self.output:
            is_page = file.suffix.lower() == ".html"
            write_atomically(file, certificate.page() if is_page else certificate.text())
        out.say(_table(certificate), *(f"wrote {file}" for file in self.output))
        out.finish(certificate.to_json(), failure)

    def point_claims(self, model: IntegerChain, X: ArrayLike, Q: NDArray[np.uint8]) -> list[Claim]:
        """Return claims about raw points X (n, D) and quantized points Q (n, D)."""
        return [*points.point_claims(model, X, Q)]


def _remedy(prefix: str, pushes: bool) -> str:
    """Return what to do about a sketch without a function that can be proven."""
    if pushes:
        return (
            f"it calls {prefix}_push, which is not proven: put all features into an array, and "
            f"pass it to {prefix}{_PREDICT}"
        )
    return "link the library of this model, and pass it an array of all features"


def _unproven(certificate: Certificate, remedy: str) -> CheckFailed | None:
    """Return the error for a build of which nothing is proven for every input."""
    (claim,) = (each for each in certificate.claims if each.name == "every-input")
    if claim.status == PROVEN:
        return None
    return CheckFailed(f"it is not proven that {claim.statement}: {claim.by}; {remedy}")


def _check_applicable(path: Path, settings: Settings) -> None:
    """Refuse settings that only other kinds of PATH have."""
    library = path.is_dir() and is_library(path)
    kind = "a library" if library else "an ELF file"
    names = ["entry", "points"] if library else ["points", "prove"]
    names.append("every_input")
    for name in names if library or path.is_file() else ():
        if getattr(settings, name) != getattr(Settings, name):
            flag = f"--{name.replace('_', '-')}"
            raise unneeded(flag, f"does not apply to {path}, which is {kind}")


def _check(out: Output, path: Path, earlier: Certificate) -> None:
    certificate = _certify(out, path, earlier.settings)
    differences = certificate.differences(earlier)
    failure = None
    if differences:
        more = f"; {len(differences) - _SHOWN} more differ" * (len(differences) > _SHOWN)
        failure = CheckFailed(
            f"{path} differs from the certificate: {'; '.join(differences[:_SHOWN])}{more}"
        )
    else:
        out.say(_table(certificate), "all claims and hashes of the certificate are confirmed")
    out.finish({**certificate.to_json(), "differences": differences}, failure)


def _check_followed(family: Family, board_name: str) -> None:
    if not family.proves:
        raise InputError(
            f"there is no certificate for {board_name}, since only the machine code of AVRs is "
            "followed; use 'verify MODEL DATA' to compare all scores"
        )


def _certify(out: Output, path: Path, settings: Settings) -> Certificate:
    board = load_board(settings.board)
    written = family_in(path) if path.is_dir() else None
    _check_followed(family_of(board), board.name)
    if written is not None:
        _check_followed(written, written.board_name(path) or board.name)
    with out.status("certifying"):
        if path.is_file():
            return certify_program(path, board, settings)
        if is_library(path):
            return certify_library(path, board, settings)
        if written_in(path).kind == LIVE:
            elf = path / ".pio" / "build" / board.environment / "firmware.elf"
            raise InputError(
                f"{path} contains {LIVE}, but only its ELF file can be certified; compile the "
                f"project with 'pio run -d {path}', and certify {elf} with --entry pnn_finish"
            )
        check_project(path)
        return certify_project(path, board, settings)


def _table(certificate: Certificate) -> Table:
    rows = [(claim.standing, claim.statement, claim.by) for claim in certificate.claims]
    return row_table(("status", "claim", "by"), rows, {0, 1, 2})
