"""Measure the accuracy within budgets: the sizes d and m follow from the bytes of the parameters.

    python benchmarks/budgets.py [--only NAME] [--seeds N] [--json]

prints one row for each data set and budget: d and m, and the accuracy of the integers on validation
points (mean and standard deviation over the seeds). The validation points are a fifth of the
training part, held out with seed 0; test parts are never looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import rounding  # noqa: F401 - before NumPy
from printing import accuracy_cell
from rows import Row, integer_accuracy, over_seeds, table_command

from protonn_edge.data.dataset import Dataset
from protonn_edge.data.splits import holdout
from protonn_edge.kinds.protonn.head import ProtoNNHead

VALIDATION_SHARE = 0.2
FILES = {
    "usps10": "usps10_libsvm.npz",
    "letter26": "letter26.npz",
    "har": "har_hapt.npz",
    "spoken digits": "fsdd_mfcc.npz",
}
CASES = [
    Row(f"{name} {budget:,} B", file, {"budget": budget, "epochs": 40})
    for name, file in FILES.items()
    for budget in (1000, 2000, 4000, 8000, 16000)
]
COLUMNS = [
    ("data, budget", lambda r: r["name"]),
    ("d, m", lambda r: f"{r['n_projections']}, {r['n_prototypes']}"),
    ("integers % on validation points", accuracy_cell),
    ("s", lambda r: f"{r['seconds']:.0f}"),
]


def measure(case: Row, dataset: Dataset, seeds: Sequence[int]) -> dict[str, Any]:
    """Return the sizes that follow from the budget, and the accuracies of the integers."""
    held_out = holdout(dataset, VALIDATION_SHARE, seed=0)
    trained = [case.train(held_out, seed) for seed in seeds]
    head = trained[0][0].head
    assert isinstance(head, ProtoNNHead)
    return {
        "name": case.name,
        "n_projections": head.n_projections,
        "n_prototypes": head.n_prototypes,
        **over_seeds([integer_accuracy(model, held_out) for model, _ in trained]),
        "seconds": sum(seconds for _, seconds in trained) / len(trained),
    }


main = table_command(CASES, COLUMNS, measure, "Print the accuracy within budgets.")

if __name__ == "__main__":
    main()
