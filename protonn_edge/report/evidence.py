"""What a report rests on: results, and the model, the firmware and the points that they are of.

Everything is held against the hashes in the results file, so that a report never shows one model's
results beside another one's figures.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protonn_edge.boards import Board
from protonn_edge.build.budget import Usage, measure_usage
from protonn_edge.build.project import Project, Wishes, trial_build
from protonn_edge.codegen import Float32Plan, Plan
from protonn_edge.codegen.planner import plan_of
from protonn_edge.errors import InputError
from protonn_edge.evaluation.possible_cycles import PossibleCycles
from protonn_edge.hil import Origin, Result, Summary, read_results, summarize
from protonn_edge.model import ProtoNNModel
from protonn_edge.quantization import (
    DeviceModel,
    Float32Model,
    IntegerModel,
    StageLoss,
    device_model,
    measure_activity,
    precisions_of,
    stage_losses,
)
from protonn_edge.report.accuracy import answer_matrix
from protonn_edge.stages.average_pooling.pooling import Shape
from protonn_edge.stages.decision.rejection import UNKNOWN
from protonn_edge.toolchain.elf import Sections, read_program, read_sections

Floats = NDArray[np.float32]
Labels = NDArray[np.int64]

_HASH_BYTES = 8  # of the model's hash, looked for in a firmware


@dataclass(frozen=True)
class Firmware:
    """What was built, and what it takes.

    Attributes
    ----------
    program : bytes
        Flash from address 0 on.
    sha256 : str
        Of the program.
    sections : Sections
        Bytes by the sections of the linked file.
    usage : Usage
        What the budget counts, with the worst case of the stack.
    plan : Plan or Float32Plan
        How a prediction is computed.
    """

    program: bytes
    sha256: str
    sections: Sections
    usage: Usage
    plan: Plan | Float32Plan


@dataclass(frozen=True, eq=False)
class Points:
    """The points of the results.

    Attributes
    ----------
    raw : ndarray of shape (n, D), float32
    fed : ndarray of shape (n, D), uint8
        What the device was sent.
    labels : ndarray of shape (n,), int64
    saturations : int
        Raw values that quantizing cut off.
    stages : tuple of StageLoss
        What each stage of quantization costs; empty for a float build.
    """

    raw: Floats
    fed: NDArray[np.uint8]
    labels: Labels
    saturations: int
    stages: tuple[StageLoss, ...]


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that is known of one results file.

    Attributes
    ----------
    name : str
        What the file is called.
    origin : Origin
        What was run on what.
    results : tuple of Result
        By their index.
    board : Board
        Its clock, its power and its limits.
    model : ProtoNNModel
        The float model.
    reference : IntegerModel or Float32Model
        What the device computes.
    firmware : Firmware
        What the device runs.
    points : Points or None
        The points, where they were given.
    image_shape : tuple of two int or None
        Height and width, if a point is an image; a signal has height 1.
    """

    name: str
    origin: Origin
    results: tuple[Result, ...]
    board: Board
    model: ProtoNNModel
    reference: DeviceModel
    firmware: Firmware
    points: Points | None
    image_shape: Shape | None

    @property
    def answered(self) -> list[Result]:
        """The results that are answers."""
        return [result for result in self.results if result.predicted is not None]

    @property
    def summary(self) -> Summary:
        """Accuracy, cycles, latency and energy."""
        return summarize(self.results, self.board)

    @property
    def confusion(self) -> NDArray[np.int64]:
        """Counts of the answers, a row an actual class, a column an answer; see `answer_matrix`."""
        return answer_matrix(self.results, self.reference)

    @property
    def worst_cycles(self) -> int | None:
        """The plan's bound of a prediction's cycles; a float build has none."""
        plan = self.firmware.plan
        return plan.worst_cycles if isinstance(plan, Plan) else None


def gather(
    path: Path,
    models: Sequence[ProtoNNModel],
    projects: Sequence[Project],
    board: Board,
    *,
    data: tuple[Floats, Labels] | None = None,
    image_shape: Shape | None = None,
) -> Evidence:
    """Return all that is known of a results file.

    Parameters
    ----------
    path : Path
        The results file.
    models : sequence of ProtoNNModel
        Models of which one was run, in integers or in floats.
    projects : sequence of Project
        Folders where its linked firmware may be; where it is in none, it is built in a scratch
        folder.
    board : Board
        The board that it was run on.
    data : tuple of ndarray (n, D) float32 and ndarray (n,) int64, optional
        The points.
    image_shape : tuple of two int, optional
        Height and width of a point; else what the model knows.

    Raises
    ------
    InputError
        If the file has no results, none of the models was run, or the points are others.
    """
    recorded = read_results(path)
    if not recorded.results:
        raise InputError(f"{path} has no results yet; let the run go on with 'hil --resume'")
    model, reference = _model_of(path, recorded.origin, models)
    results = tuple(sorted(recorded.results, key=lambda result: result.index))
    _check_classes(path, results, reference)
    points = None
    if data is not None:
        points = _points_of(path, recorded.origin, model, reference, data)
        _check_points(path, results, points)
    _check_cycles(path, results, _possible_cycles(reference, projects, board))
    with _firmware_of(model, reference, projects, board) as (elf, plan):
        firmware = _firmware(elf, plan if points is None else _with_means(plan, reference, points))
    return Evidence(
        name=path.name,
        origin=recorded.origin,
        results=results,
        board=board,
        model=model,
        reference=reference,
        firmware=firmware,
        points=points,
        image_shape=_checked(image_shape or known_image_shape(model), model),
    )


def known_image_shape(model: ProtoNNModel) -> Shape | None:
    """Return height and width of a point if the model, or the record of its training, has them."""
    if model.pooling is not None:
        return model.pooling.image_shape
    if model.window_features is not None:  # a signal, where there is but one
        return (1, model.window_features.window) if model.window_features.channels == 1 else None
    settings = model.record.get("settings")
    shape = settings.get("image_shape") if isinstance(settings, dict) else None
    if not (isinstance(shape, list) and [type(side) for side in shape] == [int, int]):
        return None
    if min(shape) < 1:
        return None
    return (shape[0], shape[1]) if shape[0] * shape[1] == model.n_features else None


def _checked(shape: Shape | None, model: ProtoNNModel) -> Shape | None:
    if shape is not None and shape[0] * shape[1] != model.n_features:
        raise InputError(
            f"--image-shape {shape[0]}x{shape[1]} has {shape[0] * shape[1]:,} pixels, the model "
            f"takes {model.n_features:,} features; give the height and the width of a point"
        )
    return shape


def _model_of(
    path: Path, origin: Origin, models: Sequence[ProtoNNModel]
) -> tuple[ProtoNNModel, DeviceModel]:
    for model in models:
        for precision in precisions_of(model):
            reference = device_model(model, precision)
            if reference.model_sha256 == origin.model_sha256:
                return model, reference
    raise InputError(
        f"{path} was measured with the model {origin.model_sha256[:16]}, which is not among those "
        "given; name its file with --model"
    )


def _check_classes(path: Path, results: Sequence[Result], reference: DeviceModel) -> None:
    """Refuse results that cannot be the model's, whatever their first line says."""
    n = reference.n_classes
    for result in results:
        scores = n if result.scores is None else len(result.scores)
        rejected = result.predicted == UNKNOWN and reference.rejection is not None
        predicted = 0 if rejected else result.predicted or 0
        if max(result.label, predicted) >= n or scores != n:
            raise InputError(
                f"{path} has a class or scores at index {result.index} that the model with its {n} "
                "classes does not have; run `protonn-edge hil` again"
            )


def _possible_cycles(
    reference: DeviceModel, projects: Sequence[Project], board: Board
) -> PossibleCycles:
    """Return what a prediction can take, by the projects' plans where they have this model's."""
    built = [project.generated() for project in projects if project.built]
    plans = [plan for model, plan in built if model.model_sha256 == reference.model_sha256]
    if plans:
        return PossibleCycles.of_one_of(plans, board)
    return PossibleCycles.of_any_plan(reference, board)


def _check_cycles(path: Path, results: Sequence[Result], possible: PossibleCycles) -> None:
    for result in possible.outside(results)[:1]:
        raise InputError(
            f"{path} has {result.cycles:,} cycles at index {result.index}, possible are "
            f"{possible}; run `protonn-edge hil` again, or name the folder of the firmware that "
            "was measured with --project"
        )


def _check_points(path: Path, results: Sequence[Result], points: Points) -> None:
    """Refuse results of points that are not there, or are of another class."""
    for result in results:
        if result.index >= len(points.labels) or result.label != points.labels[result.index]:
            raise InputError(
                f"{path} has index {result.index} with class {result.label}, which is not among "
                f"the {len(points.labels):,} points; run `protonn-edge hil` again"
            )


def _points_of(
    path: Path,
    origin: Origin,
    model: ProtoNNModel,
    reference: DeviceModel,
    data: tuple[Floats, Labels],
) -> Points:
    raw, labels = data
    fed = reference.quantize(raw)
    if Origin.of(reference, fed, labels) != origin:
        raise InputError(
            f"{path} was measured on other points than --data has; name the file that was given to "
            "'hil'"
        )
    stages = stage_losses(model, raw, labels) if isinstance(reference, IntegerModel) else ()
    return Points(raw, fed, labels, reference.features.saturations(raw), stages)


@contextmanager
def _firmware_of(
    model: ProtoNNModel, reference: DeviceModel, projects: Sequence[Project], board: Board
) -> Iterator[tuple[Path, Plan | Float32Plan]]:
    """Give the linked firmware and its plan: a project's, or one that is built now.

    A report reads: nothing is run or compiled of a project's folder, which anybody may have made.
    What has to be built is the package's own firmware, in a scratch folder.
    """
    precision = "float32" if isinstance(reference, Float32Model) else "int8"
    wishes = Wishes(precision=precision)
    for project in projects:
        if project.built:
            generated, plan = project.generated()
            if generated.model_sha256 == reference.model_sha256:
                elf = project.linked(board)
                if elf is not None and _has_model(elf, reference):
                    yield elf, plan
                    return
                wishes = replace(wishes, plan=plan)
                break
    with trial_build(model, board, wishes=wishes) as trial:
        yield trial.elf, trial.plan


def _has_model(elf: Path, reference: DeviceModel) -> bool:
    """Return whether a linked firmware has the model's hash in its flash, as it tells a host."""
    return bytes.fromhex(reference.model_sha256)[:_HASH_BYTES] in read_program(elf).code


def _with_means(
    plan: Plan | Float32Plan, reference: DeviceModel, points: Points
) -> Plan | Float32Plan:
    """Return the same plan with its mean cycles on the points."""
    if not (isinstance(plan, Plan) and isinstance(reference, IntegerModel)):
        return plan
    activity = measure_activity(reference, points.fed)
    return plan_of(reference, plan.choices, plan.core, activity=activity)


def _firmware(elf: Path, plan: Plan | Float32Plan) -> Firmware:
    program = read_program(elf).code
    digest = hashlib.sha256(program).hexdigest()
    return Firmware(program, digest, read_sections(elf), measure_usage(elf), plan)
