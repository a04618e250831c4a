"""Bonsai and local deep kernels on an Arduino Uno, at the sizes that their paper compares.

    python benchmarks/bonsai.py [--only NAME] [--seeds N] [--json]

prints one row a model: the accuracy of the floats, and that of the integers on the emulated Uno,
mean and standard deviation over five seeds (`--seeds`), while all else is of seed 0;
the test points on which host C or the emulated Uno differ from the NumPy model (none may); what the
parameters take on the device, and as the ProtoNN paper counts (4 bytes a number, 4 more for its
place where a matrix is sparse); cycles on average and at most, milliseconds at 16 MHz, and what the
program takes.

Rows "at 2 kB in floats" have as many numbers as 2,048 bytes of the paper's hold, the others take as
many on the device; "kernel" are local deep kernels. The classes of binary sets are digits 0-4 and
5-9, letters A-M and N-Z, and, of har, walking and standing, sitting or lying.

The data is read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import rounding  # noqa: F401 - before NumPy
import numpy as np
from on_uno import ACCURACY_COLUMN, CHECKED, CYCLES, FLASH_COLUMN, SECONDS_COLUMN, run_on_uno
from printing import Columns
from rows import SplitRow, integer_accuracy, over_seeds, table_command

from protonn_edge.codegen.plan import Plan
from protonn_edge.data.dataset import Dataset
from protonn_edge.extensions.research.kinds.bonsai.integers import IntegerBonsaiTree
from protonn_edge.extensions.research.kinds.bonsai.train import (
    BonsaiClassifier,
    LocalDeepKernelClassifier,
)
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.model.head import matrices_of, paper_bytes
from protonn_edge.model.integer_chain import IntegerChain, stage_of
from protonn_edge.model.model import Model

_CYCLES_A_MS = 16_000


@dataclass(frozen=True)
class Case(SplitRow):
    """A row; with `kernel`, that of a local deep kernel."""

    kernel: bool = False

    def train_tree(self, dataset: Dataset, seed: int) -> tuple[Model, float]:
        """Return the trained model and the seconds that it took."""
        kind, rate = (LocalDeepKernelClassifier, 0.01) if self.kernel else (BonsaiClassifier, 0.02)
        classifier = kind(
            random_state=seed, **{"epochs": 100, "learning_rate": rate, **self.settings}
        )
        begin = time.perf_counter()
        classifier.fit(dataset.X_train, dataset.y_train)
        seconds = time.perf_counter() - begin
        model = classifier.to_model(classes=dataset.classes)
        return model, seconds


USPS, MNIST, LETTER, HAR = "usps10_libsvm.npz", "mnist10.npz", "letter26.npz", "har_hapt.npz"
POOLED = {"image_shape": (28, 28), "features": "pool:14x14", "epochs": 40, "input_noise": 0.3}


def thin(share: float) -> dict[str, float]:
    """Return settings with this share of all weights of a tree."""
    return dict.fromkeys(("sparsity_weights", "sparsity_gates", "sparsity_branches"), share)


# Chosen on points held out of the training parts alone: a fourth of them, of mnist2 a fourth of a
# third, of har every fourth person. Of some ten settings each, of the depth, the dimension, shares
# and the noise, the most accurate one within the bytes.
CASES = [
    Case(
        "usps2 at 2 kB in floats",
        USPS,
        {"depth": 1, "n_projections": 8, "sparsity_projection": 0.105},
        split=5,
    ),
    Case(
        "mnist2 at 2 kB in floats",
        MNIST,
        {
            "depth": 2,
            "n_projections": 8,
            "sparsity_projection": 0.026,
            "epochs": 40,
            "input_noise": 0.3,
        },
        split=5,
    ),
    Case("usps2", USPS, {"depth": 3, "n_projections": 6}, split=5),
    Case("mnist2", MNIST, {"depth": 3, "n_projections": 8, **POOLED}, split=5),
    Case("letter2", LETTER, {"depth": 4, "n_projections": 16, "epochs": 200}, split=13),
    Case("har2", HAR, {"depth": 1, "n_projections": 10, "epochs": 60}, split=3),
    Case("usps10", USPS, {"depth": 1, "n_projections": 20, "sparsity_projection": 0.3}),
    Case("har", HAR, {"depth": 1, "n_projections": 15, "epochs": 60}),
    Case(
        "kernel usps2 at 2 kB in floats",
        USPS,
        {"depth": 1, "input_noise": 0.3, **thin(0.14)},
        split=5,
        kernel=True,
    ),
    Case(
        "kernel mnist2 at 2 kB in floats",
        MNIST,
        {"depth": 1, "input_noise": 0.3, "epochs": 30, "learning_rate": 0.01, **thin(0.045)},
        split=5,
        kernel=True,
    ),
    Case("kernel usps2", USPS, {"depth": 2, **thin(0.2)}, split=5, kernel=True),
    Case("kernel mnist2", MNIST, {"depth": 3, **thin(0.12), **POOLED}, split=5, kernel=True),
    Case(
        "kernel letter2",
        LETTER,
        {"depth": 4, "epochs": 200, "learning_rate": 0.02},
        split=13,
        kernel=True,
    ),
    Case("kernel har2", HAR, {"depth": 1, "epochs": 60}, split=3, kernel=True),
]
COLUMNS: Columns = [
    ("model", lambda r: r["name"]),
    ("D, L", lambda r: f"{r['inputs']}, {r['classes']}"),
    ("depth", lambda r: f"{r['depth']}"),
    ("float %", lambda r: f"{100 * r['float_accuracy']:.2f}"),
    ACCURACY_COLUMN,
    *CHECKED,
    ("B", lambda r: f"{r['model_bytes']:,}"),
    ("B in floats", lambda r: f"{r['paper_bytes']:,}"),
    *CYCLES,
    ("ms", lambda r: f"{r['ms']:.2f}"),
    FLASH_COLUMN,
    ("variables B", lambda r: f"{r['state_bytes']:,}"),
    SECONDS_COLUMN,
]


def measure_case(case: Case, dataset: Dataset, seeds: Sequence[int]) -> dict[str, Any]:
    """Train a model with each seed, build the first, and run all test points."""
    trained = [case.train_tree(dataset, seed) for seed in seeds]
    model, seconds = trained[0]
    on_uno = run_on_uno(model, dataset)
    record = on_uno.record
    assert isinstance(on_uno.plan, Plan)
    assert isinstance(on_uno.reference, IntegerChain)
    return record | {
        "name": case.name,
        **over_seeds([integer_accuracy(each, dataset) for each, _ in trained]),
        "depth": stage_of(on_uno.reference, IntegerBonsaiTree).depth,
        "float_accuracy": share_right(model.predict(np.asarray(dataset.X_test)), dataset.y_test),
        "paper_bytes": paper_bytes(matrices_of(model.head).values()),
        "ms": record["cycles"]["mean"] / _CYCLES_A_MS,
        "state_bytes": on_uno.plan.state_bytes,
        "seconds": seconds,
    }


SENTENCE = "Print Bonsai and local deep kernels on an Uno."
main = table_command(CASES, COLUMNS, measure_case, SENTENCE)

if __name__ == "__main__":
    main()
