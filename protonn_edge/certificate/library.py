"""The certificate of an exported library, by its self-test, linked as the Arduino IDE links."""

from __future__ import annotations

from pathlib import Path

from protonn_edge.avr.program import read_program
from protonn_edge.boards import Board
from protonn_edge.certificate.claims import (
    FIRMWARE,
    MEASURED,
    NOT_CHECKED,
    Certificate,
    Claim,
    Settings,
)
from protonn_edge.certificate.eva import memory_safety
from protonn_edge.certificate.program import image_sha256, program_claims, subject_of
from protonn_edge.codegen import template_environment
from protonn_edge.errors import InputError
from protonn_edge.export.folder import EXPORT, check_folder, digests_in, kind_in
from protonn_edge.export.self_test import link_as_sketch, try_on_board
from protonn_edge.system.folders import scratch_folder
from protonn_edge.verification.tryout import Tried

_PROGRAMS = "certified.c.j2", "platformio/main.c.j2"
_HEADER = "_self_test.h"


def is_library(folder: Path) -> bool:
    """Whether a folder holds an export."""
    return kind_in(folder) == EXPORT


def certify_library(folder: Path, board: Board, settings: Settings) -> Certificate:
    """Return the certificate of an exported library.

    Raises
    ------
    InputError
        If a file of it is missing or was edited.
    CheckFailed
        If a claim is false.
    """
    check_folder(folder)
    hashes = dict(sorted(digests_in(folder).items()))
    sources = [name for name in hashes if name.endswith((".c", ".h"))]
    prefixes = {Path(name).name.removesuffix(_HEADER) for name in sources if name.endswith(_HEADER)}
    if len(prefixes) != 1:
        raise InputError(f"{folder} has no self-test; export the model again")
    prefix = prefixes.pop()
    files = {
        name: (folder / name).read_text("utf-8")
        for name in sources
        if Path(name).name.startswith(f"{prefix}_")
    }
    environment = template_environment("export", prefix)
    certified, self_test = map(environment.get_template, _PROGRAMS)
    tried = try_on_board(files, self_test.render(), board)
    with scratch_folder() as scratch:
        program = read_program(
            link_as_sketch({**files, "main.c": certified.render()}, board, scratch)
        )
    hashes[FIRMWARE] = image_sha256(program)
    claims = (
        memory_safety(files, asked=settings.prove, prefix=prefix),
        *program_claims(program, f"{prefix}_predict"),
        _answers(tried),
    )
    return Certificate(subject_of("library", program), settings, hashes, claims)


def _answers(tried: Tried) -> Claim:
    sentence = "the self-test's vectors get the scores of the integer model"
    if tried.left_out:
        return Claim("self-test", sentence, NOT_CHECKED, tried.left_out)
    by = f"the self-test on the {tried.execution}"
    return Claim("self-test", sentence, MEASURED, by, points=tried.n)
