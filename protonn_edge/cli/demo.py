"""``protonn-edge demo``: Run a complete example on included data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from protonn_edge.chips.boards import Board, load_board
from protonn_edge.cli.command import OUTPUT, Output, command, option
from protonn_edge.cli.devices import chosen_emulator
from protonn_edge.cli.hil import say_agreement, show
from protonn_edge.cli.options import BOARD, FOLDER
from protonn_edge.cli.paths import RESULTS
from protonn_edge.cli.upload import upload_line
from protonn_edge.codegen.families import family_of
from protonn_edge.codegen.projects.folder import Project, check_folder
from protonn_edge.codegen.projects.project import build
from protonn_edge.codegen.verification.agreement import disagreement, verify_host
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.learn.calibration import with_accuracy_floor
from protonn_edge.learn.evaluation.measurement import measure
from protonn_edge.learn.points import Float32, Indices
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.registry import LEARNERS
from protonn_edge.system.errors import InputError, Interrupted
from protonn_edge.system.files import write_atomically
from protonn_edge.system.lazy import missing

_SEED = 0
# Of the kind that is the default; other kinds take those that they know.
_SETTINGS: dict[str, object] = {
    "n_projections": 10,
    "n_prototypes": 40,
    "batch_size": 64,
    "image_shape": (8, 8),
}


@command("demo", apart={"--csv": "--board"}, examples=("-o demo",))
def demo_command(
    board_name: str = BOARD,
    output: Path = option(
        "Folder for the model, the firmware project, the results and the report.",
        FOLDER,
        shown=Path("protonn-edge-demo"),
    ),
    only_table: bool = option("Write only the data, as digits.csv.", flag="--csv", is_flag=True),
    out: Output = OUTPUT,
) -> None:
    """Train a model on scikit-learn's digits, and classify digits with it on the emulated board."""
    from protonn_edge.cli.fitting import check_options, fit_classifier

    dataset = load_digits_dataset()
    if only_table:
        _write_digits(dataset, output, out)
        return
    board = load_board(board_name)
    check_folder(output, board)
    model_file, results = output / "model.npz", output / "results.csv"
    _check_are_its_own(model_file, results)
    emulator = chosen_emulator(out, None, board)
    train_n, test_n = len(dataset.y_train), len(dataset.y_test)
    out.say(f"digits: {train_n:,} for training, {test_n:,} for testing, 64 pixels each")
    classifier = _untrained()
    check_options(classifier, dataset)
    if stopped := fit_classifier(classifier, dataset, out):
        raise Interrupted(f"stopped after {stopped}; no model is kept")
    model = classifier.to_model(classes=dataset.classes, feature_names=dataset.feature_names)
    model = with_accuracy_floor(model, dataset.X_test, dataset.y_test)
    model = replace(model, record={**model.record, "demo": True})
    save_model(model, model_file)
    with out.status(f"building for {board.name}"):
        build(model, board, output)
    with out.status("host C"):
        integer_model = quantize(model)
        on_host = verify_host(integer_model, integer_model.quantize(dataset.X_test))
    points = (dataset.X_test, dataset.y_test)
    with out.progress(f"emulated {board.name}", len(dataset.y_test)) as bar:
        measurement = measure(
            Project(output),
            points,
            board,
            results=results,
            emulator=emulator,
            on_result=lambda _: bar.advance(),
        )
    show(measurement, out, model)
    say_agreement([on_host, measurement.agreement], out)
    out.say(
        f"the project is in {output}; to upload it to a board connected "
        f"{family_of(board).connected(board)}:",
        f"  {upload_line(output, board.environment)}",
    )
    record = measurement.to_json()
    record |= _reported(results, model, board, points, out)
    out.finish(record, disagreement([on_host, measurement.agreement]))


def _reported(
    results: Path, model: Model, board: Board, points: tuple[Float32, Indices], out: Output
) -> dict[str, str]:
    """Write the report beside the results; return its path, or nothing without matplotlib."""
    if lacking := missing("matplotlib"):
        out.say(f"the report is left out: {lacking}")
        return {}
    from protonn_edge.cli.report import write_report
    from protonn_edge.report.gathering import gather

    folder = results.parent
    run = gather(
        results,
        [model],
        [Project(folder)],
        board,
        data=points,
        data_name="scikit-learn's digits",
    )
    write_report(run, folder / "report.html", out, title=f"Handwritten digits: {board.title}")
    return {"report": str(folder / "report.html")}


def _untrained() -> Any:
    """Return the default kind of classifier, with the settings that it knows."""
    kind = LEARNERS[next(iter(LEARNERS))]
    settings = {name: value for name, value in _SETTINGS.items() if name in kind.parameters}
    return kind(random_state=_SEED, **settings)


def _write_digits(dataset: Dataset, folder: Path, out: Output) -> None:
    path = folder / "digits.csv"
    y, X = np.concatenate([dataset.y_train, dataset.y_test]), [dataset.X_train, dataset.X_test]
    rows = np.column_stack([y, np.concatenate(X)]).astype(int).tolist()
    head = ",".join(["label", *dataset.feature_names])
    text = "\n".join([head, *(",".join(map(str, row)) for row in rows), ""])
    if path.exists() and path.read_text("utf-8", errors="replace") != text:
        raise InputError(f"{path} already exists; choose another folder with -o")
    write_atomically(path, text)
    out.say(f"wrote {path}")
    out.finish({"digits": str(path)})


def _check_are_its_own(model_file: Path, results: Path) -> None:
    """Refuse to replace files that the demo did not write."""
    others = [
        *[model_file] * (model_file.exists() and not load_model(model_file).record.get("demo")),
        *[results] * (results.exists() and not RESULTS.includes(results)),
    ]
    if others:
        raise InputError(
            f"{others[0]} was not written by 'demo', so it is not overwritten; choose another "
            "folder with -o"
        )
