"""What rules of a policy, or extensions, may add to the command `train`."""

from __future__ import annotations

from typing import Any

from protonn_edge.cli.additions import AddedOptions


class TrainAddition(AddedOptions):
    """The options of a rule for training, or of an extension."""

    def step(self, *, one_class: bool) -> Any:  # noqa: ARG002
        """Return what the options ask for; None for nothing.

        A step has a `flag`; `prepare`, `check` and `after` for a training, `applied` for a trained
        model, and `to_json`.
        """
        return None
