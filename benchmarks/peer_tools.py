"""Tools that turn trained models into C for an Uno: which they are, and the C of each.

Each is called as in its documentation, with what makes it exact. emlearn compares ``x < int(t)``
where scikit-learn's trees compare ``x <= t``: its trees are grown on whole numbers plus 1, and
given the numbers themselves, so that all answers are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import chdir
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from bare_program import FLASH, NotThere, Source
from numpy.typing import NDArray

import protonn_edge
from protonn_edge.codegen.planner import Limits, plans
from protonn_edge.codegen.renderer import render_c
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize

Points = NDArray[Any]
Sources = Iterator[Source]

_SERIAL_BYTES = 3_000  # what plans count besides the model, and the bare program does not take

# A class of C++ for an Uno may use what its compiler has no header for, and Arduino's clock.
_CXX = """#include <stdint.h>
#include <stddef.h>
static inline unsigned long micros(void) { return 0; }
"""
_CSTDARG = {"cstdarg": "#include <stdarg.h>\n"}
_CLASSIFY = """
#include "classify.h"
uint8_t classify(const feature_t *features) {{ {body} }}
"""
_LARGEST = """double scores[{classes}]; score((double *)features, scores); uint8_t best = 0;
for (uint8_t i = 1; i < {classes}; ++i) {{ if (scores[i] > scores[best]) {{ best = i; }} }}
return best;"""


@dataclass(frozen=True)
class Tool:
    """A tool, and how its C is made.

    Attributes
    ----------
    package : str or None
        The name of its package on PyPI, and of its module; none is this project's.
    newest : tuple of str
        Version and month of the newest release, when these figures were measured.
    sources : callable
        Yields the C of a trained model in each of the tool's modes, the smallest first, with the
        test points as it takes them.
    shift : float
        What is added to whole numbers before trees are grown on them.
    votes : bool
        Whether a tree of a forest usually votes, while in scikit-learn it adds the shares of its
        leaf.
    """

    name: str
    package: str | None
    newest: tuple[str, str]
    sources: Callable[[Any, Dataset], Sources]
    shift: float = 0.0
    votes: bool = False

    def check(self) -> None:
        """Raise `NotThere` if it is not installed, or cannot be imported."""
        if self.package is None:
            return
        if not self._installed:
            raise NotThere(f"not installed: pip install {self.package}")
        try:
            _module(self.package.replace("-", "_"))
        except ImportError as error:
            raise NotThere(f"does not import: {error}") from None

    @property
    def release(self) -> str:
        """The installed version, and the newest, with the month of its release."""
        version, month = self.newest
        if self is OURS:
            return protonn_edge.__version__
        if self._installed in ("", version):
            return f"{version} ({month})" if self._installed else ""
        return f"{self._installed}, not {version} ({month})"

    @property
    def _installed(self) -> str:
        try:
            return metadata.version(self.package) if self.package is not None else ""
        except metadata.PackageNotFoundError:
            return ""

    def trained(self, estimator: Any, X: Points, y: Points) -> Any:
        """Fit an estimator as the tool wants it."""
        return estimator.fit(self._shifted(estimator, X), y)

    def answers(self, trained: Any, X: Points, mode: str = "") -> Points:
        """Return the classes that the tool's C is to give, in its usual mode or in another."""
        if isinstance(trained, Model):
            chain = quantize(trained)
            return chain.predict(chain.quantize(X))
        X = self._shifted(trained, X)
        voting = "votes" in mode if mode else self.votes
        if not voting or not _forest(trained):
            return np.asarray(trained.predict(X), np.int64)
        votes = np.stack([tree.predict(X).astype(np.int64) for tree in trained.estimators_])
        counts = np.stack([(votes == each).sum(axis=0) for each in range(votes.max() + 1)])
        first: Points = counts.argmax(axis=0)  # of classes with as many votes
        return first

    def _shifted(self, estimator: Any, X: Points) -> Points:
        return X + self.shift if _forest(estimator) else X


@cache
def _module(name: str) -> Any:
    with np.errstate():  # emlearn makes NumPy raise errors for numbers that become 0
        return import_module(name)


# --- protonn-edge ---------------------------------------------------------------------------------


def _planned(model: Model, data: Dataset, mode: str = "{kernel}", limit: int = FLASH) -> Sources:
    """Yield the C of the fastest plan with each kernel, the smallest first."""
    chain = quantize(model)
    Q = chain.quantize(np.asarray(data.X_test))
    limits = Limits(limit + _SERIAL_BYTES)
    every = plans(chain, limits)
    fastest = {plan.kernel: plan for plan in reversed(every)}
    for plan in sorted(fastest.values(), key=lambda plan: plan.flash_bytes):
        body = _CLASSIFY.format(body="return pnn_predict(features);")
        files = render_c(chain, plan) | {"classify.c": f'#include "pnn_model.h"{body}'}
        yield Source(mode.format(kernel=plan.kernel), "uint8_t", Q, files)


def _ours(trained: Any, data: Dataset) -> Sources:
    if isinstance(trained, Model):
        yield from _planned(trained, data)
        return
    yield from _converted(trained, data, "{kernel}, shares" if _forest(trained) else "{kernel}")
    if _forest(trained):
        yield from _converted(voting(trained), data, "{kernel}, votes")
    elif (np.rint(data.X_train) != data.X_train).any():
        yield from _from_floats(trained, data)


def _converted(trained: Any, data: Dataset, mode: str) -> Sources:
    X = np.asarray(data.X_train)
    yield from _planned(from_sklearn(trained, X, classes=data.classes).model, data, mode)


def _from_floats(trained: Any, data: Dataset) -> Sources:
    """Yield the fastest plan with features that the Uno turns into bytes."""
    *_, fastest = _converted(trained, data, "{kernel}, from floats")
    body = "return pnn_predict_floats(features);"
    code = f'#include "pnn_model.h"{_CLASSIFY.format(body=body)}'
    files = fastest.files | {"classify.c": code}
    yield Source(fastest.mode, "float", np.asarray(data.X_test, np.float32), files)


def _forest(trained: Any) -> bool:
    return type(trained).__name__ in ("RandomForestClassifier", "ExtraTreesClassifier")


def voting(forest: Any) -> Any:
    """Return a forest whose leaves keep the most frequent class alone."""
    forest = deepcopy(forest)
    for tree in forest.estimators_:
        shares = tree.tree_.value
        first = shares.argmax(axis=2)[..., None]
        shares[:] = 0.0
        np.put_along_axis(shares, first, 1.0, axis=2)
    return forest


# --- the others -----------------------------------------------------------------------------------


def _emlearn(trained: Any, data: Dataset) -> Sources:
    emlearn, X = _module("emlearn"), np.asarray(data.X_test)
    include = Path(emlearn.includedir)
    if not _forest(trained):
        yield from _emlearn_network(emlearn, trained, X, include)
        return
    modes = [("inline", "uint8_t", 0), ("inline", "int16_t", 0), ("inline", "uint8_t", 8)]
    modes += [("loadable", "int16_t", 0)] if X.shape[1] < 128 else []  # the most that it takes
    for method, type_, bits in modes:
        model = emlearn.convert(trained, method=method, dtype=type_, leaf_bits=bits)
        code = model.save(name="trees", format="c", include_proba=False)
        call = emlearn_call("trees")
        mode = f"{method} {type_.removesuffix('_t')}{', shares' if bits else ', votes'}"
        yield Source(mode, type_, X.astype(type_[:-2]), {"classify.c": code + call}, include)


def emlearn_call(name: str) -> str:
    """Return the C that calls a model of emlearn."""
    return _CLASSIFY.format(body=f"return (uint8_t){name}_predict(features, FEATURES);")


def _emlearn_network(emlearn: Any, trained: Any, X: Points, include: Path) -> Sources:
    """Yield a network in floats: 0.23.2 stops with an error on those that it calls inline."""
    with TemporaryDirectory() as folder, chdir(folder):  # where it compiles for this computer
        model = emlearn.convert(trained, kind="MLPClassifier", method="loadable")
    code = model.save(name="net", inference=["loadable"])
    code += emlearn_call("net")
    points = np.asarray(trained.scaled(X), np.float32)
    yield Source("loadable float", "float", points, {"classify.c": code}, include)


def _m2cgen(trained: Any, data: Dataset) -> Sources:
    code = _module("m2cgen").export_to_c(trained)
    code += _CLASSIFY.format(body=_LARGEST.format(classes=len(data.classes)))
    yield Source("C", "double", np.asarray(data.X_test, np.float32), {"classify.c": code})


def _micromlgen(trained: Any, data: Dataset) -> Sources:
    name = _name(trained).replace("Classifier", "") if _forest(trained) else _name(trained)
    for platform in ("arduino", "attiny") if name == "LogisticRegression" else ("arduino",):
        code = _module("micromlgen").port(trained, platform=platform)
        body = f"Eloquent::ML::Port::{name} each; return each.predict((float *)features);"
        files = _CSTDARG | {"classify.cpp": _CXX + code + _CLASSIFY.format(body=body)}
        mode = f"{platform}, votes" if _forest(trained) else platform
        yield Source(mode, "float", np.asarray(data.X_test, np.float32), files)


def _name(trained: Any) -> str:
    return type(trained).__name__


OURS = Tool("protonn-edge", None, ("", ""), _ours)
EMLEARN = Tool("emlearn", "emlearn", ("0.23.2", "2026-04"), _emlearn, shift=1.0, votes=True)
M2CGEN = Tool("m2cgen", "m2cgen", ("0.10.0", "2022-04"), _m2cgen)
MICROMLGEN = Tool("micromlgen", "micromlgen", ("1.1.28", "2022-04"), _micromlgen, votes=True)
TOOLS = (OURS, EMLEARN, M2CGEN, MICROMLGEN)
