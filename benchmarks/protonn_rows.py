"""ProtoNN's rows: the presets, budgets, ingredients of training, people, sets of labels, boards.

Sizes of presets follow from a limit on the bytes of the parameters, and from the flash that the
firmware leaves. All else was chosen on points held out of the training data (of the watch, on
wearers held out whole; of the gestures, on what of each was recorded together).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from columns import Column, Record, figure, named, percent
from emulated import MEASURED, run_on_uno, some_on_board
from kind_rows import (
    BYTES,
    FLOAT,
    HAR,
    INTEGERS,
    LETTER,
    MJ,
    MNIST,
    MODEL,
    ON_UNO,
    SECONDS,
    SIZES,
    USPS,
)
from runner import Benchmark, Case
from scipy.sparse import csc_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.svm import SVC
from trained import DATA, Row, Trained, held_out_in_turn, in_two, integer_accuracy

from protonn_edge.chips.boards import board_names, load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.projects.project import Trial
from protonn_edge.codegen.verification.agreement import verify_device
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.splits import holdout
from protonn_edge.data.reading import load_dataset
from protonn_edge.model.head import matrices_of, paper_bytes
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.label_sets.figures import PLACES, precision_at
from protonn_edge.system.errors import CheckFailed

# --- presets: accuracy, time and size -------------------------------------------------------------

_BAD_INPUTS = 8


def _over_worst(trial: Trial, reference: IntegerChain) -> Record:
    """Return the bound over the most cycles that inputs take that were searched to take many."""
    from worst_inputs import worst_inputs

    assert isinstance(trial.plan, Plan)
    hard = worst_inputs(reference, trial.plan, _BAD_INPUTS)
    with EmulatedUno(trial.elf) as uno:
        agreement, results = verify_device("emulated uno", uno.url, reference, hard)
    if agreement.mismatches + agreement.lost:
        raise CheckFailed(f"the emulated Uno differs on bad inputs: {agreement.first}")
    return {"over_worst": trial.possible.most / max(result.cycles or 0 for result in results)}


def preset(name: str, file: str, d: int, m: int, beside: str = "", **settings: Any) -> Row:
    """Return a row; `beside` is what others reach, by default a support vector machine."""
    part = settings.pop("part", None)
    settings = {"n_projections": d, "n_prototypes": m, **settings}
    return Row(name, file, settings, part=part, beside=_over_worst, about={"others": beside})


_DIGITS = {"image_shape": (28, 28)}
_DIGITS_8 = {**_DIGITS, "features": "crop:24x24,pool:8x8", "epochs": 60}
_DESKEWED_12 = {
    **_DIGITS,
    "features": "deskew,crop:24x24,pool:12x12",
    "augment": True,
    "input_noise": 0.05,
    "gamma_numerator": 2.5,
    "init_projection": "nca",
}
_UPRIGHT = {
    **_DIGITS,
    "features": "deskew,crop:24x24,gradients:4x4",
    "augment": 0.5,
    "batch_size": 512,
    "input_noise": 0.25,
}
GRADIENTS_2KB = {**_UPRIGHT, "input_noise": 0.15, "projection_bits": 4, "epochs": 60}
_USPS = {"image_shape": (16, 16), "augment": True}
_USPS_GRADIENTS = {**_USPS, "features": "deskew,gradients:4x4"}
_CLIPPED: dict[str, Any] = {"clip": 0.02}
_PAPERS = {"letter26": "63.4 kB, 97.10", "usps10": "63.8 kB, 94.92", "mnist10": "63.4 kB, 95.88"}
_PAPERS = {name: f"ProtoNN paper: {figures}" for name, figures in _PAPERS.items()}
_OF_USPS, _OF_MNIST = _PAPERS["usps10"], _PAPERS["mnist10"]

PRESETS = (
    preset("letter26", LETTER, 16, 512, _PAPERS["letter26"], init_projection="nca",
           input_noise=0.2),
    preset("usps10", USPS, 20, 300, _OF_USPS, **_USPS),
    preset("usps10-2kB", USPS, 12, 55, _OF_USPS, **_USPS, features="pool:8x8"),
    preset("usps10-gradients", USPS, 16, 90, _OF_USPS, **_USPS_GRADIENTS, epochs=100,
           input_noise=0.25),
    preset("usps10-gradients-2kB", USPS, 16, 37, _OF_USPS, **_USPS_GRADIENTS, epochs=120,
           input_noise=0.15, projection_bits=4),
    preset("mnist10-16kB", MNIST, 25, 350, _OF_MNIST, **_DESKEWED_12),
    preset("mnist10-gradients", MNIST, 20, 340, _OF_MNIST, **_UPRIGHT | {"augment": 0.6},
           epochs=80),
    preset("mnist10-gradients-5kB", MNIST, 16, 120, _OF_MNIST, **_UPRIGHT, epochs=60),
    preset("mnist10-gradients-2kB", MNIST, 16, 37, _OF_MNIST, **GRADIENTS_2KB),
    preset("mnist2-2kB", MNIST, 12, 88, "ProtoNN paper: 16.0 kB, 96.50", part=in_two(5),
           **_DIGITS_8),
    preset("har", HAR, 10, 40),
    preset("watch", "watch_exercise.npz", 20, 60, input_noise=0.6, gamma_numerator=0.4, **_CLIPPED),
    preset("fsdd", "fsdd_mfcc.npz", 10, 40),
    preset("gesturepod", "gesturepod_blocks.npz", 20, 50, input_noise=1.0, gamma_numerator=0.7,
           **_CLIPPED),
    preset("ecg5000", "ecg5000.npz", 8, 20),
)  # fmt: skip

# The way of the usual settings, from data to the Uno.
END_TO_END = (
    Row("digits", None, {"n_projections": 10, "n_prototypes": 40, "batch_size": 64}),
    Row("usps10", USPS, {"n_projections": 10, "n_prototypes": 40}),
    Row("letter26", LETTER, {"n_projections": 12, "n_prototypes": 260}),
    Row("har", HAR, {"n_projections": 10, "n_prototypes": 30}),
    Row("fsdd", "fsdd_mfcc.npz", {"n_projections": 10, "n_prototypes": 40}),
)


def others(row: Trained) -> str:
    """Return what others reach, or an RBF-SVM of any size, by cross-validation of its C and gamma.

    Its features are standardized.
    """
    if row.row.about["others"]:
        return str(row.row.about["others"])
    data = row.dataset
    widths = [width / data.n_features for width in (0.1, 0.3, 1.0, 3.0)]
    grid = {"svc__C": (1.0, 10.0, 100.0), "svc__gamma": widths}
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=folds)
    search.fit(data.X_train, data.y_train)
    return f"RBF-SVM: {percent(search.score(data.X_test, data.y_test))}"


def in_papers_bytes(row: Trained) -> int:
    """Return the largest size of the models as the ProtoNN paper counts."""
    return max(int(paper_bytes(matrices_of(model.head).values())) for model in row.models)


# --- budgets, ingredients of training, people -----------------------------------------------------

_FILES = {"usps10": USPS, "letter26": LETTER, "har": HAR, "spoken digits": "fsdd_mfcc.npz"}


def _validated(dataset: Dataset) -> Dataset:
    """Return the training part, a fifth of it held out as the test part."""
    return holdout(dataset, 0.2, seed=0)


BUDGETS = [
    Row(f"{name} {budget:,} B", file, {"budget": budget, "epochs": 40}, part=_validated)
    for name, file in _FILES.items()
    for budget in (1000, 2000, 4000, 16000)
]

CHANGES: dict[str, dict[str, Any]] = {
    "the default": {},
    "in turn, not jointly": {"optimizer": "alternating", "iterations": 10, "pass_epochs": 10},
    "squared error": {"loss": "squared_error"},
    "no input noise": {"input_noise": 0.0},
    "not aware of quantization": {"quantization_aware": False},
    "Gaussian start": {"init_projection": "gaussian"},
    "neighbourhood components start": {"init_projection": "nca"},
    "augmentation": {"augment": True},  # of images alone
}


def _subject(name: str, d: int, m: int, epochs: int, shape: tuple[int, int] | None = None) -> Row:
    settings = {"n_projections": d, "n_prototypes": m, "epochs": epochs}
    return Row(name, _FILES.get(name), settings, part=_validated, about={"image_shape": shape})


SUBJECTS = (
    _subject("digits", 8, 20, 100, (8, 8)),
    _subject("usps10", 10, 40, 60, (16, 16)),
    _subject("har", 10, 30, 60),
    _subject("letter26", 10, 104, 40),
)


def ablations(row: Row, dataset: Dataset, seeds: Sequence[int]) -> Iterator[Trained]:
    """Yield the row with each change, and with the accuracies of the default, the first."""
    default: list[float] = []
    for change, settings in CHANGES.items():
        shape = row.about if "augment" in settings else {}
        if None in shape.values():
            continue
        done = Trained(row.changed(**settings, **shape), dataset, seeds)
        default = default or done.accuracies
        done.row = replace(row, about={"change": change, "default": default})
        yield done


SHIFTS = (0.0, 0.5, 1.0, 1.5, 2.0)
_SMALL_MODEL = {"n_projections": 5, "n_prototypes": 20, "input_noise": 0.3, "gamma_numerator": 1.0}
_LARGE_MODEL = {"n_projections": 40, "n_prototypes": 95, "input_noise": 0.5, "gamma_numerator": 0.5}
PEOPLE = [
    Row(f"{name}-{size}", file, {**settings, "epochs": 120}, groups="subject_train")
    for name, file in (("har", HAR), ("watch", "watch_exercise.npz"))
    for size, settings in (("small", _SMALL_MODEL), ("large", _LARGE_MODEL))
]


def shifted(row: Row, dataset: Dataset, seeds: Sequence[int]) -> Record:
    """Return the mean accuracy on people held out in three folds, by the largest shift."""
    parts = list(held_out_in_turn(dataset, 3))
    found: Record = {"model": row.name}
    for shift in SHIFTS:
        moved = row.changed(group_shift=shift)
        each = [integer_accuracy(moved.train(part, seed), part) for seed in seeds for part in parts]
        found[f"{shift:.0%}"] = float(np.mean(each))
    return found


# --- sets of labels -------------------------------------------------------------------------------


@dataclass(frozen=True)
class LabelSetRow(Row):
    """A row whose file has the numbers of each point's labels, which become a matrix."""

    def whole(self) -> Dataset:
        """Return what the file has."""
        path = DATA / str(self.file)
        with np.load(path) as given, tempfile.TemporaryDirectory() as folder:
            arrays: dict[str, Any] = {}
            for part in ("train", "test"):
                starts, numbers = (given[f"Y_{part}_{each}"] for each in ("indptr", "indices"))
                labels = np.zeros((len(starts) - 1, int(given["n_labels"])), np.uint8)
                labels[np.repeat(np.arange(len(labels)), np.diff(starts)), numbers] = 1
                arrays |= {f"X_{part}": given[f"X_{part}"], f"y_{part}": labels}
            whole = Path(folder) / path.name
            np.savez(whole, **arrays)
            return load_dataset(whole)


def _label_sets(
    name: str, d: int, m: int, board: str = "", others: str = "", **settings: Any
) -> LabelSetRow:
    """Return a row; with a board, its model runs there, else its labels are too many for one."""
    sizes = {"n_projections": d, "n_prototypes": m, "learning_rate": 0.03, "input_noise": 0.03}
    usual = {"epochs": 60, "normalization": "none" if board else "l2"}
    about = {"board": board, "others": others}
    return LabelSetRow(
        name, f"{name.partition('-')[0]}.npz", {**sizes, **usual, **settings}, about=about
    )


# Settings were chosen on held-out parts of the training data.
LABEL_SETS = (
    _label_sets("delicious", 60, 190, others="ProtoNN paper, 925 kB: 68.92 / 63.04 / 58.32"),
    _label_sets("bibtex", 150, 480, sparsity_projection=0.25, sparsity_labels=0.25,
                gamma_numerator=1.0),
    _label_sets("bibtex-mega2560", 40, 80, "mega2560", "-", sparsity_projection=0.08,
                gamma_numerator=1.0),
)  # fmt: skip
_LABELLED_ON_BOARD = 200  # test points


def ranked(row: Row, dataset: Dataset, seeds: Sequence[int]) -> Record:
    """Return the precision of floats and, on a board, of integers, the mean of all seeds."""
    models = [row.train(dataset, seed) for seed in seeds]
    board, X, y = row.about["board"], dataset.X_test, dataset.y_test
    record: Record = {
        "model": row.name,
        "paper_bytes": max(int(paper_bytes(matrices_of(each.head).values())) for each in models),
        "float": _mean_precision([precision_at(each.scores(X), y) for each in models]),
        "others": row.about["others"] or logistic(dataset),
    }
    if not board:
        return record
    chains = [quantize(model) for model in models]
    precisions = [precision_at(chain.scores(chain.quantize(X)), y) for chain in chains]
    record["integers"] = _mean_precision(precisions)
    return record | some_on_board(models[0], X[:_LABELLED_ON_BOARD], board)


def _mean_precision(found: Sequence[dict[int, float]]) -> list[float]:
    return [float(np.mean([each[k] for each in found])) for k in PLACES]


def logistic(dataset: Dataset) -> str:
    """Return what logistic regression, one label against the rest, reaches with the best C."""
    parts = [holdout(dataset, 0.2, seed) for seed in range(3)]
    penalties = (1.0, 3.0, 10.0, 30.0, 100.0)
    reached = [np.mean([logistic_precision(part, C)[1] for part in parts]) for C in penalties]
    C = penalties[int(np.argmax(reached))]
    return (
        f"logistic regression, C = {C:g}: {_in_places([*logistic_precision(dataset, C).values()])}"
    )


def logistic_precision(dataset: Dataset, C: float) -> dict[int, float]:
    """Return precision at k of one-vs-rest logistic regression on points of unit norm."""
    classifier = OneVsRestClassifier(LogisticRegression(C=C, solver="liblinear"))
    labels = csc_matrix(dataset.y_train)
    seen = np.flatnonzero(np.diff(labels.indptr))  # a label that no point has cannot be learned
    classifier.fit(normalize(dataset.X_train), labels[:, seen].toarray())
    scores = np.zeros(dataset.y_test.shape)
    scores[:, seen] = classifier.predict_proba(normalize(dataset.X_test))
    return precision_at(scores, dataset.y_test)


def _in_places(shares: Sequence[float]) -> str:
    return " / ".join(map(percent, shares))


# --- boards ---------------------------------------------------------------------------------------


def on_board(case: Case) -> Record:
    """Build the digits of `END_TO_END` for a board, and let the emulated one classify points."""
    row, board = END_TO_END[0], load_board(case.name)
    dataset = row.dataset()
    record = run_on_uno(row.train(dataset, 0), dataset, name=case.name).record
    return record | {"chip": f"{board.mcu}, {board.clock_hz / 1e6:g}"}


BENCHMARKS = {
    "end_to_end": Benchmark(
        "The usual settings: train, build, classify every test point on the emulated Uno.",
        END_TO_END,
        (MODEL, SIZES, FLOAT, *ON_UNO[:-1], MJ, BYTES, SECONDS),
        seeds=5,
    ),
    "presets": Benchmark(
        "Accuracy at a size, beside the ProtoNN paper's and a support vector machine's; and the "
        "cost of a prediction. *kB* counts as the paper does; *over worst* is the bound over the "
        "most cycles of inputs that were searched to take many.",
        PRESETS,
        (
            *(MODEL, SIZES, Column("kB", in_papers_bytes, lambda n: f"{n / 1000:.1f}"), BYTES),
            *(FLOAT, *ON_UNO[:-1], MJ, Column("over worst", lambda r: r.uno["over_worst"], ".2f")),
            *(Column("others", others), SECONDS),
        ),
        seeds=5,
    ),
    "budgets": Benchmark(
        "The accuracy on validation points within budgets, from which d and m follow.",
        BUDGETS,
        (MODEL, SIZES, INTEGERS, SECONDS),
        seeds=5,
    ),
    "ablations": Benchmark(
        "What each ingredient of the trainer contributes, on validation points.",
        SUBJECTS,
        (
            *(MODEL, Column("change", lambda r: r.row.about["change"])),
            INTEGERS,
            Column(
                "difference",
                lambda r: 100 * (np.mean(r.accuracies) - np.mean(r.row.about["default"])),
                "+.2f",
            ),
            SECONDS,
        ),
        ablations,
        seeds=5,
    ),
    "groups": Benchmark(
        "The accuracy on people who were not recorded, by how far points move between people.",
        PEOPLE,
        (
            *named("model"),
            *(figure(f"up to {shift:g}", f"{shift:.0%}", percent) for shift in SHIFTS),
        ),
        shifted,
        seeds=2,
    ),
    "labels": Benchmark(
        "Sets of labels: P@1, P@3 and P@5 of floats, and of integers on boards.",
        LABEL_SETS,
        (
            *named("model"),
            figure("kB", "paper_bytes", lambda n: f"{n / 1000:.1f}"),
            figure("float P@1/3/5 %", "float", _in_places),
            figure("P@1/3/5 %", "integers", _in_places),
            figure("cycles", "cycles", ",.0f"),
            figure("flash B", "flash", ","),
            *named("sram", "differ", "others"),
        ),
        ranked,
        seeds=5,
    ),
    "boards": Benchmark(
        "A model of digits on every emulated board.",
        [Case(name) for name in board_names()],
        (
            *named("board", "chip"),
            *MEASURED,
        ),
        on_board,
    ),
}
