"""The accuracy of a build beside the float model's, on the same labelled points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.learn.evaluation.accuracy import share_of, share_right
from protonn_edge.model.device_model import DeviceModel
from protonn_edge.model.quantization import StageLoss, stage_losses
from protonn_edge.system.errors import counted
from protonn_edge.system.figures import percent
from protonn_edge.system.schema import JsonObject


@dataclass(frozen=True, eq=False)
class Comparison:
    """How the chain of a device classifies n points, and how the float model does."""

    n: int
    in_float: float  # the accuracies, 0..1
    in_build: float
    others: Mapping[str, float]  # the shares of answers that are no class, by their names
    losses: tuple[StageLoss, ...]  # of each step

    @classmethod
    def of(cls, compared: DeviceModel, X: NDArray[np.float32], y: NDArray[np.int64]) -> Comparison:
        """Return the comparison on raw points X (n, D), n >= 1, of classes y."""
        model, chain = compared.floats, compared.chain
        Q = chain.quantize(X)
        answers = chain.predict(Q)
        return cls(
            len(y),
            share_right(model.predict(X), y),
            share_right(answers, y),
            {each.name: share_of(answers, each.code) for each in chain.policy.other_answers},
            stage_losses(model, X, y),
        )

    def facts(self) -> list[tuple[str, str]]:
        """Return the rows of a table."""
        others = ((f"answered {name}", share) for name, share in self.others.items())
        return [
            ("accuracy, float", f"{percent(self.in_float)} of {counted(self.n, 'point')}"),
            ("accuracy, integers", percent(self.in_build)),
            *((name, percent(share)) for name, share in others),
        ]

    def to_json(self) -> JsonObject:
        """Return the figures with the field names that commands print."""
        record: JsonObject = {"n": self.n, "float_accuracy": self.in_float}
        record["accuracy"] = self.in_build
        record["stages"] = [asdict(loss) for loss in self.losses]
        return record | {f"{name}_share": share for name, share in self.others.items()}
