"""Numbers on an Arduino Uno: R2 and errors beside scikit-learn's regressors, cycles and flash.

A row is a data set and an estimator. A quarter of the points, drawn with the seed, is held out and
read once. *R2* is the mean over the seeds, for models of this package in integers; *float* is that
of the same models in floats. Cycles and flash are those of the firmware of the first seed on the
emulated Uno, on which every score of held-out points is compared with NumPy (*differ*; none may).

The regressors of scikit-learn have no limits of size: ridge regression with its parameter chosen by
cross-validation, a support vector machine, and a forest of 100 trees.

Data: diabetes, friedman1 (4,000 points, noise 1), friedman2, friedman3 and a linear problem with 30
features of scikit-learn; and windows of a synthetic vibration whose amplitude is to be predicted.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import value_peers
from columns import Record, figure, named
from emulated import some_on_board
from numpy.typing import NDArray
from runner import Benchmark, Case
from sklearn.datasets import (
    load_diabetes,
    make_friedman1,
    make_friedman2,
    make_friedman3,
    make_regression,
)
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.registry import REGRESSORS

Points = tuple[NDArray[Any], NDArray[Any]]
_ON_THE_UNO = 200  # held-out points that run on the emulated Uno


def _vibration(seed: int) -> Points:
    rng = np.random.default_rng(seed)
    n, length = 1_500, 32
    amplitude = rng.uniform(0.5, 4, n)
    phase, rate = rng.uniform(0, 6.28, (n, 1)), rng.uniform(0.2, 0.6, (n, 1))
    waves = amplitude[:, None] * np.sin(rate * np.arange(length) + phase)
    return waves + rng.normal(0, 0.3, (n, length)), amplitude


def _linear(seed: int) -> Any:
    return make_regression(1_000, 30, n_informative=12, noise=60, random_state=seed)


# Makers of data sets, and the parameters of features.
CASES = (
    Case("diabetes", (lambda _: load_diabetes(return_X_y=True), {})),
    Case("friedman1", (lambda seed: make_friedman1(4_000, noise=1, random_state=seed), {})),
    Case("friedman2", (lambda seed: make_friedman2(2_000, noise=50, random_state=seed), {})),
    Case("friedman3", (lambda seed: make_friedman3(2_000, noise=0.1, random_state=seed), {})),
    Case("linear30", (_linear, {})),
    Case(
        "vibration",
        (_vibration, {"features": "deviation,min,max,crossings", "window_shape": (32, 1)}),
    ),
)


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


def measure(case: Case, seeds: Sequence[int]) -> Iterator[Record]:
    """Yield the row of each kind of this package, and of each rival."""
    warnings.simplefilter("ignore")
    make, features = case.given
    found: dict[str, dict[str, list[float]]] = {}
    measured: dict[str, Record] = {}
    for seed in seeds:
        X, held_out, y, of_held_out = train_test_split(
            *make(seed), test_size=0.25, random_state=seed
        )
        for kind, regressor in REGRESSORS.items():
            estimator = regressor(random_state=seed, **features)
            model = estimator.fit(X, y).model_
            figures = found.setdefault(kind, {"r2": [], "float_r2": []})
            figures["r2"].append(r2_score(of_held_out, _integers(model, held_out)))
            figures["float_r2"].append(r2_score(of_held_out, estimator.predict(held_out)))
            if seed == seeds[0]:
                measured[kind] = some_on_board(model, held_out[:_ON_THE_UNO])
        for rival, estimator in _rivals(y, seed).items():
            predicted = estimator.fit(X, y).predict(held_out)
            found.setdefault(rival, {"r2": []})["r2"].append(r2_score(of_held_out, predicted))
    for name, figures in found.items():
        means = {each: float(np.mean(values)) for each, values in figures.items()}
        yield {"data": case.name, "estimator": name, **means, **measured.get(name, {})}


def peers(case: Case) -> Iterator[Record]:
    """Yield the rows of regressors of scikit-learn as the C of several tools."""
    warnings.simplefilter("ignore")
    return value_peers.rows(
        case.name, train_test_split(*case.given[0](0), test_size=0.25, random_state=0), 0
    )


BENCHMARKS = {
    "values": Benchmark(
        "Numbers: R2 of this package's kinds, and of scikit-learn's regressors of any size.",
        CASES,
        (
            *named("data", "estimator"),
            figure("R2", "r2", ".4f"),
            figure("float", "float_r2", ".4f"),
            figure("cycles", "cycles", ",.0f"),
            *named("flash", "differ"),
        ),
        measure,
        seeds=3,
    ),
    "value_peers": Benchmark(
        "The same regressors as the C of several tools; needs: pip install emlearn m2cgen.",
        CASES,
        value_peers.COLUMNS,
        peers,
    ),
}
