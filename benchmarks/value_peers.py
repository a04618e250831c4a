"""Regressors of scikit-learn as the C of several tools, on the same emulated Uno.

Each tool gets the same fitted regressor. Trees compare bytes,
as in `peers.py`; ridge regressions and networks get floats, which our C turns into bytes in rows
*from floats*, and the host in rows *bytes*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from bare_program import DoesNotCompile, DoesNotFit, Source, fastest, linked
from columns import Column, Record, figure, named
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import StandardScaler

from protonn_edge import from_sklearn
from protonn_edge.codegen.planner import Limits, plans
from protonn_edge.codegen.renderer import render_c
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.value.rule import IntegerValue

Points = NDArray[Any]
Made = Iterator[tuple[Source, float]]  # C, and the number that an answer of 1 stands for
Sources = Callable[[], Made]

_TRIED, _RUN = 20, 200  # held-out points that choose the level, and those of the figures
_SHIFT = 1.0  # of the points that emlearn's trees are grown on, see `peer_tools`
_TREES, _LEAVES = 10, 60
_CALL = '#include "classify.h"\nanswer_t classify(const feature_t *features) {{ {body} }}\n'
_FROM_BYTES = "(void)pnn_predict(features); return pnn_value();"
_FROM_FLOATS = "(void)pnn_predict_floats(features); return pnn_value();"


def _ours(fitted: Any, X: Points, new: Points) -> Made:
    """Yield the fastest plan of the converted regressor, and the value of an answer of 1."""
    chain = quantize(from_sklearn(fitted, X).model)
    rule = chain.policy.find(IntegerValue)
    assert rule is not None
    plan = plans(chain, Limits())[0]
    forms = (
        ("bytes", "uint8_t", chain.quantize(new.astype(np.float32)), _FROM_BYTES),
        ("from floats", "float", new.astype(np.float32), _FROM_FLOATS),
    )
    for mode, kind, points, body in forms:
        text = f'#include "pnn_model.h"\n{_CALL.format(body=body)}'
        files = render_c(chain, plan) | {"classify.c": text}
        yield Source(mode, kind, points, files, answer="int32_t"), rule.unit


def _m2cgen(fitted: Any, new: Points) -> Made:
    code = import_module("m2cgen").export_to_c(fitted)
    code += _CALL.format(body="return (float)score((double *)features);")
    points = new.astype(np.float32)
    yield Source("C", "double", points, {"classify.c": code}, answer="float"), 1.0


def _emlearn_trees(fitted: Any, X: Points, y: Points, new: Points) -> Made:
    emlearn = import_module("emlearn")
    shifted = clone(fitted).fit(X + _SHIFT, y)
    for method, kind in (("inline", "uint8_t"), ("loadable", "int16_t")):
        with TemporaryDirectory() as folder, chdir(folder):  # where it compiles for this computer
            model = emlearn.convert(shifted, method=method, dtype=kind)
        code = model.save(name="trees", format="c")
        code += _CALL.format(body="return trees_predict(features, FEATURES);")
        points = new.astype(kind.removesuffix("_t"))
        include = Path(emlearn.includedir)
        yield Source(method, kind, points, {"classify.c": code}, include, "float"), 1.0


def _emlearn_network(fitted: Any, new: Points) -> Made:
    emlearn = import_module("emlearn")
    with TemporaryDirectory() as folder, chdir(folder):
        model = emlearn.convert(fitted, method="loadable")
    code = model.save(name="net", inference=["loadable"])
    code += _CALL.format(body="return net_regress1(features, FEATURES);")
    points, include = new.astype(np.float32), Path(emlearn.includedir)
    yield Source("loadable", "float", points, {"classify.c": code}, include, "float"), 1.0


def rows(name: str, data: Sequence[Points], seed: int) -> Iterator[Record]:
    """Yield a row for each regressor, tool and form of its C."""
    X, new, y, of_new = data  # a training and a held-out part
    low, unit = X.min(axis=0), np.ptp(X, axis=0) / 255
    in_bytes = [np.clip(np.rint((each - low) / unit), 0, 255) for each in (X, new)]
    scaler = StandardScaler().fit(X)
    scaled = [scaler.transform(each) for each in (X, new)]
    forest = RandomForestRegressor(_TREES, max_leaf_nodes=_LEAVES, random_state=seed)
    network = MLPRegressor(hidden_layer_sizes=(12,), max_iter=2_000, random_state=seed)
    ridge = RidgeCV(np.logspace(-3, 4, 15))
    forest.fit(in_bytes[0], y)
    network.fit(scaled[0], (y - y.mean()) / y.std())
    ridge.fit(X, y)
    ours = "protonn-edge"
    made: list[tuple[str, str, Sources]] = [
        ("forest", ours, lambda: _ours(forest, *in_bytes)),
        ("forest", "emlearn", lambda: _emlearn_trees(forest, in_bytes[0], y, in_bytes[1])),
        ("forest", "m2cgen", lambda: _m2cgen(forest, in_bytes[1])),
        ("ridge", ours, lambda: _ours(ridge, X, new)),
        ("ridge", "m2cgen", lambda: _m2cgen(ridge, new)),
        ("network", ours, lambda: _ours(network, *scaled)),
        ("network", "emlearn", lambda: _emlearn_network(network, scaled[1])),
    ]
    fitted = {
        "forest": (forest, in_bytes[1]),
        "ridge": (ridge, new),
        "network": (network, scaled[1]),
    }
    for model, tool, sources in made:
        regressor, points = fitted[model]
        # the network predicts normalized numbers
        scale = (float(y.std()), float(y.mean())) if model == "network" else (1.0, 0.0)
        exact = regressor.predict(points[:_RUN]) * scale[0] + scale[1]
        about = {"data": name, "model": model, "tool": tool}
        about["library_r2"] = r2_score(of_new[:_RUN], exact)
        try:
            for source, step in sources():
                yield about | _measured(source, step, scale, of_new[:_RUN])
        except ModuleNotFoundError as error:
            yield about | {"failure": f"not installed: pip install {error.name}"}


def _measured(source: Source, step: float, scale: tuple[float, float], actual: Points) -> Record:
    """Return the figures of the faster of two levels of optimization that fits the Uno."""
    try:
        level = fastest([source], _TRIED)[1]
    except (DoesNotCompile, DoesNotFit) as error:
        return {"mode": source.mode, "failure": str(error)}
    with linked(source, level) as program:
        ran = program.run(_RUN)
        predicted = ran["answers"] * step * scale[0] + scale[1]
        return {
            "mode": f"{source.mode} {level}",
            "r2": float(r2_score(actual, predicted)),
            "cycles": ran["cycles"]["mean"],
            "flash": program.flash_bytes,
            "sram": program.sram_bytes,
        }


COLUMNS = (
    *named("data", "model", "tool", "mode"),
    figure("R2 in Python", "library_r2", ".4f"),
    Column("R2 on the Uno", lambda r: r.get("failure") or format(r["r2"], ".4f")),
    figure("cycles", "cycles", ",.0f"),
    *named("flash", "sram"),
)
