"""The study of a search, which Optuna keeps in a journal, so that a stopped search can go on."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState

from protonn_edge.chips.boards import Board
from protonn_edge.learn.search.limits import Figures
from protonn_edge.system.errors import InvalidValue
from protonn_edge.system.files import AppendedFile, check_file
from protonn_edge.system.schema import JsonObject

Outcome = Literal["complete", "pruned", "infeasible", "failed"]

NAME = "protonn-edge"
"""The name of the study in its journal."""

_LIMIT_BYTES = 1 << 30


@dataclass(frozen=True)
class Record:
    """A finished trial."""

    number: int  # its number in the search, from 0
    settings: Mapping[str, Any]  # the drawn settings, by the estimator's parameters
    # "pruned" if most complete ones were ahead after a fold, "infeasible" if it does not fit
    outcome: Outcome
    # its memory and cycles: the most of its folds, or of an untrained model; None if unknown
    figures: Figures | None = None
    # the metric of the integer model in the finished folds, 0..1
    scores: Sequence[float] = ()
    seconds: float = 0.0  # of training, over the folds
    reason: str = ""  # the reason if it is not complete
    # of an infeasible trial: the used share of each exceeded limit, above 1
    excess: Mapping[str, float] = field(default_factory=dict)
    accuracies: Sequence[float] = ()  # beside the scores
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
        """The memory and cycles, which complete and infeasible trials have."""
        assert self.figures is not None
        return self.figures

    def to_json(self, board: Board) -> JsonObject:
        """Return a complete trial with its latency and energy on the board."""
        figures = self.measured
        cycles = figures.cycles
        return {
            "trial": self.number,
            "score": self.score,
            "fold_scores": list(self.scores),
            "score_deviation": self.deviation,
            "accuracy": self.accuracy,
            "fold_accuracies": list(self.accuracies),
            "log_loss": self.loss,
            **asdict(figures),
            "ms": None if cycles is None else board.milliseconds(cycles),
            "mj": None if cycles is None else board.millijoules(cycles),
            "settings": dict(self.settings),
        }

    def to_keep(self) -> JsonObject:
        """Return what Optuna's trial does not have, for `of`."""
        return {name: kept for name, kept in asdict(self).items() if name not in _OF_OPTUNA}

    @classmethod
    def of(cls, trial: FrozenTrial) -> Record:
        """Return the record of Optuna's trial."""
        kept = dict(trial.user_attrs[RECORD])
        figures = kept.pop("figures")
        figures = None if figures is None else Figures(**figures)
        return cls(trial.number, trial.params, figures=figures, **kept)


RECORD = "record"
"""The attribute of Optuna's trial with the rest of its `Record`."""

_OF_OPTUNA = {"number", "settings"}  # attributes of a record that a trial has, too


def new_study(**options: Any) -> optuna.Study:
    """Return a study of Optuna that maximizes, and does not log."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna.create_study(direction="maximize", **options)


def let_wait(study: optuna.Study, trials: Iterable[FrozenTrial]) -> None:
    """Let those of some trials wait again that were running when their process ended."""
    for trial in trials:
        if trial.state == TrialState.RUNNING:
            study._storage.set_trial_state_values(trial._trial_id, TrialState.WAITING)


class SearchFile(AppendedFile):
    """The study of a search in a file, for a ``with``; it is created if it does not exist.

    Only one search at a time, with its workers, writes to it. What a killed one had begun waits to
    be run again. Raises `InputError` if the file is not a search's, is in use, or belongs to a
    search with another identity; see `search.identity`.
    """

    path: Path
    study: optuna.Study

    def __init__(self, path: Path, identity: Mapping[str, object]) -> None:
        if path.exists():
            check_file(path, limit_bytes=_LIMIT_BYTES, may_be_empty=True)
        super().__init__(path, "--search")
        self.path = path
        try:
            self._remove_partial_line()
            self._open_study(json.loads(json.dumps(identity)))
        except BaseException:
            self._file.close()
            raise

    @property
    def records(self) -> list[Record]:
        """The finished trials, by their numbers."""
        trials = self.study.get_trials(deepcopy=False)
        finished = (trial for trial in trials if trial.state.is_finished())
        return [Record.of(trial) for trial in finished if RECORD in trial.user_attrs]

    def append(self, lines: Iterable[str]) -> None:
        """Add lines that were written to another copy of the journal."""
        self._write("".join(f"{line}\n" for line in lines).encode())

    def _open_study(self, identity: Mapping[str, object]) -> None:
        """Read the study; begin one in an empty file."""
        lock: Any = threading.Lock()  # the base class of Optuna's locks is not public
        differing: list[str] = []
        try:
            storage = JournalStorage(JournalFileBackend(str(self._path), lock))
            if self._path.stat().st_size == 0:
                new_study(storage=storage, study_name=NAME)
            self.study = optuna.load_study(study_name=NAME, storage=storage)
            if "search" not in self.study.user_attrs:
                self.study.set_user_attr("search", identity)
            known = self.study.user_attrs["search"]
            differing = sorted(name for name in identity if known.get(name) != identity[name])
            if not differing:
                _ = self.records  # which damage makes an error
                let_wait(self.study, self.study.get_trials(deepcopy=False))
        except OSError:
            raise
        except Exception as error:  # a damaged file leads to errors of many kinds
            raise InvalidValue(
                self._path, "not a search file, or damaged", "name another file with --search"
            ) from error
        if differing:
            raise InvalidValue(
                self._path,
                f"of another search (it differs in {', '.join(differing)})",
                "name another file with --search, or remove this file",
            )

    def _remove_partial_line(self) -> None:
        """Remove what a killed process wrote of a line, to which Optuna would append."""
        content = self._path.read_bytes()
        begun, _, partial = content.rpartition(b"\n")
        if begun and partial:
            self._file.truncate(len(begun) + 1)
