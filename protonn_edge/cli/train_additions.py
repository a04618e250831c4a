"""What rules of a policy, or extensions, may add to the command `train`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from protonn_edge.system.extensions import AddedOptions

if TYPE_CHECKING:
    from protonn_edge.data.points.dataset import Dataset
    from protonn_edge.learn.search.choice import Refitted
    from protonn_edge.learn.search.points import TrialPoints
    from protonn_edge.learn.search.store import Record
    from protonn_edge.learn.targets import Target


class TrainAddition(AddedOptions):
    """The options of a rule for training, or of an extension."""

    calibrates: ClassVar[bool] = False  # whether they have an effect with --calibrate

    def completed(self, target: Target) -> Target:
        """Return the target of a training, as the options change it."""
        return target

    def check(self, dataset: Dataset) -> None:
        """Refuse a data set with labels that may be something else."""

    def step(self, target: Target | None) -> Any:
        """Return what the options ask for, by default what the target does; None for nothing.

        A step has a `flag`; `prepare`, `check` and `after` for a training; `applied` for a trained
        model with points and their classes, and `facts` and `to_json` of the model after it.
        """


class SearchAddition(TrainAddition):
    """What an extension makes of the model of a search, by `tune`."""

    def improved(
        self, points: TrialPoints, choice: str, trials: Sequence[Record], refitted: Refitted
    ) -> Refitted:
        """Return the model to keep: `refitted`, of the `choice` among the trials, or a better one.

        It is trained with the seed of `refitted`.
        """
        raise NotImplementedError
