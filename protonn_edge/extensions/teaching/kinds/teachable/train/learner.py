"""What learns a ProtoNN that users teach."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from protonn_edge.chips.boards import load_board
from protonn_edge.data.naming import Notice
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.extensions.teaching.kinds.teachable.parameters import TeachableProtoNNParameters
from protonn_edge.extensions.teaching.kinds.teachable.train.episodes import TeachableTraining
from protonn_edge.extensions.teaching.protonn.model import Teachable
from protonn_edge.kinds.protonn.train.learner import ProtoNNLearner
from protonn_edge.learn.input_space import count_inputs
from protonn_edge.system.errors import CheckFailed


@dataclass(kw_only=True, eq=False, repr=False)
class TeachableProtoNNLearner(TeachableProtoNNParameters, ProtoNNLearner):
    """Learns it; `TeachableProtoNNClassifier` describes it."""

    @property
    def voters_training(self) -> TeachableTraining | None:
        """How training allows for examples, if a device may be taught any."""
        return TeachableTraining(self) if self.teachable else None

    def check_sizes(self, dataset: Dataset, given: Collection[str]) -> list[Notice]:
        """Return what ProtoNN does, and a warning if an Uno's EEPROM is too small."""
        found = super().check_sizes(dataset, given)
        if not self.teachable or self.budget is not None:
            return found
        projections = self.projections_of(count_inputs(self, dataset.X_train))
        try:
            Teachable(self.teachable).integers(1).check_eeprom(projections, load_board("uno"))
        except CheckFailed as error:
            found.append(Notice("eeprom", f"{error}, or build for another board", warning=True))
        return found
