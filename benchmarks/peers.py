"""Tools for an Uno beside each other, each at its best options, on the same emulated Uno.

There are three comparisons for each data set:

the same forest   a random forest of scikit-learn (10 trees of up to 60 leaves), which each tool
                  turns into C; a row is one of the tool's modes
the same boosted  trees of XGBoost, for the tools that take them, of features as they are; few
trees             rounds, so that the C of all fits
its own best      of each kind of model that a tool turns into C, the one that fits the Uno and is
                  the most accurate in five-fold cross-validation of the training points (of people,
                  if known); then trained on all of them

Each program is compiled with -Os and with -O2, and the faster one that fits is run on all test
points, which are read for nothing else. Cycles are those of a prediction, mean and maximum; flash
and SRAM are what the program takes more than one without classifier and features. Features for
trees are bytes (those of boosted trees are not), and what turns them into bytes, or into the scaled
floats of emlearn's networks, is not timed, except in rows *from floats*. A program whose package is
not installed, that does not compile or does not fit has a row with the reason.

Needs: pip install emlearn m2cgen micromlgen xgboost.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import click
import numpy as np
from bare_program import (
    FLASH,
    LEVELS,
    DoesNotCompile,
    DoesNotFit,
    NotThere,
    Source,
    fastest,
    linked,
)
from columns import Column, Record, figure, mean_and_most, named, percent
from imported import TRAINERS, Sizes
from kind_rows import HAR, LETTER, USPS
from numpy.typing import NDArray
from peer_tools import EMLEARN, MICROMLGEN, OURS, TOOLS, Tool
from protonn_rows import PRESETS
from runner import Benchmark
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from trained import Row, held_out_in_turn
from trainings import estimator_with

from protonn_edge.data.points.dataset import Dataset

SEED = 0
_FOLDS = 5  # each is held out in turn
_TREES, _FEW_TREES = (20, 40), (3, 5, 10, 20)  # a few where a test takes many bytes
_TRIED_POINTS = 50  # which choose between programs
_SAME_TREES, _SAME_LEAVES = 10, 60
_FAILURES = (DoesNotCompile, DoesNotFit)


def _set(name: str, file: str | None, rounds: int, *presets: str, **about: Any) -> Row:
    """Return a data set: rounds of its boosted trees, and the presets or settings of ProtoNN."""
    given = {"rounds": rounds, "presets": presets, "protonn": about.pop("protonn", {})}
    return Row(name, file, about=given, **about)


_SIZES = {"n_projections": 10, "n_prototypes": 40, "batch_size": 64}
SETS = (
    _set("digits", None, 4, protonn=_SIZES),
    _set("letters", LETTER, 1, "letter26"),
    _set("har", HAR, 6, "har", groups="subject_train"),
    _set("usps", USPS, 3, "usps10-gradients", "usps10-2kB"),
)


# --- the same trees -------------------------------------------------------------------------------


def same_forest(data: Dataset, tools: list[Tool]) -> Iterator[Record]:
    """Yield a row for each mode of each tool that turns a forest into C."""
    data = in_bytes(data)
    shape = {"n_estimators": _SAME_TREES, "max_leaf_nodes": _SAME_LEAVES}
    for tool in tools:
        forest = RandomForestClassifier(**shape, random_state=SEED, n_jobs=1)
        about = {"compared": "the same forest", "model": "random forest", **shape}
        yield from _each_mode(tool, forest, data, about)


def same_boosted(data: Dataset, rounds: int, tools: list[Tool]) -> Iterator[Record]:
    """Yield rows for boosted trees of XGBoost."""
    for tool in (tool for tool in tools if tool is not EMLEARN):
        about = {"compared": "the same boosted trees", "model": f"xgboost, {rounds} rounds"}
        try:
            trees = TRAINERS["xgboost"](Sizes(rounds, 12, 4))
        except ModuleNotFoundError:
            yield _record(tool, about) | {"failure": "not installed: pip install xgboost"}
            continue
        trees.set_params(base_score=0.5, num_parallel_tree=1)  # m2cgen reads the parameters
        yield from _each_mode(tool, trees, data, about)


def _each_mode(tool: Tool, estimator: Any, data: Dataset, about: Record) -> Iterator[Record]:
    try:
        tool.check()
        trained = tool.trained(estimator, data.X_train, data.y_train)
        for source in tool.sources(trained, data):
            yield _measured(tool, [source], trained, data, about, FLASH)
    except NotThere as error:
        yield _record(tool, about) | {"failure": str(error)}


def in_bytes(data: Dataset) -> Dataset:
    """Return features as whole numbers of 0 to 255: as they are, or the range of each in steps."""
    train, test = np.asarray(data.X_train), np.asarray(data.X_test)
    low, high = train.min(axis=0), train.max(axis=0)
    whole = bool((np.rint(train) == train).all()) and high.max() - low.min() < 256
    unit = 1.0 if whole else np.where(high > low, (high - low) / 255, 1)
    low = low.min() if whole else low
    parts = (np.clip(np.rint((X - low) / unit), 0, 255) for X in (train, test))
    train, test = (part.astype(np.float32) for part in parts)
    return replace(data, X_train=train, X_test=test)


# --- each tool's own best -------------------------------------------------------------------------


@dataclass(frozen=True)
class Candidate:
    """Settings of a kind of model, and how it is trained; `size` is the first to try, if any."""

    tool: Tool
    kind: str
    settings: Record
    train: Callable[[Dataset, int], Any]
    size: int = 0
    kernel: str = ""  # the only one, if any

    def sources(self, trained: Any, data: Dataset) -> list[Source]:
        """Return the C of a trained model."""
        every = self.tool.sources(trained, data)
        return [source for source in every if source.mode.startswith(self.kernel)]

    def shown(self, size: int) -> Record:
        """Return the settings, with the size that was found."""
        return self.settings if not self.size else {**self.settings, "size": size}


def own_best(each: Row, data: Dataset, tools: list[Tool]) -> Iterator[Record]:
    """Yield a row for each kind of model of each tool: the best of its candidates."""
    for tool in tools:
        kinds: dict[str, list[Candidate]] = {}
        for candidate in _candidates(each, tool):
            kinds.setdefault(candidate.kind, []).append(candidate)
        try:
            tool.check()
        except NotThere as error:
            about = {"compared": "its own best", "model": ", ".join(kinds)}
            yield from [_record(tool, about) | {"failure": str(error)}] if kinds else []
            continue
        for kind, candidates in kinds.items():
            of_bytes = tool is not OURS and kind == "forest"
            features = in_bytes(data) if of_bytes else data
            yield _best(candidates, features, {"compared": "its own best", "model": kind}, FLASH)


def _best(candidates: list[Candidate], data: Dataset, about: Record, flash: int) -> Record:
    tool = candidates[0].tool
    found = []
    reason: Exception = DoesNotFit("no candidate fits")
    for candidate in candidates:
        try:
            size, trained = _largest(candidate, data, flash)
            share = held_out_accuracy(candidate, size, data) if len(candidates) > 1 else 1.0
            found.append((share, candidate, size, trained))
        except _FAILURES as error:
            reason = error
    if not found:
        return _record(tool, about) | {"failure": str(reason)}
    share, best, size, trained = max(found, key=lambda one: one[0])
    about |= best.shown(size) | ({"held_out": share} if len(candidates) > 1 else {})
    return _measured(tool, best.sources(trained, data), trained, data, about, flash)


def held_out_accuracy(candidate: Candidate, size: int, data: Dataset) -> float:
    """Return the mean accuracy, 0 to 1, over the folds of the training points."""
    shares = []
    for part in held_out_in_turn(data, _FOLDS):
        answers = candidate.tool.answers(candidate.train(part, size), part.X_test)
        shares.append(np.mean(answers == part.y_test))
    return float(np.mean(shares))


def _largest(candidate: Candidate, data: Dataset, flash: int) -> tuple[int, Any]:
    """Return the largest size that fits, of a few tries, and the model of all training points."""
    best: tuple[int, Any] | None = None
    size, tried = candidate.size, dict[int, float]()
    for _ in range(6):
        trained = candidate.train(data, size)
        share = _share(candidate, trained, data, flash)
        grew = not tried or share > max(tried.values())
        tried[size] = share
        if share <= 1 and (best is None or size > best[0]):
            best = size, trained
        following = int(size * min(max(0.97 / share, 0.2), 4.0))
        if not candidate.size or (share <= 1 and (share > 0.93 or not grew)):
            break
        if following in tried or following < 2:
            break
        size = following
    if best is None:
        raise DoesNotFit(f"takes {share:.1f} times what the Uno has")
    return best


def _share(candidate: Candidate, trained: Any, data: Dataset, flash: int) -> float:
    """Return how much of the flash or SRAM the smallest program takes, at most about."""
    few = replace(data, X_test=np.asarray(data.X_test)[:1], y_test=data.y_test[:1])
    shares = []
    for source in candidate.sources(trained, few):
        with suppress(DoesNotCompile), linked(source, LEVELS[0]) as program:  # not in this mode
            shares.append(program.share(flash))
            if shares[-1] <= 1:
                with suppress(DoesNotFit):
                    program.run(1)
                    return shares[-1]
                shares[-1] = 1.01  # its stack
    if not shares:
        raise DoesNotCompile("in no mode")
    return min(shares)


# --- the candidates -------------------------------------------------------------------------------


def _candidates(each: Row, tool: Tool) -> Iterator[Candidate]:
    """Yield the models that a tool turns into C, with the settings that are compared."""
    if tool is OURS:
        yield from _our_candidates(each)
    elif tool is EMLEARN:
        counts = sorted({*_FEW_TREES, *_TREES})
        yield from _forests(tool, (RandomForestClassifier, ExtraTreesClassifier), counts)
        yield from _networks(tool)
    elif tool is MICROMLGEN:
        yield from _forests(tool, (RandomForestClassifier,), _FEW_TREES)


def _forests(tool: Tool, ensembles: tuple[Any, ...], counts: Sequence[int]) -> Iterator[Candidate]:
    for ensemble in ensembles:
        for trees in counts:

            def train(
                data: Dataset, size: int, ensemble: Any = ensemble, trees: int = trees
            ) -> Any:
                forest = ensemble(trees, max_leaf_nodes=size, random_state=SEED, n_jobs=1)
                return tool.trained(forest, data.X_train, data.y_train)

            settings = {"ensemble": ensemble.__name__.removesuffix("Classifier"), "trees": trees}
            yield Candidate(tool, "forest", settings, train, size=1_800 // trees)


class _Network(MLPClassifier):  # type: ignore[misc]
    """A network of normalized features."""

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Any:
        self.mean_, self.unit_ = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-3)
        return super().fit(self.scaled(X), y)

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        found: NDArray[Any] = super().predict(self.scaled(X))
        return found

    def scaled(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return normalized features."""
        normalized: NDArray[Any] = (X - self.mean_) / self.unit_
        return normalized


def _networks(tool: Tool) -> Iterator[Candidate]:
    for hidden in (3, 6, 12):
        for alpha in (1e-4, 1e-2):

            def train(data: Dataset, _size: int, hidden: int = hidden, alpha: float = alpha) -> Any:
                network = _Network((hidden,), alpha=alpha, max_iter=200, random_state=SEED)
                return network.fit(np.asarray(data.X_train), data.y_train)

            yield Candidate(tool, "network", {"hidden": hidden, "alpha": alpha}, train)


def _our_candidates(each: Row) -> Iterator[Candidate]:
    for ensemble in ("random", "extra"):
        for trees in _FEW_TREES:
            settings = {"ensemble": ensemble, "n_trees": trees}
            yield replace(_our_candidate("forest", settings), size=12_000, kernel="if-else")
    for regularization in (1e-4, 1e-3, 3e-3):
        yield _our_candidate("linear", {"regularization": regularization})
    if each.about["protonn"]:
        yield _our_candidate("protonn", each.about["protonn"])
    for name in each.about["presets"]:
        preset = next(one for one in PRESETS if one.name == name)
        yield replace(_our_candidate("protonn", preset.settings), kind=f"protonn, {name}")


def _our_candidate(kind: str, settings: Record) -> Candidate:
    def train(data: Dataset, size: int) -> Any:
        options = settings | ({"size_budget": size} if size else {})
        classifier = estimator_with(kind, options)(random_state=SEED, **options)
        classifier.fit(data.X_train, data.y_train, groups=data.groups)
        return classifier.to_model(classes=data.classes)

    return Candidate(OURS, kind, settings, train)


# --- what is measured -----------------------------------------------------------------------------


def _record(tool: Tool, about: Record) -> Record:
    return {"tool": tool.name, "version": tool.release, **about}


def _measured(
    tool: Tool, sources: list[Source], trained: Any, data: Dataset, about: Record, flash: int
) -> Record:
    """Return what the fastest program that fits takes of the Uno, and its right answers there."""
    record = _record(tool, about) | {"mode": sources[0].mode}
    try:
        source, level = fastest(sources, _TRIED_POINTS, flash)
    except _FAILURES as error:
        return record | {"failure": str(error)}
    with linked(source, level) as program:
        ran = program.run()
    answers, expected = ran.pop("answers"), tool.answers(trained, data.X_test, source.mode)
    return {
        **record,
        "mode": source.mode,
        "level": level,
        "accuracy": float(np.mean(answers == data.y_test)),
        "n": len(answers),
        "as_in_python": float(np.mean(answers == expected)),
        "flash_bytes": program.flash_bytes,
        "sram_bytes": program.sram_bytes,
        **ran,
    }


def _model(record: Record) -> str:
    named = {"n_estimators": "trees", "n_trees": "trees", "max_leaf_nodes": "leaves"}
    about = ("data", "tool", "version", "compared", "model", "mode", "level", "held_out", "failure",
             "accuracy", "n", "as_in_python", "flash_bytes", "sram_bytes", "stack_bytes",
             "cycles")  # fmt: skip
    settings = [f"{named.get(key, key)} {record[key]}" for key in record if key not in about]
    return ", ".join([record["model"], *settings])


COMPARISONS: dict[str, Callable[[Row, Dataset, list[Tool]], Iterator[Record]]] = {
    "forest": lambda _each, data, tools: same_forest(data, tools),
    "boosted": lambda each, data, tools: same_boosted(data, each.about["rounds"], tools),
    "best": own_best,
}


def measure(each: Row, data: Dataset, tool: str | None, compared: str | None) -> Iterator[Record]:
    """Yield all rows of a data set, or those of one tool or comparison."""
    warnings.simplefilter("ignore")
    tools = [one for one in TOOLS if tool in (None, one.name)]
    for name, made in COMPARISONS.items():
        if compared in (None, name):
            yield from ({"data": each.name, **record} for record in made(each, data, tools))


BENCHMARKS = {
    "peers": Benchmark(
        "What the C of several tools takes of an Uno.",
        SETS,
        (
            *named("data", "compared", "tool", "version"),
            Column("model", _model),
            *named("mode", "level", "failure"),
            figure("Uno %", "accuracy", percent),
            figure("as in Python %", "as_in_python", percent),
            figure("points", "n", ","),
            figure("cycles mean (max)", "cycles", mean_and_most),
            *named("flash_bytes", "sram_bytes", "stack_bytes"),
        ),
        measure,
        options=(
            click.option("--tool", type=click.Choice([t.name for t in TOOLS]), help="One tool."),
            click.option("--compared", type=click.Choice([*COMPARISONS]), help="One comparison."),
        ),
    ),
}
