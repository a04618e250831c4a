"""The right answers to the points of a run: whether recorded results can have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import NO_CLASS, listed, quoted
from protonn_edge.device.results import RecordedRun, Result, names_of
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InvalidValue
from protonn_edge.system.figures import Figure
from protonn_edge.system.schema import JsonObject

_HIL_AGAIN = "delete the file and run `protonn-edge hil` again"


@dataclass(frozen=True, eq=False)
class RightAnswers:
    """The right answers to the points of a run, if they are known and no classes."""

    reference: IntegerChain
    rows: Sequence[int]  # the numbers of the points in results
    values: Array | None  # numbers (n,), or sets of labels (n, L); None if unknown
    groups: NDArray[np.int64] | None = None  # (n,): such as persons

    @property
    def are_classes(self) -> bool:
        """Whether the answers are classes, which results have as such."""
        return self.reference.policy.predicts == "class"

    @cached_property
    def _place(self) -> dict[int, int]:
        return {row: place for place, row in enumerate(self.rows)}

    @cached_property
    def _known(self) -> list[str]:
        """The right answers as text."""
        if self.values is None:
            return [""] * len(self.rows)
        words = (
            rule.words_of(self.values, self.reference.classes)
            for rule in self.reference.policy.rules
        )
        return next(each for each in words if each is not None)

    def texts_of(self, result: Result) -> tuple[str, str] | None:
        """Return the right answer and the predicted one, empty if unknown; None for classes."""
        if self.are_classes:
            return None
        said = None
        if result.scores is not None:
            scores = np.array([result.scores], np.int64)
            said = self.reference.policy.words(scores, self.reference.classes)
        place = self._place.get(result.index)
        true = "" if place is None else self._known[place]
        return true, "" if said is None else said[0]

    def measured(self, results: Sequence[Result]) -> tuple[list[Figure], JsonObject]:
        """Return what the policy measures of the answered results; see `Policy.measured`."""
        if self.values is None:
            return [], {}
        answered = [each for each in results if each.scores is not None]
        places = [self._place[each.index] for each in answered]
        scores = np.array([each.scores for each in answered], np.int64)
        groups = None if self.groups is None else self.groups[places]
        return self.reference.policy.measured(scores, self.values[places], groups)


def check_rows(
    path: Path,
    run: RecordedRun,
    reference: IntegerChain,
    labels: Mapping[int, int] | None = None,
    right: RightAnswers | None = None,
) -> None:
    """Refuse results that cannot be the model's, or whose rows do not have these answers."""
    n, names = reference.n_classes, names_of(reference.classes)
    if run.results and run.classes != reference.classes:
        raise InvalidValue(
            path,
            f"the classes are {listed(run.classes)}, but the model has {listed(reference.classes)}",
            _HIL_AGAIN,
        )
    for result in run.results:
        scores = n if result.scores is None else len(result.scores)
        named = {result.label, result.predicted or 0}
        named -= {each.code for each in reference.policy.other_answers}
        label = result.label if labels is None else labels.get(result.index)
        follows = None if right is None or result.texts is None else right.texts_of(result)
        fault = ""
        if max(named, default=0) >= n or scores != n:
            fault = f"a class or scores that are impossible for a model of {n} classes"
        elif result.label != label:
            fault = f"label {quoted(names[result.label])}, but the point has label "
            fault += "none" if label is None else quoted(names[label])
        elif follows not in (None, result.texts):
            fault = f"the true and predicted answers {listed(result.texts or ())}, but "
            fault += f"{listed(follows or ())} follow from the data and the scores"
        elif result.predicted not in (None, NO_CLASS) and result.scores and not result.mismatch:
            lead = max(result.scores) - result.scores[result.predicted]
            if lead > 0:
                fault = "an answer that does not follow from its scores"
        if fault:
            raise InvalidValue(f"{path}, index {result.index}", fault, _HIL_AGAIN)
