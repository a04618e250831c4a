"""The options of `train` that join two models to a cascade; imports little, so help is fast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from protonn_edge.cli.command import option
from protonn_edge.cli.options import PATH, SHARE
from protonn_edge.cli.train_additions import SearchAddition, TrainAddition
from protonn_edge.system.errors import InputError
from protonn_edge.system.figures import percent
from protonn_edge.system.schema import JsonObject

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from protonn_edge.learn.search.choice import Refitted
    from protonn_edge.learn.search.points import TrialPoints
    from protonn_edge.learn.search.store import Record
    from protonn_edge.learn.targets import Target
    from protonn_edge.model.model import Model
    from protonn_edge.system.arrays import Array


_TITLE = "Training"


@dataclass(frozen=True)
class CascadeOptions(TrainAddition):
    """The options as they were given."""

    NEEDS: ClassVar[Mapping[str, str]] = {"--then": "--calibrate", "--pass-on": "--then"}
    APART: ClassVar[Mapping[str, str]] = {"--then": "--rejection"}
    calibrates: ClassVar[bool] = True

    then: Path | None = option(
        "With --calibrate: join both models; this one answers where the two best scores of the "
        "first are near (docs/kinds.md).",
        PATH,
        metavar="MODEL",
        group=_TITLE,
    )
    pass_on: float | None = option(
        "The share of points that the second model answers.  [default: the smallest that is as "
        "accurate as the best]",
        SHARE,
        group=_TITLE,
    )

    def step(self, _target: Target | None) -> Joining | None:
        """Return what the options ask for, or None."""
        return None if self.then is None else Joining(self.then, self.pass_on)


@dataclass(frozen=True)
class Joining:
    """The joining of a model with a second one."""

    flag: ClassVar[str] = "--then"
    needs_classes: ClassVar[bool] = True

    second: Path
    share: float | None

    def applied(self, model: Model, X: Array, y: NDArray[np.int64]) -> Model:
        """Return the cascade, with a margin chosen on points X (n, features) of classes y (n,)."""
        from protonn_edge.extensions.cascades.kinds.cascade.train import joined
        from protonn_edge.model.file import load_model

        if (y < 0).any():
            raise InputError(
                "--then needs the classes of all points in DATA; give new points with labels"
            )
        cascade: Model = joined(model, load_model(self.second), X, y, share=self.share)
        return cascade

    def facts(self, model: Model, n: int) -> list[tuple[str, str]]:
        """Return which share of the n points the second model answers."""
        share = _passed_on(model)
        return [("passed on", f"{percent(share)} of the {n:,} calibration points")]

    def to_json(self, model: Model) -> JsonObject:
        """Return what the JSON object of `train --calibrate` has of it."""
        return {"passed_on_share": _passed_on(model)}


def _passed_on(model: Model) -> float:
    """Return the share of the calibration points that the second model answers."""
    return float(model.record["passed_on_share"])


@dataclass(frozen=True)
class CascadeOfSearch(SearchAddition):
    """What a search tries at its end; it has no options."""

    def improved(
        self, points: TrialPoints, choice: str, trials: Sequence[Record], refitted: Refitted
    ) -> Refitted:
        """Return a cascade if it is faster than the search's model and a fast one is wanted."""
        from protonn_edge.extensions.cascades.tuning import faster_cascade

        return faster_cascade(points, choice, trials, refitted)
