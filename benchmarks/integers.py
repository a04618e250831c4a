"""Compare integer ProtoNN models with their floats, for all initial values and many sizes.

    python benchmarks/integers.py [--only NAME] [--json]   # 20 minutes

For each data set, 18 models are trained on at most 1,200 points for 40 epochs: six initial
projections with three seeds each, three initial prototypes, and 100 to 800 prototypes. The last row
has four models of made-up points like those of a satellite: six overlapping classes, 36 whole
numbers, 4,435 points, with d = 36 and m = 576, for 200 epochs. Accuracies are on the training
points. *lost* is by how many percentage points the integers are below the floats, *wide* is the
number of models with 32-bit scores, *warned* the number of those about which `train` warns.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from printing import Record, print_table
from rows import Row, chosen
from sklearn.exceptions import ConvergenceWarning

from protonn_edge.data.dataset import Dataset
from protonn_edge.learn.evaluation.fidelity import fidelity_of
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import ProtoNNEdgeError

_POINTS, _EPOCHS = 1_200, 40
_PROJECTIONS = ("lda", "gaussian", "pca", "nca", "identity", "sleec")
_PROTOTYPES = ("per_class", "kmeans", "sample")
_SIZES = (100, 200, 400, 600, 800)
_SEEDS = range(3)
_BANDS = {"n_projections": 36, "n_prototypes": 576, "init_projection": "nca", "epochs": 200}


@dataclass(frozen=True)
class _Compared(Row):
    """A row; `made` points are drawn at random."""

    made: bool = False

    def dataset(self) -> Dataset | None:
        """Return the data set, or None where this machine does not have it."""
        return satellite_points() if self.made else super().dataset()

    def models(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield seeds and settings."""
        if self.made:
            yield from ((seed, _BANDS) for seed in range(4))
            return
        for place, projection in enumerate(_PROJECTIONS):
            for seed in _SEEDS:
                yield (
                    seed,
                    {
                        "n_projections": 16,
                        "n_prototypes": _SIZES[(place + 2 * seed) % len(_SIZES)],
                        "init_projection": projection,
                        "init_prototypes": _PROTOTYPES[(place + seed) % len(_PROTOTYPES)],
                        "epochs": _EPOCHS,
                        **self.settings,
                    },
                )


_ROWS = [
    _Compared("digits", None),
    _Compared("usps10", "usps10.npz", {"image_shape": (16, 16), "features": "pool:8x8"}),
    _Compared("letter26", "letter26.npz"),
    _Compared("har", "har_hapt.npz"),
    _Compared("satellite", None, made=True),
]
_COLUMNS = [
    ("data", lambda r: r["name"]),
    ("models", lambda r: f"{len(r['models'])}"),
    ("floats %", lambda r: f"{r['floats_percent']:.2f}"),
    ("integers %", lambda r: f"{r['integers_percent']:.2f}"),
    ("lost, mean", lambda r: f"{r['lost_mean']:.2f}"),
    ("lost, most", lambda r: f"{r['lost_most']:.2f}"),
    ("wide", lambda r: f"{sum(each['score_bits'] == 32 for each in r['models'])}"),
    ("warned", lambda r: f"{sum(each['warned'] for each in r['models'])}"),
]

# Means of four bands (first to last class), and the deviation of a class's points.
_CENTRES = np.array(
    [
        [63, 95, 108, 89],
        [49, 40, 114, 119],
        [87, 105, 111, 87],
        [77, 91, 96, 75],
        [60, 63, 82, 65],
        [69, 78, 82, 64],
    ],
    dtype=np.float64,
)
_DEVIATIONS = np.array([8.0, 10.0, 5.0, 6.0, 9.0, 7.0])
_SHARES = (0.24, 0.11, 0.21, 0.1, 0.11, 0.23)
_AREAS, _AT_BORDERS, _FOREIGN = 9, 0.2, 0.4


def satellite_points(seed: int = 0, n: int = 4_435, n_test: int = 2_000) -> Dataset:
    """Return points like those of a satellite: nine neighbouring areas, each in four bands.

    The class is the middle area's. At the borders of fields, some neighbours are of another class.
    """
    generator = np.random.default_rng(seed)
    total = n + n_test
    y = generator.choice(len(_CENTRES), total, p=_SHARES)
    deviations = _DEVIATIONS[y][:, None]
    own = generator.normal(0, 1, (total, 4)) + 0.6 * generator.normal(0, 1, (total, 1))
    areas = generator.normal(0, 0.5, (total, _AREAS, 4)) + 0.7 * own[:, None]
    areas = _CENTRES[y][:, None] + areas * deviations[:, None]
    foreign = generator.random((total, _AREAS)) < _FOREIGN
    foreign &= (generator.random(total) < _AT_BORDERS)[:, None]
    foreign[:, _AREAS // 2] = False
    others = generator.choice(len(_CENTRES), total)
    areas[foreign] = np.broadcast_to(_CENTRES[others][:, None], areas.shape)[foreign]
    X = np.clip(np.rint(areas), 0, 157).reshape(total, -1).astype(np.float32)
    classes = tuple(f"class {number}" for number in range(1, len(_CENTRES) + 1))
    names = tuple(f"area {1 + i // 4} band {1 + i % 4}" for i in range(X.shape[1]))
    return Dataset(X[:n], y[:n], X[n:], y[n:], classes, feature_names=names)


def measure(row: _Compared, dataset: Dataset) -> Record:
    """Return what the integers of all models of a data set lose."""
    if not row.made:
        some = np.random.default_rng(0).permutation(len(dataset.y_train))[:_POINTS]
        dataset = replace(dataset, X_train=dataset.X_train[some], y_train=dataset.y_train[some])
    models: list[Record] = []
    for seed, settings in row.models():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = replace(row, settings=settings).train(dataset, seed)[0]
        compared = fidelity_of(model, dataset.X_train, dataset.y_train)
        models.append(
            {
                "seed": seed,
                "settings": settings,
                "floats_percent": 100 * compared.floats,
                "integers_percent": 100 * compared.integers,
                "lost": 100 * (compared.floats - compared.integers),
                "warned": compared.loses,
                "score_bits": quantize(model).own_stages[-1].output.bits,
            }
        )
    lost = [each["lost"] for each in models]
    return {
        "name": row.name,
        "floats_percent": float(np.mean([each["floats_percent"] for each in models])),
        "integers_percent": float(np.mean([each["integers_percent"] for each in models])),
        "lost_mean": float(np.mean(lost)),
        "lost_most": max(lost),
        "models": models,
    }


@click.command(help=__doc__)
@click.option("--only", type=click.Choice([row.name for row in _ROWS]), help="One data set.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per data set.")
def main(only: str | None, as_json: bool) -> None:
    """Print what integers lose."""
    print_table((measure(*case) for case in chosen(_ROWS, only)), _COLUMNS, as_json)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
