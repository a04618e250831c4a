"""``protonn-edge certify``: List the proven and measured properties of a build."""

from __future__ import annotations

from pathlib import Path

import click
from rich.table import Table

from protonn_edge.boards import load_board
from protonn_edge.certificate.claims import POINTS, Certificate, Settings, read_certificate
from protonn_edge.certificate.program import certify_program
from protonn_edge.certificate.project import certify_project
from protonn_edge.cli.command import OUTPUT, Output, argument, command, option
from protonn_edge.cli.options import BOARD, PATH
from protonn_edge.cli.paths import CERTIFICATE, REPORT, OutputFile, check_replaceable, check_there
from protonn_edge.errors import CheckFailed, InputError
from protonn_edge.evaluation.terminal import row_table
from protonn_edge.export.certificate import certify_library, is_library
from protonn_edge.export.folder import LIVE, check_project, written_in
from protonn_edge.system.files import write_atomically

_SHOWN = 3


@command(
    "certify",
    apart={"--check": "--board --entry --points --prove -o --html"},
    examples=(".", "library", "sketch.ino.elf", ". --check certificate.json"),
)
def certify_command(
    path: Path = argument(PATH),
    board_name: str = BOARD,
    entry: str = option("Bound the cycles of this function.", shown=Settings.entry),
    points: int = option(
        "Number of generated points on which a project's C code and firmware are run and compared.",
        click.IntRange(*POINTS),
        shown=Settings.points,
    ),
    prove: bool = option(
        "Prove with Frama-C that the C code has no undefined behaviour.", is_flag=True
    ),
    output: Path | None = option(
        "The certificate.  [default: certificate.json]", OutputFile(CERTIFICATE, dir_okay=False)
    ),
    page: Path | None = option(
        "Also write an HTML page.", OutputFile(REPORT, dir_okay=False), flag="--html"
    ),
    earlier: Path | None = option(
        "Certify again with the settings of this certificate and compare the results; nothing is "
        "written.",
        PATH,
        flag="--check",
    ),
    out: Output = OUTPUT,
) -> None:
    """Certify PATH: a project that 'build' wrote, an exported library, or any ELF file.

    Each claim is proven, measured on some points, or not checked. If a claim is false, the command
    fails, and no certificate is written.
    """
    check_there(path)
    settings = Settings(board_name, entry, points, prove)
    if earlier is not None:
        _check(out, path, read_certificate(earlier))
        return
    _check_applicable(path, settings)
    output = output or Path("certificate.json")
    check_replaceable(output, CERTIFICATE)
    certificate = _certify(out, path, settings)
    write_atomically(output, certificate.text())
    if page is not None:
        write_atomically(page, certificate.page())
    written = ", ".join(map(str, filter(None, (output, page))))
    out.say(_table(certificate), f"wrote {written}")
    out.finish(certificate.to_json())


def _check_applicable(path: Path, settings: Settings) -> None:
    """Refuse settings that only other kinds of PATH have."""
    library = path.is_dir() and is_library(path)
    kind = "a library" if library else "an ELF file"
    names = ("entry", "points") if library else ("points", "prove")
    for name in names if library or path.is_file() else ():
        if getattr(settings, name) != getattr(Settings, name):
            raise InputError(f"--{name} does not apply to {path}, which is {kind}; omit --{name}")


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


def _certify(out: Output, path: Path, settings: Settings) -> Certificate:
    board = load_board(settings.board)
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
