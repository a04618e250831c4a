"""What is refused for the paper's optimizer, or without it."""

from __future__ import annotations

from collections.abc import Sequence

from protonn_edge.training.refusals import Apart, Refusal, Row

REFUSALS: Sequence[Row] = (
    Apart(
        "iterations pass_epochs step_sizes",
        "optimizer",
        lambda optimizer: optimizer == "alternating",
        "only the alternating {optimizer} uses it",
    ),
    Apart(
        "epochs learning_rate input_noise quantization_aware",
        "optimizer",
        lambda optimizer: optimizer == "joint",
        "only the joint {optimizer} uses it",
    ),
    Apart(
        "augment strangers",
        "optimizer",
        lambda optimizer: optimizer == "joint",
        "the alternating {optimizer} takes points as they are",
        has_no_effect=False,
    ),
    Refusal(
        lambda case: (
            case.in_groups
            and case.settings.group_shift > 0
            and case.settings.optimizer == "alternating"
        ),
        "{group_shift} is {settings.group_shift:g}, but the alternating {optimizer} takes points "
        "as they are; set {group_shift} to 0, or leave the groups out",
    ),
)
