"""Gather the data of a report: read the results, and find or build their firmware.

Everything is checked against the hashes in the results file, so that a report never mixes results
and figures of different models.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from protonn_edge.chips.boards import Board
from protonn_edge.chips.toolchain.process import has_compiler
from protonn_edge.codegen.families import family_of, read_program
from protonn_edge.codegen.families.family import LinkedFirmware
from protonn_edge.codegen.plan import DevicePlan
from protonn_edge.codegen.projects.checks import Usage, measure_usage
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.projects.project import BuildOptions, trial_build
from protonn_edge.codegen.verification.agreement import PossibleCycles, verify_host
from protonn_edge.device.results import Origin, Result, check_finished, read_results
from protonn_edge.learn.evaluation.accuracy import is_labelled
from protonn_edge.learn.evaluation.right_answers import RightAnswers, check_rows
from protonn_edge.model.device_model import DeviceModel
from protonn_edge.model.expected import known_image_shape
from protonn_edge.model.integer_chain import MODEL_HASH_BYTES, IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize, stage_losses
from protonn_edge.model.shapes import Shape
from protonn_edge.model.watch import forms_of
from protonn_edge.report.evidence import (
    Evidence,
    EvidencePoints,
    Firmware,
    Floats,
    Labels,
    Values,
)
from protonn_edge.system.errors import InputError, InvalidValue
from protonn_edge.system.shell import command_line


def gather(
    path: Path,
    models: Sequence[Model],
    projects: Sequence[Project],
    board: Board,
    *,
    data: tuple[Floats, Labels] | None = None,
    rows: Sequence[int] = (),
    values: Values | None = None,
    groups: Labels | None = None,
    columns: Sequence[str] = (),
    image_shape: Shape | None = None,
    data_name: str = "",
) -> Evidence:
    """Gather everything known about a results file.

    - `models`: candidates for the model that was run.
    - `projects`: folders that may contain the linked firmware, which is otherwise built again.
    - `data`: the points of the file, and their labels.
    - `rows`: the rows of these points in their file; by default from 0.
    - `values`: the right answers to these points, if they are no classes.
    - `groups`: their groups, such as persons, if training held whole groups out.
    - `columns`: the names of all columns of their file, if it is a table.
    - `image_shape`: height and width of a point; by default from the model.

    Raises `InputError` if results are missing or impossible, or of other models or points.
    """
    run = read_results(path)
    origin = run.origin
    if origin is None:
        raise InvalidValue(path, "no results yet", f"continue with {_continuing(path)}")
    model, reference = _model_of(path, origin, models)
    points = None if data is None else _points_of(path, origin, model, reference, data, rows)
    points = points and replace(points, values=values, groups=groups, columns=columns)
    results = tuple(sorted(run.results, key=lambda result: result.index))
    labels = None if points is None else points.label_of
    numbered = rows or range(0 if values is None else len(values))
    right = None if values is None else RightAnswers(reference, numbered, values)
    check_rows(path, run, reference, labels, right)
    _check_labels(path, reference, results, points)
    check_finished(path, _continuing(path))
    generated = [(project, *project.generated()) for project in projects if project.built]
    model_hash = reference.model_sha256
    built = [(project, plan) for project, of, plan in generated if of.model_sha256 == model_hash]
    cores = [plan.core.name for _, plan in built if plan.core is not None]
    if cores and board.core not in cores:
        built[0][0].check_core(cores[0], board)
    _check_cycles(path, results, built, board)
    firmware = _firmware_of(model, reference, built, board)
    return Evidence(
        name=path.name,
        origin=origin,
        results=results,
        board=board,
        model=model,
        reference=reference,
        firmware=firmware,
        points=points,
        image_shape=_checked(image_shape or known_image_shape(model), model),
        data_name=data_name,
        counts=run.counts,
        on_host=verify_host(reference, points.fed) if points and has_compiler() else None,
    )


def _continuing(results: Path) -> str:
    words = ["protonn-edge", "hil", "DATA", "-o", str(results), "--resume"]
    return f"the command: {command_line(words)}"


def _check_labels(
    path: Path, reference: IntegerChain, results: Sequence[Result], points: EvidencePoints | None
) -> None:
    """Refuse results without labels: classes are in the results, other answers are in the data."""
    if reference.policy.predicts == "class":
        if not is_labelled(np.array([result.label for result in results])):
            raise InvalidValue(
                path,
                "the results have no labels, but a report shows the accuracy",
                "run 'hil' on labelled points",
            )
    elif points is None or points.values is None or np.isnan(points.values).all():
        raise InvalidValue(
            path,
            "no right answers, but a report compares the predictions with them",
            "with --data, name the labelled file that was given to 'hil'",
        )


def _check_cycles(
    path: Path,
    results: Sequence[Result],
    built: Sequence[tuple[Project, DevicePlan]],
    board: Board,
) -> None:
    """Refuse results with cycles that none of the projects' linked programs can take."""
    linked = ((project.linked(board), plan) for project, plan in built)
    possible = [
        PossibleCycles.of_program(read_program(elf, board), plan, board)
        for elf, plan in linked
        if elf
    ] or [PossibleCycles.by_clock(board)]
    every = [{result.index: result for result in each.outside(results)} for each in possible]
    for index in sorted(set.intersection(*map(set, every)))[:1]:
        raise InputError(
            f"{path} has {every[0][index].cycles:,} cycles at index {index}, but a prediction "
            f"takes {' or '.join(map(str, possible))}; delete the file and run `protonn-edge hil` "
            "again, or use --project to name the folder of the measured firmware"
        )


def _checked(shape: Shape | None, model: Model) -> Shape | None:
    if shape is not None and shape[0] * shape[1] != model.n_features:
        raise InputError(
            f"--image-shape {shape[0]}x{shape[1]} has {shape[0] * shape[1]:,} pixels, but the "
            f"model takes {model.n_features:,} features; give the height and the width of a point"
        )
    return shape


def _model_of(path: Path, origin: Origin, models: Sequence[Model]) -> tuple[Model, IntegerChain]:
    for model in models:
        for reference in forms_of(quantize(model), model):
            if reference.model_sha256.startswith(origin.model):
                return model, reference
    raise InvalidValue(
        path,
        f"measured with the model {origin.model}, which is not among the given models",
        "name this model's file with --model",
    )


def _points_of(
    path: Path,
    origin: Origin,
    model: Model,
    reference: IntegerChain,
    data: tuple[Floats, Labels],
    rows: Sequence[int],
) -> EvidencePoints:
    raw, labels = data
    fed = reference.quantize(raw)
    if Origin.of(reference, fed, labels, rows) != origin:
        raise InvalidValue(
            path,
            "not measured on the points of --data",
            "with --data, name the file that was given to 'hil'",
        )
    classifies = reference.policy.predicts == "class"
    stages = stage_losses(model, raw, labels) if classifies else ()
    return EvidencePoints(raw, fed, labels, reference.quantizer.saturations(raw), stages, rows)


def _firmware_of(
    model: Model, reference: IntegerChain, built: Sequence[tuple[Project, DevicePlan]], board: Board
) -> Firmware:
    """Return the linked firmware of a project, or one built now with the same plan.

    Nothing in a project folder, which may be untrusted, is run or compiled. If needed, the
    package's own firmware is built in a scratch folder.
    """
    wanted = None
    for project, plan in built[:1]:
        elf, wanted = project.linked(board), plan
        program = None if elf is None else read_program(elf, board)
        # As the firmware reports it to a host.
        if program and bytes.fromhex(reference.model_sha256)[:MODEL_HASH_BYTES] in program.code:
            return _firmware(program, measure_usage(program, board), plan, board)
    measured, options = DeviceModel(model, reference), BuildOptions(plan=wanted)
    with trial_build(measured, board, options=options) as trial:
        return _firmware(trial.program, trial.usage, trial.plan, board)


def _firmware(program: LinkedFirmware, usage: Usage, plan: DevicePlan, board: Board) -> Firmware:
    digest = hashlib.sha256(program.code).hexdigest()
    possible = PossibleCycles.of_program(program, plan, board)
    followed = program if family_of(board).proves else None
    return Firmware(program.code, digest, program.sections, usage, plan, possible, followed)
