"""Sets of labels on emulated boards: P@1, P@3 and P@5, cycles and flash.

    python benchmarks/labels.py [--only NAME] [--seeds N] [--json]

Each row is a board and a ProtoNN model of bibtex (1,836 features, 159 labels) that fits it; means
over the seeds. *P@k* is the precision of the integers on the test part, *float* that of the same
models in floats. Cycles and flash are those of the first seed's firmware on the emulated board, on
which every score of some test points is compared with NumPy (*differ*; none may). The sizes were
chosen on held-out training points; the test part is read once. `ranking.py` has the models without
limits, and the figures of the ProtoNN paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import click
import numpy as np
from on_uno import some_on_board
from printing import Columns, Record, print_table
from rows import LabelSetRow, seeds_option

from protonn_edge.model.quantization import quantize
from protonn_edge.policy.label_sets.figures import PLACES, precision_at

_ON_THE_BOARD = 200
_TRAINED = {
    "normalization": "none",
    "learning_rate": 0.03,
    "input_noise": 0.03,
    "epochs": 60,
    "gamma_numerator": 1.0,
}


@dataclass(frozen=True)
class BoardRow(LabelSetRow):
    """A row, and the board that runs it."""

    board: str = "uno"


def _row(board: str, d: int, m: int, sparsity: float) -> BoardRow:
    sizes = {"n_projections": d, "n_prototypes": m, "sparsity_projection": sparsity}
    return BoardRow(f"bibtex-{board}", "bibtex.npz", _TRAINED | sizes, board=board)


ROWS = (_row("uno", 15, 60, 0.2), _row("mega2560", 40, 80, 0.08))

_COLUMNS: Columns = [
    ("model", lambda r: r["row"]),
    ("P@1/3/5 %", lambda r: _cell(r["precision_at"])),
    ("float %", lambda r: _cell(r["float_precision_at"])),
    ("cycles", lambda r: f"{r['cycles']:,.0f}"),
    ("flash B", lambda r: f"{r['flash']:,}"),
    ("SRAM B", lambda r: f"{r['sram']:,}"),
    ("differ", lambda r: f"{r['differ']}"),
]


def _cell(shares: dict[int, float]) -> str:
    return " / ".join(f"{100 * shares[k]:.2f}" for k in PLACES)


def _measured(row: BoardRow, seeds: Sequence[int]) -> Record | None:
    dataset = row.dataset()
    if dataset is None:
        return None
    models = [row.train(dataset, seed)[0] for seed in seeds]
    chains = [quantize(model) for model in models]
    X, y = dataset.X_test, dataset.y_test
    integers = [precision_at(chain.scores(chain.quantize(X)), y) for chain in chains]
    floats = [precision_at(model.scores(X), y) for model in models]
    return {
        "row": row.name,
        "precision_at": {k: float(np.mean([each[k] for each in integers])) for k in PLACES},
        "float_precision_at": {k: float(np.mean([each[k] for each in floats])) for k in PLACES},
        **some_on_board(models[0], X[:_ON_THE_BOARD], row.board),
    }


@click.command()
@click.option("--only", type=click.Choice([row.name for row in ROWS]), multiple=True)
@seeds_option
@click.option("--json", "as_json", is_flag=True)
def main(only: tuple[str, ...], seeds: range, as_json: bool) -> None:
    """Measure sets of labels on emulated boards."""
    rows = (_measured(row, seeds) for row in ROWS if not only or row.name in only)
    print_table(filter(None, rows), _COLUMNS, as_json)


if __name__ == "__main__":
    main()
