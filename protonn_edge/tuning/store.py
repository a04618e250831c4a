"""The trials of a search in a file, so that a stopped search can be resumed.

The file is optuna's journal, a line of JSON per trial, which optuna and its dashboard read. It
contains only finished trials.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState

from protonn_edge.boards import Board
from protonn_edge.codegen.plan import PLANS
from protonn_edge.errors import InputError
from protonn_edge.system import schema
from protonn_edge.system.files import AppendedFile, check_file
from protonn_edge.tuning.limits import LIMIT_NAMES, Figures

_FOLDS = 20
_REASON_LENGTH = 1_000

_SHARE = schema.number(0, 1)
_FIGURES = schema.record_of(
    {
        "kernel": schema.one_of(*PLANS),
        "flash_bytes": schema.whole(-(10**5), 10**9),  # below 0 of an overestimated firmware
        "sram_bytes": schema.whole(0, 10**9),
        "mean_cycles": schema.number(0, 1e15),
    }
)
_ATTRIBUTES = schema.record_of(
    {
        "number": schema.whole(0, 10**9),
        "outcome": schema.one_of("complete", "pruned", "rejected", "failed"),
        "figures": schema.optional(_FIGURES),
        "scores": schema.list_of(_SHARE, _FOLDS),
        "accuracies": schema.list_of(_SHARE, _FOLDS),
        "loss": schema.number(0, 1e3),
        "rungs": schema.list_of(
            lambda pair: isinstance(pair, list) and len(pair) == 2 and all(map(_SHARE, pair)), 100
        ),
        "seconds": schema.number(0, 1e12),
        "reason": schema.text(_REASON_LENGTH),
        "excess": lambda value: (
            isinstance(value, dict)
            and value.keys() <= LIMIT_NAMES
            and all(map(schema.number(0, 1e300), value.values()))
        ),
        "is_default": lambda value: type(value) is bool,
    }
)
_NAME = "protonn-edge"
_LIMIT_BYTES = 1 << 30
_STATES = {
    "complete": TrialState.COMPLETE,
    "pruned": TrialState.PRUNED,
    "rejected": TrialState.PRUNED,
    "failed": TrialState.FAIL,
}


def is_trial(attributes: Any) -> bool:
    """Return whether a trial in a file is one that `Record` writes."""
    if not _ATTRIBUTES(attributes):
        return False
    # A complete trial has scores and figures, one that does not fit has figures.
    measured = attributes["figures"] is not None
    return {
        "complete": measured and len(attributes["scores"]) == len(attributes["accuracies"]) > 1,
        "rejected": measured and len(attributes["excess"]) > 0,
        "pruned": True,
        "failed": True,
    }[attributes["outcome"]]


def are_settings(settings: Any, distributions: Mapping[str, BaseDistribution]) -> bool:
    """Return whether settings of a trial can have been drawn from these distributions."""
    return (
        isinstance(settings, dict)
        and settings.keys() == distributions.keys()
        and all(_contains(each, settings[name]) for name, each in distributions.items())
    )


def _contains(distribution: BaseDistribution, value: Any) -> bool:
    if isinstance(distribution, CategoricalDistribution):
        return any(
            value == choice and type(value) is type(choice) for choice in distribution.choices
        )
    if isinstance(distribution, IntDistribution):
        return type(value) is int and distribution.low <= value <= distribution.high
    return (
        isinstance(distribution, FloatDistribution)
        and type(value) is float
        and distribution.low <= value <= distribution.high
    )


Outcome = Literal["complete", "pruned", "rejected", "failed"]


@dataclass(frozen=True)
class Record:
    """A finished trial."""

    number: int  # its number in the search, from 0
    settings: Mapping[str, Any]  # the drawn settings, by the estimator's parameters
    # complete, pruned, rejected, failed: "pruned" if a smaller and faster one was ahead, "rejected"
    # if it does not fit
    outcome: Outcome
    # its memory and cycles; of a pruned or rejected trial before training; None if unknown
    figures: Figures | None = None
    # the metric of the integer model in the folds, 0..1; of a pruned trial in the tested ones
    scores: tuple[float, ...] = ()
    # accuracy on the first fold's points, by completed share of training
    rungs: Mapping[float, float] = field(default_factory=dict)
    seconds: float = 0.0  # of training, over the folds
    reason: str = ""  # the reason if it is not complete
    # of a rejected trial: the share of each exceeded limit, above 1
    excess: Mapping[str, float] = field(default_factory=dict)
    is_default: bool = False  # whether it is one of the given first trials, not a drawn one
    accuracies: tuple[float, ...] = ()  # beside the scores
    loss: float = 0.0  # log loss of the integer scores, mean of the folds

    @property
    def score(self) -> float:
        """Mean of the folds, 0..1."""
        return sum(self.scores) / len(self.scores)

    @property
    def accuracy(self) -> float:
        """Mean of the folds, 0..1."""
        return sum(self.accuracies) / len(self.accuracies)

    @property
    def deviation(self) -> float:
        """Standard deviation of the metric over the folds."""
        return float(np.std(self.scores, ddof=1)) if len(self.scores) > 1 else 0.0

    @property
    def measured(self) -> Figures:
        """The memory and cycles, which complete and rejected trials have."""
        assert self.figures is not None
        return self.figures

    def to_json(self, board: Board) -> dict[str, Any]:
        """Return a complete trial with its latency and energy on the board."""
        figures = self.measured
        return {
            "trial": self.number,
            "is_default": self.is_default,
            "score": self.score,
            "fold_scores": list(self.scores),
            "score_deviation": self.deviation,
            "accuracy": self.accuracy,
            "fold_accuracies": list(self.accuracies),
            "log_loss": self.loss,
            **asdict(figures),
            "mean_ms": board.milliseconds(figures.mean_cycles),
            "mean_mj": board.millijoules(figures.mean_cycles),
            "settings": dict(self.settings),
        }

    def frozen(self, distributions: dict[str, BaseDistribution]) -> FrozenTrial:
        """Return the record as optuna's trial."""
        attributes = asdict(self) | {
            "scores": list(self.scores),
            "accuracies": list(self.accuracies),
            "rungs": [[share, value] for share, value in self.rungs.items()],
            "excess": dict(self.excess),
        }
        del attributes["settings"]
        return optuna.trial.create_trial(
            state=_STATES[self.outcome],
            value=self.score if self.outcome == "complete" else None,
            params=dict(self.settings),
            distributions=distributions,
            intermediate_values={round(100 * share): value for share, value in self.rungs.items()},
            user_attrs=attributes,
        )

    @classmethod
    def of(cls, trial: FrozenTrial) -> Record:
        """Return the record of an optuna trial with checked fields."""
        kept = dict(trial.user_attrs)
        figures = kept["figures"]
        kept["figures"] = None if figures is None else Figures(**figures)
        kept |= {name: tuple(kept[name]) for name in ("scores", "accuracies")}
        kept["rungs"] = dict(kept["rungs"])
        return cls(settings=trial.params, **kept)


class SearchFile(AppendedFile):
    """The file of a search, for a ``with`` statement; it is created if it does not exist.

    Raises `InputError` if the file is not a search's, is in use, or belongs to a search with
    another identity; see `search.identity`.
    """

    def __init__(
        self, path: Path, identity: Mapping[str, Any], distributions: dict[str, BaseDistribution]
    ) -> None:
        if path.exists():
            check_file(path, limit_bytes=_LIMIT_BYTES, may_be_empty=True)
        super().__init__(path, "--search")
        self._identity = json.loads(json.dumps(identity))
        self._distributions = distributions
        try:
            self._study = self._open()
        except BaseException:
            self._file.close()
            raise

    def records(self) -> dict[int, Record]:
        """Return the finished trials by their numbers; raise `InputError` if one is damaged."""
        records: dict[int, Record] = {}
        with self._by_optuna():
            trials = self._study.get_trials(deepcopy=False)
        for trial in trials:
            if not (is_trial(trial.user_attrs) and are_settings(trial.params, self._distributions)):
                raise InputError(
                    f"{self._path} has a damaged trial after {len(records):,} good ones; name "
                    "another file with --search, or remove this file"
                )
            record = Record.of(trial)
            records[record.number] = record
        if len({len(each.scores) for each in records.values() if each.outcome == "complete"}) > 1:
            raise InputError(
                f"{self._path} has trials with different numbers of folds; name another file with "
                "--search, or remove this file"
            )
        return records

    @contextmanager
    def _by_optuna(self) -> Iterator[None]:
        """Convert optuna's errors on a damaged file, which are of many kinds, to a sentence."""
        try:
            yield
        except OSError:
            raise
        except Exception as error:
            raise self._no_search() from error

    def add(self, record: Record) -> None:
        """Append a finished trial."""
        trial = record.frozen(self._distributions)
        with self._by_optuna():
            self._study.add_trial(trial)

    def _open(self) -> optuna.Study:
        self._repair()
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with self._by_optuna():
            lock: Any = _HeldLock()  # the base class of optuna's locks is not public
            storage = JournalStorage(JournalFileBackend(str(self._path), lock))
            try:
                study = optuna.load_study(study_name=_NAME, storage=storage)
            except KeyError:  # there is no study yet
                study = optuna.create_study(study_name=_NAME, storage=storage, direction="maximize")
            stored = study.user_attrs.get("search")
            if stored is None and not study.get_trials(deepcopy=False):
                study.set_user_attr("search", stored := self._identity)
        if not isinstance(stored, dict | None):
            raise self._no_search()
        if stored != self._identity:
            differing = sorted(
                key for key, value in self._identity.items() if (stored or {}).get(key) != value
            )
            raise InputError(
                f"{self._path} belongs to another search (it differs in {', '.join(differing)}); "
                "name another file with --search, or remove this file"
            )
        return study

    def _repair(self) -> None:
        """Remove the last line if it is damaged, or what a killed process wrote of a line."""
        content = self._path.read_bytes()
        if not content:
            return
        first = _parsed(content.split(b"\n", 1)[0])
        if not isinstance(first, dict) or first.get("study_name") != _NAME:
            raise self._no_search()
        end = content.rfind(b"\n") + 1
        last = content.rfind(b"\n", 0, max(0, end - 1)) + 1
        if _parsed(content[last:end]) is None:  # optuna accepts it until a line is appended
            end = last
        if end < len(content):
            self._file.truncate(end)

    def _no_search(self) -> InputError:
        return InputError(f"{self._path} is not a search file; name another file with --search")


def _parsed(line: bytes) -> Any:
    """Return a line's JSON; None if it is damaged."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


class _HeldLock:
    """For optuna, which locks the file for each line: it is locked already."""

    def acquire(self) -> bool:
        return True

    def release(self) -> None:
        pass
