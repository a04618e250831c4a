"""The certificate of an exported library, with its self-test linked as in the Arduino IDE."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from protonn_edge.chips.boards import Board
from protonn_edge.codegen.export.folder import EXPORT, check_folder, written_in
from protonn_edge.codegen.export.self_test import link_as_sketch, try_on_board
from protonn_edge.codegen.families import family_of, read_program
from protonn_edge.codegen.renderer import template_environment
from protonn_edge.codegen.verification.tryout import NOT_TRIED, Tried
from protonn_edge.extensions.proof.certificate import claims
from protonn_edge.extensions.proof.certificate.claims import Certificate, Claim, Settings
from protonn_edge.extensions.proof.certificate.eva import memory_safety
from protonn_edge.extensions.proof.certificate.program import (
    image_sha256,
    program_claims,
    subject_of,
)
from protonn_edge.system.errors import InputError, InvalidValue
from protonn_edge.system.folders import scratch_folder

_HEADER = "_self_test.h"


def is_library(folder: Path) -> bool:
    """Whether a folder holds an export."""
    return written_in(folder).kind == EXPORT


def certify_library(folder: Path, board: Board, settings: Settings) -> Certificate:
    """Return a library's certificate; `InputError` if edited, `CheckFailed` for false claims."""
    check_folder(folder)
    hashes = dict(sorted(written_in(folder).whole_in(folder).items()))
    headers = {Path(name).name for name in hashes if name.endswith(_HEADER)}
    if len(headers) != 1:
        raise InvalidValue(folder, "no self-test", "export the model again")
    prefix = headers.pop().removesuffix(_HEADER)
    try:
        sources = {name: (folder / name).read_text("utf-8") for name in _sources(hashes, prefix)}
    except ValueError as error:
        raise InvalidValue(folder, "sources that are not text", "export the model again") from error
    main = template_environment("export", prefix).get_template("platformio/main.c.j2").render()
    tried = try_on_board(sources, main, board)
    program, made = _claims(sources, prefix, board, tried, prove=settings.prove)
    hashes[claims.FIRMWARE] = image_sha256(program)
    return Certificate(subject_of("library", program), settings, hashes, made)


def readme_section(files: Mapping[str, str], prefix: str, board: Board, tried: Tried) -> str:
    """Return the section of a library's README with the claims about its files.

    It is linked for the board, unless its self-test was not tried.
    """
    command = Settings(board.name).command
    context: dict[str, object] = {"claims": (), "command": command}
    if tried != NOT_TRIED:
        sources = {name: files[name] for name in _sources(files, prefix)}
        with suppress(InputError):  # there is no compiler
            program, made = _claims(sources, prefix, board, tried, prove=False)
            context |= {"claims": made, "compilers": program.compilers, "board": board.title}
    template = template_environment("export", prefix).get_template("certificate.md.j2")
    return template.render(context)


def _sources(names: Iterable[str], prefix: str) -> list[str]:
    """Return the names of a library's C, of all its files."""
    own = (name for name in names if Path(name).name.startswith(f"{prefix}_"))
    return [name for name in own if name.endswith((".c", ".h"))]


def _claims(
    sources: Mapping[str, str], prefix: str, board: Board, tried: Tried, *, prove: bool
) -> tuple[Any, tuple[Claim, ...]]:
    """Return a program that calls the library's `predict`, and the claims about it."""
    main = template_environment("export", prefix).get_template("certified.c.j2").render()
    with scratch_folder() as folder:
        program = read_program(link_as_sketch({**sources, "main.c": main}, board, folder), board)
    code = family_of(board).follow(program)
    sentence = "the self-test computes the scores of the integer model"
    if tried.left_out:
        answers = Claim("self-test", sentence, claims.NOT_CHECKED, tried.left_out)
    else:
        by = f"the self-test on the {tried.execution}"
        answers = Claim("self-test", sentence, claims.MEASURED, by, points=tried.n)
    return program, (
        memory_safety(sources, asked=prove, prefix=prefix),
        *program_claims(program, code, f"{prefix}_predict", whole_program=False),
        answers,
    )
