"""The parameters for training a model that can be taught."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from protonn_edge.extensions.teaching import MOST_SLOTS
from protonn_edge.kinds.protonn.parameters import ProtoNNParameters
from protonn_edge.learn.parameters import Number, parameter

if TYPE_CHECKING:
    from protonn_edge.learn.training_request import TrainingRequest


@dataclass(kw_only=True, eq=False, repr=False)
class TeachableProtoNNParameters(ProtoNNParameters):
    """The parameters of a ProtoNN that a device's owner teaches.

    Parameters
    ----------
    teachable : int in [0, 252], default=0
        Maximum number of examples that the device may be taught, in its EEPROM; see
        `protonn_edge.extensions.teaching`.
    new_classes : int, default=0
        Number of additional classes, "new 1" and so on, which only the device is taught. With
        them, W also separates the groups and is not trained, and gamma is 5/3 as large.
    """

    teachable: int = parameter(
        0,
        Number(int, 0, MOST_SLOTS - 2),
        help="Maximum number of examples that users can add on the board, in EEPROM.",
        option="--teachable",
        common=True,
        only="classes devices",
    )
    new_classes: int = parameter(
        0,
        Number(int, 0, MOST_SLOTS - 2),
        help="With --teachable: number of additional classes, which are learned only by teaching "
        "the board. Training then leaves W at its initial value.",
        option="--new-classes",
        only="classes",
    )

    def refuse(self, case: TrainingRequest) -> None:
        """Refuse new classes without examples, too."""
        if self.new_classes > 0 and self.teachable == 0:
            case.refuse(f"--new-classes is {self.new_classes}, but --teachable is 0; give both")
        super().refuse(case)
