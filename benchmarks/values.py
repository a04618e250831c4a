"""Numbers on an Arduino Uno: R2 and errors beside scikit-learn's regressors, cycles and flash.

    python benchmarks/values.py [--only NAME] [--seeds N] [--intervals | --peers] [--json]

Each row is a data set and an estimator. A quarter of the points, drawn with the seed, is held out
and read once. *R2* and *MAE* are means over the seeds, for models of this package in integers;
*float* is the R2 of the same models in floats. *inside* is the share of the held-out points in the
interval for 90 %, which a fifth of the training points decides, on which the model is not trained.
Cycles and flash are those of the firmware of the first seed on the emulated Uno, on which every
score of the held-out points is compared with NumPy (*differ*; none may).

The regressors of scikit-learn have no limits of size: ridge regression with its parameter chosen by
cross-validation, a support vector machine, and a forest of 100 trees.

Data: diabetes, friedman1 (4,000 points, noise 1), friedman2, friedman3 and a linear problem with 30
features of scikit-learn; and windows of a synthetic vibration whose amplitude is to be predicted.

`--intervals` prints *inside* for ten data sets instead, with a deviation over the seeds, of the
kinds whose training is fastest. The other
four are scikit-learn's S curve, Swiss roll and sparse uncorrelated problem, and the soil moisture
of docs/values.md. `--peers` prints regressors of scikit-learn as the C of other tools, for the
first seed; see `value_peers.py`. It needs: pip install emlearn m2cgen.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from numpy.typing import NDArray
from on_uno import some_on_board
from printing import Columns, Record, figure_cell, print_table
from sklearn.datasets import (
    load_diabetes,
    make_friedman1,
    make_friedman2,
    make_friedman3,
    make_regression,
    make_s_curve,
    make_sparse_uncorrelated,
    make_swiss_roll,
)
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from value_peers import COLUMNS as PEERS
from value_peers import peers

from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.registry import REGRESSORS
from protonn_edge.policy.value.figures import Interval

Points = tuple[NDArray[Any], NDArray[Any]]


_COLUMNS: Columns = [
    ("data", figure_cell("row", "")),
    ("estimator", figure_cell("estimator", "")),
    ("R2", figure_cell("r2", ".4f")),
    ("float", figure_cell("float_r2", ".4f")),
    ("MAE", figure_cell("mae", ".4g")),
    ("inside %", figure_cell("inside", ".1f")),
    ("cycles", figure_cell("cycles", ",.0f")),
    ("flash B", figure_cell("flash", ",d")),
    ("differ", figure_cell("differ", "d")),
]
_ON_THE_UNO = 200  # held-out points that run on the emulated Uno


def _vibration(seed: int) -> Points:
    rng = np.random.default_rng(seed)
    n, length = 1_500, 32
    amplitude = rng.uniform(0.5, 4, n)
    phase, rate = rng.uniform(0, 6.28, (n, 1)), rng.uniform(0.2, 0.6, (n, 1))
    waves = amplitude[:, None] * np.sin(rate * np.arange(length) + phase)
    return waves + rng.normal(0, 0.3, (n, length)), amplitude


DATA: dict[str, tuple[Callable[[int], Points], dict[str, Any]]] = {
    "diabetes": (lambda _: load_diabetes(return_X_y=True), {}),
    "friedman1": (lambda seed: make_friedman1(4_000, noise=1, random_state=seed), {}),
    "friedman2": (lambda seed: make_friedman2(2_000, noise=50, random_state=seed), {}),
    "friedman3": (lambda seed: make_friedman3(2_000, noise=0.1, random_state=seed), {}),
    "linear30": (
        lambda seed: make_regression(1_000, 30, n_informative=12, noise=60, random_state=seed),
        {},
    ),
    "vibration": (_vibration, {"features": "deviation,min,max,crossings", "window_shape": (32, 1)}),
}
"""The makers of data sets, and the parameters of features."""


def _soil(seed: int) -> Points:
    rng = np.random.default_rng(seed)
    moisture, temperature = rng.uniform(5, 60, 800), rng.uniform(5, 35, 800)
    supply = rng.uniform(4.6, 5.2, 800)
    raw = 620 - 230 * np.log1p(moisture / 12) + 1.8 * (temperature - 20) + 90 * (supply - 5)
    return np.stack([raw + rng.normal(0, 4, 800), temperature, supply], axis=1), moisture


OF_INTERVALS = DATA | {
    "S curve": (lambda seed: make_s_curve(1_500, noise=0.2, random_state=seed), {}),
    "Swiss roll": (lambda seed: make_swiss_roll(1_500, noise=0.5, random_state=seed), {}),
    "sparse": (lambda seed: make_sparse_uncorrelated(1_500, random_state=seed), {}),
    "soil": (_soil, {}),
}
_FAST = ("linear", "forest")  # kinds that are trained in no time; intervals suit any kind
_INTERVALS: Columns = [
    ("data", figure_cell("row", "")),
    ("estimator", figure_cell("estimator", "")),
    ("inside %", figure_cell("inside", ".1f")),
    ("deviation", figure_cell("deviation", ".1f")),
]


def _rivals(y: NDArray[Any], seed: int) -> dict[str, Any]:
    scaled_svr = SVR(C=2 * float(y.std()), epsilon=float(y.std()) / 10)
    return {
        "ridge": make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 4, 15))),
        "SVR": make_pipeline(StandardScaler(), scaled_svr),
        "forest of 100": RandomForestRegressor(100, random_state=seed),
    }


def _integers(model: Model, X: NDArray[Any]) -> NDArray[Any]:
    chain = quantize(model)
    values = chain.policy.values(chain.scores(chain.quantize(X.astype(np.float32))))
    assert values is not None
    return values


def _inside(estimator: Any, train: Points, test: Points, seed: int) -> float:
    """Return the share of test points in the interval that held-out training points decide."""
    X, kept_out, y, of_kept_out = train_test_split(*train, test_size=0.2, random_state=seed)
    fitted = estimator.fit(X, y).model_
    width = Interval.of(_integers(fitted, kept_out) - of_kept_out).half_width
    assert width is not None
    return 100 * float((np.abs(_integers(fitted, test[0]) - test[1]) <= width).mean())


def _rows(name: str, seeds: Sequence[int]) -> list[Record]:
    make, features = DATA[name]
    found: dict[str, dict[str, list[float]]] = {}
    measured: dict[str, Record] = {}
    for seed in seeds:
        X, held_out, y, of_held_out = train_test_split(
            *make(seed), test_size=0.25, random_state=seed
        )
        predicted = {
            rival: (estimator.fit(X, y).predict(held_out), None)
            for rival, estimator in _rivals(y, seed).items()
        }
        for kind, regressor in REGRESSORS.items():
            estimator = regressor(random_state=seed, **features)
            model = estimator.fit(X, y).model_
            floats = estimator.predict(held_out)
            predicted[kind] = _integers(model, held_out), floats
            if seed == seeds[0]:
                measured[kind] = some_on_board(model, held_out[:_ON_THE_UNO])
            inside = _inside(estimator, (X, y), (held_out, of_held_out), seed)
            found.setdefault(kind, {}).setdefault("inside", []).append(inside)
        for estimator_name, (values, floats) in predicted.items():
            figures = found.setdefault(estimator_name, {})
            figures.setdefault("r2", []).append(r2_score(of_held_out, values))
            figures.setdefault("mae", []).append(mean_absolute_error(of_held_out, values))
            if floats is not None:
                figures.setdefault("float_r2", []).append(r2_score(of_held_out, floats))
    return [
        {
            "row": name,
            "estimator": each,
            **{figure: float(np.mean(values)) for figure, values in figures.items()},
            **measured.get(each, {}),
        }
        for each, figures in found.items()
    ]


def _interval_rows(name: str, seeds: Sequence[int]) -> list[Record]:
    make, features = OF_INTERVALS[name]
    rows = []
    for kind in _FAST:
        inside = []
        for seed in seeds:
            X, new, y, of_new = train_test_split(*make(seed), test_size=0.25, random_state=seed)
            estimator = REGRESSORS[kind](random_state=seed, **features)
            inside.append(_inside(estimator, (X, y), (new, of_new), seed))
        shares = {"inside": float(np.mean(inside)), "deviation": float(np.std(inside))}
        rows.append({"row": name, "estimator": kind, **shares})
    return rows


def _peer_rows(name: str, seed: int) -> Iterator[Record]:
    data = train_test_split(*DATA[name][0](seed), test_size=0.25, random_state=seed)
    return peers(name, (data[0], data[1], data[2], data[3]), seed)


@click.command()
@click.option("--only", type=click.Choice(list(OF_INTERVALS)), multiple=True)
@click.option("--seeds", type=click.IntRange(1), default=3, show_default=True)
@click.option("--intervals", is_flag=True, help="Print the coverage of intervals only.")
@click.option("--peers", "of_peers", is_flag=True, help="Print the C of other tools instead.")
@click.option("--json", "as_json", is_flag=True)
def main(
    only: tuple[str, ...], seeds: int, *, intervals: bool, of_peers: bool, as_json: bool
) -> None:
    """Measure numbers on the emulated Uno."""
    warnings.simplefilter("ignore")
    if intervals:
        names = only or OF_INTERVALS
        rows = (row for name in names for row in _interval_rows(name, range(seeds)))
        print_table(rows, _INTERVALS, as_json)
    elif of_peers:
        rows = (row for name in only or DATA for row in _peer_rows(name, 0))
        print_table(rows, PEERS, as_json)
    else:
        rows = (row for name in only or DATA for row in _rows(name, range(seeds)))
        print_table(rows, _COLUMNS, as_json)


if __name__ == "__main__":
    main()
